package main

import (
	"slices"
	"testing"
	"time"

	"github.com/leaderscope/leaderscope/alerts"
	"github.com/leaderscope/leaderscope/test/alertquality/fleet"
)

// gen-dashboards detect tells by formula how soon an alert fires. Here many
// incidents of one kind happen, and the soonest and the latest firing must be
// those of the formula, to within one evaluation.
func TestDetectionsAreThoseOfSimulatedServices(t *testing.T) {
	const scrape = 30 * time.Second
	type observed struct {
		key string
		// nth is the line of the rule in the output of detect.
		nth   int
		world fleet.World
		// from are the instants that the line counts from.
		from func(*fleet.History) []time.Duration
	}
	starts := func(spans func(*fleet.History) []fleet.Span) func(*fleet.History) []time.Duration {
		return func(h *fleet.History) (out []time.Duration) {
			for _, s := range spans(h) {
				if s.Length() > 8*time.Minute {
					out = append(out, s.From)
				}
			}
			return out
		}
	}
	free := func(h *fleet.History) []fleet.Span { return h.Free }
	overlaps := func(h *fleet.History) []fleet.Span { return h.Overlaps }
	started := func(h *fleet.History) (out []fleet.Span) {
		for _, i := range h.Incidents {
			out = append(out, i.Span)
		}
		return out
	}
	ends := func(h *fleet.History) (out []time.Duration) {
		for _, s := range h.Overlaps {
			out = append(out, s.To)
		}
		return out
	}
	lastEnd := func(h *fleet.History) (out []time.Duration) {
		for _, at := range starts(free)(h) {
			i := slices.IndexFunc(h.Terms, func(t fleet.Term) bool { return t.Until == at })
			out = append(out, h.Terms[i].To)
		}
		return out
	}
	due := func(h *fleet.History) (out []time.Duration) {
		every := 7 * time.Minute
		for _, s := range h.Free { // one and a half intervals after the last acquisition
			out = append(out, s.From-every*3/2+time.Duration(alerts.Default().Alerts.JobOverdue.Intervals*float64(every)))
		}
		return out
	}
	of := func(kind fleet.Kind, change func(*fleet.World)) fleet.World {
		w := fleet.World{Seed: 11, Length: week, Replicas: 3, Lease: 15 * time.Second, Waiting: true, Scrape: scrape, Mix: fleet.Mix{kind: 300}}
		if change != nil {
			change(&w)
		}
		return w
	}
	for name, o := range map[string]observed{
		"no leader, its holder alive":   {"NoLeader critical", 0, of(fleet.Outage, nil), lastEnd},
		"no leader, its holder gone":    {"NoLeader critical", 1, of(fleet.StuckDropped, func(w *fleet.World) { w.Lease = 2 * time.Minute }), starts(free)},
		"no leader, its target down":    {"NoLeader critical", 2, of(fleet.StuckKept, nil), starts(started)},
		"two leaders":                   {"SplitBrain critical", 0, of(fleet.SecondBackend, nil), starts(overlaps)},
		"two leaders for any time":      {"Overlap warning", 0, of(fleet.SecondBackend, nil), ends},
		"a replica that is not scraped": {"ScrapeFailing warning", 0, of(fleet.LoseStandby, nil), starts(started)},
		"a job that is not run":         {"JobOverdue warning", 0, of(fleet.Outage, func(w *fleet.World) { w.Every, w.Lease, w.Waiting = 7*time.Minute, time.Minute, false }), due},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rules, err := ours(alerts.Default())
			if err != nil {
				t.Fatal(err)
			}
			r := rules[slices.IndexFunc(rules, func(r rule) bool { return r.key == o.key })]
			keep, err := metrics([]rule{r})
			if err != nil {
				t.Fatal(err)
			}
			h, err := o.world.Run(func(name string) bool { return keep[name] })
			if err != nil {
				t.Fatal(err)
			}
			fired, err := newEvaluation(h, o.world.Length, scrape).firings(t.Context(), &r)
			if err != nil {
				t.Fatal(err)
			}
			want := line(t, o.key, o.nth, o.world.Lease)
			soonest, latest, n := time.Duration(1<<62), time.Duration(0), 0
			for _, from := range o.from(h) {
				i := slices.IndexFunc(fired, func(f firing) bool { return f.From >= from && f.From <= from+want.Latest+5*time.Minute })
				if i < 0 {
					continue
				}
				d := fired[i].From - from
				soonest, latest, n = min(soonest, d), max(latest, d), n+1
			}
			step := max(scrape, r.interval)
			t.Logf("%d times, %s to %s; told %s to %s", n, soonest, latest, want.Soonest, want.Latest)
			if n < 20 {
				t.Fatalf("it fired %d times; that tells nothing", n)
			}
			if soonest < want.Soonest || latest > want.Latest {
				t.Errorf("fired after %s to %s, told %s to %s", soonest, latest, want.Soonest, want.Latest)
			}
			if soonest > want.Soonest+step || latest < want.Latest-step {
				t.Errorf("fired after %s to %s, which is more than %s within what was told, %s to %s", soonest, latest, step, want.Soonest, want.Latest)
			}
		})
	}
}

// line is what detect says about a rule.
func line(t *testing.T, key string, nth int, lease time.Duration) alerts.Detection {
	t.Helper()
	all, err := alerts.Detect(alerts.Default(), alerts.Pace{Lease: lease})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range all {
		if d.Alert+" "+d.Severity == key {
			if nth == 0 {
				return d
			}
			nth--
		}
	}
	t.Fatalf("detect tells nothing of %s", key)
	return alerts.Detection{}
}
