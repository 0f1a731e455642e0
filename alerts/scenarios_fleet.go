package alerts

import (
	"fmt"
	"strings"
	"time"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// What simulated fleets showed: strangers, canaries, dead nodes, long leases,
// processes of seconds, clocks that differ.

// repeated is a text some times over.
func repeated(s string, times int) string { return strings.Repeat(s+" ", max(times, 0)) }

func absentLeaderScenarios() []scenario {
	const free = `
		leader_active{instance="i1"} 1x9 0x110
		leader_active{instance="i2"} 0x120
		up{instance="i1"} 1x120
		up{instance="i2"} 1x120`
	return []scenario{
		{id: "B14", name: "a canary with a job label of its own never leads", every: 30 * time.Second, end: 30 * time.Minute,
			load: held + `
				leader_elector_info{job="a-canary",mode="hold",backend="etcd",family="orders"} 1x100
				leader_active{instance="i1"} 1x100
				leader_active{instance="c1",job="a-canary"} 0x100`},
		{id: "B15", name: "a pod without a lock crash-loops in the same job, up once in five minutes", every: 30 * time.Second, end: 50 * time.Minute,
			load: held + free + `
				up{instance="z"} ` + repeated("1 0 0 0 0 0 0 0 0 0", 12),
			want: "NoLeader/critical 6m30s.. = 1"},
		{id: "B15", name: "a standby misses a scrape every minute and a half, at 15 s", every: 15 * time.Second, end: 20 * time.Minute,
			load: held + `
				leader_active{instance="i1"} 1x9 0x110
				leader_active{instance="i2"} ` + repeated("0 0 0 0 0 stale", 20) + `
				up{instance="i1"} 1x120
				up{instance="i2"} ` + repeated("1 1 1 1 1 0", 20),
			want: "NoLeader/critical 4m.. = 1"},
		{id: "B15", name: "the replica that led before misses a scrape every minute and a half", every: 30 * time.Second, end: 20 * time.Minute,
			load: held + `
				leader_lease_expiry_timestamp_seconds{instance="i1"} 15+30x9 stale
				leader_active{instance="i1"} 1x9 0 0 ` + repeated("stale 0 0", 20) + `
				leader_active{instance="i2"} 0x110
				up{instance="i1"} 1x9 1 1 ` + repeated("0 1 1", 20) + `
				up{instance="i2"} 1x120`,
			want: "NoLeader/critical 6m30s.. = 1"},
		{id: "B16", name: "the node of the leader dies with a lease of 15 s, its target stays, and no replica takes over", every: 30 * time.Second, end: 20 * time.Minute,
			load: held + `
				leader_lease_duration_seconds 15x100
				leader_lease_expiry_timestamp_seconds{instance="i1"} 12+30x9 stale
				leader_active{instance="i1"} 1x9 stale
				leader_active{instance="i2"} 0x100
				leader_active{instance="i3"} 0x100
				leader_not_acquired_total{instance="i2",reason="timeout"} 0x9 1+3x90
				leader_not_acquired_total{instance="i3",reason="contended"} 3x100
				up{instance="i1"} 1x9 0x100
				up{instance="i2"} 1x100
				up{instance="i3"} 1x100`,
			want: "NoLeader/critical 9m.. = 1\nScrapeFailing/warning 10m.. = 1"},
		{id: "B16", name: "the node of the leader dies with its target, and no replica takes over", every: 30 * time.Second, end: 20 * time.Minute,
			load: held + `
				leader_lease_expiry_timestamp_seconds{instance="i1"} 12+30x9 stale
				leader_active{instance="i1"} 1x9 stale
				leader_active{instance="i2"} 0x100
				up{instance="i1"} 1x9 stale
				up{instance="i2"} 1x100`,
			want: "NoLeader/critical 6m45s.. = 1"},
		{id: "B16", name: "a leader with a lease of a minute is not scraped for two minutes", every: 30 * time.Second, end: 20 * time.Minute,
			load: held + `
				leader_lease_expiry_timestamp_seconds{instance="i1"} 55+30x9 stale _x3 475+30x20
				leader_active{instance="i1"} 1x9 stale _x3 1x60
				leader_active{instance="i2"} 0x100
				up{instance="i1"} 1x9 0x3 1x60
				up{instance="i2"} 1x100`},
		{id: "B17", name: "a leader with a lease of an hour crashes, and its lease ends without a successor", every: 30 * time.Second, end: 75 * time.Minute,
			load: held + `
				leader_lease_expiry_timestamp_seconds{instance="i1"} 3600x9 stale
				leader_active{instance="i1"} 1x9 stale
				leader_active{instance="i2"} 0x200
				up{instance="i2"} 1x200`,
			want: "NoLeader/critical 1h2m.. = 1\nNoLeader/warning 10m..1h3m30s = 1"},
		{id: "B17", name: "a leader with a lease of an hour crashes, and another replica wins at its end", every: 30 * time.Second, end: 75 * time.Minute,
			load: held + `
				leader_lease_expiry_timestamp_seconds{instance="i1"} 3600x9 stale
				leader_active{instance="i1"} 1x9 stale
				leader_active{instance="i2"} 0x121 1x200
				up{instance="i2"} 1x200`,
			want: "NoLeader/warning 10m..1h3m30s = 1"},
		{id: "B18", name: "a lease of an hour is given back, its holder is retired, and no replica follows", every: 30 * time.Second, end: 30 * time.Minute,
			load: held + `
				leader_lease_expiry_timestamp_seconds{instance="i1"} 3600x9 stale
				leader_active{instance="i1"} 1x9 0x3 stale
				leader_active{instance="i2"} 0x200
				up{instance="i2"} 1x200`,
			want: "NoLeader/critical 6m30s.. = 1"},
		{id: "B19", name: "the leader dies, the next one gives up after a minute, and no replica follows", every: 30 * time.Second, end: 20 * time.Minute,
			load: held + `
				leader_active{instance="i1"} 1x9 stale
				leader_active{instance="i2"} 0x10 1x1 0x100
				leader_last_acquired_timestamp_seconds{instance="i1"} -9000x9 stale
				leader_last_acquired_timestamp_seconds{instance="i2"} _x11 325x100
				up{instance="i1"} 1x9 0x100
				up{instance="i2"} 1x100`,
			want: "NoLeader/critical 8m.. = 1\nScrapeFailing/warning 10m.. = 1"},
		{id: "B20", name: "blue and green of one lock are switched, and switched back", every: 30 * time.Second, end: 40 * time.Minute,
			load: `
				leader_elector_info{job="blue",mode="hold",backend="etcd",family="orders"} 1x100
				leader_elector_info{job="green",mode="hold",backend="etcd",family="orders"} 1x100
				leader_active{instance="b1",job="blue"} 1x29 0x29 1x60
				leader_active{instance="g1",job="green"} 0x30 1x28 0x60`},
		{id: "B21", name: "two services name their locks alike, on different backends, and one has no leader", every: 30 * time.Second, end: 20 * time.Minute,
			load: `
				leader_elector_info{job="blue",mode="hold",backend="etcd",family="orders"} 1x100
				leader_elector_info{job="green",mode="hold",backend="redis",family="orders"} 1x100
				leader_active{instance="b1",job="blue"} 1x100
				leader_active{instance="g1",job="green"} 0x100`,
			want: `NoLeader/critical{job="green"} 1m30s.. = 1`},
		{id: "B22", name: "two services name their locks alike, of different families, and one has no leader", every: 30 * time.Second, end: 20 * time.Minute,
			load: `
				leader_elector_info{job="blue",mode="hold",backend="etcd",family="orders"} 1x100
				leader_elector_info{job="green",mode="hold",backend="etcd",family="bills"} 1x100
				leader_active{instance="b1",job="blue"} 1x100
				leader_active{instance="g1",job="green"} 0x100`,
			want: `NoLeader/critical{job="green"} 1m30s.. = 1`},
		{id: "B23", name: "two namespaces have a lock of the same name, and one has no leader", every: 60 * time.Second, end: 20 * time.Minute,
			load: `
				leader_elector_info{namespace="p",mode="hold",backend="etcd"} 1x100
				leader_elector_info{namespace="q",mode="hold",backend="etcd"} 1x100
				leader_active{instance="b1",namespace="p"} 1x100
				leader_active{instance="g1",namespace="q"} 0x100`,
			want: `NoLeader/critical{namespace="q"} 1m30s.. = 1`},
		{id: "B24", name: "a failover of a lease of 15 s, sampled every 60 s", every: 60 * time.Second, end: 20 * time.Minute,
			load: held + `
				leader_lease_expiry_timestamp_seconds{instance="i1"} 15+60x5 stale
				leader_active{instance="i1"} 1x5 stale
				leader_active{instance="i2"} 0x6 1x20
				up{instance="i1"} 1x5 0x40
				up{instance="i2"} 1x40`,
			want: "ScrapeFailing/warning 11m.. = 1"},
		{id: "B25", name: "no replica of sixty leads, and each campaigns", metricsQL: "the first sample of a counter counts from zero", every: 30 * time.Second, end: 10 * time.Minute,
			load: held + fleet(60, catalog.Active.Name(), "0x40") + fleet(60, catalog.Attempts.Name(), "1x40"),
			want: "NoLeader/critical 1m30s.. = 1"},
		{id: "E11", name: "the whole backend goes away, and every standby of a held lock meets errors", every: 30 * time.Second, end: 15 * time.Minute,
			load: outage(10, 3, "3"),
			want: "BackendErrors/critical 6m30s.. = 0.902\nBackendErrors/warning 10m.. = 0.968\nNoLeader/critical 7m.. = 1"},
		{id: "E12", name: "the whole backend goes away, and two standbys try once a minute", every: 60 * time.Second, end: 15 * time.Minute,
			load: outage(10, 2, "1"),
			want: "BackendErrors/critical 12m.. = 0.889\nNoLeader/critical 12m30s.. = 1"},
		{id: "E13", name: "the whole backend goes away, sampled every 15 s", every: 15 * time.Second, end: 10 * time.Minute,
			load: outage(10, 5, "2"),
			want: "BackendErrors/critical 3m45s.. = 0.917\nBackendErrors/warning 7m30s.. = 0.984\nNoLeader/critical 4m15s.. = 1"},
		{id: "E14", name: "the backend goes away for 90 s, and leadership comes back with it", every: 30 * time.Second, end: 20 * time.Minute,
			load: held + `
				leader_active{instance="i1"} 1x9 0x2 1x60
				leader_active{instance="i2"} 0x100
				leader_attempts_total{instance="i1"} 1x9 3 5 7 7x60
				leader_attempts_total{instance="i2"} 1x9 3 5 7 8x60
				leader_acquired_total{instance="i1"} 1x11 2x60
				leader_not_acquired_total{instance="i1",reason="backend_error"} 0x9 2 4 5x60
				leader_not_acquired_total{instance="i2",reason="backend_error"} 0x9 2 4 6x60`,
			want: "BackendErrors/critical 6m..8m30s = 0.786"},
	}
}

// outage is a held lock whose leader loses its lease one sample after every
// attempt began to fail, on so many standbys.
func outage(at, standbys int, perSample string) string {
	var out strings.Builder
	fmt.Fprintf(&out, `
		leader_lease_duration_seconds 15x100
		leader_active{instance="i0"} 1x%[1]d 0x60
		leader_attempts_total{instance="i0"} 1x%[1]d 2+%[2]sx60
		leader_acquired_total{instance="i0"} 1x60
		leader_not_acquired_total{instance="i0",reason="backend_error"} 0x%[1]d 1+%[2]sx60
		up{instance="i0"} 1x100`, at, perSample)
	for i := range standbys {
		fmt.Fprintf(&out, `
		leader_active{instance="s%[1]d"} 0x100
		leader_attempts_total{instance="s%[1]d"} 1x%[2]d 2+%[3]sx60
		leader_acquired_total{instance="s%[1]d"} 0x60
		leader_not_acquired_total{instance="s%[1]d",reason="backend_error"} 0x%[2]d 1+%[3]sx60
		leader_not_acquired_total{instance="s%[1]d",reason="contended"} 0x60
		up{instance="s%[1]d"} 1x100`, i, at-1, perSample)
	}
	return held + out.String()
}

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

func briefScenarios() []scenario {
	return []scenario{
		{id: "M7", name: "a process of 40 s runs once an hour", every: 30 * time.Second, end: 4 * time.Hour,
			load: hourly(4, 2, "")},
		{id: "M8", name: "a process of 40 s runs once an hour under fresh names, sampled every 15 s", every: 15 * time.Second, end: 3 * time.Hour,
			load: hourly(3, 3, "fresh")},
		{id: "J15", name: "a process of 40 s that ran once an hour is dead for good", every: 30 * time.Second, end: 4 * time.Hour,
			load: hourly(2, 2, "fresh"),
			want: "JobOverdue/warning 2h34m30s.. = 5.52e+03"},
		{id: "J16", name: "a retired job is not overdue while its service lives", every: 30 * time.Second, end: 3 * time.Hour,
			load: `
				leader_active{instance="i1",lock_name="y"} 1x500
				leader_elector_info{instance="i1",mode="run"} 1x60 stale
				leader_active{instance="i1"} 0x60 stale
				leader_expected_interval_seconds{instance="i1"} 600x60 stale
				leader_last_acquired_timestamp_seconds{instance="i1"} 0x19 600x19 1200x19 1800x2 stale`,
			want: "LockVanished/warning 40m30s..1h30m = 1"},
		{id: "M9", name: "all replicas of a held leadership die with their targets, while other jobs export", every: 30 * time.Second, end: 4 * time.Hour,
			load: `
				leader_elector_info{instance="i1",mode="hold"} 1x39 stale
				leader_elector_info{instance="i2",mode="hold"} 1x39 stale
				leader_active{instance="i1"} 1x39 stale
				leader_active{instance="i2"} 0x39 stale
				up{instance="i1"} 1x39 stale
				up{instance="i2"} 1x39 stale
				leader_active{instance="z",job="z",lock_name="z"} 1x500`,
			want: "MetricsAbsent/critical 26m..3h19m30s = 1\nMetricsAbsent/warning 30m..1h14m30s = 40"},
		{id: "M10", name: "a service that held a lock gives it back and is switched off", every: 30 * time.Second, end: 2 * time.Hour,
			load: `
				leader_elector_info{instance="i1",mode="hold"} 1x39 stale
				leader_active{instance="i1"} 1x37 0x1 stale`,
			want: "MetricsAbsent/warning 30m..1h14m30s = 40"},
		{id: "M11", name: "a service of run-style locks dies in the middle of a run", every: 30 * time.Second, end: 2 * time.Hour,
			load: `
				leader_elector_info{instance="i1",mode="run"} 1x39 stale
				leader_active{instance="i1"} 0x35 1x3 stale`,
			want: "MetricsAbsent/warning 30m..1h14m30s = 40"},
		{id: "T14", name: "a process that is sampled once fails", every: 60 * time.Second, end: 30 * time.Minute,
			load: `
				leader_elector_info{instance="p1",mode="run"} _x10 1 stale
				leader_active{instance="p1"} _x10 0 stale
				leader_acquired_total{instance="p1"} _x10 1 stale
				leader_last_acquired_timestamp_seconds{instance="p1"} _x10 590 stale
				leader_execution_failures_total{instance="p1",cause="error"} _x10 1 stale`,
			want: "TaskFailing/warning 10m.. = 1"},
		{id: "H9", name: "a lease is about to expire, sampled every 60 s", every: 60 * time.Second, end: 15 * time.Minute,
			load: held + `
				leader_active{instance="i1"} 1x40
				leader_lease_duration_seconds{instance="i1"} 600x40
				leader_lease_headroom_seconds{instance="i1"} 600-60x20`,
			want: "LowHeadroom/warning 10m30s.. = 0"},
		{id: "H10", name: "one dip, sampled every 60 s", every: 60 * time.Second, end: 15 * time.Minute,
			load: held + `
				leader_active{instance="i1"} 1x40
				leader_lease_duration_seconds{instance="i1"} 600x40
				leader_lease_headroom_seconds{instance="i1"} 400x5 50 400x20`},
		{id: "H11", name: "a lease is about to expire, sampled every 15 s", every: 15 * time.Second, end: 15 * time.Minute,
			load: held + `
				leader_active{instance="i1"} 1x80
				leader_lease_duration_seconds{instance="i1"} 600x80
				leader_lease_headroom_seconds{instance="i1"} 600-15x80`,
			want: "LowHeadroom/warning 9m45s.. = 0.025"},
		{id: "L1", name: "one of three permits is held past its lease twice", every: 30 * time.Second, end: 30 * time.Minute,
			load: ran + `
				leader_attempts_total{instance="i1"} 0+1x60
				leader_acquired_total{instance="i1"} 0+1x60
				leader_lease_overruns_total{instance="i1"} 0x19 1x9 2x60
				leader_lease_overruns_total{instance="i2"} 0x60`,
			want: "LeaseExceeded/critical 10m.. = 1"},
		{id: "L2", name: "a process with overruns of yesterday has none today", every: 30 * time.Second, end: 30 * time.Minute,
			load: ran + `
				leader_attempts_total{instance="i1"} 70+1x60
				leader_acquired_total{instance="i1"} 70+1x60
				leader_lease_overruns_total{instance="i1"} 3x60`},
		{id: "L3", name: "a restart in place begins the overruns anew", every: 30 * time.Second, end: 30 * time.Minute,
			load: ran + `
				leader_attempts_total{instance="i1"} 70x20 0+1x60
				leader_acquired_total{instance="i1"} 70x20 0+1x60
				leader_lease_overruns_total{instance="i1"} 3x20 stale _x2 0x60`},
	}
}

// hourly is a job whose process runs once an hour for so many samples and
// does well.
func hourly(times, samples int, names string) string {
	perHour := 3600 / 30
	if samples == 3 {
		perHour = 3600 / 15
	}
	lines := map[string]string{}
	for i := range times {
		instance := "i1"
		if names == "fresh" {
			instance = fmt.Sprintf("p%d", i)
			for k := range lines {
				if !strings.Contains(k, instance) && !strings.HasSuffix(lines[k], "stale ") {
					lines[k] += "stale "
				}
			}
		}
		before := repeated("_", 5)
		if i > 0 {
			before = "stale " + repeated("_", perHour-samples-1)
		}
		if names == "fresh" {
			before = repeated("_", 5+i*perHour)
		}
		at := (5 + i*perHour) * 3600 / perHour
		for metric, value := range map[string]string{
			`leader_elector_info{mode="run",instance=%q}`:                "1",
			`leader_active{instance=%q}`:                                 "0",
			`leader_acquired_total{instance=%q}`:                         "1",
			`leader_attempts_total{instance=%q}`:                         "1",
			`leader_expected_interval_seconds{instance=%q}`:              "3600",
			`leader_last_acquired_timestamp_seconds{instance=%q}`:        fmt.Sprint(at - 2),
			`leader_execution_duration_seconds_count{instance=%q}`:       "1",
			`leader_execution_failures_total{instance=%q,cause="error"}`: "0",
		} {
			key := fmt.Sprintf(metric, instance)
			lines[key] += before + repeated(value, samples)
		}
	}
	var out strings.Builder
	for _, key := range sortedKeys(lines) {
		fmt.Fprintf(&out, "\n%s %s", key, strings.TrimSuffix(lines[key], "stale ")+"stale")
	}
	return out.String() + "\n"
}

func standbyScenarios() []scenario {
	return []scenario{
		{id: "N1", name: "two of three candidates leave for good", every: 30 * time.Second, end: 90 * time.Minute,
			load: `
				leader_max_leaders{instance="i1"} 1x300
				leader_elector_info{instance="i1",mode="hold"} 1x300
				leader_elector_info{instance="i2",mode="hold"} 1x99 stale
				leader_elector_info{instance="i3",mode="hold"} 1x119 stale
				leader_active{instance="i1"} 1x300
				leader_active{instance="i2"} 0x99 stale
				leader_active{instance="i3"} 0x119 stale`,
			want: "NoStandby/warning 1h10m.. = 1"},
		{id: "N2", name: "a lock has one candidate, which is replaced now and then", every: 30 * time.Second, end: 3 * time.Hour,
			load: `
				leader_elector_info{instance="i1",mode="hold"} 1x99 stale
				leader_elector_info{instance="i2",mode="hold"} _x101 1x99 stale
				leader_elector_info{instance="i3",mode="hold"} _x202 1x200
				leader_active{instance="i1"} 1x99 stale
				leader_active{instance="i2"} _x101 1x99 stale
				leader_active{instance="i3"} _x202 1x200`},
		{id: "N3", name: "a group elector of two has three candidates, and one leaves", every: 30 * time.Second, end: 2 * time.Hour,
			load: `
				leader_max_leaders 2x300
				leader_elector_info{instance="i1",mode="hold"} 1x300
				leader_elector_info{instance="i2",mode="hold"} 1x300
				leader_elector_info{instance="i3",mode="hold"} 1x99 stale
				leader_active{instance="i1"} 1x300
				leader_active{instance="i2"} 1x300
				leader_active{instance="i3"} 0x99 stale`,
			want: "NoStandby/warning 1h.. = 2"},
		{id: "N4", name: "one of three candidates leaves", every: 30 * time.Second, end: 2 * time.Hour,
			load: `
				leader_elector_info{instance="i1",mode="hold"} 1x300
				leader_elector_info{instance="i2",mode="hold"} 1x300
				leader_elector_info{instance="i3",mode="hold"} 1x99 stale
				leader_active{instance="i1"} 1x300
				leader_active{instance="i2"} 0x300
				leader_active{instance="i3"} 0x99 stale`},
		{id: "N5", name: "the only standby misses its scrapes for eight minutes", every: 30 * time.Second, end: 2 * time.Hour,
			load: `
				leader_elector_info{instance="i1",mode="hold"} 1x300
				leader_elector_info{instance="i2",mode="hold"} 1x149 stale _x15 1x200
				leader_active{instance="i1"} 1x300
				leader_active{instance="i2"} 0x149 stale _x15 0x200`},
		{id: "N6", name: "a run-style lock has one replica left", every: 30 * time.Second, end: 2 * time.Hour,
			load: ran + `
				leader_active{instance="i1"} 0x300
				leader_active{instance="i2"} 0x99 stale`},
		{id: "P1", name: "an attempt waits for longer than runs and waits explain", every: 30 * time.Second, end: 90 * time.Minute,
			load: ran + `
				leader_active{instance="i1"} 0x99 1x200
				leader_active{instance="i2"} 0x200
				leader_acquire_duration_seconds_count{instance="i1"} 0+1x99 99x200
				leader_acquire_duration_seconds_sum{instance="i1"} 0+20x99 1980x200
				leader_execution_duration_seconds_count{instance="i1"} 0+1x99 99x200
				leader_execution_duration_seconds_sum{instance="i1"} 0+200x99 19800x200
				leader_pending_age_seconds{instance="i1"} 0x300
				leader_pending_age_seconds{instance="i2"} 0x99 30+30x100`,
			want: "AttemptStuck/warning 1h.. = 630"},
		{id: "P2", name: "an attempt waits as long as runs take here", every: 30 * time.Second, end: 90 * time.Minute,
			load: ran + `
				leader_active{instance="i1"} 1x300
				leader_active{instance="i2"} 0x300
				leader_execution_duration_seconds_count{instance="i1"} 0x39 1x39 2x39 3x39 4x60
				leader_execution_duration_seconds_sum{instance="i1"} 0x39 1200x39 2400x39 3600x39 4800x60
				leader_pending_age_seconds{instance="i2"} 0x20 30+30x60 0x20 30+30x60 0x60`},
		{id: "P3", name: "the first run of a lock is long, and others wait", every: 30 * time.Second, end: 90 * time.Minute,
			load: ran + `
				leader_active{instance="i1"} 0x3 1x300
				leader_active{instance="i2"} 0x300
				leader_pending_age_seconds{instance="i2"} 0x3 30+30x300`},
		{id: "P4", name: "a standby waits for as long as the leader leads", every: 30 * time.Second, end: 90 * time.Minute,
			load: held + `
				leader_active{instance="i1"} 1x300
				leader_active{instance="i2"} 0x300
				leader_acquire_duration_seconds_count{instance="i1"} 1x300
				leader_acquire_duration_seconds_sum{instance="i1"} 2x300
				leader_pending_age_seconds{instance="i2"} 30+30x300`},
		{id: "P5", name: "the first attempts ever hang, and no replica holds the lock", every: 30 * time.Second, end: 40 * time.Minute,
			load: ran + `
				leader_active{instance="i1"} 0x100
				leader_pending_age_seconds{instance="i1"} 0x3 30+30x100`,
			want: "AttemptStuck/warning 12m.. = 630"},
		{id: "P6", name: "attempts below a shared label hang", every: 30 * time.Second, end: 40 * time.Minute,
			load: `
				leader_active{instance="i1",lock_name="tenant-*/orders"} 0x100
				leader_pending_age_seconds{instance="i1",lock_name="tenant-*/orders"} 0x3 30+30x100`,
			limit: "below a shared label the history is of one lock and the wait of another"},
		{id: "P7", name: "an attempt hangs where only native histograms are stored", every: 30 * time.Second, end: 60 * time.Minute, native: true,
			load: ran + `
				leader_active{instance="i1"} 0x100
				leader_acquire_duration_seconds{instance="i1"} {{schema:0 sum:0 count:0 buckets:[0]}}+{{schema:0 sum:2 count:1 buckets:[1]}}x49 {{schema:0 sum:98 count:49 buckets:[49]}}x60
				leader_pending_age_seconds{instance="i1"} 0x49 30+30x100`,
			want: "AttemptStuck/warning 35m.. = 630"},
	}
}
