package alerts

import (
	"fmt"
	"strings"
	"time"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// What simulated fleets showed of many replicas, and of locks that move.

func crowdScenarios() []scenario {
	two := func(extra string) string {
		return `
			leader_elector_info{mode="hold",backend="etcd",family="orders"} 1x700
			leader_active{instance="i1"} 1x40
			leader_active{instance="i2"} 1x40` + extra
	}
	return []scenario{
		{id: "S14", name: "two leaders, and nothing says how many are allowed", every: 30 * time.Second, end: 10 * time.Minute,
			load: two(""), want: "SplitBrain/critical 1m.. = 2"},
		{id: "S14", name: "one leader, and nothing says how many are allowed", every: 30 * time.Second, end: 10 * time.Minute,
			load: `
				leader_elector_info{mode="hold",backend="etcd",family="orders"} 1x700
				leader_active{instance="i1"} 1x40
				leader_active{instance="i2"} 0x40`},
		{id: "S15", name: "the clock of one of two leaders is 60 s behind", every: 30 * time.Second, end: 10 * time.Minute,
			load: two(`
				leader_lease_expiry_timestamp_seconds{instance="i1"} 12+30x40
				leader_lease_expiry_timestamp_seconds{instance="i2"} -50+30x40`),
			want: "SplitBrain/critical 1m.. = 2"},
		{id: "S15", name: "the clock of one of two leaders is 60 s behind, at 60 s", every: 60 * time.Second, end: 10 * time.Minute,
			load: two(`
				leader_lease_expiry_timestamp_seconds{instance="i1"} 12+60x40
				leader_lease_expiry_timestamp_seconds{instance="i2"} -50+60x40`),
			want: "SplitBrain/critical 1m.. = 2"},
		{id: "S15", name: "the clock of one of two leaders is five minutes behind, at 15 s", every: 15 * time.Second, end: 10 * time.Minute,
			load: two(`
				leader_lease_expiry_timestamp_seconds{instance="i1"} 12+15x40
				leader_lease_expiry_timestamp_seconds{instance="i2"} -290+15x40`),
			want: "SplitBrain/critical 1m.. = 2"},
		{id: "S16", name: "a rollout raises the number of leaders that are allowed", every: 30 * time.Second, end: 10 * time.Minute,
			load: two(`
				leader_max_leaders{instance="i1"} 1x40
				leader_max_leaders{instance="i2"} 2x40`)},
		{id: "S17", name: "a handover straddles two scrapes of 60 s", every: 60 * time.Second, end: 20 * time.Minute,
			load: held + `
				leader_active{instance="i1"} 1x10 0x30
				leader_active{instance="i2"} 0x9 1x31`},
		{id: "S18", name: "two replicas lead for four minutes, sampled every 60 s", every: 60 * time.Second, end: 20 * time.Minute,
			load: held + `
				leader_active{instance="i1"} 1x40
				leader_active{instance="i2"} 0x4 1x3 0x30`,
			want: "SplitBrain/critical 6m15s..14m = 2"},
		{id: "S19", name: "a lease of ten minutes is renewed every five, and both leaders claim it", every: 30 * time.Second, end: 20 * time.Minute,
			load: two(`
				leader_lease_expiry_timestamp_seconds{instance="i1"} 600x9 900x9 1200x9 1500x40
				leader_lease_expiry_timestamp_seconds{instance="i2"} 550x9 850x9 1150x9 1450x40`),
			want: "SplitBrain/critical 1m.. = 2"},
		{id: "D12", name: "ten replicas with lasting names restart one after the other", every: 15 * time.Second, end: 30 * time.Minute,
			load: led(10) + inPlace(10, 20, 3)},
		{id: "D13", name: "two of twenty replicas fight every minute", every: 30 * time.Second, end: 40 * time.Minute,
			load: held + fleet(18, catalog.Acquired.Name(), "0x120") + fleet(18, catalog.Active.Name(), "0x120") + `
				leader_active{instance="x1"} ` + repeated("1 1 0 0", 30) + `
				leader_active{instance="x2"} ` + repeated("0 0 1 1", 30) + `
				leader_acquired_total{instance="x1"} ` + stairs(1, 4, 30) + `
				leader_acquired_total{instance="x2"} 0x1 ` + stairs(1, 4, 30),
			want: "Flapping/warning 6m.. = 6.12"},
		{id: "D14", name: "leadership moves every five minutes all day", every: 60 * time.Second, end: 3 * time.Hour,
			load: held + `
				leader_active{instance="x1"} 1x450
				leader_active{instance="x2"} 0x450
				leader_acquired_total{instance="x1"} ` + stairs(1, 10, 45) + `
				leader_acquired_total{instance="x2"} 0x4 ` + stairs(1, 10, 45),
			want: `Flapping/warning{variant="slow"} 1h35m.. = 19`},
		{id: "D15", name: "three deployments of five replicas in six hours", every: 60 * time.Second, end: 6 * time.Hour,
			load: held + `leader_active{instance="f0"} 1x400` + deployments(3, 5)},
		{id: "D16", name: "leadership moves every half hour all day", every: 60 * time.Second, end: 390 * time.Minute,
			load: held + `
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
