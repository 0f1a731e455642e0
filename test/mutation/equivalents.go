package main

// equivalents are the mutants that no test can tell from the original.
var equivalents = []equivalent{
	{change{folder: "exporter/prom", in: "metricsAtOnce", kind: changeConstant}, allocationSize},
	{change{folder: "exporter/prom", in: "pairsAtOnce", kind: changeConstant}, allocationSize},
	{change{folder: "exporter/prom", in: "countsAtOnce", kind: changeConstant}, allocationSize},
	{
		change{
			folder: "exporter/prom", in: "scrape.labels", kind: swapComparison,
			old: "if len(s.pairs) < len(sources)", new: "if len(s.pairs) <= len(sources)",
		}, allocationSize,
	},
	{
		change{
			folder: "exporter/prom", in: "scrape.copy", kind: swapComparison,
			old: "if len(s.counts) < len(counts)", new: "if len(s.counts) <= len(counts)",
		}, allocationSize,
	},
	{
		change{
			folder: "exporter/otelmetric", in: "lock.Observe", kind: swapLogic,
			old: "if !k.known.Load() && k.known.CompareAndSwap(false, true) && !k.of.histograms[i].finishes()",
			new: "if (!k.known.Load() || k.known.CompareAndSwap(false, true)) && !k.of.histograms[i].finishes()",
		},
		"a label that is added again changes nothing; known only spares the work",
	},
	{
		change{
			folder: "exporter/internal/registerer", in: "inspect", kind: changeConstant,
			old: "for _, pair := range labelPair.FindAllStringSubmatch(found[2], -1)", new: "for _, pair := range labelPair.FindAllStringSubmatch(found[2], -2)",
		},
		"every number below zero means all matches",
	},
	{
		change{
			folder: "redact", in: "clean", kind: swapComparison,
			old: "if r >= ' ' && r <= '~'", new: "if r > ' ' && r <= '~'",
		}, spared,
	},
	{
		change{
			folder: "redact", in: "clean", kind: swapComparison,
			old: "if r >= ' ' && r <= '~'", new: "if r >= ' ' && r < '~'",
		}, spared,
	},
	{
		change{folder: "redact/internal/regularfile", in: "open", kind: changeConstant},
		"the mode counts only where a file is made",
	},
	{
		change{
			folder: "redact/internal/regularfile", in: "read", kind: changeConstant,
			old: "data, err := io.ReadAll(io.LimitReader(file, int64(limit)+1))", new: "data, err := io.ReadAll(io.LimitReader(file, int64(limit)+2))",
		},
		"one byte beyond the limit shows that the file is larger, and so do two",
	},
	{
		change{
			folder: "instrument/internal/lock", in: "State.unprotected", kind: swapComparison,
			old: "if end != 0 && (t.covered || stopped > end || stopped == 0 && now >= end)", new: "if end != 0 && (t.covered || stopped > end || stopped == 0 && now > end)",
		},
		"at the end itself nothing is unprotected yet",
	},
	{
		change{folder: "instrument/internal/lock", in: "Instant.Add", kind: swapComparison},
		"the sum is the instant itself only where nothing is added",
	},
	{
		change{
			folder: "instrument/internal/lock", in: "State.addTerms", kind: swapComparison,
			old: "if (!f.LeftKnown || remaining < f.Left) && !s.idles(t)", new: "if (!f.LeftKnown || remaining <= f.Left) && !s.idles(t)",
		}, eitherOfTwo,
	},
	{
		change{
			folder: "instrument/internal/lock", in: "State.addTerms", kind: swapComparison,
			old: "if unix := m.Unix(end); f.Expiry == 0 || unix < f.Expiry", new: "if unix := m.Unix(end); f.Expiry == 0 || unix <= f.Expiry",
		}, eitherOfTwo,
	},
	{
		change{
			folder: "instrument/internal/lock", in: "State.ActiveEnd", kind: swapComparison,
			old: "if e := s.End(t); e != 0 && (end == 0 || e < end)", new: "if e := s.End(t); e != 0 && (end == 0 || e <= end)",
		}, eitherOfTwo,
	},
	{
		change{
			folder: "instrument/internal/registry", in: "newTable", kind: swapComparison,
			old: "for n < 3*live", new: "for n <= 3*live",
		},
		"n is a power of two, which three times something never is",
	},
	{
		change{folder: "instrument/electtest/tcpproxy", in: "Proxy.pass", kind: changeConstant},
		"only how much is passed on at a time changes",
	},
	{
		change{
			folder: "instrument/campaigner", in: "Campaigner.ask", kind: dropReturn,
			old: "return", new: dropped, nth: 2,
		},
		"a loss ends the term, and that ends the loop",
	},
	{
		change{
			folder: "instrument/campaigner", in: "Campaigner.Campaign", kind: changeConstant,
			old: "if c.poll > 0", new: "if c.poll > 1",
		},
		"no backend can be asked each nanosecond",
	},
	{
		change{folder: "instrument/fence/httpfence", in: "handler.serve", kind: changeConstant},
		"any instant that has passed ends a read",
	},
	{
		change{
			folder: "instrument/consullock", in: "detached", kind: zeroResult,
			old: "return value, context.Cause(ctx), false", new: "return *new(T), context.Cause(ctx), false",
		},
		"the result is still zero there",
	},
	{
		change{folder: "instrument/consullock", in: "win", kind: dropDefer},
		"the context ends by itself; only its timer stays until then",
	},
	{
		change{folder: "instrument/consullock", in: "repeat", kind: dropCall, old: "cancel()", new: dropped},
		"the context ends by itself; only its timer stays until then",
	},
	{
		change{
			folder: "instrument/consullock", in: "Sessions.bound", kind: changeConstant,
			old: "if ttl <= 0", new: "if ttl <= 1",
		},
		"no session lives for a nanosecond",
	},
	{
		change{
			folder: "instrument/etcdlock", in: "keeper.ask", kind: zeroResult,
			old: "return ctx.Err()", new: "return nil",
		},
		"the renewal has ended with its context, and reads no answer any more",
	},
	{
		change{
			folder: "instrument/sqllock", in: "lease.checkOnce", kind: changeConstant,
			old: "answers := make(chan answer, 1)", new: "answers := make(chan answer, 2)",
		}, oneIsSent,
	},
	{
		change{
			folder: "instrument/sqllock", in: "lease.takeTurn", kind: dropReturn,
			old: "return errGivenUp", new: dropped, nth: 1,
		},
		"the turn that is taken instead is that of a query, which locks its connection as long",
	},
	{
		change{
			folder: "instrument/sqllock", in: "open", kind: changeConstant,
			old: "opened := make(chan result, 1)", new: "opened := make(chan result, 2)",
		}, oneIsSent,
	},
	{
		change{
			folder: "instrument/sqllock", in: "null", kind: changeConstant,
			old: "null = -3", new: "null = -4",
		},
		"any number that no statement answers",
	},
	{
		change{
			folder: "instrument/zklock", in: "candidate.ahead", kind: swapComparison,
			old: "case n < own:", new: "case n <= own:",
		},
		"the case before it is that of the equal number",
	},
	{
		change{folder: "instrument/dynamolocklead", in: "century", kind: changeConstant},
		"a wait that no program outlives",
	},
	{
		change{folder: "instrument/raftlead", in: "Observe", kind: flipBoolean},
		"whether an observation is passed on, and may wait for that, matters to a channel only, and there is none",
	},
	{
		change{
			folder: "internal/output", in: "staging.open", kind: zeroResult,
			old: "return err", new: "return nil", nth: 2,
		},
		opened,
	},
	{
		change{
			folder: "internal/output", in: "staging.open", kind: dropReturn,
			old: "return err", new: dropped, nth: 2,
		},
		opened,
	},
	{
		change{
			folder: "exporter/prom", in: "distribution.write", kind: changeConstant,
			old: "b.upTo, b.bound = h.count, math.Inf(1)", new: "b.upTo, b.bound = h.count, math.Inf(0)",
		},
		"math.Inf takes 0 for a positive sign",
	},
	{
		change{
			folder: "instrument/fence/grpcfence", in: "stream.untilOver", kind: changeConstant,
			old: "done := make(chan error, 1)", new: "done := make(chan error, 2)",
		}, oneIsSent,
	},
	{
		change{
			folder: "instrument/natskv", in: "keeper.observe", kind: changeConstant,
			old: "lost := make(chan error, 1)", new: "lost := make(chan error, 2)",
		}, oneIsSent,
	},
	{
		change{
			folder: "instrument/natskv", in: "keeper.judge", kind: swapComparison,
			old: "case entry.Revision() <= known:", new: "case entry.Revision() < known:",
		},
		"the entry of the known revision is the one that this keeper wrote",
	},
	{
		change{
			folder: "exporter/status", in: "handler.read", kind: changeConstant,
			old: "if d.Locks = append(d.Locks, h.statusOf(s)); len(d.Locks) >= 2*most", new: "if d.Locks = append(d.Locks, h.statusOf(s)); len(d.Locks) >= 1*most",
		}, whenItIsCut,
	},
	{
		change{
			folder: "exporter/status", in: "handler.read", kind: changeConstant,
			old: "if d.Locks = append(d.Locks, h.statusOf(s)); len(d.Locks) >= 2*most", new: "if d.Locks = append(d.Locks, h.statusOf(s)); len(d.Locks) >= 3*most",
		}, whenItIsCut,
	},
}

const opened = "a directory that was made, or is there, can be opened by a user who may search every one, as that of the tests"

const spared = "what can be printed is in none of the sets below; the comparison only spares looking there"

const whenItIsCut = "when the list is cut off is a matter of memory and time, not of what is shown"

const oneIsSent = "only one value is sent to the channel"

const eitherOfTwo = "of two that are equal, either is the first"

const allocationSize = "only the size of an allocation changes, not what is exported"
