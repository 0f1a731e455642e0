package scenario

import "time"

// boundScenarios lie close to the thresholds and windows, on either side, and
// spread what is counted over replicas.
func boundScenarios() []Scenario {
	return []Scenario{
		{ID: "A11", Name: "attempts of two replicas fail, a win was twelve minutes ago", Every: 30 * time.Second, End: 30 * time.Minute,
			Load: ran + `
				leader_attempts_total{instance="i1"} 0+1x60
				leader_attempts_total{instance="i2"} 0+2x60
				leader_acquired_total{instance="i1"} 0x9 1x60
				leader_acquired_total{instance="i2"} 0x60`,
			Want: "NoAcquisition/warning 19m30s.. = 60"},
		{ID: "A12", Name: "a lock declared to run every four minutes is judged by the window", Every: 30 * time.Second, End: 20 * time.Minute,
			Load: ran + `
				leader_expected_interval_seconds{instance="i1"} 240x60
				leader_attempts_total{instance="i1"} 0+1x60
				leader_acquired_total{instance="i1"} 7x60`,
			Want: "JobOverdue/warning 10m.. = 600\nNoAcquisition/warning 5m30s.. = 11"},
		{ID: "A13", Name: "a lock declared to run every six minutes is judged by its age", Every: 30 * time.Second, End: 20 * time.Minute,
			Load: ran + `
				leader_expected_interval_seconds{instance="i1"} 360x60
				leader_expected_interval_seconds{instance="i2"} 60x60
				leader_last_acquired_timestamp_seconds{instance="i1"} 0+30x60
				leader_attempts_total{instance="i1"} 0+1x60
				leader_acquired_total{instance="i1"} 7x60`},
		{ID: "A14", Name: "two replicas win and lose in turn", Every: 30 * time.Second, End: 20 * time.Minute,
			Load: ran + `
				leader_attempts_total{instance="i1"} 0+1x60
				leader_attempts_total{instance="i2"} 0+1x60
				leader_acquired_total{instance="i1"} 0x60
				leader_acquired_total{instance="i2"} 0+1x60`},
		{ID: "E15", Name: "seven attempts in a hundred meet an error", Every: 30 * time.Second, End: 20 * time.Minute,
			Load: ran + `
				leader_attempts_total{instance="i1"} 0+100x60
				leader_acquired_total{instance="i1"} 0+93x60
				leader_not_acquired_total{instance="i1",reason="backend_error"} 0+7x60`},
		{ID: "E16", Name: "errors are spread over four replicas, one each in ten minutes", Every: 30 * time.Second, End: 30 * time.Minute,
			Load: ran + `
				leader_attempts_total{instance="i1"} 0x2 1x19 2x19 3x40
				leader_attempts_total{instance="i2"} 0x7 1x19 2x19 3x40
				leader_attempts_total{instance="i3"} 0x12 1x19 2x19 3x40
				leader_attempts_total{instance="i4"} 0x17 1x19 2x19 3x40
				leader_not_acquired_total{instance="i1",reason="backend_error"} 0x2 1x19 2x19 3x40
				leader_not_acquired_total{instance="i2",reason="backend_error"} 0x7 1x19 2x19 3x40
				leader_not_acquired_total{instance="i3",reason="backend_error"} 0x12 1x19 2x19 3x40
				leader_not_acquired_total{instance="i4",reason="backend_error"} 0x17 1x19 2x19 3x40`,
			Want: "BackendErrors/warning 11m30s.. = 1\nNoAcquisition/warning 6m30s.. = 3"},
		{ID: "F10", Name: "seven renewals in a hundred fail", Every: 30 * time.Second, End: 20 * time.Minute,
			Load: held + `
				leader_active{instance="i1"} 1x60
				leader_renewals_total{instance="i1",result="ok"} 0+93x60
				leader_renewals_total{instance="i1",result="error"} 0+7x60`},
		{ID: "F11", Name: "renewals of two permits fail now and then, a seventh of all", Every: 30 * time.Second, End: 30 * time.Minute,
			Load: held + `
				leader_active{instance="i1"} 1x60
				leader_renewals_total{instance="i1",result="ok"} 0+3x60
				leader_renewals_total{instance="i2",result="ok"} 0+3x60
				leader_renewals_total{instance="i1",result="error"} 0+1x60
				leader_renewals_total{instance="i2",result="timeout"} 0 0 1 1 2 2 3 3 4 4 5 5 6 6 7 7 8 8 9 9 10 10 11 11 12x40`,
			Want: "RenewalFailures/warning 5m.. = 0.2"},
		{ID: "G14", Name: "runs on two replicas use nine tenths of their leases", Every: 30 * time.Second, End: 20 * time.Minute,
			Load: ran + `
				leader_lease_usage_ratio_count{instance="i1"} 5x9 7x60
				leader_lease_usage_ratio_bucket{instance="i1",le="0.8"} 5x60
				leader_lease_usage_ratio_count{instance="i2"} 5x9 6x60
				leader_lease_usage_ratio_bucket{instance="i2",le="0.8"} 5x60`,
			Want: "NearLease/warning 5m.. = 3.15"},
		{ID: "G15", Name: "a process restarts in place, and its first run is late", Every: 30 * time.Second, End: 60 * time.Minute,
			Load: ran + `
				leader_attempts_total{instance="i1"} 5x79 1x60
				leader_acquired_total{instance="i1"} 5x79 1x60
				leader_lease_usage_ratio_count{instance="i1"} 5x79 1x60
				leader_lease_usage_ratio_bucket{instance="i1",le="0.8"} 5x79 0x60`,
			Want: "NearLease/warning 40m.. = 1"},
		{ID: "L4", Name: "two permits run past their leases at once", Every: 30 * time.Second, End: 20 * time.Minute,
			Load: ran + `
				leader_attempts_total{instance="i1"} 1x60
				leader_attempts_total{instance="i2"} 1x60
				leader_acquired_total{instance="i1"} 1x60
				leader_lease_overruns_total{instance="i1"} 0x9 2x60
				leader_lease_overruns_total{instance="i2"} 0x9 1x60`,
			Want: "LeaseExceeded/critical 5m.. = 3"},
		{ID: "W6", Name: "a replica works three seconds after its loss", Every: 30 * time.Second, End: 20 * time.Minute,
			Load: ran + `leader_work_after_loss_seconds_total{instance="i1"} 0x9 3x60`},
		{ID: "W7", Name: "a replica works eight seconds after its loss", Every: 30 * time.Second, End: 90 * time.Minute,
			Load: ran + `leader_work_after_loss_seconds_total{instance="i1"} 0x9 8x200`,
			Want: "WorkAfterLoss/critical 5m..49m30s = 8"},
		{ID: "T15", Name: "failures of two replicas, by error and by panic", Every: 30 * time.Second, End: 30 * time.Minute,
			Load: ran + `
				leader_acquired_total{instance="i1"} 0+1x9 20+1x60
				leader_acquired_total{instance="i2"} 0+1x9 20+1x60
				leader_execution_failures_total{instance="i1",cause="error"} 0x9 4x60
				leader_execution_failures_total{instance="i1",cause="panic"} 0x9 3x60
				leader_execution_failures_total{instance="i2",cause="error"} 0x9 2x60`,
			Want: "TaskFailing/warning 5m.. = 9"},
		{ID: "T16", Name: "a term guards a hundred bodies, and five fail", Every: 30 * time.Second, End: 60 * time.Minute,
			Load: held + `
				leader_active{instance="i1"} 1x120
				leader_acquired_total{instance="i1"} 1x120
				leader_execution_duration_seconds_count{instance="i1"} 0+1x120
				leader_execution_failures_total{instance="i1",cause="error"} 0x50 1x20 2x20 3x30`},
		{ID: "K10", Name: "tokens of two replicas go back at once", Every: 30 * time.Second, End: 20 * time.Minute,
			Load: ran + `
				leader_attempts_total{instance="i1"} 1x60
				leader_attempts_total{instance="i2"} 1x60
				leader_acquired_total{instance="i1"} 1x60
				leader_fencing_token{instance="i1"} 900x9 4x60
				leader_fencing_token{instance="i2"} 901x9 5x60
				leader_fencing_token_regressions_total{instance="i1"} 0x9 1x60
				leader_fencing_token_regressions_total{instance="i2"} 0x9 1x60`,
			Want: "TokenRegressed/critical 5m.. = 2"},
		{ID: "B26", Name: "a leader with a lease of 100 minutes crashes", Every: 60 * time.Second, End: 110 * time.Minute,
			Load: held + `
				leader_lease_expiry_timestamp_seconds{instance="i1"} 6300x5 stale
				leader_active{instance="i1"} 1x5 stale
				leader_active{instance="i2"} 0x200`,
			Want: "NoLeader/critical 1h45m45s.. = 1\nNoLeader/warning 11m..1h48m45s = 1"},
		{ID: "B27", Name: "a leader with a lease of ten hours crashes, longer than the lookback", Every: 60 * time.Second, End: 140 * time.Minute,
			Load: held + `
				leader_lease_expiry_timestamp_seconds{instance="i1"} 36000x5 stale
				leader_active{instance="i1"} 1x5 stale
				leader_active{instance="i2"} 0x200`,
			Want: "NoLeader/critical 2h5m.. = 1\nNoLeader/warning 11m..2h8m = 1", Limit: "a lease longer than the lookback is forgotten before it ends"},
		{ID: "D17", Name: "seven handovers in a rollout of three: more than it explains", Every: 30 * time.Second, End: 40 * time.Minute,
			Load: held + `
				leader_active{instance="n1"} 1x120
				leader_acquired_total{instance="o1"} 7x19 stale
				leader_acquired_total{instance="o2"} 7x21 stale
				leader_acquired_total{instance="o3"} 7x23 stale
				leader_acquired_total{instance="n1"} _x20 0 1 2 3x120
				leader_acquired_total{instance="n2"} _x22 0 1 2x120
				leader_acquired_total{instance="n3"} _x24 0 1 2x120`,
			Want: "Flapping/warning 12m45s.. = 7.13"},
		{ID: "N7", Name: "a group elector of two with two candidates had three, four hours ago", Every: 60 * time.Second, End: 370 * time.Minute,
			Load: `
				leader_max_leaders{instance="i1"} 2x400
				leader_max_leaders{instance="i2"} 1x400
				leader_elector_info{instance="i1",mode="hold"} 1x400
				leader_elector_info{instance="i2",mode="hold"} 1x400
				leader_elector_info{instance="i3",mode="hold"} 1x20 stale
				leader_elector_info{instance="i4",mode="run"} 1x400
				leader_active{instance="i1"} 1x400`,
			Want: "NoStandby/warning 31m..6h = 2"},
		{ID: "P8", Name: "two replicas wait for a lock whose runs of hours ago took five minutes", Every: 60 * time.Second, End: 300 * time.Minute,
			Load: ran + `
				leader_active{instance="i1"} 0x400
				leader_execution_duration_seconds_count{instance="i1"} 0x9 4x300
				leader_execution_duration_seconds_sum{instance="i1"} 0x9 1200x300
				leader_execution_duration_seconds_count{instance="i2"} 0x9 1x300
				leader_execution_duration_seconds_sum{instance="i2"} 0x9 300x300
				leader_pending_age_seconds{instance="i1"} 0x269 60+60x60
				leader_pending_age_seconds{instance="i2"} 0x269 30+60x60`,
			Want: "AttemptStuck/warning 4h45m.. = 960"},
		{ID: "P9", Name: "an attempt waits, and the lock was held seven minutes ago, for the first time", Every: 30 * time.Second, End: 40 * time.Minute,
			Load: ran + `
				leader_active{instance="i1"} 0x3 1x10 0x100
				leader_active{instance="i2"} 0x100
				leader_pending_age_seconds{instance="i2"} 0x3 30+30x100`,
			Want: "AttemptStuck/warning 17m.. = 930"},
		{ID: "P10", Name: "waits have a history, and runs have none", Every: 30 * time.Second, End: 60 * time.Minute,
			Load: ran + `
				leader_active{instance="i1"} 0x120
				leader_acquire_duration_seconds_count{instance="i1"} 0x9 2x120
				leader_acquire_duration_seconds_sum{instance="i1"} 0x9 480x120
				leader_pending_age_seconds{instance="i1"} 0x19 30+30x60`,
			Want: "AttemptStuck/warning 22m..45m = 750"},
	}
}
