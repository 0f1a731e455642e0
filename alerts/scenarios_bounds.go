package alerts

import "time"

// boundScenarios lie close to the thresholds and windows, on either side, and
// spread what is counted over replicas.
func boundScenarios() []scenario {
	return []scenario{
		{id: "A11", name: "attempts of two replicas fail, a win was twelve minutes ago", every: 30 * time.Second, end: 30 * time.Minute,
			load: ran + `
				leader_attempts_total{instance="i1"} 0+1x60
				leader_attempts_total{instance="i2"} 0+2x60
				leader_acquired_total{instance="i1"} 0x9 1x60
				leader_acquired_total{instance="i2"} 0x60`,
			want: "NoAcquisition/warning 19m30s.. = 60"},
		{id: "A12", name: "a lock declared to run every four minutes is judged by the window", every: 30 * time.Second, end: 20 * time.Minute,
			load: ran + `
				leader_expected_interval_seconds{instance="i1"} 240x60
				leader_attempts_total{instance="i1"} 0+1x60
				leader_acquired_total{instance="i1"} 7x60`,
			want: "JobOverdue/warning 10m.. = 600\nNoAcquisition/warning 5m30s.. = 11"},
		{id: "A13", name: "a lock declared to run every six minutes is judged by its age", every: 30 * time.Second, end: 20 * time.Minute,
			load: ran + `
				leader_expected_interval_seconds{instance="i1"} 360x60
				leader_expected_interval_seconds{instance="i2"} 60x60
				leader_last_acquired_timestamp_seconds{instance="i1"} 0+30x60
				leader_attempts_total{instance="i1"} 0+1x60
				leader_acquired_total{instance="i1"} 7x60`},
		{id: "A14", name: "two replicas win and lose in turn", every: 30 * time.Second, end: 20 * time.Minute,
			load: ran + `
				leader_attempts_total{instance="i1"} 0+1x60
				leader_attempts_total{instance="i2"} 0+1x60
				leader_acquired_total{instance="i1"} 0x60
				leader_acquired_total{instance="i2"} 0+1x60`},
		{id: "E15", name: "seven attempts in a hundred meet an error", every: 30 * time.Second, end: 20 * time.Minute,
			load: ran + `
				leader_attempts_total{instance="i1"} 0+100x60
				leader_acquired_total{instance="i1"} 0+93x60
				leader_not_acquired_total{instance="i1",reason="backend_error"} 0+7x60`},
		{id: "E16", name: "errors are spread over four replicas, one each in ten minutes", every: 30 * time.Second, end: 30 * time.Minute,
			load: ran + `
				leader_attempts_total{instance="i1"} 0x2 1x19 2x19 3x40
				leader_attempts_total{instance="i2"} 0x7 1x19 2x19 3x40
				leader_attempts_total{instance="i3"} 0x12 1x19 2x19 3x40
				leader_attempts_total{instance="i4"} 0x17 1x19 2x19 3x40
				leader_not_acquired_total{instance="i1",reason="backend_error"} 0x2 1x19 2x19 3x40
				leader_not_acquired_total{instance="i2",reason="backend_error"} 0x7 1x19 2x19 3x40
				leader_not_acquired_total{instance="i3",reason="backend_error"} 0x12 1x19 2x19 3x40
				leader_not_acquired_total{instance="i4",reason="backend_error"} 0x17 1x19 2x19 3x40`,
			want: "BackendErrors/warning 11m30s.. = 1\nNoAcquisition/warning 6m30s.. = 3"},
		{id: "F10", name: "seven renewals in a hundred fail", every: 30 * time.Second, end: 20 * time.Minute,
			load: held + `
				leader_active{instance="i1"} 1x60
				leader_renewals_total{instance="i1",result="ok"} 0+93x60
				leader_renewals_total{instance="i1",result="error"} 0+7x60`},
		{id: "F11", name: "renewals of two permits fail now and then, a seventh of all", every: 30 * time.Second, end: 30 * time.Minute,
			load: held + `
				leader_active{instance="i1"} 1x60
				leader_renewals_total{instance="i1",result="ok"} 0+3x60
				leader_renewals_total{instance="i2",result="ok"} 0+3x60
				leader_renewals_total{instance="i1",result="error"} 0+1x60
				leader_renewals_total{instance="i2",result="timeout"} 0 0 1 1 2 2 3 3 4 4 5 5 6 6 7 7 8 8 9 9 10 10 11 11 12x40`,
			want: "RenewalFailures/warning 5m.. = 0.2"},
		{id: "G14", name: "runs on two replicas use nine tenths of their leases", every: 30 * time.Second, end: 20 * time.Minute,
			load: ran + `
				leader_lease_usage_ratio_count{instance="i1"} 5x9 7x60
				leader_lease_usage_ratio_bucket{instance="i1",le="0.8"} 5x60
				leader_lease_usage_ratio_count{instance="i2"} 5x9 6x60
				leader_lease_usage_ratio_bucket{instance="i2",le="0.8"} 5x60`,
			want: "NearLease/warning 5m.. = 3.15"},
		{id: "G15", name: "a process restarts in place, and its first run is late", every: 30 * time.Second, end: 60 * time.Minute,
			load: ran + `
				leader_attempts_total{instance="i1"} 5x79 1x60
				leader_acquired_total{instance="i1"} 5x79 1x60
				leader_lease_usage_ratio_count{instance="i1"} 5x79 1x60
				leader_lease_usage_ratio_bucket{instance="i1",le="0.8"} 5x79 0x60`,
			want: "NearLease/warning 40m.. = 1"},
		{id: "L4", name: "two permits run past their leases at once", every: 30 * time.Second, end: 20 * time.Minute,
			load: ran + `
				leader_attempts_total{instance="i1"} 1x60
				leader_attempts_total{instance="i2"} 1x60
				leader_acquired_total{instance="i1"} 1x60
				leader_lease_overruns_total{instance="i1"} 0x9 2x60
				leader_lease_overruns_total{instance="i2"} 0x9 1x60`,
			want: "LeaseExceeded/critical 5m.. = 3"},
		{id: "W6", name: "a replica works three seconds after its loss", every: 30 * time.Second, end: 20 * time.Minute,
			load: ran + `leader_work_after_loss_seconds_total{instance="i1"} 0x9 3x60`},
		{id: "W7", name: "a replica works eight seconds after its loss", every: 30 * time.Second, end: 90 * time.Minute,
			load: ran + `leader_work_after_loss_seconds_total{instance="i1"} 0x9 8x200`,
			want: "WorkAfterLoss/critical 5m..49m30s = 8"},
		{id: "T15", name: "failures of two replicas, by error and by panic", every: 30 * time.Second, end: 30 * time.Minute,
			load: ran + `
				leader_acquired_total{instance="i1"} 0+1x9 20+1x60
				leader_acquired_total{instance="i2"} 0+1x9 20+1x60
				leader_execution_failures_total{instance="i1",cause="error"} 0x9 4x60
				leader_execution_failures_total{instance="i1",cause="panic"} 0x9 3x60
				leader_execution_failures_total{instance="i2",cause="error"} 0x9 2x60`,
			want: "TaskFailing/warning 5m.. = 9"},
		{id: "T16", name: "a term guards a hundred bodies, and five fail", every: 30 * time.Second, end: 60 * time.Minute,
			load: held + `
				leader_active{instance="i1"} 1x120
				leader_acquired_total{instance="i1"} 1x120
				leader_execution_duration_seconds_count{instance="i1"} 0+1x120
				leader_execution_failures_total{instance="i1",cause="error"} 0x50 1x20 2x20 3x30`},
		{id: "K10", name: "tokens of two replicas go back at once", every: 30 * time.Second, end: 20 * time.Minute,
			load: ran + `
				leader_attempts_total{instance="i1"} 1x60
				leader_attempts_total{instance="i2"} 1x60
				leader_acquired_total{instance="i1"} 1x60
				leader_fencing_token{instance="i1"} 900x9 4x60
				leader_fencing_token{instance="i2"} 901x9 5x60
				leader_fencing_token_regressions_total{instance="i1"} 0x9 1x60
				leader_fencing_token_regressions_total{instance="i2"} 0x9 1x60`,
			want: "TokenRegressed/critical 5m.. = 2"},
		{id: "B26", name: "a leader with a lease of 100 minutes crashes", every: 60 * time.Second, end: 110 * time.Minute,
			load: held + `
				leader_lease_expiry_timestamp_seconds{instance="i1"} 6300x5 stale
				leader_active{instance="i1"} 1x5 stale
				leader_active{instance="i2"} 0x200`,
			want: "NoLeader/critical 1h47m.. = 1\nNoLeader/warning 11m..1h48m30s = 1"},
		{id: "B27", name: "a leader with a lease of ten hours crashes, longer than the lookback", every: 60 * time.Second, end: 140 * time.Minute,
			load: held + `
				leader_lease_expiry_timestamp_seconds{instance="i1"} 36000x5 stale
				leader_active{instance="i1"} 1x5 stale
				leader_active{instance="i2"} 0x200`,
			want: "NoLeader/critical 2h6m30s.. = 1\nNoLeader/warning 11m..2h8m = 1", limit: "a lease longer than the lookback is forgotten before it ends"},
		{id: "D17", name: "seven handovers in a rollout of three: more than it explains", every: 30 * time.Second, end: 40 * time.Minute,
			load: held + `
				leader_active{instance="n1"} 1x120
				leader_acquired_total{instance="o1"} 7x19 stale
				leader_acquired_total{instance="o2"} 7x21 stale
				leader_acquired_total{instance="o3"} 7x23 stale
				leader_acquired_total{instance="n1"} _x20 0 1 2 3x120
				leader_acquired_total{instance="n2"} _x22 0 1 2x120
				leader_acquired_total{instance="n3"} _x24 0 1 2x120`,
			want: "Flapping/warning 12m45s.. = 7.13"},
		{id: "N7", name: "a group elector of two with two candidates had three, four hours ago", every: 60 * time.Second, end: 370 * time.Minute,
			load: `
				leader_max_leaders{instance="i1"} 2x400
				leader_max_leaders{instance="i2"} 1x400
				leader_elector_info{instance="i1",mode="hold"} 1x400
				leader_elector_info{instance="i2",mode="hold"} 1x400
				leader_elector_info{instance="i3",mode="hold"} 1x20 stale
				leader_elector_info{instance="i4",mode="run"} 1x400
				leader_active{instance="i1"} 1x400`,
			want: "NoStandby/warning 31m..6h = 2"},
		{id: "P8", name: "two replicas wait for a lock whose runs of hours ago took five minutes", every: 60 * time.Second, end: 300 * time.Minute,
			load: ran + `
				leader_active{instance="i1"} 0x400
				leader_execution_duration_seconds_count{instance="i1"} 0x9 4x300
				leader_execution_duration_seconds_sum{instance="i1"} 0x9 1200x300
				leader_execution_duration_seconds_count{instance="i2"} 0x9 1x300
				leader_execution_duration_seconds_sum{instance="i2"} 0x9 300x300
				leader_pending_age_seconds{instance="i1"} 0x269 60+60x60
				leader_pending_age_seconds{instance="i2"} 0x269 30+60x60`,
			want: "AttemptStuck/warning 4h45m.. = 960"},
		{id: "P9", name: "an attempt waits, and the lock was held seven minutes ago, for the first time", every: 30 * time.Second, end: 40 * time.Minute,
			load: ran + `
				leader_active{instance="i1"} 0x3 1x10 0x100
				leader_active{instance="i2"} 0x100
				leader_pending_age_seconds{instance="i2"} 0x3 30+30x100`,
			want: "AttemptStuck/warning 17m.. = 930"},
		{id: "P10", name: "waits have a history, and runs have none", every: 30 * time.Second, end: 60 * time.Minute,
			load: ran + `
				leader_active{instance="i1"} 0x120
				leader_acquire_duration_seconds_count{instance="i1"} 0x9 2x120
				leader_acquire_duration_seconds_sum{instance="i1"} 0x9 480x120
				leader_pending_age_seconds{instance="i1"} 0x19 30+30x60`,
			want: "AttemptStuck/warning 22m..45m = 750"},
	}
}
