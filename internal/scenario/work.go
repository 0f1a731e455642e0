package scenario

import (
	"fmt"
	"strings"
	"time"
)

func jobScenarios() []Scenario {
	return []Scenario{
		{ID: "J1", Name: "a job of every ten minutes has stopped", Every: 30 * time.Second, End: 40 * time.Minute,
			Load: ran + `
				leader_expected_interval_seconds{instance="i1"} 600x100
				leader_last_acquired_timestamp_seconds{instance="i1"} 0x19 600x100
				leader_active{instance="i1"} 0x100`,
			Want: "JobOverdue/warning 27m15s.. = 1.04e+03"},
		{ID: "J2", Name: "a job of every ten minutes runs on another replica each time, late now and then", Every: 30 * time.Second, End: time.Hour,
			Load: ran + `
				leader_expected_interval_seconds{instance="i1"} 600x120
				leader_expected_interval_seconds{instance="i2"} 600x120
				leader_last_acquired_timestamp_seconds{instance="i1"} 0x44 1350x30 2220x60
				leader_last_acquired_timestamp_seconds{instance="i2"} _x20 600x39 1800x33 2820x60`},
		{ID: "J3", Name: "a job of every five minutes never ran", Every: 30 * time.Second, End: time.Hour,
			Load: ran + `
				leader_expected_interval_seconds{instance="i1"} 300x120
				leader_active{instance="i1"} 0x120`,
			Want: "JobOverdue/warning 10m.. = 600"},
		{ID: "J4", Name: "a job of every 20 minutes comes back after its service was off for over an hour", Every: 30 * time.Second, End: 150 * time.Minute,
			Load: `
				leader_elector_info{instance="i1",mode="run"} 1x82 stale
				leader_active{instance="i1"} 0x82 stale
				leader_expected_interval_seconds{instance="i1"} 1200x82 stale
				leader_last_acquired_timestamp_seconds{instance="i1"} 0x39 1200x39 2400x2 stale
				leader_elector_info{instance="i2",mode="run"} _x240 1x60
				leader_active{instance="i2"} _x240 0x60
				leader_expected_interval_seconds{instance="i2"} _x240 1200x60
				leader_last_acquired_timestamp_seconds{instance="i2"} _x278 8340x60`,
			Want: "JobOverdue/warning 1h12m15s..2h = 1.94e+03\nMetricsAbsent/warning 51m30s..1h36m = 83"},
		{ID: "J5", Name: "a lock without a declared interval was acquired long ago", Every: 30 * time.Second, End: time.Hour,
			Load: ran + `
				leader_active{instance="i1"} 0x120
				leader_last_acquired_timestamp_seconds{instance="i1"} -864000x120`},
		{ID: "J6", Name: "a replica that won hours ago lives on, the one that won last is replaced", Every: 30 * time.Second, End: time.Hour,
			Load: ran + `
				leader_expected_interval_seconds{instance="i1"} 3600x120
				leader_expected_interval_seconds{instance="i2"} 3600x30 stale
				leader_expected_interval_seconds{instance="i3"} _x33 3600x100
				leader_last_acquired_timestamp_seconds{instance="i1"} -14400x120
				leader_last_acquired_timestamp_seconds{instance="i2"} -600x30 stale`},
		{ID: "J7", Name: "the run of a job does not end", Every: 30 * time.Second, End: time.Hour,
			Load: ran + `
				leader_expected_interval_seconds{instance="i1"} 600x120
				leader_active{instance="i1"} 1x120
				leader_active{instance="i2"} 0x120
				leader_last_acquired_timestamp_seconds{instance="i1"} 0x120`,
			Want: "JobOverdue/warning 17m15s.. = 1.04e+03"},
		{ID: "J8", Name: "a lock that is held is declared to be acquired every minute", Every: 30 * time.Second, End: time.Hour,
			Load: held + `
				leader_expected_interval_seconds{instance="i1"} 60x120
				leader_active{instance="i1"} 1x120
				leader_last_acquired_timestamp_seconds{instance="i1"} 0x120`},
		{ID: "J9", Name: "a job of every ten seconds is sampled every half minute, by a server whose clock is 20 s ahead", Every: 30 * time.Second, End: 30 * time.Minute,
			Load: ran + `
				leader_expected_interval_seconds{instance="i1"} 10x60
				leader_active{instance="i1"} 0x60
				leader_last_acquired_timestamp_seconds{instance="i1"} -25+30x60`},
		{ID: "J10", Name: "tenants with intervals of their own share a label", Every: 30 * time.Second, End: time.Hour,
			Load: `
				leader_expected_interval_seconds{instance="i1",lock_name="tenant-*/report"} 60x120
				leader_active{instance="i1",lock_name="tenant-*/report"} 0x120
				leader_last_acquired_timestamp_seconds{instance="i1",lock_name="tenant-*/report"} 0x120`,
			Limit: "below a shared label the interval is of one lock and the last acquisition of another"},
		{ID: "J11", Name: "a job of every half hour is skipped while its replicas are replaced twice", Every: 30 * time.Second, End: 90 * time.Minute,
			Load: ran + `
				leader_expected_interval_seconds{instance="i1"} 1800x40 stale
				leader_last_acquired_timestamp_seconds{instance="i1"} 0x40 stale
				leader_expected_interval_seconds{instance="i2"} _x42 1800x40 stale
				leader_expected_interval_seconds{instance="i3"} _x84 1800x120`,
			Want: "JobOverdue/warning 47m15s.. = 2.84e+03"},
		{ID: "J12", Name: "a job is overdue for as long as nobody can run it, and then runs", Every: 30 * time.Second, End: 34 * time.Minute,
			Load: ran + `
				leader_expected_interval_seconds{instance="i1"} 300x100
				leader_active{instance="i1"} 0x100
				leader_last_acquired_timestamp_seconds{instance="i1"} 0x49 1500x20`,
			Want: "JobOverdue/warning 9m45s..25m = 585"},
		{ID: "J13", Name: "a job of every 30 minutes is skipped while a replacement leaves gaps of two minutes", Every: 30 * time.Second, End: 90 * time.Minute,
			Load: ran + `
				leader_expected_interval_seconds{instance="i1"} 1800x36 stale
				leader_last_acquired_timestamp_seconds{instance="i1"} 0x36 stale
				leader_expected_interval_seconds{instance="i2"} _x41 1800x36 stale
				leader_expected_interval_seconds{instance="i3"} _x82 1800x120`,
			Want: "JobOverdue/warning 47m15s.. = 2.84e+03"},
		{ID: "J14", Name: "a job that never ran, for two hours", Every: 30 * time.Second, End: 2 * time.Hour,
			Load: ran + `
				leader_expected_interval_seconds{instance="i1"} 7200x240
				leader_active{instance="i1"} 0x240`},
		{ID: "C09", Name: "nobody contends again for a job that ran every minute", Every: 15 * time.Second, End: 20 * time.Minute,
			Load: ran + `
				leader_expected_interval_seconds{instance="i1"} 60x80
				leader_expected_interval_seconds{instance="i2"} 60x80
				leader_active{instance="i1"} 0x80
				leader_active{instance="i2"} 0x80
				leader_attempts_total{instance="i1"} 7x80
				leader_attempts_total{instance="i2"} 9x80
				leader_acquired_total{instance="i1"} 7x80
				leader_acquired_total{instance="i2"} 5x80
				leader_last_acquired_timestamp_seconds{instance="i1"} 0x80
				leader_last_acquired_timestamp_seconds{instance="i2"} -60x80`,
			Want: "JobOverdue/warning 3m45s.. = 225"},
		{ID: "C31", Name: "Prometheus starts half an hour after the last run of an hourly job", Every: 15 * time.Second, End: 90 * time.Minute,
			Load: ran + `
				leader_expected_interval_seconds{instance="i1"} 3600x360
				leader_active{instance="i1"} 0x360
				leader_acquired_total{instance="i1"} 57x239 58x120
				leader_attempts_total{instance="i1"} 57x239 58x120
				leader_last_acquired_timestamp_seconds{instance="i1"} -1800x239 3600x120`},
		{ID: "C31", Name: "Prometheus starts half an hour after the last run of an hourly job that is dead", Every: 15 * time.Second, End: 90 * time.Minute,
			Load: ran + `
				leader_expected_interval_seconds{instance="i1"} 3600x360
				leader_active{instance="i1"} 0x360
				leader_acquired_total{instance="i1"} 57x360
				leader_attempts_total{instance="i1"} 57x360
				leader_last_acquired_timestamp_seconds{instance="i1"} -1800x360`,
			Want: "JobOverdue/warning 1h2m15s.. = 5.54e+03"},
		{ID: "C34", Name: "a job of the same name runs in one of two clusters", Every: 30 * time.Second, End: 30 * time.Minute,
			Load: `
				leader_elector_info{mode="run",cluster="eu"} 1x60
				leader_elector_info{mode="run",cluster="us"} 1x60
				leader_expected_interval_seconds{instance="i1",cluster="eu"} 600x60
				leader_expected_interval_seconds{instance="i1",cluster="us"} 600x60
				leader_last_acquired_timestamp_seconds{instance="i1",cluster="eu"} 0x19 600x19 1200x60
				leader_last_acquired_timestamp_seconds{instance="i1",cluster="us"} 0x60`,
			Want: `JobOverdue/warning{cluster="us"} 17m15s.. = 1.04e+03`},
		{ID: "C32", Name: "the replicas of a job of every hour are replaced halfway", Every: 30 * time.Second, End: 2 * time.Hour,
			Load: `
				leader_elector_info{mode="run"} 1x240
				leader_active{instance="i1"} 0x60 stale
				leader_expected_interval_seconds{instance="i1"} 3600x60 stale
				leader_last_acquired_timestamp_seconds{instance="i1"} 0x60 stale
				leader_active{instance="i2"} _x60 0x200
				leader_expected_interval_seconds{instance="i2"} _x60 3600x200
				leader_last_acquired_timestamp_seconds{instance="i2"} _x120 3600x200`},
		{ID: "C32", Name: "the run of an hour is skipped after the replicas were replaced", Every: 30 * time.Second, End: 3 * time.Hour,
			Load: `
				leader_elector_info{mode="run"} 1x240
				leader_active{instance="i1"} 0x60 stale
				leader_expected_interval_seconds{instance="i1"} 3600x60 stale
				leader_last_acquired_timestamp_seconds{instance="i1"} _x20 600x40 stale
				leader_active{instance="i2"} _x60 0x400
				leader_expected_interval_seconds{instance="i2"} _x60 3600x400`,
			Want: "JobOverdue/warning 2h40m.. = 9.6e+03"},
		{ID: "C32", Name: "a run of 200 ms every minute is never sampled as active", Every: 30 * time.Second, End: time.Hour,
			Load: ran + `
				leader_expected_interval_seconds{instance="i1"} 60x240
				leader_active{instance="i1"} 0x240
				leader_attempts_total{instance="i1"} 0+1x240
				leader_acquired_total{instance="i1"} 0+1x240
				leader_last_acquired_timestamp_seconds{instance="i1"} -5+30x240`},
	}
}

