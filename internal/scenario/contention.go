package scenario

import (
	"fmt"
	"strings"
	"time"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// times prints the promtool notation of a value that stays for n intervals.
func times(value, n int) string { return fmt.Sprintf("%dx%d", value, n) }

func splitScenarios() []Scenario {
	return []Scenario{
		{ID: "S1", Name: "two replicas lead for three minutes", Every: 30 * time.Second, End: 20 * time.Minute,
			Load: held + `
				leader_active{instance="i1"} 1x40
				leader_active{instance="i2"} 0x9 1x6 0x30`,
			Want: "SplitBrain/critical 7m..13m30s = 2"},
		{ID: "S2", Name: "a handover straddles two scrapes", Every: 30 * time.Second, End: 20 * time.Minute,
			Load: held + `
				leader_active{instance="i1"} 1x10 0x30
				leader_active{instance="i2"} 0x9 1x31`},
		{ID: "S3", Name: "two namespaces have a lock of the same name", Every: 30 * time.Second, End: 20 * time.Minute,
			Load: `
				leader_elector_info{mode="hold",namespace="p"} 1x40
				leader_elector_info{mode="hold",namespace="q"} 1x40
				leader_max_leaders{namespace="p"} 1x40
				leader_max_leaders{namespace="q"} 1x40
				leader_active{instance="i1",namespace="p"} 1x40
				leader_active{instance="i2",namespace="q"} 1x40`},
		{ID: "S4", Name: "two Prometheus replicas see one leader", Every: 30 * time.Second, End: 20 * time.Minute,
			Load: held + `
				leader_active{instance="i1",prometheus_replica="0"} 1x40
				leader_active{instance="i1",prometheus_replica="1"} 1x40`},
		{ID: "S5", Name: "the last sample of a dead leader lingers", Every: 30 * time.Second, End: 20 * time.Minute,
			Load: held + `
				leader_active{instance="i1"} 1x9
				leader_active{instance="i2"} 0x9 1x31`},
		{ID: "S6", Name: "two jobs contend for one lock", Every: 30 * time.Second, End: 20 * time.Minute,
			Load: held + `
				leader_max_leaders{job="b"} 1x40
				leader_active{instance="i1",job="a"} 1x40
				leader_active{instance="i2",job="b"} 1x40`,
			Limit: "with job in scope two jobs are two locks: take job out of scopeLabels for a lock that jobs share"},
		{ID: "S7", Name: "one pod is scraped on two ports", Every: 30 * time.Second, End: 20 * time.Minute,
			Load: held + `
				leader_active{instance="i1:80",pod="p"} 1x40
				leader_active{instance="i1:90",pod="p"} 1x40`,
			Want:  "SplitBrain/critical 2m.. = 2",
			Limit: "instance tells ports apart, not replicas: use pod as holderLabel"},
		{ID: "S8", Name: "a new replica leads after the old one is gone", Every: 30 * time.Second, End: 20 * time.Minute,
			Load: held + `
				leader_active{instance="i1"} 1x9 stale
				leader_active{instance="i2"} _x10 1x31`},
		{ID: "S9", Name: "an overlap shorter than window and hold", Every: 30 * time.Second, End: 20 * time.Minute,
			Load: held + `
				leader_active{instance="i1"} 1x40
				leader_active{instance="i2"} 0x9 1x2 0x30`,
			Limit: "what lasts less than two minutes is left to LeaseExceeded, WorkAfterLoss and fencing"},
		{ID: "S10", Name: "a group elector has as many leaders as it allows", Every: 30 * time.Second, End: 20 * time.Minute,
			Load: `
				leader_elector_info{mode="hold"} 1x40
				leader_max_leaders 3x40
				leader_active{instance="i1"} 2x40
				leader_active{instance="i2"} 1x40`},
		{ID: "S11", Name: "a group elector has more leaders than it allows", Every: 30 * time.Second, End: 20 * time.Minute,
			Load: `
				leader_elector_info{mode="hold"} 1x40
				leader_max_leaders 3x40
				leader_active{instance="i1"} 2x40
				leader_active{instance="i2"} 2x40`,
			Want: "SplitBrain/critical 2m.. = 4"},
		{ID: "S12", Name: "two leaders whose leases are both alive", Every: 30 * time.Second, End: 10 * time.Minute,
			Load: held + `
				leader_active{instance="i1"} 1x20
				leader_active{instance="i2"} 1x20
				leader_lease_expiry_timestamp_seconds{instance="i1"} 12+30x20
				leader_lease_expiry_timestamp_seconds{instance="i2"} 10+30x20`,
			Want: "SplitBrain/critical 2m.. = 2"},
		{ID: "S13", Name: "the clock of one of two leaders is 20 s behind", Every: 30 * time.Second, End: 10 * time.Minute,
			Load: held + `
				leader_active{instance="i1"} 1x20
				leader_active{instance="i2"} 1x20
				leader_lease_expiry_timestamp_seconds{instance="i1"} 12+30x20
				leader_lease_expiry_timestamp_seconds{instance="i2"} -10+30x20`,
			Want: "SplitBrain/critical 2m.. = 2"},
		{ID: "C05", Name: "a leader loses the lock and works on for three minutes", Every: 15 * time.Second, End: 10 * time.Minute,
			Load: held + `
				leader_active{instance="i1"} 1x3 0x40
				leader_active{instance="i2"} 0x4 1x40
				leader_acquired_total{instance="i1"} 1x40
				leader_acquired_total{instance="i2"} 0x4 1x40
				leader_running{instance="i1"} 1x15 0x30
				leader_work_after_loss_seconds_total{instance="i1"} 0x4 15+15x11 180x40
				leader_work_after_loss_seconds_total{instance="i2"} 0x40`,
			Want: "WorkAfterLoss/critical 1m15s.. = 15"},
		{ID: "C15", Name: "the loss is never reported, and the lease end ends the claim", Every: 15 * time.Second, End: 10 * time.Minute,
			Load: held + `
				leader_active{instance="i1"} 1x7 0x40
				leader_active{instance="i2"} 0x7 1x40`},
		{ID: "C21", Name: "two tenants beyond the cap are led by two pods", Every: 15 * time.Second, End: 10 * time.Minute,
			Load: `
				leader_max_leaders{lock_name="overflow"} 1x40
				leader_active{instance="i1",lock_name="overflow"} 1x40
				leader_active{instance="i2",lock_name="overflow"} 1x40
				leader_max_leaders{lock_name="tenant-*/orders"} 1x40
				leader_active{instance="i1",lock_name="tenant-*/orders"} 1x40
				leader_active{instance="i2",lock_name="tenant-*/orders"} 1x40`,
			Want:  "LabelOverflow/warning 5m.. = 2",
			Limit: "a label that locks share says nothing about one of them"},
		{ID: "C21", Name: "a View drops the names of locks, and one replica leads three of them", Every: 15 * time.Second, End: 15 * time.Minute,
			Load: `
				leader_elector_info{lock_name="",mode="hold"} 1x60
				leader_max_leaders{lock_name=""} 1x60
				leader_active{instance="i1",lock_name=""} 3x60
				leader_active{instance="i2",lock_name=""} 0x60
				leader_acquired_total{instance="i1",lock_name=""} 3x60
				leader_lease_duration_seconds{instance="i1",lock_name=""} 15x60
				leader_lease_headroom_seconds{instance="i1",lock_name=""} 2x60`,
			Limit: "without names nothing can be said of one lock"},
		{ID: "C35", Name: "a dead pod stops pushing", Every: 15 * time.Second, End: 15 * time.Minute,
			Load: held + `
				leader_active{instance="i1"} 1x20
				leader_lease_expiry_timestamp_seconds{instance="i1"} 12+15x20
				leader_active{instance="i2"} _x21 1x60
				leader_lease_expiry_timestamp_seconds{instance="i2"} _x21 327+15x60`},
		{ID: "C35", Name: "a collector repeats what a dead pod pushed", Every: 15 * time.Second, End: 15 * time.Minute,
			Load: held + `
				leader_active{instance="i1"} 1x40
				leader_lease_expiry_timestamp_seconds{instance="i1"} 12+15x20 312x20
				leader_active{instance="i2"} _x21 1x60
				leader_lease_expiry_timestamp_seconds{instance="i2"} _x21 327+15x60`},
		{ID: "C35", Name: "a collector repeats what a dead pod pushed, and the lease end is not known", Every: 15 * time.Second, End: 20 * time.Minute,
			Load: held + `
				leader_active{instance="i1"} 1x40 stale
				leader_active{instance="i2"} _x21 1x60`,
			Want:  "SplitBrain/critical 7m15s..15m15s = 2",
			Limit: "without a lease end a repeated sample looks alive: shorten the collector's expiry below two minutes"},
	}
}

func flappingScenarios() []Scenario {
	return []Scenario{
		{ID: "D1", Name: "two replicas take turns", Every: 30 * time.Second, End: 30 * time.Minute,
			Load: held + `
				leader_active{instance="i1"} 1x60
				leader_active{instance="i2"} 0x60
				leader_acquired_total{instance="i1"} 1x7 2x7 3x7 4x7 5x40
				leader_acquired_total{instance="i2"} 0x3 1x7 2x7 3x7 4x40`,
			Want: "Flapping/warning 11m.. = 5.05"},
		{ID: "D2", Name: "a crash loop under fresh names, seen by nobody's increase", Every: 30 * time.Second, End: 30 * time.Minute,
			Load: held + relay(6, 4, 30*time.Second, 0, 3),
			Want: "Flapping/warning 9m.. = 5\nMetricsAbsent/critical 18m.. = 1"},
		{ID: "D3", Name: "a rolling restart moves the leader three times", Every: 30 * time.Second, End: 30 * time.Minute,
			Load: held + `
				leader_active{instance="i1"} 1x60
				leader_active{instance="i2"} 0x60
				leader_active{instance="i3"} 0x60
				leader_acquired_total{instance="i1"} 1x10 2x50
				leader_acquired_total{instance="i2"} 0x14 1x50
				leader_acquired_total{instance="i3"} 0x18 1x50`},
		{ID: "D4", Name: "a process is first seen after 500 acquisitions", Every: 30 * time.Second, End: 30 * time.Minute,
			Load: held + `
				leader_active{instance="i1"} _x20 1x60
				leader_acquired_total{instance="i1"} _x20 500x60
				leader_last_acquired_timestamp_seconds{instance="i1"} _x20 590x60`},
		{ID: "D5", Name: "a process restarts in place and wins before each first sample", Every: 30 * time.Second, End: 30 * time.Minute,
			Load: held + `
				leader_active{instance="i1"} 1x60
				leader_acquired_total{instance="i1"} 1x60`,
			Limit: "each restart looks like the one before: only a fencing token would tell"},
		{ID: "D6", Name: "every run of a run-style lock is an acquisition", Every: 30 * time.Second, End: 30 * time.Minute,
			Load: ran + `
				leader_active{instance="i1"} 0x60
				leader_attempts_total{instance="i1"} 0+1x60
				leader_acquired_total{instance="i1"} 0+1x60`},
		{ID: "D7", Name: "Prometheus starts beside ten replicas that have all led before", Every: 15 * time.Second, End: 20 * time.Minute,
			Load: led(10) + Fleet(10, catalog.Acquired.Name(), "9x80") + Fleet(10, catalog.LastAcquired.Name(), "-7200x80")},
		{ID: "D8", Name: "ten replicas restart one after the other", Every: 15 * time.Second, End: 30 * time.Minute,
			Load: led(10) + restart(10, 20, 3, 1)},
		{ID: "D9", Name: "two Prometheus replicas see three handovers each", Every: 30 * time.Second, End: 30 * time.Minute,
			Load: held + `
				leader_active{instance="i1",prometheus_replica="0"} 1x60
				leader_active{instance="i1",prometheus_replica="1"} 1x60
				leader_acquired_total{instance="i1",prometheus_replica="0"} 1x9 2x9 3x9 4x60
				leader_acquired_total{instance="i1",prometheus_replica="1"} 1x9 2x9 3x9 4x60`},
		{ID: "D10", Name: "a lone replica in a crash loop is mostly not there", Every: 15 * time.Second, End: 20 * time.Minute,
			Load: relay(12, 6, 15*time.Second, 0, 1) + `
				leader_elector_info{mode="hold"} ` + strings.Repeat("1 1 stale _x3 ", 12),
			Want: "Flapping/warning 7m.. = 5"},
		{ID: "D11", Name: "twenty tenants below one label are won in a rolling restart", Every: 15 * time.Second, End: 20 * time.Minute,
			Load: `
				leader_elector_info{mode="hold",lock_name="tenant-*/orders"} 1x80
				leader_active{instance="i1",lock_name="tenant-*/orders"} 20x80
				leader_acquired_total{instance="i1",lock_name="tenant-*/orders"} 0x20 20x60`},
		{ID: "C10", Name: "renewals and losses are no handovers", Every: 30 * time.Second, End: 30 * time.Minute,
			Load: held + `
				leader_active{instance="i1"} 1x60
				leader_active{instance="i2"} 0x60
				leader_renewals_total{instance="i1",result="ok"} 0+15x60
				leader_terms_ended_total{instance="i1",cause="lost"} 0x9 1x60
				leader_terms_ended_total{instance="i2",cause="lost"} 0x19 1x60
				leader_acquired_total{instance="i1"} 1x19 2x60
				leader_acquired_total{instance="i2"} 0x9 1x60`},
		{ID: "C28", Name: "a rolling restart of three, born at 0", Every: 15 * time.Second, End: 20 * time.Minute,
			Load: led(3) + restart(3, 20, 6, 1)},
		{ID: "C28", Name: "a rolling restart of three, born at 1", Every: 15 * time.Second, End: 20 * time.Minute,
			Load: led(3) + restart(3, 20, 6, 0)},
		{ID: "C28", Name: "a rolling restart of five, 30 s apart", Every: 15 * time.Second, End: 20 * time.Minute,
			Load: led(5) + restart(5, 20, 2, 1)},
		{ID: "C28", Name: "a rolling restart of two with a gap of one lease", Every: 15 * time.Second, End: 20 * time.Minute,
			Load: held + `
				leader_lease_duration_seconds 15x80
				leader_active{instance="i1"} 1x19 stale
				leader_active{instance="i2"} 0x20 1x5 stale
				leader_active{instance="i3"} _x20 0x6 1x60` + restart(2, 20, 6, 0)},
		{ID: "C29", Name: "a crash loop with fresh pod names, born at 1", Every: 15 * time.Second, End: 10 * time.Minute,
			Load: held + relay(7, 6, 15*time.Second, 0, 4),
			Want: "Flapping/warning 7m.. = 5"},
		{ID: "C29", Name: "a crash loop with fresh pod names, seen at 0 first", Every: 15 * time.Second, End: 10 * time.Minute,
			Load: held + relay(7, 6, 15*time.Second, 1, 3),
			Want: "Flapping/warning 7m15s.. = 5.75"},
		{ID: "C39", Name: "leadership is lost and regained twice between samples", Every: 15 * time.Second, End: 10 * time.Minute,
			Load: held + `
				leader_active{instance="i1"} 1x40
				leader_acquired_total{instance="i1"} 7+2x40`,
			Want: "Flapping/warning 1m30s.. = 13"},
		{ID: "C39", Name: "leadership is lost and regained once an hour", Every: 15 * time.Second, End: 150 * time.Minute,
			Load: held + `
				leader_active{instance="i1"} 1x600
				leader_acquired_total{instance="i1"} 7x239 8x239 9x120`},
		{ID: "C56", Name: "two replicas push under one identity", Every: 30 * time.Second, End: 9*time.Minute + 45*time.Second,
			Load: held + `
				leader_active{instance="i1"} 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0
				leader_acquired_total{instance="i1"} 100 40 100 40 100 40 100 40 100 40 100 40 100 40 100 40 100 40 100 40`,
			Want:  "Flapping/warning 1m30s.. = 163",
			Limit: "without service.instance.id two replicas are one that restarts at every sample"},
		{ID: "C56", Name: "two replicas push under their own identities", Every: 30 * time.Second, End: 10 * time.Minute,
			Load: held + `
				leader_active{instance="i1"} 1x20
				leader_active{instance="i2"} 0x20
				leader_acquired_total{instance="i1"} 100x20
				leader_acquired_total{instance="i2"} 40x20`},
	}
}

// fleet is the same series on n replicas.
// Fleet is a series for each of n replicas.
func Fleet(n int, metric, values string) string {
	var out strings.Builder
	for i := range n {
		fmt.Fprintf(&out, "\n%s{instance=\"f%d\"} %s", metric, i, values)
	}
	return out.String() + "\n"
}

// led is a held lock with a leader and enough followers to make n replicas.
func led(n int) string {
	return held + Fleet(n-1, catalog.Active.Name(), "0x120") + `leader_active{instance="leader"} 1x120` + "\n"
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
