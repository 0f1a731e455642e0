package main

import (
	"time"

	"github.com/leaderscope/leaderscope/test/alertquality/fleet"
)

const week = 7 * 24 * time.Hour

// worlds are services of all sorts, a week each, that are scraped at one
// interval and live through one mix of incidents.
func worlds(seed uint64, n int, scrape time.Duration, mix fleet.Mix) []fleet.World {
	leases := []time.Duration{15 * time.Second, 30 * time.Second, 15 * time.Second, 5 * time.Second, time.Minute, 10 * time.Minute, 2 * time.Second, time.Hour}
	replicas := []int{3, 2, 5}
	var out []fleet.World
	for i := range n {
		out = append(out, fleet.World{
			Seed: seed + uint64(i), Length: week, Replicas: replicas[i%len(replicas)], Lease: leases[i%len(leases)],
			Waiting: i%2 == 1, Scrape: scrape, Pair: i%7 == 3, ClockOffset: 500 * time.Millisecond,
			Stranger: i%4 == 1, Canary: i%5 == 2, Mix: mix,
		})
	}
	return out
}