func taskScenarios() []Scenario {
	return []Scenario{
		{ID: "T1", Name: "one of six runs an hour fails", Every: 30 * time.Second, End: 2 * time.Hour,
			Load: ran + `
				leader_acquired_total{instance="i1"} 3x19 4x19 5x19 6x19 7x19 8x19 9x120
				leader_execution_duration_seconds_count{instance="i1"} 3x19 4x19 5x19 6x19 7x19 8x19 9x120
				leader_execution_failures_total{instance="i1",cause="error"} 0x59 1x240
				leader_execution_failures_total{instance="i1",cause="panic"} 0x300`,
			Want: "TaskFailing/warning 30m..1h44m30s = 1"},
		{ID: "T2", Name: "the only run of the day panics", Every: 30 * time.Second, End: 2 * time.Hour,
			Load: ran + `
				leader_acquired_total{instance="i1"} 3x39 4x300
				leader_execution_duration_seconds_count{instance="i1"} 3x40 4x300
				leader_execution_failures_total{instance="i1",cause="error"} 0x300
				leader_execution_failures_total{instance="i1",cause="panic"} 0x40 1x300`,
			Want: "TaskFailing/warning 20m30s..1h35m = 1"},
		{ID: "T3", Name: "one run in fifty fails", Every: 30 * time.Second, End: 90 * time.Minute,
			Load: ran + `
				leader_acquired_total{instance="i1"} 0+1x240
				leader_execution_duration_seconds_count{instance="i1"} 0+1x240
				leader_execution_failures_total{instance="i1",cause="error"} 0x49 1x49 2x49 3x49 4x49`},
		{ID: "T4", Name: "runs fail on one of two replicas", Every: 30 * time.Second, End: time.Hour,
			Load: ran + `
				leader_acquired_total{instance="i1"} 0+1x120
				leader_acquired_total{instance="i2"} 0+1x120
				leader_execution_duration_seconds_count{instance="i1"} 0+1x120
				leader_execution_duration_seconds_count{instance="i2"} 0+1x120
				leader_execution_failures_total{instance="i1",cause="error"} 0x120
				leader_execution_failures_total{instance="i2",cause="error"} 0+1x120`,
			Want: "TaskFailing/warning 30s.. = 1"},
		{ID: "T5", Name: "a short-lived process fails before its first sample", Every: 30 * time.Second, End: time.Hour,
			Load: ran + `
				leader_acquired_total{instance="p1"} _x20 1x3 stale
				leader_last_acquired_timestamp_seconds{instance="p1"} _x20 595x3 stale
				leader_execution_duration_seconds_count{instance="p1"} _x20 1x3 stale
				leader_execution_failures_total{instance="p1",cause="error"} _x20 1x3 stale
				leader_execution_failures_total{instance="p1",cause="panic"} _x20 0x3 stale`,
			Want: "TaskFailing/warning 10m.. = 1"},
		{ID: "T6", Name: "Prometheus starts beside a process that failed yesterday and runs well now", Every: 30 * time.Second, End: time.Hour,
			Load: ran + `
				leader_acquired_total{instance="i1"} 9x20 10x100
				leader_last_acquired_timestamp_seconds{instance="i1"} -600x20 630x100
				leader_execution_duration_seconds_count{instance="i1"} 9x20 10x100
				leader_execution_failures_total{instance="i1",cause="error"} 3x120
				leader_execution_failures_total{instance="i1",cause="panic"} 1x120`},
		{ID: "T7", Name: "Prometheus starts beside a process whose only run failed yesterday", Every: 30 * time.Second, End: time.Hour,
			Load: ran + `
				leader_acquired_total{instance="i1"} 1x120
				leader_last_acquired_timestamp_seconds{instance="i1"} -86400x120
				leader_execution_duration_seconds_count{instance="i1"} 1x120
				leader_execution_failures_total{instance="i1",cause="error"} 1x120`},
		{ID: "T8", Name: "a lock without a body fails nothing", Every: 30 * time.Second, End: time.Hour,
			Load: ran + `
				leader_acquired_total{instance="i1"} 1+1x120
				leader_last_acquired_timestamp_seconds{instance="i1"} 0+30x120
				leader_execution_duration_seconds_count{instance="i1"} 0+1x120
				leader_execution_failures_total{instance="i1",cause="error"} 0x120
				leader_execution_failures_total{instance="i1",cause="panic"} 0x120`},
		{ID: "T9", Name: "a leader's body returns an error, and the next leader's does not", Every: 30 * time.Second, End: 90 * time.Minute,
			Load: held + `
				leader_active{instance="i1"} 1x20 0x200
				leader_active{instance="i2"} 0x20 1x200
				leader_acquired_total{instance="i1"} 1x200
				leader_acquired_total{instance="i2"} 0x20 1x200
				leader_execution_duration_seconds_count{instance="i1"} 0x20 1x200
				leader_execution_duration_seconds_count{instance="i2"} 0x200
				leader_execution_failures_total{instance="i1",cause="error"} 0x20 1x200
				leader_execution_failures_total{instance="i2",cause="error"} 0x200`,
			Want: "TaskFailing/warning 10m30s..1h25m = 1"},
		{ID: "T10", Name: "a tenth of the runs fails where only native histograms are stored", Every: 30 * time.Second, End: time.Hour, Native: true,
			Load: ran + `
				leader_acquired_total{instance="i1"} 0+4x120
				leader_execution_duration_seconds{instance="i1"} {{schema:0 sum:0 count:0 buckets:[0]}}+{{schema:0 sum:4 count:4 buckets:[4]}}x120
				leader_execution_failures_total{instance="i1",cause="error"} 0x9 1x9 2x9 3x9 4x9 5x9 6x9 7x9 8x9 9x9 10x30`},
		{ID: "T11", Name: "half of the runs fails where only native histograms are stored", Every: 30 * time.Second, End: time.Hour, Native: true,
			Load: ran + `
				leader_acquired_total{instance="i1"} 0+4x120
				leader_execution_duration_seconds{instance="i1"} {{schema:0 sum:0 count:0 buckets:[0]}}+{{schema:0 sum:4 count:4 buckets:[4]}}x120
				leader_execution_failures_total{instance="i1",cause="error"} 0+2x120`,
			Want: "TaskFailing/warning 30s.. = 2"},
		{ID: "T12", Name: "the series of a lease are sampled before that of its win", Every: 30 * time.Second, End: time.Hour,
			Load: ran + `
				leader_acquired_total{instance="i1"} 0x120
				leader_last_acquired_timestamp_seconds{instance="i1"} _x10 300x120
				leader_execution_duration_seconds_count{instance="i1"} 0x120
				leader_execution_failures_total{instance="i1",cause="error"} 0x120
				leader_execution_failures_total{instance="i1",cause="panic"} 0x120`},
		{ID: "T13", Name: "one of twenty processes that run once each fails", Every: 30 * time.Second, End: time.Hour,
			Load: ran + onceEach(20) + `
				leader_acquired_total{instance="failed"} _x40 0x2 1x6 stale
				leader_execution_duration_seconds_count{instance="failed"} _x43 1x5 stale
				leader_execution_failures_total{instance="failed",cause="error"} _x40 0x2 1x6 stale`},
		{ID: "C11", Name: "a body panics after three seconds, and the next run is normal", Every: 15 * time.Second, End: 20 * time.Minute,
			Load: ran + `
				leader_active{instance="i1"} 0x80
				leader_acquired_total{instance="i1"} 0x9 1x20 2x60
				leader_execution_duration_seconds_count{instance="i1"} 0x9 1x20 2x60
				leader_execution_failures_total{instance="i1",cause="panic"} 0x9 1x80
				leader_execution_failures_total{instance="i1",cause="error"} 0x80`,
			Want: "TaskFailing/warning 2m30s.. = 1"},
		{ID: "C12", Name: "bodies stop because a rollout tells them to", Every: 15 * time.Second, End: 20 * time.Minute,
			Load: held + `
				leader_active{instance="i1"} 1x80
				leader_acquired_total{instance="i1"} 1x20 2x20 3x60
				leader_execution_duration_seconds_count{instance="i1"} 0x20 1x20 2x60
				leader_execution_failures_total{instance="i1",cause="error"} 0x80
				leader_execution_failures_total{instance="i1",cause="panic"} 0x80`},
		{ID: "C27", Name: "a process fails before its first sample, and did well before that", Every: 15 * time.Second, End: 20 * time.Minute,
			Load: ran + `
				leader_acquired_total{instance="p1"} _x20 2x60
				leader_last_acquired_timestamp_seconds{instance="p1"} _x20 295x60
				leader_execution_duration_seconds_count{instance="p1"} _x20 2x60
				leader_execution_failures_total{instance="p1",cause="error"} _x20 1x60`,
			Limit: "a counter born with its events has no increase, and one of two runs may be an old one"},
		{ID: "C42", Name: "a pod is first seen after 50 failures in 5000 runs", Every: 15 * time.Second, End: 20 * time.Minute,
			Load: ran + `
				leader_acquired_total{instance="i1"} _x20 5000+1x60
				leader_last_acquired_timestamp_seconds{instance="i1"} _x20 295+15x60
				leader_execution_duration_seconds_count{instance="i1"} _x20 5000+1x60
				leader_execution_failures_total{instance="i1",cause="error"} _x20 50x60`},
	}
}

