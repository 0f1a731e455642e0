package alerts

import "time"

func renewalScenarios() []scenario {
	return []scenario{
		{id: "F1", name: "a third of the renewals fails", every: 30 * time.Second, end: 20 * time.Minute,
			load: held + `
				leader_active{instance="i1"} 1x40
				leader_renewals_total{instance="i1",result="ok"} 0+4x40
				leader_renewals_total{instance="i1",result="error"} 0+2x40`,
			want: "RenewalFailures/warning 4m45s.. = 0.333"},
		{id: "F2", name: "two renewals in a row fail among many", every: 30 * time.Second, end: 20 * time.Minute,
			load: held + `
				leader_active{instance="i1"} 1x40
				leader_renewals_total{instance="i1",result="ok"} 0+4x40
				leader_renewals_total{instance="i1",result="error"} 0x9 2x40`},
		{id: "F3", name: "two of six renewals fail", every: 15 * time.Second, end: 20 * time.Minute,
			load: held + `
				leader_active{instance="i1"} 1x80
				leader_renewals_total{instance="i1",result="ok"} 0x10 1x10 2x40 3x10 4x20
				leader_renewals_total{instance="i1",result="error"} 0x35 1x5 2x80`},
		{id: "F4", name: "renewals run into their deadlines", every: 30 * time.Second, end: 20 * time.Minute,
			load: held + `
				leader_active{instance="i1"} 1x40
				leader_renewals_total{instance="i1",result="ok"} 0+4x40
				leader_renewals_total{instance="i1",result="timeout"} 0+2x40
				leader_renewals_total{instance="i1",result="error"} 0x40`,
			want: "RenewalFailures/warning 4m45s.. = 0.333"},
		{id: "F5", name: "one renewal in fifty fails, all day long", every: 30 * time.Second, end: 30 * time.Minute,
			load: held + `
				leader_active{instance="i1"} 1x60
				leader_renewals_total{instance="i1",result="ok"} 0+49x60
				leader_renewals_total{instance="i1",result="error"} 0+1x60`},
		{id: "F6", name: "all renewals of a lease of ten minutes fail, and then one succeeds", every: 30 * time.Second, end: 30 * time.Minute,
			load: held + `
				leader_lease_duration_seconds{instance="i1"} 600x60
				leader_active{instance="i1"} 1x60
				leader_renewals_total{instance="i1",result="ok"} 5x20 6x3 7x3 8x3 9x3 10x60
				leader_renewals_total{instance="i1",result="error"} 0x9 1+1x10 11x60`,
			want: "RenewalFailures/warning 10m..17m30s = 1"},
		{id: "F7", name: "renewals find the lock lost, once for each term", every: 30 * time.Second, end: 20 * time.Minute,
			load: ran + `
				leader_active{instance="i1"} 0x40
				leader_renewals_total{instance="i1",result="ok"} 0+1x40
				leader_renewals_total{instance="i1",result="lost"} 0+1x40
				leader_renewals_total{instance="i1",result="error"} 0x40`,
			limit: "a renewal that finds the lock lost has its answer: WorkAfterLoss and LeaseExceeded are about what follows"},
		{id: "F8", name: "renewals of a lock below a shared label fail", every: 30 * time.Second, end: 20 * time.Minute,
			load: `
				leader_renewals_total{instance="i1",lock_name="redacted",result="ok"} 0+4x40
				leader_renewals_total{instance="i1",lock_name="redacted",result="error"} 0+2x40`,
			want: `RenewalFailures/warning{lock_name="redacted"} 4m45s.. = 0.333`},
		{id: "F9", name: "a pod is first seen after 50 failures in 5000 renewals", every: 15 * time.Second, end: 15 * time.Minute,
			load: held + `
				leader_active{instance="i1"} _x9 1x60
				leader_renewals_total{instance="i1",result="ok"} _x9 4950+1x60
				leader_renewals_total{instance="i1",result="error"} _x9 50x9 51x5 52x60`},
		{id: "C12", name: "every renewal of a rollout is canceled", every: 15 * time.Second, end: 15 * time.Minute,
			load: held + `
				leader_active{instance="i1"} 1x60
				leader_renewals_total{instance="i1",result="ok"} 0+1x20 20x40
				leader_renewals_total{instance="i1",result="canceled"} 0x20 4+4x9 40x40
				leader_renewals_total{instance="i1",result="error"} 0x60
				leader_renewals_total{instance="i1",result="timeout"} 0x60`},
		{id: "C12", name: "renewals run into their own deadline while others are canceled", every: 15 * time.Second, end: 15 * time.Minute,
			load: held + `
				leader_active{instance="i1"} 1x60
				leader_renewals_total{instance="i1",result="ok"} 0+1x8 8x60
				leader_renewals_total{instance="i1",result="canceled"} 0x20 4+4x9 40x40
				leader_renewals_total{instance="i1",result="timeout"} 0x20 1x3 2x3 3x3 4x3 5x3 6x40
				leader_renewals_total{instance="i1",result="error"} 0x60`,
			want: "RenewalFailures/warning 11m15s.. = 0.745"},
		{id: "C40", name: "renewals go on failing while three pods lead one after the other", every: 15 * time.Second, end: 20 * time.Minute,
			load: held + `
				leader_renewals_total{instance="p1",result="ok"} 0+1x30 stale
				leader_renewals_total{instance="p1",result="error"} 0+1x30 stale
				leader_renewals_total{instance="p2",result="ok"} _x28 0+1x20 stale
				leader_renewals_total{instance="p2",result="error"} _x28 0+1x20 stale
				leader_renewals_total{instance="p3",result="ok"} _x46 0+1x40
				leader_renewals_total{instance="p3",result="error"} _x46 0+1x40`,
			want: "RenewalFailures/warning 4m45s.. = 0.5"},
		{id: "C45", name: "the backend is away for 20 s, and a young leader gets through", every: 15 * time.Second, end: 20 * time.Minute,
			load: held + `
				leader_lease_duration_seconds{instance="i1"} 30x80
				leader_active{instance="i1"} _x16 1x60
				leader_renewals_total{instance="i1",result="ok"} _x16 0 3 6 9 9 12+3x60
				leader_renewals_total{instance="i1",result="error"} _x16 0x3 4 8x60`},
	}
}

