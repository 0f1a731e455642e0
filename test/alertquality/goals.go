package main

import (
	"fmt"
	"time"

	"github.com/leaderscope/leaderscope/test/alertquality/fleet"
)

// goal is something that the alerts should keep, and what was measured.
type goal struct {
	text, target, measured string
	kept                   bool
}

// result is everything that was measured at one scrape interval.
type result struct {
	scrape time.Duration
	// calm and stress are services that hold a lock; jobs take one for each
	// run; odd ones push, or hide the ends of their leases.
	// witnessed ones export what the backend says, at 30 s only.
	calm, stress, jobs, odd, witnessed *study
}

// goals are judged on all results together.
func goals(results []result) (out []goal) {
	for _, r := range results {
		noLeader, split, overlap := r.stress.figures["NoLeader critical"], r.stress.figures["SplitBrain critical"], r.stress.figures["Overlap warning"]
		if noLeader == nil || split == nil || overlap == nil {
			return nil // other rules are judged
		}
		at := fmt.Sprintf(", scrape %s", short(r.scrape))
		if r.scrape == 30*time.Second {
			out = append(out, atMost("NoLeader critical: detection p95 after the lease has ended"+at, noLeader.detection, 75*time.Second))
			out = append(out, atMost("SplitBrain: detection p95"+at, split.detection, 90*time.Second))
			out = append(out, allOf("NoLeader critical: recall from 2.5 min"+at, 1, last(noLeader.seen, 2), last(noLeader.faults, 2)))
			out = append(out, deaths(r.stress, "", 150*time.Second)...)
			out = append(out, deaths(r.witnessed, ", standbys that are witnesses", 150*time.Second)...)
			out = append(out, deaths(r.odd, ", pushed or with a hidden end of the lease", 5*time.Minute)...)
			out = append(out, goal{
				text: "pages per incident that pages" + at, target: "at most 1.2",
				measured: fmt.Sprintf("%.2f", r.stress.pagesPerIncident()), kept: r.stress.pagesPerIncident() <= 1.2,
			})
		}
		out = append(out, rare("NoLeader critical: false pages per lock and week on the calm mix"+at, r.calm, "NoLeader critical", 0.01))
		out = append(out, allOf("Overlap: recall of overlaps of 2 s and more"+at, 0.95, last(overlap.seen, 0), last(overlap.faults, 0)))
		out = append(out, rare("Overlap: false firings per lock and week, both mixes"+at, r.stress.with(r.calm), "Overlap warning", 0))
	}
	return out
}

// deaths are the incidents in which the leader's node dies and no replica can
// take over, from the death to the page.
func deaths(s *study, where string, limit time.Duration) (out []goal) {
	for _, d := range []struct {
		kind fleet.Kind
		text string
	}{{fleet.StuckDropped, "its target goes"}, {fleet.StuckKept, "its target stays"}} {
		out = append(out, atMost("the leader's node dies and no replica can take over, "+d.text+where+": page p95 after the lease has ended", s.afterLease[d.kind], limit))
	}
	return out
}

// atMost judges the 95th percentile; without a measurement, it is not kept.
func atMost(text string, all []time.Duration, limit time.Duration) goal {
	g := goal{text: text, target: "at most " + seconds(limit), measured: "nothing"}
	if len(all) > 0 {
		got := percentile(all, 0.95)
		g.measured, g.kept = seconds(got), got <= limit
	}
	return g
}

func allOf(text string, share float64, seen, all int) goal {
	return goal{
		text: text, target: fmt.Sprintf("at least %.0f %%", 100*share), measured: fmt.Sprintf("%d of %d", seen, all),
		kept: float64(seen) >= share*float64(all),
	}
}

func rare(text string, s *study, key string, limit float64) goal {
	wrong := 0
	if g := s.figures[key]; g != nil {
		wrong = g.wrong
	}
	target := fmt.Sprintf("at most %.2g", limit)
	if limit == 0 {
		target = "none"
	}
	return goal{text: text, target: target, measured: fmt.Sprintf("%.2f (%d in %.0f weeks)", float64(wrong)/s.weeks, wrong, s.weeks), kept: float64(wrong) <= limit*s.weeks}
}

// last adds up from a class on.
func last(counts []int, from int) (sum int) {
	for _, n := range counts[from:] {
		sum += n
	}
	return sum
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.0f s", d.Seconds()) }

// short writes 1m0s as 1m.
func short(d time.Duration) string {
	if d >= time.Minute && d%time.Minute == 0 {
		return fmt.Sprintf("%dm", d/time.Minute)
	}
	return d.String()
}
