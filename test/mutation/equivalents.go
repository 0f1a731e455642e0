package main

// equivalents are the mutants that no test can tell from the original.
var equivalents = []equivalent{
	{change{folder: "exporter/prom", in: "metricsAtOnce", kind: changeConstant, old: "metricsAtOnce = 48", new: "metricsAtOnce = 47"}, allocationSize},
	{change{folder: "exporter/prom", in: "metricsAtOnce", kind: changeConstant, old: "metricsAtOnce = 48", new: "metricsAtOnce = 49"}, allocationSize},
	{change{folder: "exporter/prom", in: "pairsAtOnce", kind: changeConstant, old: "pairsAtOnce = 64", new: "pairsAtOnce = 63"}, allocationSize},
	{change{folder: "exporter/prom", in: "pairsAtOnce", kind: changeConstant, old: "pairsAtOnce = 64", new: "pairsAtOnce = 65"}, allocationSize},
	{change{folder: "exporter/prom", in: "countsAtOnce", kind: changeConstant, old: "countsAtOnce = 64", new: "countsAtOnce = 63"}, allocationSize},
	{change{folder: "exporter/prom", in: "countsAtOnce", kind: changeConstant, old: "countsAtOnce = 64", new: "countsAtOnce = 65"}, allocationSize},
	{
		change{
			folder: "exporter/prom", in: "distribution.write", kind: changeConstant,
			old: "b.upTo, b.bound = h.count, math.Inf(1)", new: "b.upTo, b.bound = h.count, math.Inf(0)",
		},
		"math.Inf takes 0 for a positive sign",
	},
}

const allocationSize = "only the size of an allocation changes, not what is exported"
