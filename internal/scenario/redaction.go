package scenario

import "time"

func redactionScenarios() []Scenario {
	const k1, k2 = `policy="hash",key_id="k1",key_check="1a2b3c4d"`, `policy="hash",key_id="k2",key_check="5e6f7a8b"`
	return []Scenario{
		{ID: "R1", Name: "three replicas label with one key", Every: 30 * time.Second, End: 30 * time.Minute,
			Load: `
				leader_redaction_info{instance="i1",` + k1 + `} 1x60
				leader_redaction_info{instance="i2",` + k1 + `} 1x60
				leader_redaction_info{instance="i3",` + k1 + `} 1x60`},
		{ID: "R2", Name: "one replica of three was given another key under the same id", Every: 30 * time.Second, End: 30 * time.Minute,
			Load: `
				leader_redaction_info{instance="i1",` + k1 + `} 1x60
				leader_redaction_info{instance="i2",` + k1 + `} 1x60
				leader_redaction_info{instance="i3",policy="hash",key_id="k1",key_check="5e6f7a8b"} 1x60`,
			Want: "RedactionKeyMismatch/warning 15m.. = 2"},
		{ID: "R3", Name: "two jobs have a key each", Every: 30 * time.Second, End: 30 * time.Minute,
			Load: `
				leader_redaction_info{instance="i1",` + k1 + `} 1x60
				leader_redaction_info{instance="i2",` + k1 + `} 1x60
				leader_redaction_info{instance="i3",job="b",` + k2 + `} 1x60
				leader_redaction_info{instance="i4",job="b",` + k2 + `} 1x60`},
		{ID: "R4", Name: "three pods are replaced one by one, for another key", Every: 30 * time.Second, End: 40 * time.Minute,
			Load: `
				leader_redaction_info{instance="p1",` + k1 + `} 1x19 stale
				leader_redaction_info{instance="p2",` + k1 + `} 1x29 stale
				leader_redaction_info{instance="p3",` + k1 + `} 1x39 stale
				leader_redaction_info{instance="p4",` + k2 + `} _x18 1x80
				leader_redaction_info{instance="p5",` + k2 + `} _x28 1x80
				leader_redaction_info{instance="p6",` + k2 + `} _x38 1x80`},
		{ID: "R5", Name: "every replica labels its tenants' locks by a hash and its own in raw", Every: 30 * time.Second, End: 30 * time.Minute,
			Load: `
				leader_redaction_info{instance="i1",locks="tenants",` + k1 + `} 1x60
				leader_redaction_info{instance="i1",locks="own",policy="raw",key_id="",key_check=""} 1x60
				leader_redaction_info{instance="i2",locks="tenants",` + k1 + `} 1x60
				leader_redaction_info{instance="i2",locks="own",policy="raw",key_id="",key_check=""} 1x60`},
		{ID: "R6", Name: "one key has two ids", Every: 30 * time.Second, End: 30 * time.Minute,
			Load: `
				leader_redaction_info{instance="i1",` + k1 + `} 1x60
				leader_redaction_info{instance="i2",policy="hash",key_id="k2",key_check="1a2b3c4d"} 1x60`,
			Want: "RedactionKeyMismatch/warning 15m.. = 2"},
		{ID: "R7", Name: "one replica shows the names that the other hides", Every: 30 * time.Second, End: 30 * time.Minute,
			Load: `
				leader_redaction_info{instance="i1",policy="constant"} 1x60
				leader_redaction_info{instance="i2",policy="raw"} 1x60`,
			Want: "RedactionKeyMismatch/warning 15m.. = 2"},
		{ID: "R8", Name: "the odd replica misses two scrapes, and gets the right key at last", Every: 30 * time.Second, End: 40 * time.Minute,
			Load: `
				leader_redaction_info{instance="i1",` + k1 + `} 1x100
				leader_redaction_info{instance="i2",` + k2 + `} 1x39 stale _x1 1x17 stale
				leader_redaction_info{instance="i2",` + k1 + `} _x60 1x40`,
			Want: "RedactionKeyMismatch/warning 15m..35m = 2"},
		{ID: "R9", Name: "the odd replica misses a scrape every ten minutes", Every: 30 * time.Second, End: 40 * time.Minute,
			Load: `
				leader_redaction_info{instance="i1",` + k1 + `} 1x100
				leader_redaction_info{instance="i2",` + k2 + `} 1x19 stale 1x18 stale 1x18 stale 1x18`,
			Limit: "the hold starts again whenever the replicas that are left agree"},
	}
}
