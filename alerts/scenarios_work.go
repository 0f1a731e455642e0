package alerts

import (
	"fmt"
	"strings"
	"time"
)

func jobScenarios() []scenario {
	return []scenario{
		{id: "J1", name: "a job of every ten minutes has stopped", every: 30 * time.Second, end: 40 * time.Minute,
			load: ran + `
				leader_expected_interval_seconds{instance="i1"} 600x100
				leader_last_acquired_timestamp_seconds{instance="i1"} 0x19 600x100
				leader_active{instance="i1"} 0x100`,
			want: "JobOverdue/warning 27m15s.. = 1.04e+03"},
		{id: "J2", name: "a job of every ten minutes runs on another replica each time, late now and then", every: 30 * time.Second, end: time.Hour,
			load: ran + `
				leader_expected_interval_seconds{instance="i1"} 600x120
				leader_expected_interval_seconds{instance="i2"} 600x120
				leader_last_acquired_timestamp_seconds{instance="i1"} 0x44 1350x30 2220x60
				leader_last_acquired_timestamp_seconds{instance="i2"} _x20 600x39 1800x33 2820x60`},
		{id: "J3", name: "a job of every five minutes never ran", every: 30 * time.Second, end: time.Hour,
			load: ran + `
				leader_expected_interval_seconds{instance="i1"} 300x120
				leader_active{instance="i1"} 0x120`,
			want: "JobOverdue/warning 10m.. = 600"},
		{id: "J4", name: "a job of every 20 minutes comes back after its service was off for over an hour", every: 30 * time.Second, end: 150 * time.Minute,
			load: `
				leader_elector_info{instance="i1",mode="run"} 1x82 stale
				leader_active{instance="i1"} 0x82 stale
				leader_expected_interval_seconds{instance="i1"} 1200x82 stale
				leader_last_acquired_timestamp_seconds{instance="i1"} 0x39 1200x39 2400x2 stale
				leader_elector_info{instance="i2",mode="run"} _x240 1x60
				leader_active{instance="i2"} _x240 0x60
				leader_expected_interval_seconds{instance="i2"} _x240 1200x60
				leader_last_acquired_timestamp_seconds{instance="i2"} _x278 8340x60`,
			want: "JobOverdue/warning 1h12m15s..2h = 1.94e+03\nMetricsAbsent/warning 51m30s..1h36m = 83"},
		{id: "J5", name: "a lock without a declared interval was acquired long ago", every: 30 * time.Second, end: time.Hour,
			load: ran + `
				leader_active{instance="i1"} 0x120
				leader_last_acquired_timestamp_seconds{instance="i1"} -864000x120`},
		{id: "J6", name: "a replica that won hours ago lives on, the one that won last is replaced", every: 30 * time.Second, end: time.Hour,
			load: ran + `
				leader_expected_interval_seconds{instance="i1"} 3600x120
				leader_expected_interval_seconds{instance="i2"} 3600x30 stale
				leader_expected_interval_seconds{instance="i3"} _x33 3600x100
				leader_last_acquired_timestamp_seconds{instance="i1"} -14400x120
				leader_last_acquired_timestamp_seconds{instance="i2"} -600x30 stale`},
		{id: "J7", name: "the run of a job does not end", every: 30 * time.Second, end: time.Hour,
			load: ran + `
				leader_expected_interval_seconds{instance="i1"} 600x120
				leader_active{instance="i1"} 1x120
				leader_active{instance="i2"} 0x120
				leader_last_acquired_timestamp_seconds{instance="i1"} 0x120`,
			want: "JobOverdue/warning 17m15s.. = 1.04e+03"},
		{id: "J8", name: "a lock that is held is declared to be acquired every minute", every: 30 * time.Second, end: time.Hour,
			load: held + `
				leader_expected_interval_seconds{instance="i1"} 60x120
				leader_active{instance="i1"} 1x120
				leader_last_acquired_timestamp_seconds{instance="i1"} 0x120`},
		{id: "J9", name: "a job of every ten seconds is sampled every half minute, by a server whose clock is 20 s ahead", every: 30 * time.Second, end: 30 * time.Minute,
			load: ran + `
				leader_expected_interval_seconds{instance="i1"} 10x60
				leader_active{instance="i1"} 0x60
				leader_last_acquired_timestamp_seconds{instance="i1"} -25+30x60`},
		{id: "J10", name: "tenants with intervals of their own share a label", every: 30 * time.Second, end: time.Hour,
			load: `
				leader_expected_interval_seconds{instance="i1",lock_name="tenant-*/report"} 60x120
				leader_active{instance="i1",lock_name="tenant-*/report"} 0x120
				leader_last_acquired_timestamp_seconds{instance="i1",lock_name="tenant-*/report"} 0x120`,
			limit: "below a shared label the interval is of one lock and the last acquisition of another"},
		{id: "J11", name: "a job of every half hour is skipped while its replicas are replaced twice", every: 30 * time.Second, end: 90 * time.Minute,
			load: ran + `
				leader_expected_interval_seconds{instance="i1"} 1800x40 stale
				leader_last_acquired_timestamp_seconds{instance="i1"} 0x40 stale
				leader_expected_interval_seconds{instance="i2"} _x42 1800x40 stale
				leader_expected_interval_seconds{instance="i3"} _x84 1800x120`,
			want: "JobOverdue/warning 47m15s.. = 2.84e+03"},
		{id: "J12", name: "a job is overdue for as long as nobody can run it, and then runs", every: 30 * time.Second, end: 34 * time.Minute,
			load: ran + `
				leader_expected_interval_seconds{instance="i1"} 300x100
				leader_active{instance="i1"} 0x100
				leader_last_acquired_timestamp_seconds{instance="i1"} 0x49 1500x20`,
			want: "JobOverdue/warning 9m45s..25m = 585"},
		{id: "J13", name: "a job of every 30 minutes is skipped while a replacement leaves gaps of two minutes", every: 30 * time.Second, end: 90 * time.Minute,
			load: ran + `
				leader_expected_interval_seconds{instance="i1"} 1800x36 stale
				leader_last_acquired_timestamp_seconds{instance="i1"} 0x36 stale
				leader_expected_interval_seconds{instance="i2"} _x41 1800x36 stale
				leader_expected_interval_seconds{instance="i3"} _x82 1800x120`,
			want: "JobOverdue/warning 47m15s.. = 2.84e+03"},
		{id: "J14", name: "a job that never ran, for two hours", every: 30 * time.Second, end: 2 * time.Hour,
			load: ran + `
				leader_expected_interval_seconds{instance="i1"} 7200x240
				leader_active{instance="i1"} 0x240`},
		{id: "C09", name: "nobody contends again for a job that ran every minute", every: 15 * time.Second, end: 20 * time.Minute,
			load: ran + `
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
			want: "JobOverdue/warning 3m45s.. = 225"},
		{id: "C31", name: "Prometheus starts half an hour after the last run of an hourly job", every: 15 * time.Second, end: 90 * time.Minute,
			load: ran + `
				leader_expected_interval_seconds{instance="i1"} 3600x360
				leader_active{instance="i1"} 0x360
				leader_acquired_total{instance="i1"} 57x239 58x120
				leader_attempts_total{instance="i1"} 57x239 58x120
				leader_last_acquired_timestamp_seconds{instance="i1"} -1800x239 3600x120`},
		{id: "C31", name: "Prometheus starts half an hour after the last run of an hourly job that is dead", every: 15 * time.Second, end: 90 * time.Minute,
			load: ran + `
				leader_expected_interval_seconds{instance="i1"} 3600x360
				leader_active{instance="i1"} 0x360
				leader_acquired_total{instance="i1"} 57x360
				leader_attempts_total{instance="i1"} 57x360
				leader_last_acquired_timestamp_seconds{instance="i1"} -1800x360`,
			want: "JobOverdue/warning 1h2m15s.. = 5.54e+03"},
		{id: "C34", name: "a job of the same name runs in one of two clusters", every: 30 * time.Second, end: 30 * time.Minute,
			load: `
				leader_elector_info{mode="run",cluster="eu"} 1x60
				leader_elector_info{mode="run",cluster="us"} 1x60
				leader_expected_interval_seconds{instance="i1",cluster="eu"} 600x60
				leader_expected_interval_seconds{instance="i1",cluster="us"} 600x60
				leader_last_acquired_timestamp_seconds{instance="i1",cluster="eu"} 0x19 600x19 1200x60
				leader_last_acquired_timestamp_seconds{instance="i1",cluster="us"} 0x60`,
			want: `JobOverdue/warning{cluster="us"} 17m15s.. = 1.04e+03`},
		{id: "C32", name: "the replicas of a job of every hour are replaced halfway", every: 30 * time.Second, end: 2 * time.Hour,
			load: `
				leader_elector_info{mode="run"} 1x240
				leader_active{instance="i1"} 0x60 stale
				leader_expected_interval_seconds{instance="i1"} 3600x60 stale
				leader_last_acquired_timestamp_seconds{instance="i1"} 0x60 stale
				leader_active{instance="i2"} _x60 0x200
				leader_expected_interval_seconds{instance="i2"} _x60 3600x200
				leader_last_acquired_timestamp_seconds{instance="i2"} _x120 3600x200`},
		{id: "C32", name: "the run of an hour is skipped after the replicas were replaced", every: 30 * time.Second, end: 3 * time.Hour,
			load: `
				leader_elector_info{mode="run"} 1x240
				leader_active{instance="i1"} 0x60 stale
				leader_expected_interval_seconds{instance="i1"} 3600x60 stale
				leader_last_acquired_timestamp_seconds{instance="i1"} _x20 600x40 stale
				leader_active{instance="i2"} _x60 0x400
				leader_expected_interval_seconds{instance="i2"} _x60 3600x400`,
			want: "JobOverdue/warning 2h40m.. = 9.6e+03"},
		{id: "C32", name: "a run of 200 ms every minute is never sampled as active", every: 30 * time.Second, end: time.Hour,
			load: ran + `
				leader_expected_interval_seconds{instance="i1"} 60x240
				leader_active{instance="i1"} 0x240
				leader_attempts_total{instance="i1"} 0+1x240
				leader_acquired_total{instance="i1"} 0+1x240
				leader_last_acquired_timestamp_seconds{instance="i1"} -5+30x240`},
	}
}

func taskScenarios() []scenario {
	return []scenario{
		{id: "T1", name: "one of six runs an hour fails", every: 30 * time.Second, end: 2 * time.Hour,
			load: ran + `
				leader_acquired_total{instance="i1"} 3x19 4x19 5x19 6x19 7x19 8x19 9x120
				leader_execution_duration_seconds_count{instance="i1"} 3x19 4x19 5x19 6x19 7x19 8x19 9x120
				leader_execution_failures_total{instance="i1",cause="error"} 0x59 1x240
				leader_execution_failures_total{instance="i1",cause="panic"} 0x300`,
			want: "TaskFailing/warning 30m..1h44m30s = 1"},
		{id: "T2", name: "the only run of the day panics", every: 30 * time.Second, end: 2 * time.Hour,
			load: ran + `
				leader_acquired_total{instance="i1"} 3x39 4x300
				leader_execution_duration_seconds_count{instance="i1"} 3x40 4x300
				leader_execution_failures_total{instance="i1",cause="error"} 0x300
				leader_execution_failures_total{instance="i1",cause="panic"} 0x40 1x300`,
			want: "TaskFailing/warning 20m30s..1h35m = 1"},
		{id: "T3", name: "one run in fifty fails", every: 30 * time.Second, end: 90 * time.Minute,
			load: ran + `
				leader_acquired_total{instance="i1"} 0+1x240
				leader_execution_duration_seconds_count{instance="i1"} 0+1x240
				leader_execution_failures_total{instance="i1",cause="error"} 0x49 1x49 2x49 3x49 4x49`},
		{id: "T4", name: "runs fail on one of two replicas", every: 30 * time.Second, end: time.Hour,
			load: ran + `
				leader_acquired_total{instance="i1"} 0+1x120
				leader_acquired_total{instance="i2"} 0+1x120
				leader_execution_duration_seconds_count{instance="i1"} 0+1x120
				leader_execution_duration_seconds_count{instance="i2"} 0+1x120
				leader_execution_failures_total{instance="i1",cause="error"} 0x120
				leader_execution_failures_total{instance="i2",cause="error"} 0+1x120`,
			want: "TaskFailing/warning 30s.. = 1"},
		{id: "T5", name: "a short-lived process fails before its first sample", every: 30 * time.Second, end: time.Hour,
			load: ran + `
				leader_acquired_total{instance="p1"} _x20 1x3 stale
				leader_last_acquired_timestamp_seconds{instance="p1"} _x20 595x3 stale
				leader_execution_duration_seconds_count{instance="p1"} _x20 1x3 stale
				leader_execution_failures_total{instance="p1",cause="error"} _x20 1x3 stale
				leader_execution_failures_total{instance="p1",cause="panic"} _x20 0x3 stale`,
			want: "TaskFailing/warning 10m.. = 1"},
		{id: "T6", name: "Prometheus starts beside a process that failed yesterday and runs well now", every: 30 * time.Second, end: time.Hour,
			load: ran + `
				leader_acquired_total{instance="i1"} 9x20 10x100
				leader_last_acquired_timestamp_seconds{instance="i1"} -600x20 630x100
				leader_execution_duration_seconds_count{instance="i1"} 9x20 10x100
				leader_execution_failures_total{instance="i1",cause="error"} 3x120
				leader_execution_failures_total{instance="i1",cause="panic"} 1x120`},
		{id: "T7", name: "Prometheus starts beside a process whose only run failed yesterday", every: 30 * time.Second, end: time.Hour,
			load: ran + `
				leader_acquired_total{instance="i1"} 1x120
				leader_last_acquired_timestamp_seconds{instance="i1"} -86400x120
				leader_execution_duration_seconds_count{instance="i1"} 1x120
				leader_execution_failures_total{instance="i1",cause="error"} 1x120`},
		{id: "T8", name: "a lock without a body fails nothing", every: 30 * time.Second, end: time.Hour,
			load: ran + `
				leader_acquired_total{instance="i1"} 1+1x120
				leader_last_acquired_timestamp_seconds{instance="i1"} 0+30x120
				leader_execution_duration_seconds_count{instance="i1"} 0+1x120
				leader_execution_failures_total{instance="i1",cause="error"} 0x120
				leader_execution_failures_total{instance="i1",cause="panic"} 0x120`},
		{id: "T9", name: "a leader's body returns an error, and the next leader's does not", every: 30 * time.Second, end: 90 * time.Minute,
			load: held + `
				leader_active{instance="i1"} 1x20 0x200
				leader_active{instance="i2"} 0x20 1x200
				leader_acquired_total{instance="i1"} 1x200
				leader_acquired_total{instance="i2"} 0x20 1x200
				leader_execution_duration_seconds_count{instance="i1"} 0x20 1x200
				leader_execution_duration_seconds_count{instance="i2"} 0x200
				leader_execution_failures_total{instance="i1",cause="error"} 0x20 1x200
				leader_execution_failures_total{instance="i2",cause="error"} 0x200`,
			want: "TaskFailing/warning 10m30s..1h25m = 1"},
		{id: "T10", name: "a tenth of the runs fails where only native histograms are stored", every: 30 * time.Second, end: time.Hour, native: true,
			load: ran + `
				leader_acquired_total{instance="i1"} 0+4x120
				leader_execution_duration_seconds{instance="i1"} {{schema:0 sum:0 count:0 buckets:[0]}}+{{schema:0 sum:4 count:4 buckets:[4]}}x120
				leader_execution_failures_total{instance="i1",cause="error"} 0x9 1x9 2x9 3x9 4x9 5x9 6x9 7x9 8x9 9x9 10x30`},
		{id: "T11", name: "half of the runs fails where only native histograms are stored", every: 30 * time.Second, end: time.Hour, native: true,
			load: ran + `
				leader_acquired_total{instance="i1"} 0+4x120
				leader_execution_duration_seconds{instance="i1"} {{schema:0 sum:0 count:0 buckets:[0]}}+{{schema:0 sum:4 count:4 buckets:[4]}}x120
				leader_execution_failures_total{instance="i1",cause="error"} 0+2x120`,
			want: "TaskFailing/warning 30s.. = 2"},
		{id: "T12", name: "the series of a lease are sampled before that of its win", every: 30 * time.Second, end: time.Hour,
			load: ran + `
				leader_acquired_total{instance="i1"} 0x120
				leader_last_acquired_timestamp_seconds{instance="i1"} _x10 300x120
				leader_execution_duration_seconds_count{instance="i1"} 0x120
				leader_execution_failures_total{instance="i1",cause="error"} 0x120
				leader_execution_failures_total{instance="i1",cause="panic"} 0x120`},
		{id: "T13", name: "one of twenty processes that run once each fails", every: 30 * time.Second, end: time.Hour,
			load: ran + onceEach(20) + `
				leader_acquired_total{instance="failed"} _x40 0x2 1x6 stale
				leader_execution_duration_seconds_count{instance="failed"} _x43 1x5 stale
				leader_execution_failures_total{instance="failed",cause="error"} _x40 0x2 1x6 stale`},
		{id: "C11", name: "a body panics after three seconds, and the next run is normal", every: 15 * time.Second, end: 20 * time.Minute,
			load: ran + `
				leader_active{instance="i1"} 0x80
				leader_acquired_total{instance="i1"} 0x9 1x20 2x60
				leader_execution_duration_seconds_count{instance="i1"} 0x9 1x20 2x60
				leader_execution_failures_total{instance="i1",cause="panic"} 0x9 1x80
				leader_execution_failures_total{instance="i1",cause="error"} 0x80`,
			want: "TaskFailing/warning 2m30s.. = 1"},
		{id: "C12", name: "bodies stop because a rollout tells them to", every: 15 * time.Second, end: 20 * time.Minute,
			load: held + `
				leader_active{instance="i1"} 1x80
				leader_acquired_total{instance="i1"} 1x20 2x20 3x60
				leader_execution_duration_seconds_count{instance="i1"} 0x20 1x20 2x60
				leader_execution_failures_total{instance="i1",cause="error"} 0x80
				leader_execution_failures_total{instance="i1",cause="panic"} 0x80`},
		{id: "C27", name: "a process fails before its first sample, and did well before that", every: 15 * time.Second, end: 20 * time.Minute,
			load: ran + `
				leader_acquired_total{instance="p1"} _x20 2x60
				leader_last_acquired_timestamp_seconds{instance="p1"} _x20 295x60
				leader_execution_duration_seconds_count{instance="p1"} _x20 2x60
				leader_execution_failures_total{instance="p1",cause="error"} _x20 1x60`,
			limit: "a counter born with its events has no increase, and one of two runs may be an old one"},
		{id: "C42", name: "a pod is first seen after 50 failures in 5000 runs", every: 15 * time.Second, end: 20 * time.Minute,
			load: ran + `
				leader_acquired_total{instance="i1"} _x20 5000+1x60
				leader_last_acquired_timestamp_seconds{instance="i1"} _x20 295+15x60
				leader_execution_duration_seconds_count{instance="i1"} _x20 5000+1x60
				leader_execution_failures_total{instance="i1",cause="error"} _x20 50x60`},
	}
}

func tokenScenarios() []scenario {
	return []scenario{
		{id: "K1", name: "a process is given a lower token than before", every: 30 * time.Second, end: time.Hour,
			load: ran + `
				leader_attempts_total{instance="i1"} 0x5 1x19 2x200
				leader_acquired_total{instance="i1"} 0x5 1x19 2x200
				leader_fencing_token{instance="i1"} _x6 900x19 12x200
				leader_fencing_token_regressions_total{instance="i1"} _x6 0x19 1x200`,
			want: "TokenRegressed/critical 13m..57m30s = 1"},
		{id: "K2", name: "tokens grow, with gaps", every: 30 * time.Second, end: 30 * time.Minute,
			load: ran + `
				leader_attempts_total{instance="i1"} 0+1x60
				leader_acquired_total{instance="i1"} 0+1x60
				leader_fencing_token{instance="i1"} 5+7x60
				leader_fencing_token_regressions_total{instance="i1"} 0x60`},
		{id: "K3", name: "a process restarts in place beside a backend that lost its state", every: 30 * time.Second, end: 30 * time.Minute,
			load: ran + `
				leader_attempts_total{instance="i1"} 7x19 _x2 0x4 1x40
				leader_acquired_total{instance="i1"} 7x19 _x2 0x4 1x40
				leader_fencing_token{instance="i1"} 900x19 stale _x6 3x40
				leader_fencing_token_regressions_total{instance="i1"} 0x19 stale _x6 0x40`,
			want: "TokenRegressed/critical 13m30s.. = 1"},
		{id: "K4", name: "locks with tokens of their own share a label", every: 30 * time.Second, end: 30 * time.Minute,
			load: `
				leader_attempts_total{instance="i1",lock_name="redacted"} 0+2x60
				leader_acquired_total{instance="i1",lock_name="redacted"} 0+2x60
				leader_fencing_token{instance="i1",lock_name="redacted"} 900 3 901 4 902 5 903 6 904 7 905 8 906 9 907 10
				leader_fencing_token_regressions_total{instance="i1",lock_name="redacted"} 0+1x60`,
			limit: "tokens of different locks below one label cannot be compared"},
		{id: "K5", name: "a process with regressions of yesterday is first seen", every: 30 * time.Second, end: 30 * time.Minute,
			load: ran + `
				leader_attempts_total{instance="i1"} _x20 70x60
				leader_acquired_total{instance="i1"} _x20 70x60
				leader_fencing_token{instance="i1"} _x20 900x60
				leader_fencing_token_regressions_total{instance="i1"} _x20 3x60`},
		{id: "K6", name: "a replica gets a lower token than another one had", every: 30 * time.Second, end: 30 * time.Minute,
			load: ran + `
				leader_attempts_total{instance="i1"} 1x60
				leader_attempts_total{instance="i2"} 0x19 1x60
				leader_acquired_total{instance="i1"} 1x60
				leader_acquired_total{instance="i2"} 0x19 1x60
				leader_fencing_token{instance="i1"} 900x60
				leader_fencing_token{instance="i2"} _x20 3x60
				leader_fencing_token_regressions_total{instance="i1"} 0x60
				leader_fencing_token_regressions_total{instance="i2"} _x20 0x60`,
			limit: "replicas are not compared: their clocks do not say for certain whose term was first"},
		{id: "K7", name: "an elector without tokens", every: 30 * time.Second, end: 30 * time.Minute,
			load: ran + `
				leader_attempts_total{instance="i1"} 0+1x60
				leader_acquired_total{instance="i1"} 0+1x60`},
		{id: "K8", name: "a fencing backend is restored, and two processes notice in their next terms", every: 30 * time.Second, end: 20 * time.Minute,
			load: ran + `
				leader_attempts_total{instance="i1"} 1x9 2x60
				leader_attempts_total{instance="i2"} 1x14 2x60
				leader_acquired_total{instance="i1"} 1x9 2x60
				leader_acquired_total{instance="i2"} 1x14 2x60
				leader_fencing_token{instance="i1"} 900x9 4x60
				leader_fencing_token{instance="i2"} 901x14 5x60
				leader_fencing_token_regressions_total{instance="i1"} 0x9 1x60
				leader_fencing_token_regressions_total{instance="i2"} 0x14 1x60`,
			want: "TokenRegressed/critical 5m.. = 1"},
		{id: "K9", name: "a token goes back and forth between two samples", every: 30 * time.Second, end: 20 * time.Minute,
			load: ran + `
				leader_attempts_total{instance="i1"} 1x9 4x60
				leader_acquired_total{instance="i1"} 1x9 4x60
				leader_fencing_token{instance="i1"} 900x9 903x60
				leader_fencing_token_regressions_total{instance="i1"} 0x9 1x60`,
			want: "TokenRegressed/critical 5m.. = 1"},
		{id: "C27", name: "the second term of a known process goes back before the counter is sampled", every: 30 * time.Second, end: 20 * time.Minute,
			load: ran + `
				leader_attempts_total{instance="i1"} 0x9 2x40
				leader_acquired_total{instance="i1"} 0x9 2x40
				leader_fencing_token{instance="i1"} _x10 3x40
				leader_fencing_token_regressions_total{instance="i1"} _x10 1x40`,
			want: "TokenRegressed/critical 5m.. = 1"},
		{id: "C27", name: "a fresh process goes back before its first sample", every: 30 * time.Second, end: 20 * time.Minute,
			load: ran + `
				leader_attempts_total{instance="i1"} _x10 2x40
				leader_acquired_total{instance="i1"} _x10 2x40
				leader_fencing_token{instance="i1"} _x10 3x40
				leader_fencing_token_regressions_total{instance="i1"} _x10 1x40`,
			limit: "a process that is new with everything may have done it long before Prometheus came"},
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
