package scenario

import (
	"fmt"
	"strings"
	"time"
)

// edgeScenarios lie beside a limit of a rule: a window, a factor, a count, or
// what tells two replicas, jobs or servers apart. A rule that is changed there
// gives another verdict.
func edgeScenarios() []Scenario {
	return append(leaderEdges(), append(handoverEdges(), append(eventEdges(), presenceEdges()...)...)...)
}

func leaderEdges() []Scenario {
	return []Scenario{
		{ID: "B28", Name: "three replicas campaign, and the leader gives up", Every: 30 * time.Second, End: 10 * time.Minute,
			Load: campaign("a", "orders", "i1", "i2", "i3") + `
				leader_active{instance="i1"} 1x5 0x40
				leader_active{instance="i2"} 0x40
				leader_active{instance="i3"} 0x40`,
			Want: "NoLeader/critical 4m30s.. = 1"},
		{ID: "B29", Name: "the leader crashes with a lease of an hour, and the others led before it", Every: 30 * time.Second, End: 20 * time.Minute,
			Load: campaign("a", "orders", "i2", "i3") + `
				leader_active{instance="i1"} 0x2 1x5 stale
				leader_active{instance="i2"} 0 1 0x100
				leader_active{instance="i3"} 0 0 1 0x100
				leader_lease_expiry_timestamp_seconds{instance="i1"} _x3 3600x5 stale
				leader_last_acquired_timestamp_seconds{instance="i1"} _x3 65x5 stale
				leader_last_acquired_timestamp_seconds{instance="i2"} _ 20x100
				leader_last_acquired_timestamp_seconds{instance="i3"} _x2 50x100`,
			Want: "NoLeader/warning 9m30s.. = 1"},
		{ID: "B30", Name: "the leader crashes with a lease of three hours, the next one is put in by hand and gives up after an hour", Every: 60 * time.Second, End: 90 * time.Minute,
			Load: held + `
				leader_active{instance="i1"} 0 1x4 stale
				leader_active{instance="i2"} 1 0x100
				leader_active{instance="i3"} 0x6 1x72 0x30
				leader_lease_expiry_timestamp_seconds{instance="i1"} _ 10800x4 stale
				leader_last_acquired_timestamp_seconds{instance="i1"} _ 55x4 stale
				leader_last_acquired_timestamp_seconds{instance="i2"} 10x100
				leader_last_acquired_timestamp_seconds{instance="i3"} _x7 415x100`,
			Want: "NoLeader/critical 1h21m.. = 1"},
		{ID: "B31", Name: "a replica dies in the middle of a run, with a lease of an hour", Every: 30 * time.Second, End: 20 * time.Minute,
			Load: ran + `
				leader_active{instance="i1"} 0x3 1x5 stale
				leader_active{instance="i2"} 0x100
				leader_lease_expiry_timestamp_seconds{instance="i1"} _x4 3600x5 stale
				leader_last_acquired_timestamp_seconds{instance="i1"} _x4 115x5 stale`},
		{ID: "B32", Name: "green takes over while the lease of blue still runs", Every: 30 * time.Second, End: 20 * time.Minute,
			Load: campaign("a", "orders", "i2", "i3") + campaign("b", "orders", "g1") + `
				leader_active{instance="i1"} 1x9 stale
				leader_active{instance="i2"} 0x100
				leader_active{instance="i3"} 0x100
				leader_active{job="b",instance="g1"} 0x9 1x100
				leader_lease_expiry_timestamp_seconds{instance="i1"} 1500x9 stale
				leader_last_acquired_timestamp_seconds{instance="i1"} 5x9 stale`},
		{ID: "B33", Name: "a rollout renames the family of a lock, and a new replica leads", Every: 30 * time.Second, End: 12 * time.Minute,
			Load: campaign("a", "orders", "i1") + campaign("a", "billing", "i2") + `
				leader_active{instance="i1"} 0x40
				leader_active{instance="i2"} 1x40`},
		{ID: "S20", Name: "two of three replicas lead, and each exports its limit", Every: 30 * time.Second, End: 10 * time.Minute,
			Load: campaign("a", "orders", "i1", "i2", "i3") + `
				leader_active{instance="i1"} 1x20
				leader_active{instance="i2"} 1x20
				leader_active{instance="i3"} 0x20`,
			Want: "SplitBrain/critical 2m.. = 2"},
		{ID: "S21", Name: "a collector repeats what a dead pod pushed, and two Prometheus servers scrape it", Every: 15 * time.Second, End: 10 * time.Minute,
			Load: held + twice(`
				leader_active{instance="i1",%s} 1x40
				leader_active{instance="i2",%s} _x21 1x60
				leader_lease_expiry_timestamp_seconds{instance="i1",%s} 12+15x20 312x20
				leader_lease_expiry_timestamp_seconds{instance="i2",%s} _x21 327+15x60`)},
	}
}