func headroomScenarios() []scenario {
	return []scenario{
		{id: "H1", name: "a run nears the end of its lease of twenty minutes, and ends", every: 30 * time.Second, end: 30 * time.Minute,
			load: ran + `
				leader_lease_duration_seconds{instance="i1"} 1200x60
				leader_lease_headroom_seconds{instance="i1"} _x3 1200-30x37 stale`,
			want: "LowHeadroom/warning 19m30s..25m30s = 0.1"},
		{id: "H2", name: "headroom is exported as 0 where there is no term", every: 30 * time.Second, end: 10 * time.Minute,
			load: ran + `
				leader_lease_duration_seconds{instance="i1"} 60x60
				leader_lease_headroom_seconds{instance="i1"} 0x60`,
			want:  "LowHeadroom/warning 1m30s.. = 0",
			limit: "an exporter that says 0 for unknown breaks the contract"},
		{id: "H3", name: "a lease of two minutes is renewed halfway", every: 30 * time.Second, end: 20 * time.Minute,
			load: held + `
				leader_active{instance="i1"} 1x40
				leader_lease_duration_seconds{instance="i1"} 120x40
				leader_lease_headroom_seconds{instance="i1"} 110 80 110 80 110 80 110 80 110 80 110 80 110 80 110 80`},
		{id: "H4", name: "a scrape now and then meets a run near its end", every: 30 * time.Second, end: 20 * time.Minute,
			load: ran + `
				leader_lease_duration_seconds{instance="i1"} 60x40
				leader_lease_headroom_seconds{instance="i1"} 40 stale 30 5 stale 55 4 50 20 stale 6 30 2 35 _ 8 40 stale`},
		{id: "H5", name: "the lease of one replica is ten times that of the other", every: 30 * time.Second, end: 20 * time.Minute,
			load: `
				leader_elector_info{mode="run"} 1x40
				leader_lease_duration_seconds{instance="i1"} 600x40
				leader_lease_duration_seconds{instance="i2"} 60x40
				leader_lease_headroom_seconds{instance="i2"} 45x40`},
		{id: "H6", name: "the last push of a run came close to its lease", every: 15 * time.Second, end: 20 * time.Minute,
			load: ran + `
				leader_lease_duration_seconds{instance="i1"} 60x80
				leader_lease_headroom_seconds{instance="i1"} _x3 58 43 28 13 3`},
		{id: "H7", name: "locks with leases of ten seconds and of ten hours share a label", every: 30 * time.Second, end: 20 * time.Minute,
			load: `
				leader_lease_duration_seconds{instance="i1",lock_name="tenant-*/orders"} 36000x40
				leader_lease_headroom_seconds{instance="i1",lock_name="tenant-*/orders"} 8x40`,
			limit: "the least headroom and the last lease below a shared label need not be of one lock"},
		{id: "H8", name: "of two permits of a group elector one runs out", every: 30 * time.Second, end: 10 * time.Minute,
			load: `
				leader_elector_info{mode="hold"} 1x40
				leader_max_leaders 2x40
				leader_active{instance="i1"} 1x40
				leader_active{instance="i2"} 1x40
				leader_lease_duration_seconds{instance="i1"} 600x40
				leader_lease_duration_seconds{instance="i2"} 600x40
				leader_lease_headroom_seconds{instance="i1"} 580x40
				leader_lease_headroom_seconds{instance="i2"} 580-30x40`,
			want: "LowHeadroom/warning 9m30s.. = 0.0167"},
		{id: "C04", name: "the headroom of slow renewals stays above a fifth of the lease", every: 15 * time.Second, end: 10 * time.Minute,
			load: held + `
				leader_active{instance="i1"} 1x40
				leader_lease_duration_seconds{instance="i1"} 15x40
				leader_lease_headroom_seconds{instance="i1"} 12x9 11x9 9x9 4x20`},
		{id: "C04", name: "one dip that a scrape happens to see", every: 15 * time.Second, end: 10 * time.Minute,
			load: held + `
				leader_active{instance="i1"} 1x40
				leader_lease_duration_seconds{instance="i1"} 15x40
				leader_lease_headroom_seconds{instance="i1"} 12x9 0.5 12x40`},
		{id: "C15", name: "no callback tells of the loss, and the headroom falls below zero", every: 15 * time.Second, end: 10 * time.Minute,
			load: held + `
				leader_active{instance="i1"} 1x7 0x40
				leader_active{instance="i2"} 0x7 1x40
				leader_lease_duration_seconds{instance="i1"} 15x40
				leader_lease_headroom_seconds{instance="i1"} 12x6 10-15x40`,
			want: "LowHeadroom/warning 3m30s.. = -6.33"},
		{id: "C45", name: "one failed renewal leaves a third of the lease", every: 15 * time.Second, end: 10 * time.Minute,
			load: held + `
				leader_active{instance="i1"} 1x40
				leader_lease_duration_seconds{instance="i1"} 30x40
				leader_lease_headroom_seconds{instance="i1"} 25x9 10 25x40
				leader_renewals_total{instance="i1",result="ok"} 0+1x9 9 10+1x40
				leader_renewals_total{instance="i1",result="error"} 0x9 1x40`},
	}
}
