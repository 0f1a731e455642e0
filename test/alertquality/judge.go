package main

import (
	"slices"
	"strings"
	"time"

	"github.com/leaderscope/leaderscope/test/alertquality/fleet"
)

// fault is a matter that some alerts are for.
type fault struct {
	name string
	// spans are when it was true of a world.
	spans func(*fleet.History) []fleet.Span
	// shortest is the least length that counts; a shorter one still makes a
	// firing right.
	shortest time.Duration
	// classes are the upper bounds of the lengths that recall is told for; the
	// last has none.
	classes []time.Duration
}

// judgedRule is a rule and what it is for.
type judgedRule struct {
	key   string
	fault *fault
	// late is how long after the end of a fault the rule may still begin to
	// fire for it; and a firing then is right.
	late time.Duration
	// fromEnd: detection counts from the end of the fault, because the rule
	// is about faults that are over.
	fromEnd bool
	// skip says in which worlds the rule is not judged; nil: in none.
	skip func(fleet.World) bool
}

// of reports whether the key of a rule is this one, or a candidate for it.
func (j judgedRule) of(key string) bool { return key == j.key || strings.HasPrefix(key, j.key+" ") }

// A fixed threshold of minutes is for leases that are renewed more often.
func longLease(w fleet.World) bool { return w.Lease > time.Minute }

// What a stranger of the same job does is true, and said of it all day.
func withStranger(w fleet.World) bool { return w.Stranger }

var (
	leaderless = &fault{
		name: "no leader", spans: func(h *fleet.History) []fleet.Span { return h.Free },
		shortest: 10 * time.Second, classes: []time.Duration{time.Minute, 150 * time.Second, 5 * time.Minute},
	}
	overlapping = &fault{
		name: "two leaders", spans: func(h *fleet.History) []fleet.Span { return h.Overlaps },
		shortest: 2 * time.Second, classes: []time.Duration{10 * time.Second, time.Minute, 150 * time.Second},
	}
	outage = &fault{
		name: "backend", spans: incidents(fleet.Outage, fleet.OutageOfOne, fleet.SlowBackend, fleet.StuckKept, fleet.StuckDropped),
		shortest: 10 * time.Second, classes: []time.Duration{time.Minute, 150 * time.Second, 5 * time.Minute},
	}
	unscraped = &fault{
		name:     "target down",
		spans:    incidents(fleet.LoseLeader, fleet.LoseStandby, fleet.DeathKept, fleet.StuckKept, fleet.Crash, fleet.Pause, fleet.DeathDropped, fleet.StuckDropped, fleet.Drain, fleet.Rollout),
		shortest: 10 * time.Second, classes: []time.Duration{time.Minute, 150 * time.Second, 5 * time.Minute},
	}
	overdue = &fault{
		name: "no run", spans: func(h *fleet.History) []fleet.Span { return h.Free },
		shortest: 0, classes: []time.Duration{5 * time.Minute, 15 * time.Minute, 30 * time.Minute},
	}
)

func incidents(kinds ...fleet.Kind) func(*fleet.History) []fleet.Span {
	return func(h *fleet.History) (out []fleet.Span) {
		for _, i := range h.Incidents {
			if slices.Contains(kinds, i.Kind) {
				out = append(out, i.Span)
			}
		}
		return out
	}
}

// held and run are the rules that are judged in worlds of either kind.
var (
	held = []judgedRule{
		{key: "NoLeader critical", fault: leaderless, late: 2 * time.Minute},
		{key: "NoLeader warning", fault: leaderless, late: 5 * time.Minute},
		{key: masterStatusZero, fault: leaderless, late: 3 * time.Minute, skip: longLease},
		{key: leaseAge, fault: leaderless, late: 11 * time.Minute, skip: longLease},
		{key: noAcquisitions, fault: leaderless, late: 6 * time.Minute, skip: longLease},
		{key: "SplitBrain critical", fault: overlapping, late: 3 * time.Minute},
		{key: "Overlap warning", fault: overlapping, late: 6 * time.Minute, fromEnd: true},
		{key: sumActive, fault: overlapping, late: 3 * time.Minute},
		{key: masterStatusTwo, fault: overlapping, late: 3 * time.Minute},
		{key: "BackendErrors critical", fault: outage, late: 4 * time.Minute},
		{key: "BackendErrors warning", fault: outage, late: 10 * time.Minute},
		{key: anyBackendError, fault: outage, late: 7 * time.Minute},
		{key: "ScrapeFailing warning", fault: unscraped, late: 2 * time.Minute, skip: withStranger},
		{key: targetDown, fault: unscraped, late: 2 * time.Minute, skip: withStranger},
	}
	run = []judgedRule{
		{key: "JobOverdue warning", fault: overdue, late: 6 * time.Minute},
		{key: "NoAcquisition warning", fault: overdue, late: 10 * time.Minute},
		{key: noAcquisitions, fault: overdue, late: 10 * time.Minute},
	}
)

// figures are what is measured of one rule.
type figures struct {
	// detection is from the beginning of a fault to the firing; reset from its
	// end to the end of the firing.
	detection, reset []time.Duration
	seen, faults     []int // by class of length
	firings, wrong   int
	wrongs           []firing
	missed, slow     []fleet.Span // none of it is added up; slow are up to the firing
}

func newFigures(f *fault) *figures {
	return &figures{seen: make([]int, len(f.classes)+1), faults: make([]int, len(f.classes)+1)}
}

// judge adds what a rule did in a world.
func (g *figures) judge(j judgedRule, h *fleet.History, fired []firing) {
	truth := slices.DeleteFunc(slices.Clone(j.fault.spans(h)), func(s fleet.Span) bool { return s.Length() < j.fault.shortest })
	for _, s := range truth {
		class, _ := slices.BinarySearch(j.fault.classes, s.Length())
		g.faults[class]++
		first := slices.IndexFunc(fired, func(f firing) bool { return f.To > s.From && f.From <= s.To+j.late })
		if first < 0 {
			g.missed = append(g.missed, s)
			continue
		}
		g.seen[class]++
		from := s.From
		if j.fromEnd {
			from = s.To
		}
		if at := fired[first].From - from; at >= 0 {
			g.detection = append(g.detection, at)
			if at > tracedDelay {
				g.slow = append(g.slow, fleet.Span{From: from, To: fired[first].From})
			}
		}
		last := first
		for i, f := range fired {
			if f.From <= s.To+j.late && f.To > s.From {
				last = i
			}
		}
		if end := fired[last].To - s.To; end >= 0 {
			g.reset = append(g.reset, end)
		}
	}
	for _, f := range fired {
		g.firings++
		// A fault that is too short to be counted is a fault.
		if !slices.ContainsFunc(j.fault.spans(h), func(s fleet.Span) bool { return s.From <= f.From && f.From <= s.To+j.late }) {
			g.wrong++
			g.wrongs = append(g.wrongs, f)
		}
	}
}

func (g *figures) add(o *figures) {
	g.detection, g.reset = append(g.detection, o.detection...), append(g.reset, o.reset...)
	for i := range g.seen {
		g.seen[i] += o.seen[i]
		g.faults[i] += o.faults[i]
	}
	g.firings, g.wrong = g.firings+o.firings, g.wrong+o.wrong
}

// percentile of durations; 0 without any.
func percentile(all []time.Duration, p float64) time.Duration {
	if len(all) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(all))
	return sorted[min(int(p*float64(len(sorted))), len(sorted)-1)]
}
