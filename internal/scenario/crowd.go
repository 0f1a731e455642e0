package scenario

import (
	"fmt"
	"strings"
	"time"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// What simulated fleets showed of many replicas, and of locks that move.

func crowdScenarios() []Scenario {
	two := func(extra string) string {
		return `
			leader_elector_info{mode="hold",backend="etcd",family="orders"} 1x700
			leader_active{instance="i1"} 1x40
			leader_active{instance="i2"} 1x40` + extra
	}
	return []Scenario{
		{ID: "S14", Name: "two leaders, and nothing says how many are allowed", Every: 30 * time.Second, End: 10 * time.Minute,
			Load: two(""), Want: "SplitBrain/critical 2m.. = 2"},
		{ID: "S14", Name: "one leader, and nothing says how many are allowed", Every: 30 * time.Second, End: 10 * time.Minute,
			Load: `
				leader_elector_info{mode="hold",backend="etcd",family="orders"} 1x700
				leader_active{instance="i1"} 1x40
				leader_active{instance="i2"} 0x40`},
		{ID: "S15", Name: "the clock of one of two leaders is 60 s behind", Every: 30 * time.Second, End: 10 * time.Minute,
			Load: two(`
				leader_lease_expiry_timestamp_seconds{instance="i1"} 12+30x40
				leader_lease_expiry_timestamp_seconds{instance="i2"} -50+30x40`),
			Want: "SplitBrain/critical 2m.. = 2"},
		{ID: "S15", Name: "the clock of one of two leaders is 60 s behind, at 60 s", Every: 60 * time.Second, End: 10 * time.Minute,
			Load: two(`
				leader_lease_expiry_timestamp_seconds{instance="i1"} 12+60x40
				leader_lease_expiry_timestamp_seconds{instance="i2"} -50+60x40`),
			Want: "SplitBrain/critical 2m.. = 2"},
		{ID: "S15", Name: "the clock of one of two leaders is five minutes behind, at 15 s", Every: 15 * time.Second, End: 10 * time.Minute,
			Load: two(`
				leader_lease_expiry_timestamp_seconds{instance="i1"} 12+15x40
				leader_lease_expiry_timestamp_seconds{instance="i2"} -290+15x40`),
			Want: "SplitBrain/critical 2m.. = 2"},
		{ID: "S16", Name: "a rollout raises the number of leaders that are allowed", Every: 30 * time.Second, End: 10 * time.Minute,
			Load: two(`
				leader_max_leaders{instance="i1"} 1x40
				leader_max_leaders{instance="i2"} 2x40`)},
		{ID: "S17", Name: "a handover straddles two scrapes of 60 s", Every: 60 * time.Second, End: 20 * time.Minute,
			Load: held + `
				leader_active{instance="i1"} 1x10 0x30
				leader_active{instance="i2"} 0x9 1x31`},
		{ID: "S18", Name: "two replicas lead for four minutes, sampled every 60 s", Every: 60 * time.Second, End: 20 * time.Minute,
			Load: held + `
				leader_active{instance="i1"} 1x40
				leader_active{instance="i2"} 0x4 1x3 0x30`,
			Want: "SplitBrain/critical 7m..14m = 2"},
		{ID: "S19", Name: "a lease of ten minutes is renewed every five, and both leaders claim it", Every: 30 * time.Second, End: 20 * time.Minute,
			Load: two(`
				leader_lease_expiry_timestamp_seconds{instance="i1"} 600x9 900x9 1200x9 1500x40
				leader_lease_expiry_timestamp_seconds{instance="i2"} 550x9 850x9 1150x9 1450x40`),
			Want: "SplitBrain/critical 2m.. = 2"},
		{ID: "D12", Name: "ten replicas with lasting names restart one after the other", Every: 15 * time.Second, End: 30 * time.Minute,
			Load: led(10) + inPlace(10, 20, 3)},
		{ID: "D13", Name: "two of twenty replicas fight every minute", Every: 30 * time.Second, End: 40 * time.Minute,
			Load: held + Fleet(18, catalog.Acquired.Name(), "0x120") + Fleet(18, catalog.Active.Name(), "0x120") + `
				leader_active{instance="x1"} ` + repeated("1 1 0 0", 30) + `
				leader_active{instance="x2"} ` + repeated("0 0 1 1", 30) + `
				leader_acquired_total{instance="x1"} ` + stairs(1, 4, 30) + `
				leader_acquired_total{instance="x2"} 0x1 ` + stairs(1, 4, 30),
			Want: "Flapping/warning 6m.. = 6.12"},
		{ID: "D14", Name: "leadership moves every five minutes all day", Every: 60 * time.Second, End: 3 * time.Hour,
			Load: held + `
				leader_active{instance="x1"} 1x450
				leader_active{instance="x2"} 0x450
				leader_acquired_total{instance="x1"} ` + stairs(1, 10, 45) + `
				leader_acquired_total{instance="x2"} 0x4 ` + stairs(1, 10, 45),
			Want: `Flapping/warning{variant="slow"} 1h35m.. = 19`},
		{ID: "D15", Name: "three deployments of five replicas in six hours", Every: 60 * time.Second, End: 6 * time.Hour,
			Load: held + `leader_active{instance="f0"} 1x400` + deployments(3, 5)},
		{ID: "D16", Name: "leadership moves every half hour all day", Every: 60 * time.Second, End: 390 * time.Minute,
			Load: held + `
				leader_active{instance="x1"} 1x450
				leader_active{instance="x2"} 0x450
				leader_acquired_total{instance="x1"} ` + stairs(1, 60, 8) + `
				leader_acquired_total{instance="x2"} 0x29 ` + stairs(1, 60, 8)},
	}
}

// stairs climb by one every so many samples.
func stairs(from, samples, steps int) string {
	var out strings.Builder
	for i := range steps {
		fmt.Fprintf(&out, "%dx%d ", from+i, samples-1)
	}
	return out.String()
}

// inPlace restarts n replicas that keep their names, each of which leads when
// it is its turn, the first at a sample and the others so many samples apart.
func inPlace(n, first, apart int) string {
	var out strings.Builder
	for i := range n {
		at := first + i*apart
		fmt.Fprintf(&out, "\nleader_acquired_total{instance=\"p%d\"} 7x%d 8x%d 0x120", i, at-apart-1, apart-1)
	}
	return out.String() + "\n"
}

// deployments replace n replicas some times, an hour and a half apart, and each
// new one wins once.
func deployments(times, n int) string {
	var out strings.Builder
	for d := range times + 1 {
		for i := range n {
			if d == 0 {
				fmt.Fprintf(&out, "\nleader_acquired_total{instance=\"old%d\"} 7x%d stale", i, 9+2*i)
				continue
			}
			fmt.Fprintf(&out, "\nleader_acquired_total{instance=\"d%d-%d\"} %s0 1x88 stale", d, i, repeated("_", 10+(d-1)*90+2*i))
		}
	}
	return out.String() + "\n"
}