func tokenScenarios() []Scenario {
	return []Scenario{
		{ID: "K1", Name: "a process is given a lower token than before", Every: 30 * time.Second, End: time.Hour,
			Load: ran + `
				leader_attempts_total{instance="i1"} 0x5 1x19 2x200
				leader_acquired_total{instance="i1"} 0x5 1x19 2x200
				leader_fencing_token{instance="i1"} _x6 900x19 12x200
				leader_fencing_token_regressions_total{instance="i1"} _x6 0x19 1x200`,
			Want: "TokenRegressed/critical 13m..57m30s = 1"},
		{ID: "K2", Name: "tokens grow, with gaps", Every: 30 * time.Second, End: 30 * time.Minute,
			Load: ran + `
				leader_attempts_total{instance="i1"} 0+1x60
				leader_acquired_total{instance="i1"} 0+1x60
				leader_fencing_token{instance="i1"} 5+7x60
				leader_fencing_token_regressions_total{instance="i1"} 0x60`},
		{ID: "K3", Name: "a process restarts in place beside a backend that lost its state", Every: 30 * time.Second, End: 30 * time.Minute,
			Load: ran + `
				leader_attempts_total{instance="i1"} 7x19 _x2 0x4 1x40
				leader_acquired_total{instance="i1"} 7x19 _x2 0x4 1x40
				leader_fencing_token{instance="i1"} 900x19 stale _x6 3x40
				leader_fencing_token_regressions_total{instance="i1"} 0x19 stale _x6 0x40`,
			Want: "TokenRegressed/critical 13m30s.. = 1"},
		{ID: "K4", Name: "locks with tokens of their own share a label", Every: 30 * time.Second, End: 30 * time.Minute,
			Load: `
				leader_attempts_total{instance="i1",lock_name="redacted"} 0+2x60
				leader_acquired_total{instance="i1",lock_name="redacted"} 0+2x60
				leader_fencing_token{instance="i1",lock_name="redacted"} 900 3 901 4 902 5 903 6 904 7 905 8 906 9 907 10
				leader_fencing_token_regressions_total{instance="i1",lock_name="redacted"} 0+1x60`,
			Limit: "tokens of different locks below one label cannot be compared"},
		{ID: "K5", Name: "a process with regressions of yesterday is first seen", Every: 30 * time.Second, End: 30 * time.Minute,
			Load: ran + `
				leader_attempts_total{instance="i1"} _x20 70x60
				leader_acquired_total{instance="i1"} _x20 70x60
				leader_fencing_token{instance="i1"} _x20 900x60
				leader_fencing_token_regressions_total{instance="i1"} _x20 3x60`},
		{ID: "K6", Name: "a replica gets a lower token than another one had", Every: 30 * time.Second, End: 30 * time.Minute,
			Load: ran + `
				leader_attempts_total{instance="i1"} 1x60
				leader_attempts_total{instance="i2"} 0x19 1x60
				leader_acquired_total{instance="i1"} 1x60
				leader_acquired_total{instance="i2"} 0x19 1x60
				leader_fencing_token{instance="i1"} 900x60
				leader_fencing_token{instance="i2"} _x20 3x60
				leader_fencing_token_regressions_total{instance="i1"} 0x60
				leader_fencing_token_regressions_total{instance="i2"} _x20 0x60`,
			Limit: "replicas are not compared: their clocks do not say for certain whose term was first"},
		{ID: "K7", Name: "an elector without tokens", Every: 30 * time.Second, End: 30 * time.Minute,
			Load: ran + `
				leader_attempts_total{instance="i1"} 0+1x60
				leader_acquired_total{instance="i1"} 0+1x60`},
		{ID: "K8", Name: "a fencing backend is restored, and two processes notice in their next terms", Every: 30 * time.Second, End: 20 * time.Minute,
			Load: ran + `
				leader_attempts_total{instance="i1"} 1x9 2x60
				leader_attempts_total{instance="i2"} 1x14 2x60
				leader_acquired_total{instance="i1"} 1x9 2x60
				leader_acquired_total{instance="i2"} 1x14 2x60
				leader_fencing_token{instance="i1"} 900x9 4x60
				leader_fencing_token{instance="i2"} 901x14 5x60
				leader_fencing_token_regressions_total{instance="i1"} 0x9 1x60
				leader_fencing_token_regressions_total{instance="i2"} 0x14 1x60`,
			Want: "TokenRegressed/critical 5m.. = 1"},
		{ID: "K9", Name: "a token goes back and forth between two samples", Every: 30 * time.Second, End: 20 * time.Minute,
			Load: ran + `
				leader_attempts_total{instance="i1"} 1x9 4x60
				leader_acquired_total{instance="i1"} 1x9 4x60
				leader_fencing_token{instance="i1"} 900x9 903x60
				leader_fencing_token_regressions_total{instance="i1"} 0x9 1x60`,
			Want: "TokenRegressed/critical 5m.. = 1"},
		{ID: "C27", Name: "the second term of a known process goes back before the counter is sampled", Every: 30 * time.Second, End: 20 * time.Minute,
			Load: ran + `
				leader_attempts_total{instance="i1"} 0x9 2x40
				leader_acquired_total{instance="i1"} 0x9 2x40
				leader_fencing_token{instance="i1"} _x10 3x40
				leader_fencing_token_regressions_total{instance="i1"} _x10 1x40`,
			Want: "TokenRegressed/critical 5m.. = 1"},
		{ID: "C27", Name: "a fresh process goes back before its first sample", Every: 30 * time.Second, End: 20 * time.Minute,
			Load: ran + `
				leader_attempts_total{instance="i1"} _x10 2x40
				leader_acquired_total{instance="i1"} _x10 2x40
				leader_fencing_token{instance="i1"} _x10 3x40
				leader_fencing_token_regressions_total{instance="i1"} _x10 1x40`,
			Limit: "a process that is new with everything may have done it long before Prometheus came"},
	}
}

// onceEach is n processes one after the other that run once each and do well:
// the run begins their histogram.
func onceEach(n int) string {
	var out strings.Builder
	for i := range n {
		fmt.Fprintf(&out, `
			leader_acquired_total{instance="o%[1]d"} _x%[2]d 0x2 1x6 stale
			leader_execution_duration_seconds_count{instance="o%[1]d"} _x%[3]d 1x5 stale
			leader_execution_failures_total{instance="o%[1]d",cause="error"} _x%[2]d 0x9 stale
		`, i, 2*i+1, 2*i+4)
	}
	return out.String()
}
