package scenario

import "time"

func renewalScenarios() []Scenario {
	return []Scenario{
		{ID: "F1", Name: "a third of the renewals fails", Every: 30 * time.Second, End: 20 * time.Minute,
			Load: held + `
				leader_active{instance="i1"} 1x40
				leader_renewals_total{instance="i1",result="ok"} 0+4x40
				leader_renewals_total{instance="i1",result="error"} 0+2x40`,
			Want: "RenewalFailures/warning 4m45s.. = 0.333"},
		{ID: "F2", Name: "two renewals in a row fail among many", Every: 30 * time.Second, End: 20 * time.Minute,
			Load: held + `
				leader_active{instance="i1"} 1x40
				leader_renewals_total{instance="i1",result="ok"} 0+4x40
				leader_renewals_total{instance="i1",result="error"} 0x9 2x40`},
		{ID: "F3", Name: "two of six renewals fail", Every: 15 * time.Second, End: 20 * time.Minute,
			Load: held + `
				leader_active{instance="i1"} 1x80
				leader_renewals_total{instance="i1",result="ok"} 0x10 1x10 2x40 3x10 4x20
				leader_renewals_total{instance="i1",result="error"} 0x35 1x5 2x80`},
		{ID: "F4", Name: "renewals run into their deadlines", Every: 30 * time.Second, End: 20 * time.Minute,
			Load: held + `
				leader_active{instance="i1"} 1x40
				leader_renewals_total{instance="i1",result="ok"} 0+4x40
				leader_renewals_total{instance="i1",result="timeout"} 0+2x40
				leader_renewals_total{instance="i1",result="error"} 0x40`,
			Want: "RenewalFailures/warning 4m45s.. = 0.333"},
		{ID: "F5", Name: "one renewal in fifty fails, all day long", Every: 30 * time.Second, End: 30 * time.Minute,
			Load: held + `
				leader_active{instance="i1"} 1x60
				leader_renewals_total{instance="i1",result="ok"} 0+49x60
				leader_renewals_total{instance="i1",result="error"} 0+1x60`},
		{ID: "F6", Name: "all renewals of a lease of ten minutes fail, and then one succeeds", Every: 30 * time.Second, End: 30 * time.Minute,
			Load: held + `
				leader_lease_duration_seconds{instance="i1"} 600x60
				leader_active{instance="i1"} 1x60
				leader_renewals_total{instance="i1",result="ok"} 5x20 6x3 7x3 8x3 9x3 10x60
				leader_renewals_total{instance="i1",result="error"} 0x9 1+1x10 11x60`,
			Want: "RenewalFailures/warning 10m..17m30s = 1"},
		{ID: "F7", Name: "renewals find the lock lost, once for each term", Every: 30 * time.Second, End: 20 * time.Minute,
			Load: ran + `
				leader_active{instance="i1"} 0x40
				leader_renewals_total{instance="i1",result="ok"} 0+1x40
				leader_renewals_total{instance="i1",result="lost"} 0+1x40
				leader_renewals_total{instance="i1",result="error"} 0x40`,
			Limit: "a renewal that finds the lock lost has its answer: WorkAfterLoss and LeaseExceeded are about what follows"},
		{ID: "F8", Name: "renewals of a lock below a shared label fail", Every: 30 * time.Second, End: 20 * time.Minute,
			Load: `
				leader_renewals_total{instance="i1",lock_name="redacted",result="ok"} 0+4x40
				leader_renewals_total{instance="i1",lock_name="redacted",result="error"} 0+2x40`,
			Want: `RenewalFailures/warning{lock_name="redacted"} 4m45s.. = 0.333`},
		{ID: "F9", Name: "a pod is first seen after 50 failures in 5000 renewals", Every: 15 * time.Second, End: 15 * time.Minute,
			Load: held + `
				leader_active{instance="i1"} _x9 1x60
				leader_renewals_total{instance="i1",result="ok"} _x9 4950+1x60
				leader_renewals_total{instance="i1",result="error"} _x9 50x9 51x5 52x60`},
		{ID: "C12", Name: "every renewal of a rollout is canceled", Every: 15 * time.Second, End: 15 * time.Minute,
			Load: held + `
				leader_active{instance="i1"} 1x60
				leader_renewals_total{instance="i1",result="ok"} 0+1x20 20x40
				leader_renewals_total{instance="i1",result="canceled"} 0x20 4+4x9 40x40
				leader_renewals_total{instance="i1",result="error"} 0x60
				leader_renewals_total{instance="i1",result="timeout"} 0x60`},
		{ID: "C12", Name: "renewals run into their own deadline while others are canceled", Every: 15 * time.Second, End: 15 * time.Minute,
			Load: held + `
				leader_active{instance="i1"} 1x60
				leader_renewals_total{instance="i1",result="ok"} 0+1x8 8x60
				leader_renewals_total{instance="i1",result="canceled"} 0x20 4+4x9 40x40
				leader_renewals_total{instance="i1",result="timeout"} 0x20 1x3 2x3 3x3 4x3 5x3 6x40
				leader_renewals_total{instance="i1",result="error"} 0x60`,
			Want: "RenewalFailures/warning 11m15s.. = 0.745"},
		{ID: "C40", Name: "renewals go on failing while three pods lead one after the other", Every: 15 * time.Second, End: 20 * time.Minute,
			Load: held + `
				leader_renewals_total{instance="p1",result="ok"} 0+1x30 stale
				leader_renewals_total{instance="p1",result="error"} 0+1x30 stale
				leader_renewals_total{instance="p2",result="ok"} _x28 0+1x20 stale
				leader_renewals_total{instance="p2",result="error"} _x28 0+1x20 stale
				leader_renewals_total{instance="p3",result="ok"} _x46 0+1x40
				leader_renewals_total{instance="p3",result="error"} _x46 0+1x40`,
			Want: "RenewalFailures/warning 4m45s.. = 0.5"},
		{ID: "C45", Name: "the backend is away for 20 s, and a young leader gets through", Every: 15 * time.Second, End: 20 * time.Minute,
			Load: held + `
				leader_lease_duration_seconds{instance="i1"} 30x80
				leader_active{instance="i1"} _x16 1x60
				leader_renewals_total{instance="i1",result="ok"} _x16 0 3 6 9 9 12+3x60
				leader_renewals_total{instance="i1",result="error"} _x16 0x3 4 8x60`},
	}
}