// campaign is replicas of a job that campaign for a lock.
func campaign(job, family string, replicas ...string) string {
	var out strings.Builder
	for _, r := range replicas {
		fmt.Fprintf(&out, "\nleader_elector_info{job=%q,instance=%q,mode=\"hold\",backend=\"etcd\",family=%q} 1x700", job, r, family)
		fmt.Fprintf(&out, "\nleader_max_leaders{job=%q,instance=%q} 1x700", job, r)
	}
	return out.String() + "\n"
}

// twice is what two Prometheus servers make of the same targets.
func twice(load string) string {
	var out strings.Builder
	for _, replica := range []string{"0", "1"} {
		out.WriteString(strings.ReplaceAll(load, "%s", `prometheus_replica="`+replica+`"`))
	}
	return out.String() + "\n"
}

// turns is a counter that grows by one each time after so many samples.
func turns(first, apart, n int) string {
	out := []string{times(0, first-1)}
	for i := range n {
		out = append(out, times(i+1, apart-1))
	}
	return strings.Join(out, " ")
}

func handoverEdges() []Scenario {
	deploys := held + relay(16, 25, 60*time.Second, 1, 24)
	return []Scenario{
		{ID: "D18", Name: "a lone replica in a crash loop is given up", Every: 15 * time.Second, End: time.Hour,
			Load: relay(12, 6, 15*time.Second, 0, 1) + `
				leader_elector_info{mode="hold"} ` + strings.Repeat("1 1 stale _x3 ", 12),
			Want: "Flapping/warning 7m..40m30s = 5\nMetricsAbsent/critical 23m.. = 1"},
		{ID: "D19", Name: "a rollout turns a held lock into one around runs every half minute", Every: 30 * time.Second, End: time.Hour,
			Load: `
				leader_elector_info{instance="i1",mode="hold"} 1x9 stale
				leader_elector_info{instance="i2",mode="run"} _x10 1x200
				leader_active{instance="i1"} 1x9 stale
				leader_active{instance="i2"} _x10 0x200
				leader_acquired_total{instance="i1"} 1x9 stale
				leader_acquired_total{instance="i2"} _x10 0+1x200
				leader_last_acquired_timestamp_seconds{instance="i2"} _x10 300+30x200`,
			Want:  "Flapping/warning 8m30s..34m30s = 7",
			Limit: "for a window after the change the runs look like handovers"},
		{ID: "D20", Name: "the leader moves every 25 minutes all day", Every: 60 * time.Second, End: 8 * time.Hour,
			Load: held + `
				leader_active{instance="i1"} 1x500
				leader_active{instance="i2"} 0x500
				leader_acquired_total{instance="i1"} ` + turns(25, 50, 10) + `
				leader_acquired_total{instance="i2"} ` + turns(50, 50, 10),
			Want: "Flapping/warning{variant=\"slow\"} 5h55m.. = 14"},
		{ID: "D21", Name: "the leader moves every 40 minutes, seen by two Prometheus servers", Every: 60 * time.Second, End: 10 * time.Hour,
			Load: held + twice(`
				leader_active{instance="i1",%s} 1x700
				leader_active{instance="i2",%s} 0x700
				leader_acquired_total{instance="i1",%s} `+turns(40, 80, 8)+`
				leader_acquired_total{instance="i2",%s} `+turns(80, 80, 8))},
		{ID: "D22", Name: "a deployment every 25 minutes replaces the leader each time", Every: 60 * time.Second, End: 395 * time.Minute, Load: deploys},
		{ID: "D23", Name: "of two handovers more than the deployments explain one is too many", Every: 60 * time.Second, End: 350 * time.Minute,
			Load: deploys + `
				leader_active{instance="i0"} 0x500
				leader_acquired_total{instance="i0"} 0x200 1x300`,
			Want: "Flapping/warning{variant=\"slow\"} 5h6m.. = 14.2"},
		{ID: "D24", Name: "a lone replica is evicted every twelve minutes all day", Every: 60 * time.Second, End: 5 * time.Hour,
			Load: `
				leader_active{instance="i9",lock_name="y"} 0x400
				leader_elector_info{instance="i1",mode="hold"} ` + strings.Repeat("1x2 stale _x8 ", 30) + `
				leader_active{instance="i1"} ` + strings.Repeat("0 1x1 stale _x8 ", 30) + `
				leader_acquired_total{instance="i1"} ` + strings.Repeat("0 1x1 stale _x8 ", 30),
			Want: "Flapping/warning{variant=\"slow\"} 2h55m.. = 15.2"},
	}
}

