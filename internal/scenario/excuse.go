package scenario

import "time"

// What explains for a long time that a lock has no leader. Sample 10 is at 300 s where
// samples are 30 s apart.
func excuseScenarios() []Scenario {
	const half, minute = 30 * time.Second, time.Minute
	return []Scenario{
		{ID: "B52", Name: "a leader with a lease of an hour dies, the lease durations of the replicas differ, and a standby waits", Every: half, End: 50 * minute,
			Load: held + `
				leader_active{instance="i1"} 1x10 stale
				leader_lease_duration_seconds{instance="i1"} 3600x10 stale
				leader_lease_duration_seconds{instance="i2"} 3600x110
				leader_lease_duration_seconds{instance="i3"} 1800x110
				leader_lease_expiry_timestamp_seconds{instance="i1"} 600x10 stale
				leader_active{instance="i2"} 0x110
				leader_active{instance="i3"} 0x110
				leader_pending_age_seconds{instance="i2"} 60+30x110
				leader_backend_held{instance="i2",backend="etcd"} 1x110`,
			Want: "NoLeader/critical 32m.. = 1\nNoLeader/warning 10m30s..35m = 1"},
		{ID: "B53", Name: "the leader cannot be scraped, and attempts of a standby are refused until it hangs", Every: half, End: 25 * minute,
			Load: held + `
				up{instance="i1"} 1x10 0x50
				leader_active{instance="i1"} 1x10 stale
				leader_active{instance="i2"} 0x50
				leader_not_acquired_total{instance="i2",reason="contended"} 0+10x25 250x25`,
			Want: "NoLeader/critical 15m.. = 1\nNoLeader/warning 10m30s..18m = 1\nScrapeFailing/warning 10m30s.. = 1"},
		{ID: "B54", Name: "the leader cannot be scraped, and one attempt of a standby meets an error", Every: half, End: 22 * minute,
			Load: held + `
				up{instance="i1"} 1x10 0x50
				leader_active{instance="i1"} 1x10 stale
				leader_active{instance="i2"} 0x50
				leader_pending_age_seconds{instance="i2"} 60+30x50
				leader_not_acquired_total{instance="i2",reason="backend_error"} 0x24 1x26`,
			Want: "NoLeader/critical 12m30s..15m = 1\nNoLeader/warning 10m30s.. = 1\nScrapeFailing/warning 10m30s.. = 1"},
		{ID: "B55", Name: "the backend names a candidate that has not been scraped for 75 minutes", Every: minute, End: 80 * minute,
			Load: held + `
				leader_active{instance="i1"} 1x5 stale
				leader_identity_info{instance="i1",holder="h1"} 1x5 stale
				leader_active{instance="i2"} 0x90
				leader_identity_info{instance="i2",holder="h2"} 1x90
				leader_backend_holder_info{instance="i2",backend="etcd",holder="h1"} 1x90
				leader_backend_held{instance="i2",backend="etcd"} 1x90`,
			Want: "NoLeader/warning 11m.. = 1"},
		{ID: "B56", Name: "locks share a label, and the leader of one dies with a valid lease", Every: half, End: 20 * minute,
			Load: `
				leader_elector_info{instance="i2",lock_name="redacted",mode="hold",backend="etcd"} 1x50
				leader_active{instance="i1",lock_name="redacted"} 1x10 stale
				leader_lease_expiry_timestamp_seconds{instance="i1",lock_name="redacted"} 3000x10 stale
				leader_active{instance="i2",lock_name="redacted"} 0x50`},
		{ID: "B57", Name: "a collector repeats what a leader pushed before it died, and a standby meets errors", Every: half, End: 12 * minute,
			Load: erring(`1x60`, `12+30x9 282x50`),
			Want: "BackendErrors/warning 10m.. = 0.815\nNoLeader/critical 6m30s.. = 1"},
		{ID: "B57", Name: "a leader pushes, its clock is five minutes behind, and a standby meets errors", Every: half, End: 12 * minute,
			Load: erring(`1x60`, `-290+30x60`),
			Want: "BackendErrors/warning 10m.. = 0.815"},
		{ID: "B57", Name: "a leader renews a lease of ten minutes every 200 s, and a standby meets errors", Every: half, End: 12 * minute,
			Load: erring(`1x60`, `600x6 800x6 1000x7 1200x6 1400x40`),
			Want: "BackendErrors/warning 10m.. = 0.815"},
		{ID: "B57", Name: "Prometheus was away for three minutes, and a standby meets errors", Every: half, End: 12 * minute,
			Load: erring(`1x9 _x6 1x50`, `12+30x9 _x6 492+30x50`),
			Want: "BackendErrors/warning 10m.. = 0.815"},
		{ID: "B57", Name: "a collector repeats every minute what a leader pushed before it died, and a standby meets errors", Every: minute, End: 20 * minute,
			Load: erring(`1x40`, `12+60x4 252x40`),
			Want: "BackendErrors/warning 15m.. = 0.771\nNoLeader/critical 6m.. = 1"},
		{ID: "B59", Name: "a leader with a lease of an hour dies, and an operator deletes its record", Every: half, End: 30 * minute,
			Load: held + `
				leader_active{instance="i1"} 1x9 stale
				leader_lease_expiry_timestamp_seconds{instance="i1"} 3600x9 stale
				leader_active{instance="i2"} 0x70
				leader_backend_held{instance="i2",backend="etcd"} 1x29 0x40`,
			Want: "NoLeader/critical 16m30s.. = 1\nNoLeader/warning 10m..19m30s = 1\nVacant/critical 16m.. = 0"},
		{ID: "B59", Name: "the leader cannot be scraped, and attempts of a standby meet errors for five minutes", Every: half, End: 40 * minute,
			Load: held + `
				up{instance="i1"} 1x10 0x90
				leader_active{instance="i1"} 1x10 stale
				leader_active{instance="i2"} 0x90
				leader_pending_age_seconds{instance="i2"} 60+30x90
				leader_not_acquired_total{instance="i2",reason="backend_error"} 0x25 1+1x9 10x60`,
			Want: "NoLeader/critical 13m..20m = 1\nNoLeader/critical 25m.. = 1\nNoLeader/warning 10m30s..16m = 1\nScrapeFailing/warning 10m30s.. = 1"},
		{ID: "B60", Name: "a leader whose lease end is unknown restarts in place, and the next one is sampled a minute later", Every: minute, End: 20 * minute,
			Load: held + `
				leader_active{instance="i1"} 1x5 0x30
				leader_active{instance="i2"} 0x6 1x30`},
		{ID: "B60", Name: "a leader whose lease end is unknown restarts in place, and nobody follows", Every: minute, End: 20 * minute,
			Load: held + `
				leader_active{instance="i1"} 1x5 0x30
				leader_active{instance="i2"} 0x36`,
			Want: "NoLeader/critical 7m.. = 1"},
		{ID: "B60", Name: "a leader restarts in place at every second sample, and wins again", Every: half, End: 20 * minute,
			Load: held + `
				leader_active{instance="i1"} 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0
				leader_active{instance="i2"} 0x60`,
			Want: "NoLeader/critical 13m.. = 1"},
		{ID: "B61", Name: "the clock of a leader is two minutes behind, and the next one is sampled half a minute later", Every: half, End: 12 * minute,
			Load: handover(`1x9 0x50`, `_x10 170x50`, `0x10 1x50`)},
		{ID: "B61", Name: "the clock of a leader is two minutes behind, and the next one is sampled a minute later", Every: minute, End: 20 * minute,
			Load: handover(`1x5 0x30`, `_x6 185x30`, `0x6 1x30`)},
		{ID: "B61", Name: "the clock of a leader is two minutes behind, its term ends, and nobody follows", Every: half, End: 12 * minute,
			Load: handover(`1x9 0x50`, `_x10 170x50`, `0x60`),
			Want: "NoLeader/critical 6m30s.. = 1"},
		{ID: "B61", Name: "the clock of a leader is five minutes ahead, its term ends, and nobody follows", Every: half, End: 15 * minute,
			Load: handover(`1x9 0x50`, `_x10 595x50`, `0x60`),
			Want: "NoLeader/critical 6m45s.. = 1"},
		{ID: "B61", Name: "the clock of a leader is five minutes ahead, and the next one is sampled a minute later", Every: minute, End: 20 * minute,
			Load: handover(`1x5 0x30`, `_x6 605x30`, `0x6 1x30`)},
		{ID: "B58", Name: "a term ends while attempts meet errors, and nobody follows", Every: half, End: 12 * minute,
			Load: ending(`1x9 0x50`, `_x9 295x50`, `0x60`),
			Want: "NoLeader/critical 5m45s.. = 1"},
		{ID: "B58", Name: "a term ends while attempts meet errors, and another replica wins before its next sample", Every: half, End: 12 * minute,
			Load: ending(`1x9 0x50`, `_x9 295x50`, `0x10 1x50`)},
		{ID: "B58", Name: "a leader restarts in place while attempts meet errors, and another replica wins a sample later", Every: half, End: 12 * minute,
			Load: ending(`1x8 0x50`, ``, `0x9 1x50`)},
		{ID: "B58", Name: "a leader disappears while attempts meet errors, and another replica wins a sample later", Every: half, End: 12 * minute,
			Load: ending(`1x9 stale`, ``, `0x10 1x50`)},
		{ID: "B58", Name: "a term ends while attempts meet errors, and a leader of the past leads again", Every: half, End: 12 * minute,
			Load: ending(`1x9 0x50`, `_x9 295x50`, `0x9 1x50`) + `
				leader_last_ended_timestamp_seconds{instance="i2"} 10x60`},
	}
}

