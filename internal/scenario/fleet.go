package scenario

import (
	"fmt"
	"strings"
	"time"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// What simulated fleets showed of absent leaders: strangers, canaries, dead
// nodes, long leases, clocks that differ.

// repeated is a text some times over.
func repeated(s string, times int) string { return strings.Repeat(s+" ", max(times, 0)) }

func absentLeaderScenarios() []Scenario {
	const free = `
		leader_active{instance="i1"} 1x9 0x110
		leader_active{instance="i2"} 0x120
		up{instance="i1"} 1x120
		up{instance="i2"} 1x120`
	return []Scenario{
		{ID: "B14", Name: "a canary with a job label of its own never leads", Every: 30 * time.Second, End: 30 * time.Minute,
			Load: held + `
				leader_elector_info{job="a-canary",mode="hold",backend="etcd",family="orders"} 1x100
				leader_active{instance="i1"} 1x100
				leader_active{instance="c1",job="a-canary"} 0x100`},
		{ID: "B15", Name: "a pod without a lock crash-loops in the same job, up once in five minutes", Every: 30 * time.Second, End: 50 * time.Minute,
			Load: held + free + `
				up{instance="z"} ` + repeated("1 0 0 0 0 0 0 0 0 0", 12),
			Want: "NoLeader/critical 6m30s.. = 1"},
		{ID: "B15", Name: "a standby misses a scrape every minute and a half, at 15 s", Every: 15 * time.Second, End: 20 * time.Minute,
			Load: held + `
				leader_active{instance="i1"} 1x9 0x110
				leader_active{instance="i2"} ` + repeated("0 0 0 0 0 stale", 20) + `
				up{instance="i1"} 1x120
				up{instance="i2"} ` + repeated("1 1 1 1 1 0", 20),
			Want: "NoLeader/critical 4m15s.. = 1"},
		{ID: "B15", Name: "the replica that led before misses a scrape every minute and a half", Every: 30 * time.Second, End: 20 * time.Minute,
			Load: held + `
				leader_lease_expiry_timestamp_seconds{instance="i1"} 15+30x9 stale
				leader_active{instance="i1"} 1x9 0 0 ` + repeated("stale 0 0", 20) + `
				leader_active{instance="i2"} 0x110
				up{instance="i1"} 1x9 1 1 ` + repeated("0 1 1", 20) + `
				up{instance="i2"} 1x120`,
			Want: "NoLeader/critical 6m30s.. = 1"},
		{ID: "B16", Name: "the node of the leader dies with a lease of 15 s, its target stays, and no replica takes over", Every: 30 * time.Second, End: 20 * time.Minute,
			Load: held + `
				leader_lease_duration_seconds 15x100
				leader_lease_expiry_timestamp_seconds{instance="i1"} 12+30x9 stale
				leader_active{instance="i1"} 1x9 stale
				leader_last_acquired_timestamp_seconds{instance="i1"} -60x9 stale
				leader_active{instance="i2"} 0x100
				leader_active{instance="i3"} 0x100
				leader_not_acquired_total{instance="i2",reason="timeout"} 0x9 1+3x90
				leader_not_acquired_total{instance="i3",reason="contended"} 3x100
				up{instance="i1"} 1x9 0x100
				up{instance="i2"} 1x100
				up{instance="i3"} 1x100`,
			Want: "NoLeader/critical 6m30s.. = 1\nScrapeFailing/warning 10m.. = 1"},
		{ID: "B16", Name: "the node of the leader dies with its target, and no replica takes over", Every: 30 * time.Second, End: 20 * time.Minute,
			Load: held + `
				leader_lease_expiry_timestamp_seconds{instance="i1"} 12+30x9 stale
				leader_active{instance="i1"} 1x9 stale
				leader_active{instance="i2"} 0x100
				up{instance="i1"} 1x9 stale
				up{instance="i2"} 1x100`,
			Want: "NoLeader/critical 6m30s.. = 1"},
		{ID: "B16", Name: "a leader with a lease of a minute is not scraped for two minutes", Every: 30 * time.Second, End: 20 * time.Minute,
			Load: held + `
				leader_lease_expiry_timestamp_seconds{instance="i1"} 55+30x9 stale _x3 475+30x20
				leader_active{instance="i1"} 1x9 stale _x3 1x60
				leader_last_acquired_timestamp_seconds{instance="i1"} -60x9 stale _x3 -60x60
				leader_active{instance="i2"} 0x100
				leader_pending_age_seconds{instance="i2"} 60+30x100
				up{instance="i1"} 1x9 0x3 1x60
				up{instance="i2"} 1x100`},
		{ID: "B17", Name: "a leader with a lease of an hour crashes, and its lease ends without a successor", Every: 30 * time.Second, End: 75 * time.Minute,
			Load: held + `
				leader_lease_expiry_timestamp_seconds{instance="i1"} 3600x9 stale
				leader_active{instance="i1"} 1x9 stale
				leader_active{instance="i2"} 0x200
				up{instance="i2"} 1x200`,
			Want: "NoLeader/critical 1h45s.. = 1\nNoLeader/warning 10m..1h3m45s = 1"},
		{ID: "B17", Name: "a leader with a lease of an hour crashes, and another replica wins at its end", Every: 30 * time.Second, End: 75 * time.Minute,
			Load: held + `
				leader_lease_expiry_timestamp_seconds{instance="i1"} 3600x9 stale
				leader_active{instance="i1"} 1x9 stale
				leader_active{instance="i2"} 0x121 1x200
				leader_lease_duration_seconds{instance="i2"} 3600x400
				leader_pending_age_seconds{instance="i2"} 0+30x121 0x200
				up{instance="i2"} 1x200`,
			Want: "NoLeader/warning 10m..1h4m = 1"},
		{ID: "B18", Name: "a lease of an hour is given back, its holder is retired, and no replica follows", Every: 30 * time.Second, End: 30 * time.Minute,
			Load: held + `
				leader_lease_expiry_timestamp_seconds{instance="i1"} 3600x9 stale
				leader_active{instance="i1"} 1x9 0x3 stale
				leader_last_ended_timestamp_seconds{instance="i1"} _x10 285x3 stale
				leader_active{instance="i2"} 0x200
				up{instance="i2"} 1x200`,
			Want: "NoLeader/critical 6m30s.. = 1"},
		{ID: "B19", Name: "the leader dies, the next one gives up after a minute, and no replica follows", Every: 30 * time.Second, End: 20 * time.Minute,
			Load: held + `
				leader_active{instance="i1"} 1x9 stale
				leader_active{instance="i2"} 0x10 1x1 0x100
				leader_last_acquired_timestamp_seconds{instance="i1"} -9000x9 stale
				leader_last_acquired_timestamp_seconds{instance="i2"} _x11 325x100
				up{instance="i1"} 1x9 0x100
				up{instance="i2"} 1x100`,
			Want: "NoLeader/critical 8m.. = 1\nScrapeFailing/warning 10m.. = 1"},
		{ID: "B20", Name: "blue and green of one lock are switched, and switched back", Every: 30 * time.Second, End: 40 * time.Minute,
			Load: `
				leader_elector_info{job="blue",mode="hold",backend="etcd",family="orders"} 1x100
				leader_elector_info{job="green",mode="hold",backend="etcd",family="orders"} 1x100
				leader_active{instance="b1",job="blue"} 1x29 0x29 1x60
				leader_last_ended_timestamp_seconds{instance="b1",job="blue"} _x30 885x60
				leader_active{instance="g1",job="green"} 0x30 1x28 0x60
				leader_last_ended_timestamp_seconds{instance="g1",job="green"} _x60 1785x60`},
		{ID: "B21", Name: "two services name their locks alike, on different backends, and one has no leader", Every: 30 * time.Second, End: 20 * time.Minute,
			Load: `
				leader_elector_info{job="blue",mode="hold",backend="etcd",family="orders"} 1x100
				leader_elector_info{job="green",mode="hold",backend="redis",family="orders"} 1x100
				leader_active{instance="b1",job="blue"} 1x100
				leader_active{instance="g1",job="green"} 0x100`,
			Want: `NoLeader/critical{job="green"} 1m15s.. = 1`},
		{ID: "B22", Name: "two services name their locks alike, of different families, and one has no leader", Every: 30 * time.Second, End: 20 * time.Minute,
			Load: `
				leader_elector_info{job="blue",mode="hold",backend="etcd",family="orders"} 1x100
				leader_elector_info{job="green",mode="hold",backend="etcd",family="bills"} 1x100
				leader_active{instance="b1",job="blue"} 1x100
				leader_active{instance="g1",job="green"} 0x100`,
			Want: `NoLeader/critical{job="green"} 1m15s.. = 1`},
		{ID: "B23", Name: "two namespaces have a lock of the same name, and one has no leader", Every: 60 * time.Second, End: 20 * time.Minute,
			Load: `
				leader_elector_info{namespace="p",mode="hold",backend="etcd"} 1x100
				leader_elector_info{namespace="q",mode="hold",backend="etcd"} 1x100
				leader_active{instance="b1",namespace="p"} 1x100
				leader_active{instance="g1",namespace="q"} 0x100`,
			Want: `NoLeader/critical{namespace="q"} 1m15s.. = 1`},
		{ID: "B24", Name: "a failover of a lease of 15 s, sampled every 60 s", Every: 60 * time.Second, End: 20 * time.Minute,
			Load: held + `
				leader_lease_expiry_timestamp_seconds{instance="i1"} 15+60x5 stale
				leader_active{instance="i1"} 1x5 stale
				leader_last_acquired_timestamp_seconds{instance="i1"} -60x5 stale
				leader_active{instance="i2"} 0x6 1x20
				up{instance="i1"} 1x5 0x40
				up{instance="i2"} 1x40`,
			Want: "ScrapeFailing/warning 11m.. = 1"},
		{ID: "B25", Name: "no replica of sixty leads, and each campaigns", Every: 30 * time.Second, End: 10 * time.Minute,
			Load: held + Fleet(60, catalog.Active.Name(), "0x40") + Fleet(60, catalog.Attempts.Name(), "1x40"),
			Want: "NoLeader/critical 1m15s.. = 1"},
		{ID: "E11", Name: "the whole backend goes away, and every standby of a held lock meets errors", Every: 30 * time.Second, End: 15 * time.Minute,
			Load: outage(10, 3, "3"),
			Want: "BackendErrors/critical 5m45s.. = 0.917\nBackendErrors/warning 10m.. = 0.968\nNoLeader/critical 6m.. = 1"},
		{ID: "E12", Name: "the whole backend goes away, and two standbys try once a minute", Every: 60 * time.Second, End: 15 * time.Minute,
			Load: outage(10, 2, "1"),
			Want: "BackendErrors/critical 11m.. = 0.667\nNoLeader/critical 11m.. = 1"},
		{ID: "E13", Name: "the whole backend goes away, sampled every 15 s", Every: 15 * time.Second, End: 10 * time.Minute,
			Load: outage(10, 4, "2"),
			Want: "BackendErrors/critical 3m15s.. = 0.917\nBackendErrors/warning 7m30s.. = 0.984\nNoLeader/critical 3m30s.. = 1"},
		{ID: "E14", Name: "the backend goes away for 90 s, and leadership comes back with it", Every: 30 * time.Second, End: 20 * time.Minute,
			Load: held + `
				leader_active{instance="i1"} 1x9 0x2 1x60
				leader_active{instance="i2"} 0x100
				leader_attempts_total{instance="i1"} 1x9 3 5 7 7x60
				leader_attempts_total{instance="i2"} 1x9 3 5 7 8x60
				leader_acquired_total{instance="i1"} 1x11 2x60
				leader_not_acquired_total{instance="i1",reason="backend_error"} 0x9 2 4 5x60
				leader_not_acquired_total{instance="i2",reason="backend_error"} 0x9 2 4 6x60`,
			Want: "BackendErrors/critical 5m15s..8m30s = 0.917\nNoLeader/critical 5m30s..6m30s = 1"},
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
