package alerts

import (
	"fmt"
	"strings"
	"time"
)

// edgeScenarios lie beside a limit of a rule: a window, a factor, a count, or
// what tells two replicas, jobs or servers apart. A rule that is changed there
// gives another verdict.
func edgeScenarios() []scenario {
	return append(leaderEdges(), append(handoverEdges(), append(eventEdges(), presenceEdges()...)...)...)
}

func leaderEdges() []scenario {
	return []scenario{
		{id: "B28", name: "three replicas campaign, and the leader gives up", every: 30 * time.Second, end: 10 * time.Minute,
			load: campaign("a", "orders", "i1", "i2", "i3") + `
				leader_active{instance="i1"} 1x5 0x40
				leader_active{instance="i2"} 0x40
				leader_active{instance="i3"} 0x40`,
			want: "NoLeader/critical 4m30s.. = 1"},
		{id: "B29", name: "the leader crashes with a lease of an hour, and the others led before it", every: 30 * time.Second, end: 20 * time.Minute,
			load: campaign("a", "orders", "i2", "i3") + `
				leader_active{instance="i1"} 0x2 1x5 stale
				leader_active{instance="i2"} 0 1 0x100
				leader_active{instance="i3"} 0 0 1 0x100
				leader_lease_expiry_timestamp_seconds{instance="i1"} _x3 3600x5 stale
				leader_last_acquired_timestamp_seconds{instance="i1"} _x3 65x5 stale
				leader_last_acquired_timestamp_seconds{instance="i2"} _ 20x100
				leader_last_acquired_timestamp_seconds{instance="i3"} _x2 50x100`,
			want: "NoLeader/warning 9m30s.. = 1"},
		{id: "B30", name: "the leader crashes with a lease of three hours, the next one is put in by hand and gives up after an hour", every: 60 * time.Second, end: 90 * time.Minute,
			load: held + `
				leader_active{instance="i1"} 0 1x4 stale
				leader_active{instance="i2"} 1 0x100
				leader_active{instance="i3"} 0x6 1x72 0x30
				leader_lease_expiry_timestamp_seconds{instance="i1"} _ 10800x4 stale
				leader_last_acquired_timestamp_seconds{instance="i1"} _ 55x4 stale
				leader_last_acquired_timestamp_seconds{instance="i2"} 10x100
				leader_last_acquired_timestamp_seconds{instance="i3"} _x7 415x100`,
			want: "NoLeader/critical 1h21m30s.. = 1"},
		{id: "B31", name: "a replica dies in the middle of a run, with a lease of an hour", every: 30 * time.Second, end: 20 * time.Minute,
			load: ran + `
				leader_active{instance="i1"} 0x3 1x5 stale
				leader_active{instance="i2"} 0x100
				leader_lease_expiry_timestamp_seconds{instance="i1"} _x4 3600x5 stale
				leader_last_acquired_timestamp_seconds{instance="i1"} _x4 115x5 stale`},
		{id: "B32", name: "green takes over while the lease of blue still runs", every: 30 * time.Second, end: 20 * time.Minute,
			load: campaign("a", "orders", "i2", "i3") + campaign("b", "orders", "g1") + `
				leader_active{instance="i1"} 1x9 stale
				leader_active{instance="i2"} 0x100
				leader_active{instance="i3"} 0x100
				leader_active{job="b",instance="g1"} 0x9 1x100
				leader_lease_expiry_timestamp_seconds{instance="i1"} 1500x9 stale
				leader_last_acquired_timestamp_seconds{instance="i1"} 5x9 stale`},
		{id: "B33", name: "a rollout renames the family of a lock, and a new replica leads", every: 30 * time.Second, end: 12 * time.Minute,
			load: campaign("a", "orders", "i1") + campaign("a", "billing", "i2") + `
				leader_active{instance="i1"} 0x40
				leader_active{instance="i2"} 1x40`},
		{id: "S20", name: "two of three replicas lead, and each exports its limit", every: 30 * time.Second, end: 10 * time.Minute,
			load: campaign("a", "orders", "i1", "i2", "i3") + `
				leader_active{instance="i1"} 1x20
				leader_active{instance="i2"} 1x20
				leader_active{instance="i3"} 0x20`,
			want: "SplitBrain/critical 1m.. = 2"},
		{id: "S21", name: "a collector repeats what a dead pod pushed, and two Prometheus servers scrape it", every: 15 * time.Second, end: 10 * time.Minute,
			load: held + twice(`
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

func handoverEdges() []scenario {
	deploys := held + relay(16, 25, 60*time.Second, 1, 24)
	return []scenario{
		{id: "D18", name: "a lone replica in a crash loop is given up", every: 15 * time.Second, end: time.Hour,
			load: relay(12, 6, 15*time.Second, 0, 1) + `
				leader_elector_info{mode="hold"} ` + strings.Repeat("1 1 stale _x3 ", 12),
			want: "Flapping/warning 7m..40m30s = 5\nMetricsAbsent/critical 23m.. = 1"},
		{id: "D19", name: "a rollout turns a held lock into one around runs every half minute", every: 30 * time.Second, end: time.Hour,
			load: `
				leader_elector_info{instance="i1",mode="hold"} 1x9 stale
				leader_elector_info{instance="i2",mode="run"} _x10 1x200
				leader_active{instance="i1"} 1x9 stale
				leader_active{instance="i2"} _x10 0x200
				leader_acquired_total{instance="i1"} 1x9 stale
				leader_acquired_total{instance="i2"} _x10 0+1x200
				leader_last_acquired_timestamp_seconds{instance="i2"} _x10 300+30x200`,
			want:  "Flapping/warning 8m30s..34m30s = 7",
			limit: "for a window after the change the runs look like handovers"},
		{id: "D20", name: "the leader moves every 25 minutes all day", every: 60 * time.Second, end: 8 * time.Hour,
			load: held + `
				leader_active{instance="i1"} 1x500
				leader_active{instance="i2"} 0x500
				leader_acquired_total{instance="i1"} ` + turns(25, 50, 10) + `
				leader_acquired_total{instance="i2"} ` + turns(50, 50, 10),
			want: "Flapping/warning{variant=\"slow\"} 5h55m.. = 14"},
		{id: "D21", name: "the leader moves every 40 minutes, seen by two Prometheus servers", every: 60 * time.Second, end: 10 * time.Hour,
			load: held + twice(`
				leader_active{instance="i1",%s} 1x700
				leader_active{instance="i2",%s} 0x700
				leader_acquired_total{instance="i1",%s} `+turns(40, 80, 8)+`
				leader_acquired_total{instance="i2",%s} `+turns(80, 80, 8))},
		{id: "D22", name: "a deployment every 25 minutes replaces the leader each time", every: 60 * time.Second, end: 395 * time.Minute, load: deploys},
		{id: "D23", name: "of two handovers more than the deployments explain one is too many", every: 60 * time.Second, end: 350 * time.Minute,
			load: deploys + `
				leader_active{instance="i0"} 0x500
				leader_acquired_total{instance="i0"} 0x200 1x300`,
			want: "Flapping/warning{variant=\"slow\"} 5h6m.. = 14.2"},
		{id: "D24", name: "a lone replica is evicted every twelve minutes all day", every: 60 * time.Second, end: 5 * time.Hour,
			load: `
				leader_active{instance="i9",lock_name="y"} 0x400
				leader_elector_info{instance="i1",mode="hold"} ` + strings.Repeat("1x2 stale _x8 ", 30) + `
				leader_active{instance="i1"} ` + strings.Repeat("0 1x1 stale _x8 ", 30) + `
				leader_acquired_total{instance="i1"} ` + strings.Repeat("0 1x1 stale _x8 ", 30),
			want: "Flapping/warning{variant=\"slow\"} 2h55m.. = 15.2"},
	}
}

func eventEdges() []scenario {
	return []scenario{
		{id: "G16", name: "one late run before the first sample of its histogram", every: 30 * time.Second, end: 50 * time.Minute,
			load: ran + `
				leader_attempts_total{instance="i1"} 0x9 1x200
				leader_acquired_total{instance="i1"} 0x9 1x200
				leader_lease_overruns_total{instance="i1"} 0x200
				leader_lease_usage_ratio_count{instance="i1"} _x10 1x200
				leader_lease_usage_ratio_bucket{instance="i1",le="0.8"} _x10 0x200`,
			want: "NearLease/warning 5m..49m30s = 1"},
		{id: "G17", name: "two late runs before the first sample of a histogram that is stored natively", every: 30 * time.Second, end: 50 * time.Minute, native: true,
			load: ran + `
				leader_attempts_total{instance="i1"} 0x9 1x200
				leader_acquired_total{instance="i1"} 0x9 1x200
				leader_lease_overruns_total{instance="i1"} 0x200
				leader_lease_usage_ratio{instance="i1"} _x10 {{schema:3 sum:3 count:4 offset:-8 buckets:[2 0 0 0 0 0 0 2]}}x200`,
			want: "NearLease/warning 5m..49m30s = 2"},
		{id: "L5", name: "an overrun before the first sample of its counter, seen by two Prometheus servers", every: 30 * time.Second, end: 50 * time.Minute,
			load: ran + twice(`
				leader_attempts_total{instance="i1",%s} 0x9 1x200
				leader_acquired_total{instance="i1",%s} 0x9 1x200
				leader_lease_overruns_total{instance="i1",%s} _x10 1x200`),
			want: "LeaseExceeded/critical 5m..49m30s = 1"},
		{id: "K11", name: "a token went back before the first sample of its counter", every: 30 * time.Second, end: 50 * time.Minute,
			load: ran + `
				leader_attempts_total{instance="i1"} 0x9 1x200
				leader_acquired_total{instance="i1"} 0x9 1x200
				leader_fencing_token{instance="i1"} _x10 12x200
				leader_fencing_token_regressions_total{instance="i1"} _x10 1x200`,
			want: "TokenRegressed/critical 5m..49m30s = 1"},
		{id: "K12", name: "a process restarts in place and is given a lower token", every: 30 * time.Second, end: 50 * time.Minute,
			load: ran + `
				leader_attempts_total{instance="i1"} 5x9 1x200
				leader_acquired_total{instance="i1"} 5x9 1x200
				leader_fencing_token{instance="i1"} 900x9 12x200
				leader_fencing_token_regressions_total{instance="i1"} 0x200`,
			want: "TokenRegressed/critical 5m..49m30s = 1"},
		{id: "T17", name: "a short-lived process fails twice, in two ways, before its first sample", every: 30 * time.Second, end: 30 * time.Minute,
			load: ran + `
				leader_acquired_total{instance="p1"} _x20 2x3 stale
				leader_last_acquired_timestamp_seconds{instance="p1"} _x20 595x3 stale
				leader_execution_duration_seconds_count{instance="p1"} _x20 2x3 stale
				leader_execution_failures_total{instance="p1",cause="error"} _x20 1x3 stale
				leader_execution_failures_total{instance="p1",cause="panic"} _x20 1x3 stale`,
			want: "TaskFailing/warning 10m.. = 1"},
		{id: "T18", name: "one of two runs before the first sample fails, seen by two Prometheus servers", every: 30 * time.Second, end: 30 * time.Minute,
			load: ran + twice(`
				leader_acquired_total{instance="p1",%s} _x20 2x3 stale
				leader_last_acquired_timestamp_seconds{instance="p1",%s} _x20 595x3 stale
				leader_execution_duration_seconds_count{instance="p1",%s} _x20 2x3 stale
				leader_execution_failures_total{instance="p1",cause="error",%s} _x20 1x3 stale`),
			limit: "of a process that begins with a failure and a success nothing says when it failed"},
		{id: "T19", name: "every run fails from the first on", every: 30 * time.Second, end: 10 * time.Minute,
			load: ran + `
				leader_acquired_total{instance="i1"} 0+1x60
				leader_last_acquired_timestamp_seconds{instance="i1"} 0+30x60
				leader_execution_duration_seconds_count{instance="i1"} 0+1x60
				leader_execution_failures_total{instance="i1",cause="error"} 0+1x60`,
			want: "TaskFailing/warning 30s.. = 1"},
		{id: "T20", name: "a busy job becomes a slow one that fails", every: 30 * time.Second, end: 150 * time.Minute,
			load: ran + `
				leader_acquired_total{instance="i1"} 0+4x119 476x39 478x39 480x39 482x39 484x99
				leader_execution_duration_seconds_count{instance="i1"} 0+4x119 476x39 478x39 480x39 482x39 484x99
				leader_execution_failures_total{instance="i1",cause="error"} 0x159 1x39 2x39 3x99`,
			want: "TaskFailing/warning 1h57m30s.. = 2"},
		{id: "T21", name: "Prometheus starts beside a process whose only run failed 90 minutes ago", every: 30 * time.Second, end: 30 * time.Minute,
			load: ran + `
				leader_acquired_total{instance="i1"} 1x120
				leader_last_acquired_timestamp_seconds{instance="i1"} -5400x120
				leader_execution_duration_seconds_count{instance="i1"} 1x120
				leader_execution_failures_total{instance="i1",cause="error"} 1x120`},
		{id: "T22", name: "a leader with many bodies becomes slow and fails, where only native histograms are stored", every: 30 * time.Second, end: 150 * time.Minute, native: true,
			load: held + `
				leader_active{instance="i1"} 1x400
				leader_acquired_total{instance="i1"} 1x400
				leader_execution_duration_seconds{instance="i1"} {{schema:0 sum:0 count:0 buckets:[0]}}+{{schema:0 sum:4 count:4 buckets:[4]}}x119 {{schema:0 sum:476 count:476 buckets:[476]}}x39 {{schema:0 sum:478 count:478 buckets:[478]}}x39 {{schema:0 sum:480 count:480 buckets:[480]}}x39 {{schema:0 sum:482 count:482 buckets:[482]}}x39 {{schema:0 sum:484 count:484 buckets:[484]}}x99
				leader_execution_failures_total{instance="i1",cause="error"} 0x159 1x39 2x39 3x99`,
			want: "TaskFailing/warning 1h57m30s.. = 2"},
		{id: "J17", name: "a rollout that stops halfway makes a job of every ten minutes an hourly one", every: 30 * time.Second, end: 70 * time.Minute,
			load: ran + `
				leader_active{instance="i1"} 0x200
				leader_expected_interval_seconds{instance="i1"} 600x200
				leader_expected_interval_seconds{instance="i2"} _x20 3600x200
				leader_last_acquired_timestamp_seconds{instance="i1"} 0x200`},
		{id: "J18", name: "a job of every minute never ran, and its first replica was replaced at once", every: 30 * time.Second, end: 20 * time.Minute,
			load: ran + `
				leader_active{instance="i0"} 0x100
				leader_expected_interval_seconds{instance="i1"} 60x2 stale
				leader_expected_interval_seconds{instance="i2"} _x8 60x60`,
			want: "JobOverdue/warning 5m.. = 300"},
		{id: "J19", name: "a job of every minute never ran, and was away for eight minutes", every: 30 * time.Second, end: 20 * time.Minute,
			load: ran + `
				leader_active{instance="i0"} 0x100
				leader_expected_interval_seconds{instance="i1"} 60x2 stale
				leader_expected_interval_seconds{instance="i2"} _x19 60x60`,
			want: "JobOverdue/warning 14m30s.. = 300\nJobOverdue/warning 9m30s..11m = 300"},
		{id: "P11", name: "runs and waits of four hours ago explain a wait, those of eight hours ago do not", every: 60 * time.Second, end: 9 * time.Hour,
			load: ran + `
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
			want: "AttemptStuck/warning 8h45m.. = 960\nAttemptStuck/warning{lock_name=\"y\"} 8h45m.. = 960"},
		{id: "P12", name: "runs and waits of four hours ago explain a wait, where only native histograms are stored", every: 60 * time.Second, end: 9 * time.Hour, native: true,
			load: ran + `
				leader_active{instance="i1"} 0x600
				leader_execution_duration_seconds{instance="i1"} {{schema:0 sum:0 count:0 buckets:[0]}}x29 {{schema:0 sum:7200 count:2 buckets:[2]}}x239 {{schema:0 sum:10200 count:12 buckets:[12]}}x400
				leader_pending_age_seconds{instance="i1"} 0x509 60+60x60
				leader_active{instance="i1",lock_name="y"} 0x600
				leader_acquire_duration_seconds{instance="i1",lock_name="y"} {{schema:0 sum:0 count:0 buckets:[0]}}x29 {{schema:0 sum:7200 count:2 buckets:[2]}}x239 {{schema:0 sum:10200 count:12 buckets:[12]}}x400
				leader_pending_age_seconds{instance="i1",lock_name="y"} 0x509 60+60x60`,
			want: "AttemptStuck/warning 8h45m.. = 960\nAttemptStuck/warning{lock_name=\"y\"} 8h45m.. = 960"},
	}
}

func presenceEdges() []scenario {
	const hash = `policy="hash",key_id="k1",key_check="1a2b3c4d"`
	return []scenario{
		{id: "N8", name: "a candidate of locks below a shared label leaves", every: 30 * time.Second, end: 90 * time.Minute,
			load: `
				leader_elector_info{instance="i1",mode="hold",lock_name="tenant-*/orders"} 1x300
				leader_elector_info{instance="i2",mode="hold",lock_name="tenant-*/orders"} 1x99 stale
				leader_active{instance="i1",lock_name="tenant-*/orders"} 3x300
				leader_active{instance="i2",lock_name="tenant-*/orders"} 0x99 stale`,
			limit: "a label that locks share says nothing about one of them"},
		{id: "N9", name: "two of three candidates leave, and nothing says how many may lead", every: 30 * time.Second, end: 90 * time.Minute,
			load: `
				leader_elector_info{instance="i1",mode="hold"} 1x300
				leader_elector_info{instance="i2",mode="hold"} 1x99 stale
				leader_elector_info{instance="i3",mode="hold"} 1x119 stale
				leader_active{instance="i1"} 1x300
				leader_active{instance="i2"} 0x99 stale
				leader_active{instance="i3"} 0x119 stale`,
			want: "NoStandby/warning 1h10m.. = 1"},
		{id: "M12", name: "a job that led two locks dies, with a replica that had just begun", every: 30 * time.Second, end: 40 * time.Minute,
			load: `
				leader_elector_info{instance="i1",mode="hold"} 1x39 stale
				leader_elector_info{instance="i1",mode="hold",lock_name="y"} 1x39 stale
				leader_active{instance="i1"} 1x39 stale
				leader_max_leaders{instance="i1",lock_name="y"} 2x39 stale
				leader_active{instance="i1",lock_name="y"} 2x39 stale
				leader_active{instance="i2"} _x36 0x3 stale`,
			want: "MetricsAbsent/critical 26m.. = 1\nMetricsAbsent/warning 30m.. = 40"},
		{id: "V9", name: "a lock with two leaders and a standby is not there after a release", every: 30 * time.Second, end: 90 * time.Minute,
			load: `
				leader_active{instance="i1",lock_name="y"} 1x200
				leader_max_leaders{instance="i2"} 2x19 stale
				leader_active{instance="i2"} 1x19 stale
				leader_active{instance="i3"} 1x19 stale
				leader_active{instance="i4"} 0x19 stale`,
			want: "LockVanished/warning 20m..1h9m30s = 1"},
		{id: "V10", name: "a leader dies ten minutes before its lock is given up by the others", every: 30 * time.Second, end: 90 * time.Minute,
			load: `
				leader_active{instance="i1",lock_name="y"} 1x200
				leader_active{instance="i2"} 1x9 stale
				leader_active{instance="i3"} 0x29 stale`},
		{id: "V11", name: "a declared job of two replicas is not there after a release", every: 30 * time.Second, end: 90 * time.Minute,
			load: `
				leader_active{instance="i1",lock_name="y"} 0x200
				leader_active{instance="i1"} 0x19 stale
				leader_active{instance="i2"} 0x19 stale
				leader_expected_interval_seconds{instance="i1"} 3600x19 stale
				leader_expected_interval_seconds{instance="i2"} 3600x19 stale`,
			want: "LockVanished/warning 20m..1h9m30s = 1"},
		{id: "V12", name: "declared jobs below a shared label are gone", every: 30 * time.Second, end: 30 * time.Minute,
			load: `
				leader_active{instance="i1",lock_name="y"} 0x200
				leader_active{instance="i2",lock_name="tenant-*/report"} 0x19 stale
				leader_expected_interval_seconds{instance="i2",lock_name="tenant-*/report"} 3600x19 stale`,
			limit: "a label that locks share says nothing about one of them"},
		{id: "R10", name: "one replica labels in two ways, the others in one of them", every: 30 * time.Second, end: 30 * time.Minute,
			load: `
				leader_redaction_info{instance="i1",locks="tenants",` + hash + `} 1x60
				leader_redaction_info{instance="i1",locks="own",policy="raw",key_id="",key_check=""} 1x60
				leader_redaction_info{instance="i2",` + hash + `} 1x60
				leader_redaction_info{instance="i3",` + hash + `} 1x60`},
	}
}