func eventEdges() []Scenario {
	return []Scenario{
		{ID: "G16", Name: "one late run before the first sample of its histogram", Every: 30 * time.Second, End: 50 * time.Minute,
			Load: ran + `
				leader_attempts_total{instance="i1"} 0x9 1x200
				leader_acquired_total{instance="i1"} 0x9 1x200
				leader_lease_overruns_total{instance="i1"} 0x200
				leader_lease_usage_ratio_count{instance="i1"} _x10 1x200
				leader_lease_usage_ratio_bucket{instance="i1",le="0.8"} _x10 0x200`,
			Want: "NearLease/warning 5m..49m30s = 1"},
		{ID: "G17", Name: "two late runs before the first sample of a histogram that is stored natively", Every: 30 * time.Second, End: 50 * time.Minute, Native: true,
			Load: ran + `
				leader_attempts_total{instance="i1"} 0x9 1x200
				leader_acquired_total{instance="i1"} 0x9 1x200
				leader_lease_overruns_total{instance="i1"} 0x200
				leader_lease_usage_ratio{instance="i1"} _x10 {{schema:3 sum:3 count:4 offset:-8 buckets:[2 0 0 0 0 0 0 2]}}x200`,
			Want: "NearLease/warning 5m..49m30s = 2"},
		{ID: "L5", Name: "an overrun before the first sample of its counter, seen by two Prometheus servers", Every: 30 * time.Second, End: 50 * time.Minute,
			Load: ran + twice(`
				leader_attempts_total{instance="i1",%s} 0x9 1x200
				leader_acquired_total{instance="i1",%s} 0x9 1x200
				leader_lease_overruns_total{instance="i1",%s} _x10 1x200`),
			Want: "LeaseExceeded/critical 5m..49m30s = 1"},
		{ID: "K11", Name: "a token went back before the first sample of its counter", Every: 30 * time.Second, End: 50 * time.Minute,
			Load: ran + `
				leader_attempts_total{instance="i1"} 0x9 1x200
				leader_acquired_total{instance="i1"} 0x9 1x200
				leader_fencing_token{instance="i1"} _x10 12x200
				leader_fencing_token_regressions_total{instance="i1"} _x10 1x200`,
			Want: "TokenRegressed/critical 5m..49m30s = 1"},
		{ID: "K12", Name: "a process restarts in place and is given a lower token", Every: 30 * time.Second, End: 50 * time.Minute,
			Load: ran + `
				leader_attempts_total{instance="i1"} 5x9 1x200
				leader_acquired_total{instance="i1"} 5x9 1x200
				leader_fencing_token{instance="i1"} 900x9 12x200
				leader_fencing_token_regressions_total{instance="i1"} 0x200`,
			Want: "TokenRegressed/critical 5m..49m30s = 1"},
		{ID: "T17", Name: "a short-lived process fails twice, in two ways, before its first sample", Every: 30 * time.Second, End: 30 * time.Minute,
			Load: ran + `
				leader_acquired_total{instance="p1"} _x20 2x3 stale
				leader_last_acquired_timestamp_seconds{instance="p1"} _x20 595x3 stale
				leader_execution_duration_seconds_count{instance="p1"} _x20 2x3 stale
				leader_execution_failures_total{instance="p1",cause="error"} _x20 1x3 stale
				leader_execution_failures_total{instance="p1",cause="panic"} _x20 1x3 stale`,
			Want: "TaskFailing/warning 10m.. = 1"},
		{ID: "T18", Name: "one of two runs before the first sample fails, seen by two Prometheus servers", Every: 30 * time.Second, End: 30 * time.Minute,
			Load: ran + twice(`
				leader_acquired_total{instance="p1",%s} _x20 2x3 stale
				leader_last_acquired_timestamp_seconds{instance="p1",%s} _x20 595x3 stale
				leader_execution_duration_seconds_count{instance="p1",%s} _x20 2x3 stale
				leader_execution_failures_total{instance="p1",cause="error",%s} _x20 1x3 stale`),
			Limit: "of a process that begins with a failure and a success nothing says when it failed"},
		{ID: "T19", Name: "every run fails from the first on", Every: 30 * time.Second, End: 10 * time.Minute,
			Load: ran + `
				leader_acquired_total{instance="i1"} 0+1x60
				leader_last_acquired_timestamp_seconds{instance="i1"} 0+30x60
				leader_execution_duration_seconds_count{instance="i1"} 0+1x60
				leader_execution_failures_total{instance="i1",cause="error"} 0+1x60`,
			Want: "TaskFailing/warning 30s.. = 1"},
		{ID: "T20", Name: "a busy job becomes a slow one that fails", Every: 30 * time.Second, End: 150 * time.Minute,
			Load: ran + `
				leader_acquired_total{instance="i1"} 0+4x119 476x39 478x39 480x39 482x39 484x99
				leader_execution_duration_seconds_count{instance="i1"} 0+4x119 476x39 478x39 480x39 482x39 484x99
				leader_execution_failures_total{instance="i1",cause="error"} 0x159 1x39 2x39 3x99`,
			Want: "TaskFailing/warning 1h57m30s.. = 2"},
		{ID: "T21", Name: "Prometheus starts beside a process whose only run failed 90 minutes ago", Every: 30 * time.Second, End: 30 * time.Minute,
			Load: ran + `
				leader_acquired_total{instance="i1"} 1x120
				leader_last_acquired_timestamp_seconds{instance="i1"} -5400x120
				leader_execution_duration_seconds_count{instance="i1"} 1x120
				leader_execution_failures_total{instance="i1",cause="error"} 1x120`},
		{ID: "T22", Name: "a leader with many bodies becomes slow and fails, where only native histograms are stored", Every: 30 * time.Second, End: 150 * time.Minute, Native: true,
			Load: held + `
				leader_active{instance="i1"} 1x400
				leader_acquired_total{instance="i1"} 1x400
				leader_execution_duration_seconds{instance="i1"} {{schema:0 sum:0 count:0 buckets:[0]}}+{{schema:0 sum:4 count:4 buckets:[4]}}x119 {{schema:0 sum:476 count:476 buckets:[476]}}x39 {{schema:0 sum:478 count:478 buckets:[478]}}x39 {{schema:0 sum:480 count:480 buckets:[480]}}x39 {{schema:0 sum:482 count:482 buckets:[482]}}x39 {{schema:0 sum:484 count:484 buckets:[484]}}x99
				leader_execution_failures_total{instance="i1",cause="error"} 0x159 1x39 2x39 3x99`,
			Want: "TaskFailing/warning 1h57m30s.. = 2"},
		{ID: "J17", Name: "a rollout that stops halfway makes a job of every ten minutes an hourly one", Every: 30 * time.Second, End: 70 * time.Minute,
			Load: ran + `
				leader_active{instance="i1"} 0x200
				leader_expected_interval_seconds{instance="i1"} 600x200
				leader_expected_interval_seconds{instance="i2"} _x20 3600x200
				leader_last_acquired_timestamp_seconds{instance="i1"} 0x200`},
		{ID: "J18", Name: "a job of every minute never ran, and its first replica was replaced at once", Every: 30 * time.Second, End: 20 * time.Minute,
			Load: ran + `
				leader_active{instance="i0"} 0x100
				leader_expected_interval_seconds{instance="i1"} 60x2 stale
				leader_expected_interval_seconds{instance="i2"} _x8 60x60`,
			Want: "JobOverdue/warning 5m.. = 300"},
		{ID: "J19", Name: "a job of every minute never ran, and was away for eight minutes", Every: 30 * time.Second, End: 20 * time.Minute,
			Load: ran + `
				leader_active{instance="i0"} 0x100
				leader_expected_interval_seconds{instance="i1"} 60x2 stale
				leader_expected_interval_seconds{instance="i2"} _x19 60x60`,
			Want: "JobOverdue/warning 14m30s.. = 300\nJobOverdue/warning 9m30s..11m = 300"},
		{ID: "P11", Name: "runs and waits of four hours ago explain a wait, those of eight hours ago do not", Every: 60 * time.Second, End: 9 * time.Hour,
			Load: ran + `
				leader_active{instance="i1"} 0x600
				leader_execution_duration_seconds_count{instance="i1"} 0x29 2x239 12x400
				leader_execution_duration_seconds_sum{instance="i1"} 0x29 7200x239 10200x400
				leader_pending_age_seconds{instance="i1"} 0x509 60+60x60
				leader_active{instance="i1",lock_name="y"} 0x600
				leader_acquire_duration_seconds_count{instance="i1",lock_name="y"} 0x29 2x239 3x400
				leader_acquire_duration_seconds_sum{instance="i1",lock_name="y"} 0x29 7200x239 8100x400
				leader_acquire_duration_seconds_count{instance="i2",lock_name="y"} 0x269 9x400
				leader_acquire_duration_seconds_sum{instance="i2",lock_name="y"} 0x269 2100x400
				leader_pending_age_seconds{instance="i1",lock_name="y"} 0x509 60+60x60`,
			Want: "AttemptStuck/warning 8h45m.. = 960\nAttemptStuck/warning{lock_name=\"y\"} 8h45m.. = 960"},
		{ID: "P12", Name: "runs and waits of four hours ago explain a wait, where only native histograms are stored", Every: 60 * time.Second, End: 9 * time.Hour, Native: true,
			Load: ran + `
				leader_active{instance="i1"} 0x600
				leader_execution_duration_seconds{instance="i1"} {{schema:0 sum:0 count:0 buckets:[0]}}x29 {{schema:0 sum:7200 count:2 buckets:[2]}}x239 {{schema:0 sum:10200 count:12 buckets:[12]}}x400
				leader_pending_age_seconds{instance="i1"} 0x509 60+60x60
				leader_active{instance="i1",lock_name="y"} 0x600
				leader_acquire_duration_seconds{instance="i1",lock_name="y"} {{schema:0 sum:0 count:0 buckets:[0]}}x29 {{schema:0 sum:7200 count:2 buckets:[2]}}x239 {{schema:0 sum:10200 count:12 buckets:[12]}}x400
				leader_pending_age_seconds{instance="i1",lock_name="y"} 0x509 60+60x60`,
			Want: "AttemptStuck/warning 8h45m.. = 960\nAttemptStuck/warning{lock_name=\"y\"} 8h45m.. = 960"},
	}
}

