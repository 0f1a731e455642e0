package alerts

import (
	"fmt"
	"strings"
	"time"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// times prints the promtool notation of a value that stays for n intervals.
func times(value, n int) string { return fmt.Sprintf("%dx%d", value, n) }

func splitScenarios() []scenario {
	return []scenario{
		{id: "S1", name: "two replicas lead for three minutes", every: 30 * time.Second, end: 20 * time.Minute,
			load: held + `
				leader_active{instance="i1"} 1x40
				leader_active{instance="i2"} 0x9 1x6 0x30`,
			want: "SplitBrain/critical 6m45s..13m30s = 2"},
		{id: "S2", name: "a handover straddles two scrapes", every: 30 * time.Second, end: 20 * time.Minute,
			load: held + `
				leader_active{instance="i1"} 1x10 0x30
				leader_active{instance="i2"} 0x9 1x31`},
		{id: "S3", name: "two namespaces have a lock of the same name", every: 30 * time.Second, end: 20 * time.Minute,
			load: `
				leader_elector_info{mode="hold",namespace="p"} 1x40
				leader_elector_info{mode="hold",namespace="q"} 1x40
				leader_max_leaders{namespace="p"} 1x40
				leader_max_leaders{namespace="q"} 1x40
				leader_active{instance="i1",namespace="p"} 1x40
				leader_active{instance="i2",namespace="q"} 1x40`},
		{id: "S4", name: "two Prometheus replicas see one leader", every: 30 * time.Second, end: 20 * time.Minute,
			load: held + `
				leader_active{instance="i1",prometheus_replica="0"} 1x40
				leader_active{instance="i1",prometheus_replica="1"} 1x40`},
		{id: "S5", name: "the last sample of a dead leader lingers", every: 30 * time.Second, end: 20 * time.Minute,
			load: held + `
				leader_active{instance="i1"} 1x9
				leader_active{instance="i2"} 0x9 1x31`},
		{id: "S6", name: "two jobs contend for one lock", every: 30 * time.Second, end: 20 * time.Minute,
			load: held + `
				leader_max_leaders{job="b"} 1x40
				leader_active{instance="i1",job="a"} 1x40
				leader_active{instance="i2",job="b"} 1x40`,
			limit: "with job in scope two jobs are two locks: take job out of scopeLabels for a lock that jobs share"},
		{id: "S7", name: "one pod is scraped on two ports", every: 30 * time.Second, end: 20 * time.Minute,
			load: held + `
				leader_active{instance="i1:80",pod="p"} 1x40
				leader_active{instance="i1:90",pod="p"} 1x40`,
			want:  "SplitBrain/critical 1m.. = 2",
			limit: "instance tells ports apart, not replicas: use pod as holderLabel"},
		{id: "S8", name: "a new replica leads after the old one is gone", every: 30 * time.Second, end: 20 * time.Minute,
			load: held + `
				leader_active{instance="i1"} 1x9 stale
				leader_active{instance="i2"} _x10 1x31`},
		{id: "S9", name: "an overlap shorter than window and hold", every: 30 * time.Second, end: 20 * time.Minute,
			load: held + `
				leader_active{instance="i1"} 1x40
				leader_active{instance="i2"} 0x9 1x2 0x30`,
			limit: "what lasts less than two minutes is left to LeaseExceeded, WorkAfterLoss and fencing"},
		{id: "S10", name: "a group elector has as many leaders as it allows", every: 30 * time.Second, end: 20 * time.Minute,
			load: `
				leader_elector_info{mode="hold"} 1x40
				leader_max_leaders 3x40
				leader_active{instance="i1"} 2x40
				leader_active{instance="i2"} 1x40`},
		{id: "S11", name: "a group elector has more leaders than it allows", every: 30 * time.Second, end: 20 * time.Minute,
			load: `
				leader_elector_info{mode="hold"} 1x40
				leader_max_leaders 3x40
				leader_active{instance="i1"} 2x40
				leader_active{instance="i2"} 2x40`,
			want: "SplitBrain/critical 1m.. = 4"},
		{id: "S12", name: "two leaders whose leases are both alive", every: 30 * time.Second, end: 10 * time.Minute,
			load: held + `
				leader_active{instance="i1"} 1x20
				leader_active{instance="i2"} 1x20
				leader_lease_expiry_timestamp_seconds{instance="i1"} 12+30x20
				leader_lease_expiry_timestamp_seconds{instance="i2"} 10+30x20`,
			want: "SplitBrain/critical 1m.. = 2"},
		{id: "S13", name: "the clock of one of two leaders is 20 s behind", every: 30 * time.Second, end: 10 * time.Minute,
			load: held + `
				leader_active{instance="i1"} 1x20
				leader_active{instance="i2"} 1x20
				leader_lease_expiry_timestamp_seconds{instance="i1"} 12+30x20
				leader_lease_expiry_timestamp_seconds{instance="i2"} -10+30x20`,
			want: "SplitBrain/critical 1m.. = 2"},
		{id: "C05", name: "a leader loses the lock and works on for three minutes", every: 15 * time.Second, end: 10 * time.Minute,
			load: held + `
				leader_active{instance="i1"} 1x3 0x40
				leader_active{instance="i2"} 0x4 1x40
				leader_acquired_total{instance="i1"} 1x40
				leader_acquired_total{instance="i2"} 0x4 1x40
				leader_running{instance="i1"} 1x15 0x30
				leader_work_after_loss_seconds_total{instance="i1"} 0x4 15+15x11 180x40
				leader_work_after_loss_seconds_total{instance="i2"} 0x40`,
			want: "WorkAfterLoss/critical 1m15s.. = 15"},
		{id: "C15", name: "the loss is never reported, and the lease end ends the claim", every: 15 * time.Second, end: 10 * time.Minute,
			load: held + `
				leader_active{instance="i1"} 1x7 0x40
				leader_active{instance="i2"} 0x7 1x40`},
		{id: "C21", name: "two tenants beyond the cap are led by two pods", every: 15 * time.Second, end: 10 * time.Minute,
			load: `
				leader_max_leaders{lock_name="overflow"} 1x40
				leader_active{instance="i1",lock_name="overflow"} 1x40
				leader_active{instance="i2",lock_name="overflow"} 1x40
				leader_max_leaders{lock_name="tenant-*/orders"} 1x40
				leader_active{instance="i1",lock_name="tenant-*/orders"} 1x40
				leader_active{instance="i2",lock_name="tenant-*/orders"} 1x40`,
			want:  "LabelOverflow/warning 5m.. = 2",
			limit: "a label that locks share says nothing about one of them"},
		{id: "C21", name: "a View drops the names of locks, and one replica leads three of them", every: 15 * time.Second, end: 15 * time.Minute,
			load: `
				leader_elector_info{lock_name="",mode="hold"} 1x60
				leader_max_leaders{lock_name=""} 1x60
				leader_active{instance="i1",lock_name=""} 3x60
				leader_active{instance="i2",lock_name=""} 0x60
				leader_acquired_total{instance="i1",lock_name=""} 3x60
				leader_lease_duration_seconds{instance="i1",lock_name=""} 15x60
				leader_lease_headroom_seconds{instance="i1",lock_name=""} 2x60`,
			limit: "without names nothing can be said of one lock"},
		{id: "C35", name: "a dead pod stops pushing", every: 15 * time.Second, end: 15 * time.Minute,
			load: held + `
				leader_active{instance="i1"} 1x20
				leader_lease_expiry_timestamp_seconds{instance="i1"} 12+15x20
				leader_active{instance="i2"} _x21 1x60
				leader_lease_expiry_timestamp_seconds{instance="i2"} _x21 327+15x60`},
		{id: "C35", name: "a collector repeats what a dead pod pushed", every: 15 * time.Second, end: 15 * time.Minute,
			load: held + `
				leader_active{instance="i1"} 1x40
				leader_lease_expiry_timestamp_seconds{instance="i1"} 12+15x20 312x20
				leader_active{instance="i2"} _x21 1x60
				leader_lease_expiry_timestamp_seconds{instance="i2"} _x21 327+15x60`},
		{id: "C35", name: "a collector repeats what a dead pod pushed, and the lease end is not known", every: 15 * time.Second, end: 20 * time.Minute,
			load: held + `
				leader_active{instance="i1"} 1x40 stale
				leader_active{instance="i2"} _x21 1x60`,
			want:  "SplitBrain/critical 6m15s..16m15s = 2",
			limit: "without a lease end a repeated sample looks alive: shorten the collector's expiry below two minutes"},
	}
}

func flappingScenarios() []scenario {
	return []scenario{
		{id: "D1", name: "two replicas take turns", every: 30 * time.Second, end: 30 * time.Minute,
			load: held + `
				leader_active{instance="i1"} 1x60
				leader_active{instance="i2"} 0x60
				leader_acquired_total{instance="i1"} 1x7 2x7 3x7 4x7 5x40
				leader_acquired_total{instance="i2"} 0x3 1x7 2x7 3x7 4x40`,
			want: "Flapping/warning 11m.. = 5.05"},
		{id: "D2", name: "a crash loop under fresh names, seen by nobody's increase", every: 30 * time.Second, end: 30 * time.Minute,
			load: held + relay(6, 4, 30*time.Second, 0, 3),
			want: "Flapping/warning 9m.. = 5\nMetricsAbsent/critical 18m.. = 1"},
		{id: "D3", name: "a rolling restart moves the leader three times", every: 30 * time.Second, end: 30 * time.Minute,
			load: held + `
				leader_active{instance="i1"} 1x60
				leader_active{instance="i2"} 0x60
				leader_active{instance="i3"} 0x60
				leader_acquired_total{instance="i1"} 1x10 2x50
				leader_acquired_total{instance="i2"} 0x14 1x50
				leader_acquired_total{instance="i3"} 0x18 1x50`},
		{id: "D4", name: "a process is first seen after 500 acquisitions", every: 30 * time.Second, end: 30 * time.Minute,
			load: held + `
				leader_active{instance="i1"} _x20 1x60
				leader_acquired_total{instance="i1"} _x20 500x60
				leader_last_acquired_timestamp_seconds{instance="i1"} _x20 590x60`},
		{id: "D5", name: "a process restarts in place and wins before each first sample", every: 30 * time.Second, end: 30 * time.Minute,
			load: held + `
				leader_active{instance="i1"} 1x60
				leader_acquired_total{instance="i1"} 1x60`,
			limit: "each restart looks like the one before: only a fencing token would tell"},
		{id: "D6", name: "every run of a run-style lock is an acquisition", every: 30 * time.Second, end: 30 * time.Minute,
			load: ran + `
				leader_active{instance="i1"} 0x60
				leader_attempts_total{instance="i1"} 0+1x60
				leader_acquired_total{instance="i1"} 0+1x60`},
		{id: "D7", name: "Prometheus starts beside ten replicas that have all led before", every: 15 * time.Second, end: 20 * time.Minute,
			load: led(10) + fleet(10, catalog.Acquired.Name(), "9x80") + fleet(10, catalog.LastAcquired.Name(), "-7200x80")},
		{id: "D8", name: "ten replicas restart one after the other", every: 15 * time.Second, end: 30 * time.Minute,
			load: led(10) + restart(10, 20, 3, 1)},
		{id: "D9", name: "two Prometheus replicas see three handovers each", every: 30 * time.Second, end: 30 * time.Minute,
			load: held + `
				leader_active{instance="i1",prometheus_replica="0"} 1x60
				leader_active{instance="i1",prometheus_replica="1"} 1x60
				leader_acquired_total{instance="i1",prometheus_replica="0"} 1x9 2x9 3x9 4x60
				leader_acquired_total{instance="i1",prometheus_replica="1"} 1x9 2x9 3x9 4x60`},
		{id: "D10", name: "a lone replica in a crash loop is mostly not there", every: 15 * time.Second, end: 20 * time.Minute,
			load: relay(12, 6, 15*time.Second, 0, 1) + `
				leader_elector_info{mode="hold"} ` + strings.Repeat("1 1 stale _x3 ", 12),
			want: "Flapping/warning 7m.. = 5"},
		{id: "D11", name: "twenty tenants below one label are won in a rolling restart", every: 15 * time.Second, end: 20 * time.Minute,
			load: `
				leader_elector_info{mode="hold",lock_name="tenant-*/orders"} 1x80
				leader_active{instance="i1",lock_name="tenant-*/orders"} 20x80
				leader_acquired_total{instance="i1",lock_name="tenant-*/orders"} 0x20 20x60`},
		{id: "C10", name: "renewals and losses are no handovers", every: 30 * time.Second, end: 30 * time.Minute,
			load: held + `
				leader_active{instance="i1"} 1x60
				leader_active{instance="i2"} 0x60
				leader_renewals_total{instance="i1",result="ok"} 0+15x60
				leader_terms_ended_total{instance="i1",cause="lost"} 0x9 1x60
				leader_terms_ended_total{instance="i2",cause="lost"} 0x19 1x60
				leader_acquired_total{instance="i1"} 1x19 2x60
				leader_acquired_total{instance="i2"} 0x9 1x60`},
		{id: "C28", name: "a rolling restart of three, born at 0", every: 15 * time.Second, end: 20 * time.Minute,
			load: led(3) + restart(3, 20, 6, 1)},
		{id: "C28", name: "a rolling restart of three, born at 1", every: 15 * time.Second, end: 20 * time.Minute,
			load: led(3) + restart(3, 20, 6, 0)},
		{id: "C28", name: "a rolling restart of five, 30 s apart", every: 15 * time.Second, end: 20 * time.Minute,
			load: led(5) + restart(5, 20, 2, 1)},
		{id: "C28", name: "a rolling restart of two with a gap of one lease", every: 15 * time.Second, end: 20 * time.Minute,
			load: held + `
				leader_lease_duration_seconds 15x80
				leader_active{instance="i1"} 1x19 stale
				leader_active{instance="i2"} 0x20 1x5 stale
				leader_active{instance="i3"} _x20 0x6 1x60` + restart(2, 20, 6, 0)},
		{id: "C29", name: "a crash loop with fresh pod names, born at 1", every: 15 * time.Second, end: 10 * time.Minute,
			load: held + relay(7, 6, 15*time.Second, 0, 4),
			want: "Flapping/warning 7m.. = 5"},
		{id: "C29", name: "a crash loop with fresh pod names, seen at 0 first", every: 15 * time.Second, end: 10 * time.Minute,
			load: held + relay(7, 6, 15*time.Second, 1, 3),
			want: "Flapping/warning 7m15s.. = 5.75"},
		{id: "C39", name: "leadership is lost and regained twice between samples", every: 15 * time.Second, end: 10 * time.Minute,
			load: held + `
				leader_active{instance="i1"} 1x40
				leader_acquired_total{instance="i1"} 7+2x40`,
			want: "Flapping/warning 1m30s.. = 13"},
		{id: "C39", name: "leadership is lost and regained once an hour", every: 15 * time.Second, end: 150 * time.Minute,
			load: held + `
				leader_active{instance="i1"} 1x600
				leader_acquired_total{instance="i1"} 7x239 8x239 9x120`},
		{id: "C56", name: "two replicas push under one identity", every: 30 * time.Second, end: 10 * time.Minute,
			load: held + `
				leader_active{instance="i1"} 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0
				leader_acquired_total{instance="i1"} 100 40 100 40 100 40 100 40 100 40 100 40 100 40 100 40 100 40 100 40`,
			want:  "Flapping/warning 1m30s.. = 163",
			limit: "without service.instance.id two replicas are one that restarts at every sample"},
		{id: "C56", name: "two replicas push under their own identities", every: 30 * time.Second, end: 10 * time.Minute,
			load: held + `
				leader_active{instance="i1"} 1x20
				leader_active{instance="i2"} 0x20
				leader_acquired_total{instance="i1"} 100x20
				leader_acquired_total{instance="i2"} 40x20`},
	}
}

// fleet is the same series on n replicas.
func fleet(n int, metric, values string) string {
	var out strings.Builder
	for i := range n {
		fmt.Fprintf(&out, "\n%s{instance=\"f%d\"} %s", metric, i, values)
	}
	return out.String() + "\n"
}

// led is a held lock with a leader and enough followers to make n replicas.
func led(n int) string {
	return held + fleet(n-1, catalog.Active.Name(), "0x120") + `leader_active{instance="leader"} 1x120` + "\n"
}

// relay is n replicas that win at birth, each born so many samples after the
// one before. Their counters are 0 for the first samples given by zeros, and
// they live for some samples after.
func relay(n, apart int, every time.Duration, zeros, life int) string {
	var out strings.Builder
	for i := range n {
		before := strings.Repeat("_ ", i*apart)
		unwon, unborn := strings.Repeat("0 ", zeros), strings.Repeat("_ ", zeros)
		wonAt := int((time.Duration(i*apart+zeros) * every).Seconds())
		line := func(metric, values string) {
			fmt.Fprintf(&out, "\n%s{instance=\"r%d\"} %s%s stale", metric, i, before, values)
		}
		line(catalog.Acquired.Name(), unwon+times(1, life))
		line(catalog.Active.Name(), unwon+times(1, life))
		line(catalog.LastAcquired.Name(), unborn+times(wonAt, life))
	}
	return out.String() + "\n"
}

// restart replaces n replicas that won seven times long ago, the first at a
// sample and the others so many samples apart. New counters are 0 for the
// first samples given by zeros.
func restart(n, first, apart, zeros int) string {
	var out strings.Builder
	for i := range n {
		at := first + i*apart
		wonAt := (at + zeros) * 15
		fmt.Fprintf(&out, "\nleader_acquired_total{instance=\"old%d\"} 7x%d stale", i, at-1)
		fmt.Fprintf(&out, "\nleader_last_acquired_timestamp_seconds{instance=\"old%d\"} -86400x%d stale", i, at-1)
		before, unwon := strings.Repeat("_ ", at), strings.Repeat("0 ", zeros)
		fmt.Fprintf(&out, "\nleader_acquired_total{instance=\"new%d\"} %s%s1x80", i, before, unwon)
		fmt.Fprintf(&out, "\nleader_last_acquired_timestamp_seconds{instance=\"new%d\"} %s%s%dx80", i, before, strings.Repeat("_ ", zeros), wonAt)
	}
	return out.String() + "\n"
}
