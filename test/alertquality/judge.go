package main

import (
	"slices"
	"time"

	"github.com/leaderscope/leaderscope/test/alertquality/fleet"
)

// fault is a matter that some alerts are for.
type fault struct {
	name string
	// spans are when it was true of a world.
	spans func(*fleet.History) []fleet.Span
	// shortest is the least length that counts, and makes a firing right.
	shortest time.Duration
	// classes are the upper bounds of the lengths that recall is told for; the
	// last has none.
	classes []time.Duration
}

// judged is a rule and what it is for.
type judged struct {
	key   string
	fault *fault
	// late is how long after the end of a fault the rule may still begin to
	// fire for it; and a firing then is right.
	late time.Duration
}

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
	held = []judged{
		{"NoLeader critical", leaderless, 2 * time.Minute},
		{"NoLeader warning", leaderless, 5 * time.Minute},
		{masterStatusZero, leaderless, 3 * time.Minute},
		{leaseAge, leaderless, 11 * time.Minute},
		{noAcquisitions, leaderless, 6 * time.Minute},
		{"SplitBrain critical", overlapping, 3 * time.Minute},
		{"Overlap warning", overlapping, 6 * time.Minute},
		{sumActive, overlapping, 3 * time.Minute},
		{masterStatusTwo, overlapping, 3 * time.Minute},
		{"BackendErrors critical", outage, 4 * time.Minute},
		{"BackendErrors warning", outage, 10 * time.Minute},
		{anyBackendError, outage, 7 * time.Minute},
		{"ScrapeFailing warning", unscraped, 2 * time.Minute},
		{targetDown, unscraped, 2 * time.Minute},
	}
	run = []judged{
		{"JobOverdue warning", overdue, 6 * time.Minute},
		{"NoAcquisition warning", overdue, 10 * time.Minute},
		{noAcquisitions, overdue, 10 * time.Minute},
	}
)

// figures are what is measured of one rule.
type figures struct {
	// detection is from the beginning of a fault to the firing; reset from its
	// end to the end of the firing.
	detection, reset []time.Duration
	seen, faults     []int // by class of length
	firings, wrong   int
}

func newFigures(f *fault) *figures {
	return &figures{seen: make([]int, len(f.classes)+1), faults: make([]int, len(f.classes)+1)}
}

// judge adds what a rule did in a world.
func (g *figures) judge(j judged, h *fleet.History, fired []firing) {
	truth := slices.DeleteFunc(slices.Clone(j.fault.spans(h)), func(s fleet.Span) bool { return s.Length() < j.fault.shortest })
	for _, s := range truth {
		class, _ := slices.BinarySearch(j.fault.classes, s.Length())
		g.faults[class]++
		first := slices.IndexFunc(fired, func(f firing) bool { return f.To > s.From && f.From <= s.To+j.late })
		if first < 0 {
			continue
		}
		g.seen[class]++
		if at := fired[first].From - s.From; at >= 0 {
			g.detection = append(g.detection, at)
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
		if !slices.ContainsFunc(truth, func(s fleet.Span) bool { return s.From <= f.From && f.From <= s.To+j.late }) {
			g.wrong++
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