// handover is a leader whose term ends, and a standby.
func handover(leads, ended, follows string) string {
	return held + `
		leader_active{instance="i1"} ` + leads + `
		leader_last_ended_timestamp_seconds{instance="i1"} ` + ended + `
		leader_active{instance="i2"} ` + follows + `
		leader_elector_info{instance="i2",mode="hold"} 1x60`
}

// ending is a leader whose term ends, at an instant that may be unknown, and a
// standby that meets errors beside one that does not.
func ending(leads, ended, follows string) string {
	if ended != "" {
		ended = "\n\t\tleader_last_ended_timestamp_seconds{instance=\"i1\"} " + ended
	}
	return held + `
		leader_active{instance="i1"} ` + leads + ended + `
		leader_lease_duration_seconds 15x60
		leader_active{instance="i2"} ` + follows + `
		leader_active{instance="i3"} 0x60
		leader_elector_info{instance="i2",mode="hold"} 1x60
		leader_elector_info{instance="i3",mode="hold"} 1x60
		leader_attempts_total{instance="i3"} 0+8x60
		leader_attempts_total{instance="i2"} 0+8x60
		leader_not_acquired_total{instance="i2",reason="backend_error"} 0x9 2+2x50`
}

// erring is a leader that is pushed, or scraped without up, and a standby that meets
// errors.
func erring(leads, ends string) string {
	return held + `
		leader_active{instance="i1"} ` + leads + `
		leader_lease_duration_seconds 15x60
		leader_lease_expiry_timestamp_seconds{instance="i1"} ` + ends + `
		leader_active{instance="i2"} 0x60
		leader_attempts_total{instance="i2"} 0+1x9 14+4x50
		leader_not_acquired_total{instance="i2",reason="backend_error"} 0x9 4+4x50`
}