func headroomScenarios() []Scenario {
	return []Scenario{
		{ID: "H1", Name: "a run nears the end of its lease of twenty minutes, and ends", Every: 30 * time.Second, End: 30 * time.Minute,
			Load: ran + `
				leader_lease_duration_seconds{instance="i1"} 1200x60
				leader_lease_headroom_seconds{instance="i1"} _x3 1200-30x37 stale`,
			Want: "LowHeadroom/warning 19m30s..25m30s = 0.1"},
		{ID: "H2", Name: "headroom is exported as 0 where there is no term", Every: 30 * time.Second, End: 10 * time.Minute,
			Load: ran + `
				leader_lease_duration_seconds{instance="i1"} 60x60
				leader_lease_headroom_seconds{instance="i1"} 0x60`,
			Want:  "LowHeadroom/warning 1m30s.. = 0",
			Limit: "an exporter that says 0 for unknown breaks the contract"},
		{ID: "H3", Name: "a lease of two minutes is renewed halfway", Every: 30 * time.Second, End: 20 * time.Minute,
			Load: held + `
				leader_active{instance="i1"} 1x40
				leader_lease_duration_seconds{instance="i1"} 120x40
				leader_lease_headroom_seconds{instance="i1"} 110 80 110 80 110 80 110 80 110 80 110 80 110 80 110 80`},
		{ID: "H4", Name: "a scrape now and then meets a run near its end", Every: 30 * time.Second, End: 20 * time.Minute,
			Load: ran + `
				leader_lease_duration_seconds{instance="i1"} 60x40
				leader_lease_headroom_seconds{instance="i1"} 40 stale 30 5 stale 55 4 50 20 stale 6 30 2 35 _ 8 40 stale`},
		{ID: "H5", Name: "the lease of one replica is ten times that of the other", Every: 30 * time.Second, End: 20 * time.Minute,
			Load: `
				leader_elector_info{mode="run"} 1x40
				leader_lease_duration_seconds{instance="i1"} 600x40
				leader_lease_duration_seconds{instance="i2"} 60x40
				leader_lease_headroom_seconds{instance="i2"} 45x40`},
		{ID: "H6", Name: "the last push of a run came close to its lease", Every: 15 * time.Second, End: 20 * time.Minute,
			Load: ran + `
				leader_lease_duration_seconds{instance="i1"} 60x80
				leader_lease_headroom_seconds{instance="i1"} _x3 58 43 28 13 3`},
		{ID: "H7", Name: "locks with leases of ten seconds and of ten hours share a label", Every: 30 * time.Second, End: 20 * time.Minute,
			Load: `
				leader_lease_duration_seconds{instance="i1",lock_name="tenant-*/orders"} 36000x40
				leader_lease_headroom_seconds{instance="i1",lock_name="tenant-*/orders"} 8x40`,
			Limit: "the least headroom and the last lease below a shared label need not be of one lock"},
		{ID: "H8", Name: "of two permits of a group elector one runs out", Every: 30 * time.Second, End: 10 * time.Minute,
			Load: `
				leader_elector_info{mode="hold"} 1x40
				leader_max_leaders 2x40
				leader_active{instance="i1"} 1x40
				leader_active{instance="i2"} 1x40
				leader_lease_duration_seconds{instance="i1"} 600x40
				leader_lease_duration_seconds{instance="i2"} 600x40
				leader_lease_headroom_seconds{instance="i1"} 580x40
				leader_lease_headroom_seconds{instance="i2"} 580-30x40`,
			Want: "LowHeadroom/warning 9m30s.. = 0.0167"},
		{ID: "C04", Name: "the headroom of slow renewals stays above a fifth of the lease", Every: 15 * time.Second, End: 10 * time.Minute,
			Load: held + `
				leader_active{instance="i1"} 1x40
				leader_lease_duration_seconds{instance="i1"} 15x40
				leader_lease_headroom_seconds{instance="i1"} 12x9 11x9 9x9 4x20`},
		{ID: "C04", Name: "one dip that a scrape happens to see", Every: 15 * time.Second, End: 10 * time.Minute,
			Load: held + `
				leader_active{instance="i1"} 1x40
				leader_lease_duration_seconds{instance="i1"} 15x40
				leader_lease_headroom_seconds{instance="i1"} 12x9 0.5 12x40`},
		{ID: "C15", Name: "no callback tells of the loss, and the headroom falls below zero", Every: 15 * time.Second, End: 10 * time.Minute,
			Load: held + `
				leader_active{instance="i1"} 1x7 0x40
				leader_active{instance="i2"} 0x7 1x40
				leader_lease_duration_seconds{instance="i1"} 15x40
				leader_lease_headroom_seconds{instance="i1"} 12x6 10-15x40`,
			Want: "LowHeadroom/warning 3m30s.. = -6.33"},
		{ID: "C45", Name: "one failed renewal leaves a third of the lease", Every: 15 * time.Second, End: 10 * time.Minute,
			Load: held + `
				leader_active{instance="i1"} 1x40
				leader_lease_duration_seconds{instance="i1"} 30x40
				leader_lease_headroom_seconds{instance="i1"} 25x9 10 25x40
				leader_renewals_total{instance="i1",result="ok"} 0+1x9 9 10+1x40
				leader_renewals_total{instance="i1",result="error"} 0x9 1x40`},
	}
}
