package main

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/leaderscope/leaderscope/alerts"
	"github.com/leaderscope/leaderscope/test/alertquality/fleet"
)

func TestX(t *testing.T) {
	rules, err := rulesOf(alerts.Default())
	if err != nil {
		t.Fatal(err)
	}
	mutes, err := inhibitions(alerts.Default())
	if err != nil {
		t.Fatal(err)
	}
	n, _ := strconv.Atoi(os.Getenv("N"))
	for _, mix := range []fleet.Mix{fleet.Calm(), fleet.Stress()} {
		for _, scrape := range []time.Duration{15 * time.Second, 30 * time.Second, 60 * time.Second} {
			start := time.Now()
			s, err := newStudy(t.Context(), worlds(1, n, scrape, mix), rules, mutes)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Printf("== %d incidents/wk, scrape %s, %.0f weeks, took %s; pages/incident %.2f, stray %v\n", len(mix), scrape, s.weeks, time.Since(start).Round(time.Second), s.pagesPerIncident(), s.stray)
			for _, j := range held {
				g := s.figures[j.key]
				if g == nil {
					continue
				}
				fmt.Printf("%-62s det %4.0f %4.0f %4.0f  reset %4.0f %4.0f  seen %v of %v  false %d of %d\n", j.key, percentile(g.detection, .5).Seconds(), percentile(g.detection, .95).Seconds(), percentile(g.detection, 1).Seconds(),
					percentile(g.reset, .5).Seconds(), percentile(g.reset, .95).Seconds(), g.seen, g.faults, g.wrong, g.firings)
			}
			for k, n := range s.incidents {
				fmt.Printf("   %-70s %d paged %d pages %d first p50 %s p95 %s\n", k, n, s.paged[k], s.pages[k], percentile(s.first[k], .5).Round(time.Second), percentile(s.first[k], .95).Round(time.Second))
			}
			for _, r := range rules {
				if !r.foreign && s.counts[r.key] > 0 {
					fmt.Printf("   %s %d;", r.key, s.counts[r.key])
				}
			}
			fmt.Println()
		}
	}
}