func presenceEdges() []Scenario {
	const hash = `policy="hash",key_id="k1",key_check="1a2b3c4d"`
	return []Scenario{
		{ID: "N8", Name: "a candidate of locks below a shared label leaves", Every: 30 * time.Second, End: 90 * time.Minute,
			Load: `
				leader_elector_info{instance="i1",mode="hold",lock_name="tenant-*/orders"} 1x300
				leader_elector_info{instance="i2",mode="hold",lock_name="tenant-*/orders"} 1x99 stale
				leader_active{instance="i1",lock_name="tenant-*/orders"} 3x300
				leader_active{instance="i2",lock_name="tenant-*/orders"} 0x99 stale`,
			Limit: "a label that locks share says nothing about one of them"},
		{ID: "N9", Name: "two of three candidates leave, and nothing says how many may lead", Every: 30 * time.Second, End: 90 * time.Minute,
			Load: `
				leader_elector_info{instance="i1",mode="hold"} 1x300
				leader_elector_info{instance="i2",mode="hold"} 1x99 stale
				leader_elector_info{instance="i3",mode="hold"} 1x119 stale
				leader_active{instance="i1"} 1x300
				leader_active{instance="i2"} 0x99 stale
				leader_active{instance="i3"} 0x119 stale`,
			Want: "NoStandby/warning 1h10m.. = 1"},
		{ID: "M12", Name: "a job that led two locks dies, with a replica that had just begun", Every: 30 * time.Second, End: 40 * time.Minute,
			Load: `
				leader_elector_info{instance="i1",mode="hold"} 1x39 stale
				leader_elector_info{instance="i1",mode="hold",lock_name="y"} 1x39 stale
				leader_active{instance="i1"} 1x39 stale
				leader_max_leaders{instance="i1",lock_name="y"} 2x39 stale
				leader_active{instance="i1",lock_name="y"} 2x39 stale
				leader_active{instance="i2"} _x36 0x3 stale`,
			Want: "MetricsAbsent/critical 26m.. = 1\nMetricsAbsent/warning 30m.. = 40"},
		{ID: "V9", Name: "a lock with two leaders and a standby is not there after a release", Every: 30 * time.Second, End: 90 * time.Minute,
			Load: `
				leader_active{instance="i1",lock_name="y"} 1x200
				leader_max_leaders{instance="i2"} 2x19 stale
				leader_active{instance="i2"} 1x19 stale
				leader_active{instance="i3"} 1x19 stale
				leader_active{instance="i4"} 0x19 stale`,
			Want: "LockVanished/warning 20m..1h9m30s = 1"},
		{ID: "V10", Name: "a leader dies ten minutes before its lock is given up by the others", Every: 30 * time.Second, End: 90 * time.Minute,
			Load: `
				leader_active{instance="i1",lock_name="y"} 1x200
				leader_active{instance="i2"} 1x9 stale
				leader_active{instance="i3"} 0x29 stale`},
		{ID: "V11", Name: "a declared job of two replicas is not there after a release", Every: 30 * time.Second, End: 90 * time.Minute,
			Load: `
				leader_active{instance="i1",lock_name="y"} 0x200
				leader_active{instance="i1"} 0x19 stale
				leader_active{instance="i2"} 0x19 stale
				leader_expected_interval_seconds{instance="i1"} 3600x19 stale
				leader_expected_interval_seconds{instance="i2"} 3600x19 stale`,
			Want: "LockVanished/warning 20m..1h9m30s = 1"},
		{ID: "V12", Name: "declared jobs below a shared label are gone", Every: 30 * time.Second, End: 30 * time.Minute,
			Load: `
				leader_active{instance="i1",lock_name="y"} 0x200
				leader_active{instance="i2",lock_name="tenant-*/report"} 0x19 stale
				leader_expected_interval_seconds{instance="i2",lock_name="tenant-*/report"} 3600x19 stale`,
			Limit: "a label that locks share says nothing about one of them"},
		{ID: "R10", Name: "one replica labels in two ways, the others in one of them", Every: 30 * time.Second, End: 30 * time.Minute,
			Load: `
				leader_redaction_info{instance="i1",locks="tenants",` + hash + `} 1x60
				leader_redaction_info{instance="i1",locks="own",policy="raw",key_id="",key_check=""} 1x60
				leader_redaction_info{instance="i2",` + hash + `} 1x60
				leader_redaction_info{instance="i3",` + hash + `} 1x60`},
	}
}
