package main

import (
	"time"

	"github.com/leaderscope/leaderscope/test/alertquality/fleet"
)

const week = 7 * 24 * time.Hour

// Leases of the worlds, in turn. Short ones are rare: they cost the most time
// to simulate, and the rules look at scrapes.
var leases = []time.Duration{
	15 * time.Second, 30 * time.Second, 15 * time.Second, time.Minute, 15 * time.Second, 10 * time.Minute,
	30 * time.Second, time.Hour, 15 * time.Second, 5 * time.Second, time.Minute, 2 * time.Second,
}

// heldWorlds are services that hold a lock, a week each, scraped at one
// interval. What is rare in a service is in some of them: a pair of servers,
// unhealthy strangers under the same job, a canary under another.
func heldWorlds(seed uint64, n int, scrape time.Duration, mix fleet.Mix) []fleet.World {
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

// oddWorlds are services that hold a lock and of which less is known: pushed
// metrics, ends of leases that the library hides.
func oddWorlds(seed uint64, n int, scrape time.Duration, mix fleet.Mix) []fleet.World {
	out := heldWorlds(seed, n, scrape, mix)
	for i := range out {
		out[i].Push, out[i].Hidden = i%2 == 0, i%2 == 1
		out[i].Lease = []time.Duration{15 * time.Second, 30 * time.Second, time.Minute}[i%3]
	}
	return out
}

// witnessedWorlds are services that hold a lock and whose replicas export what they
// see of the backend's record: half of them watch it, half read it now and then.
func witnessedWorlds(seed uint64, n int, scrape time.Duration, mix fleet.Mix) []fleet.World {
	out := heldWorlds(seed, n, scrape, mix)
	for i := range out {
		out[i].Witness = true
	}
	return out
}

// jobWorlds are services that take a lock for each run of a periodic job.
func jobWorlds(seed uint64, n int, scrape time.Duration, mix fleet.Mix) []fleet.World {
	every := []time.Duration{5 * time.Minute, 15 * time.Minute, time.Minute, time.Hour}
	out := heldWorlds(seed, n, scrape, mix)
	for i := range out {
		out[i].Every, out[i].Waiting, out[i].Canary, out[i].Lease = every[i%len(every)], false, false, time.Minute
	}
	return out
}
