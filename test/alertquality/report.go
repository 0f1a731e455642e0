package main

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/leaderscope/leaderscope/test/alertquality/fleet"
)

type row struct {
	scrape                  time.Duration
	calm, stress, jobs, odd *study
}
type page2 struct {
	command
	rows []row
}

func (p page2) write(out io.Writer) error {
	for _, r := range p.rows {
		for name, s := range map[string]*study{"calm": r.calm, "stress": r.stress, "odd": r.odd, "jobs": r.jobs} {
			if len(s.worlds) == 0 {
				continue
			}
			fmt.Fprintf(out, "== %s scrape %s, %.0f weeks; pages/incident %.2f, stray %v\n", name, r.scrape, s.weeks, s.pagesPerIncident(), s.stray)
			for _, j := range slices.Concat(held, run) {
				g := s.figures[j.key]
				if g == nil {
					continue
				}
				fmt.Fprintf(out, "%-62s det %4.0f %4.0f %4.0f  reset %4.0f %4.0f  seen %v of %v  false %d of %d\n", j.key, percentile(g.detection, .5).Seconds(), percentile(g.detection, .95).Seconds(), percentile(g.detection, 1).Seconds(),
					percentile(g.reset, .5).Seconds(), percentile(g.reset, .95).Seconds(), g.seen, g.faults, g.wrong, g.firings)
			}
			kinds := []fleet.Kind{}
			for k := range s.incidents {
				kinds = append(kinds, k)
			}
			slices.Sort(kinds)
			for _, k := range kinds {
				n := s.incidents[k]
				fmt.Fprintf(out, "   %-70s %d paged %d pages %d first p50 %s p95 %s\n", k, n, s.paged[k], s.pages[k], percentile(s.first[k], .5).Round(time.Second), percentile(s.first[k], .95).Round(time.Second))
			}
			for _, x := range s.wrongs {
				fmt.Fprintln(out, "   wrong:", x)
			}
			fmt.Fprintln(out, "   ", s.counts)
		}
	}
	return nil
}
