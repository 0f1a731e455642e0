package main

// equivalents are the mutants that no test can tell from the original.
var equivalents = []equivalent{
	{change{folder: "exporter/prom", in: "metricsAtOnce", kind: changeConstant}, allocationSize},
	{change{folder: "exporter/prom", in: "pairsAtOnce", kind: changeConstant}, allocationSize},
	{change{folder: "exporter/prom", in: "countsAtOnce", kind: changeConstant}, allocationSize},
	{
		change{
			folder: "instrument/internal/registry", in: "newTable", kind: swapComparison,
			old: "for n < 3*live", new: "for n <= 3*live",
		},
		"n is a power of two, which three times something never is",
	},
	{
		change{
			folder: "exporter/prom", in: "distribution.write", kind: changeConstant,
			old: "b.upTo, b.bound = h.count, math.Inf(1)", new: "b.upTo, b.bound = h.count, math.Inf(0)",
		},
		"math.Inf takes 0 for a positive sign",
	},
}

const allocationSize = "only the size of an allocation changes, not what is exported"
