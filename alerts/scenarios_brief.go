package alerts

import (
	"fmt"
	"strings"
	"time"
)

// What simulated fleets showed of processes of seconds, and of standbys.

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
		{id: "L3", name: "a restart in place starts the overruns again", every: 30 * time.Second, end: 30 * time.Minute,
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
				leader_execution_duration_seconds_count{instance="i1",lock_name="tenant-*/orders"} 0x1 5x100
				leader_execution_duration_seconds_sum{instance="i1",lock_name="tenant-*/orders"} 0x1 50x100
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
