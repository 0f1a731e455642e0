package scenario

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// What simulated fleets showed of processes of seconds, and of standbys.

func briefScenarios() []Scenario {
	return []Scenario{
		{ID: "M7", Name: "a process of 40 s runs once an hour", Every: 30 * time.Second, End: 4 * time.Hour,
			Load: hourly(4, 2, "")},
		{ID: "M8", Name: "a process of 40 s runs once an hour under fresh names, sampled every 15 s", Every: 15 * time.Second, End: 3 * time.Hour,
			Load: hourly(3, 3, "fresh")},
		{ID: "J15", Name: "a process of 40 s that ran once an hour is dead for good", Every: 30 * time.Second, End: 4 * time.Hour,
			Load: hourly(2, 2, "fresh"),
			Want: "JobOverdue/warning 2h34m30s.. = 5.52e+03"},
		{ID: "J16", Name: "a retired job is not overdue while its service lives", Every: 30 * time.Second, End: 3 * time.Hour,
			Load: `
				leader_active{instance="i1",lock_name="y"} 1x500
				leader_elector_info{instance="i1",mode="run"} 1x60 stale
				leader_active{instance="i1"} 0x60 stale
				leader_expected_interval_seconds{instance="i1"} 600x60 stale
				leader_last_acquired_timestamp_seconds{instance="i1"} 0x19 600x19 1200x19 1800x2 stale`,
			Want: "LockVanished/warning 40m30s..1h30m = 1"},
		{ID: "M9", Name: "all replicas of a held leadership die with their targets, while other jobs export", Every: 30 * time.Second, End: 4 * time.Hour,
			Load: `
				leader_elector_info{instance="i1",mode="hold"} 1x39 stale
				leader_elector_info{instance="i2",mode="hold"} 1x39 stale
				leader_active{instance="i1"} 1x39 stale
				leader_active{instance="i2"} 0x39 stale
				up{instance="i1"} 1x39 stale
				up{instance="i2"} 1x39 stale
				leader_active{instance="z",job="z",lock_name="z"} 1x500`,
			Want: "MetricsAbsent/critical 26m..3h19m30s = 1\nMetricsAbsent/warning 30m..1h14m30s = 40"},
		{ID: "M10", Name: "a service that held a lock gives it back and is switched off", Every: 30 * time.Second, End: 2 * time.Hour,
			Load: `
				leader_elector_info{instance="i1",mode="hold"} 1x39 stale
				leader_active{instance="i1"} 1x37 0x1 stale
				leader_last_ended_timestamp_seconds{instance="i1"} _x38 1130x1 stale`,
			Want: "MetricsAbsent/warning 30m..1h14m30s = 40"},
		{ID: "M11", Name: "a service of run-style locks dies in the middle of a run", Every: 30 * time.Second, End: 2 * time.Hour,
			Load: `
				leader_elector_info{instance="i1",mode="run"} 1x39 stale
				leader_active{instance="i1"} 0x35 1x3 stale`,
			Want: "MetricsAbsent/warning 30m..1h14m30s = 40"},
		{ID: "T14", Name: "a process that is sampled once fails", Every: 60 * time.Second, End: 30 * time.Minute,
			Load: `
				leader_elector_info{instance="p1",mode="run"} _x10 1 stale
				leader_active{instance="p1"} _x10 0 stale
				leader_acquired_total{instance="p1"} _x10 1 stale
				leader_last_acquired_timestamp_seconds{instance="p1"} _x10 590 stale
				leader_execution_failures_total{instance="p1",cause="error"} _x10 1 stale`,
			Want: "TaskFailing/warning 10m.. = 1"},
		{ID: "H9", Name: "a lease is about to expire, sampled every 60 s", Every: 60 * time.Second, End: 15 * time.Minute,
			Load: held + `
				leader_active{instance="i1"} 1x40
				leader_lease_duration_seconds{instance="i1"} 600x40
				leader_lease_headroom_seconds{instance="i1"} 600-60x20`,
			Want: "LowHeadroom/warning 10m30s.. = 0"},
		{ID: "H10", Name: "one dip, sampled every 60 s", Every: 60 * time.Second, End: 15 * time.Minute,
			Load: held + `
				leader_active{instance="i1"} 1x40
				leader_lease_duration_seconds{instance="i1"} 600x40
				leader_lease_headroom_seconds{instance="i1"} 400x5 50 400x20`},
		{ID: "H11", Name: "a lease is about to expire, sampled every 15 s", Every: 15 * time.Second, End: 15 * time.Minute,
			Load: held + `
				leader_active{instance="i1"} 1x80
				leader_lease_duration_seconds{instance="i1"} 600x80
				leader_lease_headroom_seconds{instance="i1"} 600-15x80`,
			Want: "LowHeadroom/warning 9m45s.. = 0.025"},
		{ID: "L1", Name: "one of three permits is held past its lease twice", Every: 30 * time.Second, End: 30 * time.Minute,
			Load: ran + `
				leader_attempts_total{instance="i1"} 0+1x60
				leader_acquired_total{instance="i1"} 0+1x60
				leader_lease_overruns_total{instance="i1"} 0x19 1x9 2x60
				leader_lease_overruns_total{instance="i2"} 0x60`,
			Want: "LeaseExceeded/critical 10m.. = 1"},
		{ID: "L2", Name: "a process with overruns of yesterday has none today", Every: 30 * time.Second, End: 30 * time.Minute,
			Load: ran + `
				leader_attempts_total{instance="i1"} 70+1x60
				leader_acquired_total{instance="i1"} 70+1x60
				leader_lease_overruns_total{instance="i1"} 3x60`},
		{ID: "L3", Name: "a restart in place starts the overruns again", Every: 30 * time.Second, End: 30 * time.Minute,
			Load: ran + `
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
	for _, key := range slices.Sorted(maps.Keys(lines)) {
		fmt.Fprintf(&out, "\n%s %s", key, strings.TrimSuffix(lines[key], "stale ")+"stale")
	}
	return out.String() + "\n"
}

func standbyScenarios() []Scenario {
	return []Scenario{
		{ID: "N1", Name: "two of three candidates leave for good", Every: 30 * time.Second, End: 90 * time.Minute,
			Load: `
				leader_max_leaders{instance="i1"} 1x300
				leader_elector_info{instance="i1",mode="hold"} 1x300
				leader_elector_info{instance="i2",mode="hold"} 1x99 stale
				leader_elector_info{instance="i3",mode="hold"} 1x119 stale
				leader_active{instance="i1"} 1x300
				leader_active{instance="i2"} 0x99 stale
				leader_active{instance="i3"} 0x119 stale`,
			Want: "NoStandby/warning 1h10m.. = 1"},
		{ID: "N2", Name: "a lock has one candidate, which is replaced now and then", Every: 30 * time.Second, End: 3 * time.Hour,
			Load: `
				leader_elector_info{instance="i1",mode="hold"} 1x99 stale
				leader_elector_info{instance="i2",mode="hold"} _x101 1x99 stale
				leader_elector_info{instance="i3",mode="hold"} _x202 1x200
				leader_active{instance="i1"} 1x99 stale
				leader_active{instance="i2"} _x101 1x99 stale
				leader_active{instance="i3"} _x202 1x200`},
		{ID: "N3", Name: "a group elector of two has three candidates, and one leaves", Every: 30 * time.Second, End: 2 * time.Hour,
			Load: `
				leader_max_leaders 2x300
				leader_elector_info{instance="i1",mode="hold"} 1x300
				leader_elector_info{instance="i2",mode="hold"} 1x300
				leader_elector_info{instance="i3",mode="hold"} 1x99 stale
				leader_active{instance="i1"} 1x300
				leader_active{instance="i2"} 1x300
				leader_active{instance="i3"} 0x99 stale`,
			Want: "NoStandby/warning 1h.. = 2"},
		{ID: "N4", Name: "one of three candidates leaves", Every: 30 * time.Second, End: 2 * time.Hour,
			Load: `
				leader_elector_info{instance="i1",mode="hold"} 1x300
				leader_elector_info{instance="i2",mode="hold"} 1x300
				leader_elector_info{instance="i3",mode="hold"} 1x99 stale
				leader_active{instance="i1"} 1x300
				leader_active{instance="i2"} 0x300
				leader_active{instance="i3"} 0x99 stale`},
		{ID: "N5", Name: "the only standby misses its scrapes for eight minutes", Every: 30 * time.Second, End: 2 * time.Hour,
			Load: `
				leader_elector_info{instance="i1",mode="hold"} 1x300
				leader_elector_info{instance="i2",mode="hold"} 1x149 stale _x15 1x200
				leader_active{instance="i1"} 1x300
				leader_active{instance="i2"} 0x149 stale _x15 0x200`},
		{ID: "N6", Name: "a run-style lock has one replica left", Every: 30 * time.Second, End: 2 * time.Hour,
			Load: ran + `
				leader_active{instance="i1"} 0x300
				leader_active{instance="i2"} 0x99 stale`},
		{ID: "P1", Name: "an attempt waits for longer than runs and waits explain", Every: 30 * time.Second, End: 90 * time.Minute,
			Load: ran + `
				leader_active{instance="i1"} 0x99 1x200
				leader_active{instance="i2"} 0x200
				leader_acquire_duration_seconds_count{instance="i1"} 0+1x99 99x200
				leader_acquire_duration_seconds_sum{instance="i1"} 0+20x99 1980x200
				leader_execution_duration_seconds_count{instance="i1"} 0+1x99 99x200
				leader_execution_duration_seconds_sum{instance="i1"} 0+200x99 19800x200
				leader_pending_age_seconds{instance="i1"} 0x300
				leader_pending_age_seconds{instance="i2"} 0x99 30+30x100`,
			Want: "AttemptStuck/warning 1h.. = 630"},
		{ID: "P2", Name: "an attempt waits as long as runs take here", Every: 30 * time.Second, End: 90 * time.Minute,
			Load: ran + `
				leader_active{instance="i1"} 1x300
				leader_active{instance="i2"} 0x300
				leader_execution_duration_seconds_count{instance="i1"} 0x39 1x39 2x39 3x39 4x60
				leader_execution_duration_seconds_sum{instance="i1"} 0x39 1200x39 2400x39 3600x39 4800x60
				leader_pending_age_seconds{instance="i2"} 0x20 30+30x60 0x20 30+30x60 0x60`},
		{ID: "P3", Name: "the first run of a lock is long, and others wait", Every: 30 * time.Second, End: 90 * time.Minute,
			Load: ran + `
				leader_active{instance="i1"} 0x3 1x300
				leader_active{instance="i2"} 0x300
				leader_pending_age_seconds{instance="i2"} 0x3 30+30x300`},
		{ID: "P4", Name: "a standby waits for as long as the leader leads", Every: 30 * time.Second, End: 90 * time.Minute,
			Load: held + `
				leader_active{instance="i1"} 1x300
				leader_active{instance="i2"} 0x300
				leader_acquire_duration_seconds_count{instance="i1"} 1x300
				leader_acquire_duration_seconds_sum{instance="i1"} 2x300
				leader_pending_age_seconds{instance="i2"} 30+30x300`},
		{ID: "P5", Name: "the first attempts ever hang, and no replica holds the lock", Every: 30 * time.Second, End: 40 * time.Minute,
			Load: ran + `
				leader_active{instance="i1"} 0x100
				leader_pending_age_seconds{instance="i1"} 0x3 30+30x100`,
			Want: "AttemptStuck/warning 12m.. = 630"},
		{ID: "P6", Name: "attempts below a shared label hang", Every: 30 * time.Second, End: 40 * time.Minute,
			Load: `
				leader_active{instance="i1",lock_name="tenant-*/orders"} 0x100
				leader_execution_duration_seconds_count{instance="i1",lock_name="tenant-*/orders"} 0x1 5x100
				leader_execution_duration_seconds_sum{instance="i1",lock_name="tenant-*/orders"} 0x1 50x100
				leader_pending_age_seconds{instance="i1",lock_name="tenant-*/orders"} 0x3 30+30x100`,
			Limit: "below a shared label the history is of one lock and the wait of another"},
		{ID: "P7", Name: "an attempt hangs where only native histograms are stored", Every: 30 * time.Second, End: 60 * time.Minute, Native: true,
			Load: ran + `
				leader_active{instance="i1"} 0x100
				leader_acquire_duration_seconds{instance="i1"} {{schema:0 sum:0 count:0 buckets:[0]}}+{{schema:0 sum:2 count:1 buckets:[1]}}x49 {{schema:0 sum:98 count:49 buckets:[49]}}x60
				leader_pending_age_seconds{instance="i1"} 0x49 30+30x100`,
			Want: "AttemptStuck/warning 35m.. = 630"},
	}
}
