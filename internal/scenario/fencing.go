package scenario

import "time"

// fencingScenarios are of stores that check tokens, in processes that need not
// campaign.
func fencingScenarios() []Scenario {
	return []Scenario{
		{ID: "Z1", Name: "a leader that was suspended writes on, and the store refuses it once", Every: 30 * time.Second, End: time.Hour,
			Load: `
				leader_fencing_checks_total{instance="s1",result="admitted"} 0+30x200
				leader_fencing_checks_total{instance="s1",result="stale"} 0x19 1x200
				leader_fencing_checks_total{instance="s1",result="missing"} 0x200
				leader_fencing_highest_token{instance="s1"} 7x19 9x200`,
			Want: "StaleWrite/warning 10m..54m30s = 1"},
		{ID: "Z2", Name: "a store admits writes, and refuses those without a token", Every: 30 * time.Second, End: time.Hour,
			Load: `
				leader_fencing_checks_total{instance="s1",result="admitted"} 0+30x200
				leader_fencing_checks_total{instance="s1",result="stale"} 0x200
				leader_fencing_checks_total{instance="s1",result="missing"} 0+2x200
				leader_fencing_highest_token{instance="s1"} 7+1x200`},
		{ID: "Z3", Name: "two replicas of a store refuse one write each", Every: 30 * time.Second, End: 30 * time.Minute,
			Load: `
				leader_fencing_checks_total{instance="s1",result="stale"} 0x19 1x200
				leader_fencing_checks_total{instance="s2",result="stale"} 0x19 1x200`,
			Want: "StaleWrite/warning 10m.. = 2"},
		{ID: "Z4", Name: "the replica that checks in the database is the one that was suspended", Every: 30 * time.Second, End: 30 * time.Minute,
			Load: held + `
				leader_active{instance="i1"} 1x9 0x60
				leader_active{instance="i2"} 0x9 1x60
				leader_fencing_token{instance="i1"} 7x60
				leader_fencing_token{instance="i2"} _x10 9x60
				leader_fencing_checks_total{instance="i1",result="stale"} 0x14 1x60
				leader_fencing_checks_total{instance="i2",result="stale"} 0x60`,
			Want: "StaleWrite/warning 7m30s.. = 1"},
		{ID: "Z5", Name: "a store restarts that had refused writes last night", Every: 30 * time.Second, End: time.Hour,
			Load: `
				leader_fencing_checks_total{instance="s1",result="stale"} 40x79 0x40`},
		{ID: "Z6", Name: "a store is first seen that has refused writes before", Every: 30 * time.Second, End: time.Hour,
			Load: `
				leader_fencing_checks_total{instance="s1",result="stale"} _x20 40x100`,
			Limit: "what was refused before the first sample may have been long ago"},
		{ID: "Z7", Name: "the elector's tokens begin again, and the store refuses the new leader until its token is high enough", Every: 30 * time.Second, End: 30 * time.Minute,
			Load: ran + `
				leader_attempts_total{instance="i1"} 1x9 2x60
				leader_acquired_total{instance="i1"} 1x9 2x60
				leader_fencing_token{instance="i1"} 900x9 4x60
				leader_fencing_token_regressions_total{instance="i1"} 0x9 1x60
				leader_fencing_checks_total{instance="s1",result="stale"} 0x9 60x60`,
			Want: "StaleWrite/warning 5m.. = 60\nTokenRegressed/critical 5m.. = 1"},
		{ID: "Z8", Name: "a store of many locks refuses one of a label that they share", Every: 30 * time.Second, End: 30 * time.Minute,
			Load: `
				leader_fencing_checks_total{instance="s1",lock_name="redacted",result="stale"} 0x19 1x60`,
			Want: `StaleWrite/warning{lock_name="redacted"} 10m.. = 1`},
		{ID: "Z9", Name: "a store is scraped by two servers that write to one place", Every: 30 * time.Second, End: 30 * time.Minute,
			Load: `
				leader_fencing_checks_total{instance="s1",prometheus="p1",result="stale"} 0x19 1x60
				leader_fencing_checks_total{instance="s1",prometheus="p2",result="stale"} 0x19 1x60`,
			Want: "StaleWrite/warning 10m.. = 1"},
	}
}
