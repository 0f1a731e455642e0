package alerts

import (
	"time"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

func backendScenarios() []scenario {
	return []scenario{
		{id: "E1", name: "the backend goes away for good", every: 30 * time.Second, end: 20 * time.Minute,
			load: ran + `
				leader_attempts_total{instance="i1"} 0+1x40
				leader_not_acquired_total{instance="i1",reason="backend_error"} 0x9 1+1x30`,
			want: "BackendErrors/critical 7m15s.. = 0.917\nBackendErrors/warning 11m.. = 0.65\nNoAcquisition/warning 5m30s.. = 11"},
		{id: "E2", name: "one error, then all is well", every: 30 * time.Second, end: 30 * time.Minute,
			load: ran + `
				leader_attempts_total{instance="i1"} 0x9 1x9 2x9 3x9 4x20
				leader_acquired_total{instance="i1"} 0x19 1x9 2x9 3x20
				leader_not_acquired_total{instance="i1",reason="backend_error"} 0x9 1x50`},
		{id: "E3", name: "a fifth of the attempts meets an error", every: 30 * time.Second, end: 20 * time.Minute,
			load: ran + `
				leader_attempts_total{instance="i1"} 0+5x40
				leader_acquired_total{instance="i1"} 0+4x40
				leader_not_acquired_total{instance="i1",reason="backend_error"} 0+1x40`,
			want: "BackendErrors/warning 6m30s.. = 0.2"},
		{id: "E4", name: "contention is no error", every: 30 * time.Second, end: 20 * time.Minute,
			load: ran + `
				leader_attempts_total{instance="i1"} 0+5x40
				leader_acquired_total{instance="i1"} 0+1x40
				leader_not_acquired_total{instance="i1",reason="contended"} 0+4x40
				leader_not_acquired_total{instance="i1",reason="backend_error"} 0x40`},
		{id: "E5", name: "attempts that hung for long fail, and none is started", every: 30 * time.Second, end: 20 * time.Minute,
			load: ran + `
				leader_attempts_total{instance="i1"} 40x40
				leader_acquired_total{instance="i1"} 3x40
				leader_not_acquired_total{instance="i1",reason="backend_error"} 2+1x40`,
			want: "BackendErrors/critical 2m15s.. = +Inf\nBackendErrors/warning 6m15s.. = +Inf"},
		{id: "E6", name: "every attempt meets an error while no replica leads", every: 30 * time.Second, end: 25 * time.Minute,
			load: held + `
				leader_attempts_total{instance="i1"} 3x9 4+1x50
				leader_acquired_total{instance="i1"} 3x60
				leader_active{instance="i1"} 1x10 0x50
				leader_not_acquired_total{instance="i1",reason="backend_error"} 0x9 1+1x50`,
			want: "BackendErrors/critical 6m30s.. = 0.833\nBackendErrors/warning 11m.. = 0.95\nNoAcquisition/warning 20m.. = 20\nNoLeader/critical 7m.. = 1"},
		{id: "E7", name: "errors below a shared label", every: 30 * time.Second, end: 20 * time.Minute,
			load: `
				leader_attempts_total{instance="i1",lock_name="redacted"} 0+5x40
				leader_acquired_total{instance="i1",lock_name="redacted"} 0+4x40
				leader_not_acquired_total{instance="i1",lock_name="redacted",reason="backend_error"} 0+1x40`,
			want: `BackendErrors/warning{lock_name="redacted"} 6m30s.. = 0.2`},
		{id: "E8", name: "one attempt in a hundred meets an error", every: 30 * time.Second, end: 30 * time.Minute,
			load: ran + `
				leader_attempts_total{instance="i1"} 0+100x60
				leader_acquired_total{instance="i1"} 0+99x60
				leader_not_acquired_total{instance="i1",reason="backend_error"} 0+1x60`},
		{id: "E9", name: "two errors in a row among few attempts", every: 30 * time.Second, end: 30 * time.Minute,
			load: ran + `
				leader_attempts_total{instance="i1"} 0x5 1x5 2x5 3x5 4x5 5x5 6x5 7x5 8x5 9x5
				leader_acquired_total{instance="i1"} 0x5 1x5 1x5 1x5 2x5 3x5 4x5 5x5 6x5 7x5
				leader_not_acquired_total{instance="i1",reason="backend_error"} 0x11 1x5 2x60`},
		{id: "E10", name: "the backend goes away for good, and no error was counted before", every: 30 * time.Second, end: 20 * time.Minute, extrapolated: true,
			load: ran + `
				leader_attempts_total{instance="i1"} 0+1x40
				leader_not_acquired_total{instance="i1",reason="backend_error"} _x9 1+1x30`,
			want: "BackendErrors/critical 7m.. = 1\nBackendErrors/warning 10m45s.. = 0.65\nNoAcquisition/warning 5m30s.. = 11"},
		{id: "C01", name: "refusals and errors mixed, then the backend answers", every: 15 * time.Second, end: 20 * time.Minute,
			load: ran + `
				leader_attempts_total{instance="i1"} 0+1x10 11x70
				leader_acquired_total{instance="i1"} 0x10 1x70
				leader_active{instance="i1"} 0x10 1x70
				leader_not_acquired_total{instance="i1",reason="contended"} 0+1x4 4x80
				leader_not_acquired_total{instance="i1",reason="backend_error"} 0x4 1+1x5 6x80`,
			limit: "errors that end before the hold of five minutes do not page"},
		{id: "C12", name: "ten pods cancel their calls during a rollout", every: 15 * time.Second, end: 15 * time.Minute,
			load: held + `
				leader_active{instance="i1"} 1x60
				leader_attempts_total{instance="i1"} 9x20 13+4x9 49x40
				leader_acquired_total{instance="i1"} 9x60
				leader_not_acquired_total{instance="i1",reason="canceled"} 0x20 4+4x9 40x40
				leader_not_acquired_total{instance="i1",reason="backend_error"} 0x60`},
		{id: "C12", name: "attempts run into the deadlines of their callers", every: 15 * time.Second, end: 15 * time.Minute,
			load: ran + `
				leader_attempts_total{instance="i1"} 0+2x60
				leader_acquired_total{instance="i1"} 0+1x60
				leader_not_acquired_total{instance="i1",reason="timeout"} 0+1x60
				leader_not_acquired_total{instance="i1",reason="backend_error"} 0x60`},
		{id: "C27", name: "the first errors of a counter that was there at 0", every: 15 * time.Second, end: 15 * time.Minute,
			load: ran + `
				leader_attempts_total{instance="i1"} 0+1x60
				leader_acquired_total{instance="i1"} 0+1x20 20x40
				leader_not_acquired_total{instance="i1",reason="backend_error"} 0x20 1+1x40`,
			want: "BackendErrors/critical 7m45s.. = 0.917\nBackendErrors/warning 10m45s.. = 0.575"},
		{id: "C27", name: "errors of short-lived processes before their first sample", every: 15 * time.Second, end: 15 * time.Minute,
			load: ran + `
				leader_attempts_total{instance="i1"} 3x9 stale
				leader_not_acquired_total{instance="i1",reason="backend_error"} 3x9 stale
				leader_attempts_total{instance="i2"} _x20 3x9 stale
				leader_not_acquired_total{instance="i2",reason="backend_error"} _x20 3x9 stale
				leader_attempts_total{instance="i3"} _x40 3x9 stale
				leader_not_acquired_total{instance="i3",reason="backend_error"} _x40 3x9 stale`,
			limit: "a counter born with its events has no increase, unless the server ingests start timestamps"},
		{id: "C40", name: "errors go on while three pods are replaced one by one", every: 15 * time.Second, end: 20 * time.Minute,
			load: ran + `
				leader_attempts_total{instance="p1"} 0+2x40 stale
				leader_not_acquired_total{instance="p1",reason="backend_error"} 0+1x40 stale
				leader_acquired_total{instance="p1"} 0+1x40 stale
				leader_attempts_total{instance="p2"} _x38 0+2x20 stale
				leader_not_acquired_total{instance="p2",reason="backend_error"} _x38 0+1x20 stale
				leader_acquired_total{instance="p2"} _x38 0+1x20 stale
				leader_attempts_total{instance="p3"} _x56 0+2x40
				leader_not_acquired_total{instance="p3",reason="backend_error"} _x56 0+1x40
				leader_acquired_total{instance="p3"} _x56 0+1x40`,
			want: "BackendErrors/warning 5m45s.. = 0.5"},
		{id: "C42", name: "a pod is first seen after 50 errors in 5000 attempts", every: 15 * time.Second, end: 15 * time.Minute,
			load: ran + `
				leader_attempts_total{instance="i1"} _x9 0 5000+5x50
				leader_acquired_total{instance="i1"} _x9 0 4950+5x50
				leader_not_acquired_total{instance="i1",reason="backend_error"} _x9 0 50x50`},
		{id: "C45", name: "one replica of three cannot reach the backend for an hour", every: 15 * time.Second, end: time.Hour,
			load: held + `
				leader_active{instance="i1"} 1x240
				leader_active{instance="i2"} 0x240
				leader_active{instance="i3"} 0x240
				leader_attempts_total{instance="i1"} 1x240
				leader_acquired_total{instance="i1"} 1x240
				leader_attempts_total{instance="i2"} 1x240
				leader_attempts_total{instance="i3"} 1x19 8+7x240
				leader_not_acquired_total{instance="i3",reason="backend_error"} 0x19 7+7x240`,
			want: "BackendErrors/warning 10m.. = 0.993"},
		{id: "C45", name: "the backend is away for 20 s and leadership moves once", every: 15 * time.Second, end: 20 * time.Minute,
			load: held + `
				leader_lease_duration_seconds 15x80
				leader_active{instance="i1"} 1x20 0x60
				leader_active{instance="i2"} 0x21 1x60
				leader_attempts_total{instance="i1"} 1x20 6 11x60
				leader_acquired_total{instance="i1"} 1x80
				leader_not_acquired_total{instance="i1",reason="backend_error"} 0x20 5 10x60
				leader_attempts_total{instance="i2"} 1x20 11 21x60
				leader_acquired_total{instance="i2"} 0x21 1x60
				leader_not_acquired_total{instance="i2",reason="backend_error"} 0x20 10 20x60`},
		{id: "C45", name: "one renewal of a leader fails and the next one succeeds", every: 15 * time.Second, end: 20 * time.Minute,
			load: held + `
				leader_lease_duration_seconds{instance="i1"} 30x80
				leader_active{instance="i1"} 1x80
				leader_acquired_total{instance="i1"} 1x80
				leader_attempts_total{instance="i1"} 1x80
				leader_renewals_total{instance="i1",result="ok"} 0+1x20 20x1 22+1x60
				leader_renewals_total{instance="i1",result="error"} 0x20 1x60
				leader_lease_usage_ratio_count{instance="i1"} 0+1x20 20x1 22+1x60
				leader_lease_usage_ratio_bucket{instance="i1",le="0.8"} 0+1x20 20x1 22+1x60
				leader_lease_overruns_total{instance="i1"} 0x80`},
	}
}

func leaseScenarios() []scenario {
	return []scenario{
		{id: "G1", name: "one run uses nine tenths of its lease", every: 30 * time.Second, end: 70 * time.Minute,
			load: ran + `
				leader_lease_usage_ratio_count{instance="i1"} 0x9 1+1x150
				leader_lease_usage_ratio_bucket{instance="i1",le="0.8"} 0x9 1+1x9 10+1x140
				leader_lease_overruns_total{instance="i1"} 0x150`,
			want: "NearLease/warning 10m..54m30s = 1.02"},
		{id: "G2", name: "runs stay within their leases", every: 30 * time.Second, end: 60 * time.Minute,
			load: ran + `
				leader_lease_usage_ratio_count{instance="i1"} 0+1x150
				leader_lease_usage_ratio_bucket{instance="i1",le="0.8"} 0+1x150
				leader_lease_overruns_total{instance="i1"} 0x150`},
		{id: "G3", name: "one run outlives its lease", every: 30 * time.Second, end: 60 * time.Minute,
			load: ran + `
				leader_lease_usage_ratio_count{instance="i1"} 0x19 1x150
				leader_lease_usage_ratio_bucket{instance="i1",le="0.8"} 0x150
				leader_attempts_total{instance="i1"} 0x17 1x150
				leader_acquired_total{instance="i1"} 0x17 1x150
				leader_lease_overruns_total{instance="i1"} 0x19 1x150`,
			want: "LeaseExceeded/critical 10m..54m30s = 1\nNearLease/warning 10m..54m30s = 1.02"},
		{id: "G4", name: "slow runs of an hour ago, and fast ones since", every: 30 * time.Second, end: 30 * time.Minute,
			load: ran + `
				leader_lease_usage_ratio_count{instance="i1"} 50+6x60
				leader_lease_usage_ratio_bucket{instance="i1",le="0.8"} 0+6x60`},
		{id: "G5", name: "a process with overruns of yesterday is first seen", every: 30 * time.Second, end: 30 * time.Minute,
			load: ran + `
				leader_attempts_total{instance="i1"} _x20 70x60
				leader_acquired_total{instance="i1"} _x20 70x60
				leader_lease_usage_ratio_count{instance="i1"} _x20 70x60
				leader_lease_usage_ratio_bucket{instance="i1",le="0.8"} _x20 60x60
				leader_lease_overruns_total{instance="i1"} _x20 3x60`},
		{id: "G6", name: "a restart in place starts its counters again", every: 30 * time.Second, end: 60 * time.Minute,
			load: ran + `
				leader_attempts_total{instance="i1"} 40x20 0+1x100
				leader_acquired_total{instance="i1"} 40x20 0+1x100
				leader_lease_usage_ratio_count{instance="i1"} 40x20 0+1x100
				leader_lease_usage_ratio_bucket{instance="i1",le="0.8"} 30x20 0+1x100
				leader_lease_overruns_total{instance="i1"} 5x20 0x100`},
		{id: "G7", name: "a lock below a shared label outlives its lease", every: 30 * time.Second, end: 20 * time.Minute,
			load: `
				leader_attempts_total{instance="i1",lock_name="tenant-*/orders"} 0+1x40
				leader_acquired_total{instance="i1",lock_name="tenant-*/orders"} 0+1x40
				leader_lease_overruns_total{instance="i1",lock_name="tenant-*/orders"} 0x19 1x40`,
			want: `LeaseExceeded/critical{lock_name="tenant-*/orders"} 10m.. = 1`},
		{id: "G8", name: "one run uses nine tenths of its lease, and only native histograms are stored", every: 30 * time.Second, end: time.Hour, native: true,
			load: ran + `
				leader_lease_usage_ratio{instance="i1"} {{schema:3 sum:3 count:7 offset:-8 buckets:[7 0 0 0 0 0 0]}}x20 {{schema:3 sum:4 count:8 offset:-8 buckets:[8 0 0 0 0 0 0]}}x10 {{schema:3 sum:4 count:9 offset:-8 buckets:[8 0 0 0 0 0 0 1]}}x150`,
			want: "NearLease/warning 16m.. = 1.02"},
		{id: "G9", name: "runs use up to 84 % of their leases, and only native histograms are stored", every: 30 * time.Second, end: time.Hour, native: true,
			load: ran + `
				leader_lease_usage_ratio{instance="i1"} {{schema:3 sum:0 count:0 offset:-8 buckets:[0 0 0 0 0 0 0 0]}}+{{schema:3 sum:2 count:5 offset:-8 buckets:[2 0 0 0 0 0 3 0]}}x150`,
			limit: "the next bound that native buckets share is 84 % of the lease"},
		{id: "G10", name: "a run at nine tenths of its lease is stored in both forms, and one of yesterday", every: 30 * time.Second, end: time.Hour, native: true,
			load: ran + `
				leader_lease_usage_ratio{instance="i1"} {{schema:3 sum:4 count:8 offset:-8 buckets:[7 0 0 0 0 0 0 1]}}x20 {{schema:3 sum:4 count:9 offset:-8 buckets:[8 0 0 0 0 0 0 1]}}x100
				leader_lease_usage_ratio_count{instance="i1"} 8x20 9x100
				leader_lease_usage_ratio_bucket{instance="i1",le="0.8"} 7x20 8x100`},
		{id: "G11", name: "the first run of a process uses nine tenths of its lease, and begins the histogram", every: 30 * time.Second, end: 20 * time.Minute,
			load: ran + `
				leader_attempts_total{instance="i1"} 0x9 1x40
				leader_acquired_total{instance="i1"} 0x9 1x40
				leader_lease_usage_ratio_count{instance="i1"} _x10 1x40
				leader_lease_usage_ratio_bucket{instance="i1",le="0.8"} _x10 0x40
				leader_lease_overruns_total{instance="i1"} 0x40`,
			want: "NearLease/warning 5m.. = 1"},
		{id: "G12", name: "the first run of a process begins a native histogram, and uses nine tenths of its lease", every: 30 * time.Second, end: 20 * time.Minute, native: true,
			load: ran + `
				leader_attempts_total{instance="i1"} 0x9 1x40
				leader_acquired_total{instance="i1"} 0x9 1x40
				leader_lease_usage_ratio{instance="i1"} _x10 {{schema:3 sum:0.9 count:1 offset:-1 buckets:[1]}}x40
				leader_lease_overruns_total{instance="i1"} 0x40`,
			want: "NearLease/warning 5m.. = 1"},
		{id: "G13", name: "the first run of a process uses half of its lease", every: 30 * time.Second, end: 20 * time.Minute,
			load: ran + `
				leader_attempts_total{instance="i1"} 0x9 1x40
				leader_acquired_total{instance="i1"} 0x9 1x40
				leader_lease_usage_ratio_count{instance="i1"} _x10 1x40
				leader_lease_usage_ratio_bucket{instance="i1",le="0.8"} _x10 1x40
				leader_lease_overruns_total{instance="i1"} 0x40`},
		{id: "C04", name: "the renewal period equals the lease", every: 15 * time.Second, end: 10 * time.Minute,
			load: held + `
				leader_active{instance="i1"} 1x40
				leader_renewals_total{instance="i1",result="ok"} 0+3x40
				leader_lease_usage_ratio_count{instance="i1"} 0+3x40
				leader_lease_usage_ratio_bucket{instance="i1",le="0.8"} 0x40
				leader_lease_overruns_total{instance="i1"} 0x40`,
			want: "NearLease/warning 15s.. = 4.5"},
		{id: "C04", name: "renewals grow slower and stay below the bound", every: 15 * time.Second, end: 10 * time.Minute,
			load: held + `
				leader_active{instance="i1"} 1x40
				leader_lease_usage_ratio_count{instance="i1"} 0+3x40
				leader_lease_usage_ratio_bucket{instance="i1",le="0.7"} 0+3x20 60x20
				leader_lease_usage_ratio_bucket{instance="i1",le="0.8"} 0+3x40
				leader_lease_overruns_total{instance="i1"} 0x40`},
		{id: "C04", name: "one dip between two scrapes", every: 15 * time.Second, end: 10 * time.Minute,
			load: held + `
				leader_active{instance="i1"} 1x40
				leader_lease_headroom_seconds{instance="i1"} 12x40
				leader_lease_usage_ratio_count{instance="i1"} 0+3x40
				leader_lease_usage_ratio_bucket{instance="i1",le="0.8"} 0+3x19 59+3x20
				leader_lease_overruns_total{instance="i1"} 0x40`,
			want: "NearLease/warning 5m.. = 1.02"},
		{id: "C07", name: "a job of 12 s on a lease of 10 s", every: 15 * time.Second, end: 10 * time.Minute,
			load: ran + `
				leader_active{instance="i1"} 0x40
				leader_attempts_total{instance="i1"} 0x9 1x40
				leader_acquired_total{instance="i1"} 0x9 1x40
				leader_lease_usage_ratio_count{instance="i1"} 0x10 1x40
				leader_lease_usage_ratio_bucket{instance="i1",le="0.8"} 0x40
				leader_lease_overruns_total{instance="i1"} 0x10 1x40`,
			want: "LeaseExceeded/critical 2m45s.. = 1\nNearLease/warning 2m45s.. = 1.05"},
		{id: "C07", name: "one renewal meets an error and the next one succeeds", every: 15 * time.Second, end: 10 * time.Minute,
			load: held + `
				leader_active{instance="i1"} 1x40
				leader_renewals_total{instance="i1",result="ok"} 0+2x40
				leader_renewals_total{instance="i1",result="error"} 0x19 1x40
				leader_lease_usage_ratio_count{instance="i1"} 0+2x40
				leader_lease_usage_ratio_bucket{instance="i1",le="0.8"} 0+2x40
				leader_lease_overruns_total{instance="i1"} 0x40`},
		{id: "C27", name: "the first run of a known process outlives a lease that was not known before", every: 30 * time.Second, end: 20 * time.Minute,
			load: ran + `
				leader_attempts_total{instance="i1"} 0x9 1x40
				leader_acquired_total{instance="i1"} 0x9 1x40
				leader_lease_overruns_total{instance="i1"} _x10 1x40`,
			want: "LeaseExceeded/critical 5m.. = 1"},
	}
}

func lossScenarios() []scenario {
	return []scenario{
		{id: "W1", name: "two seconds pass until a loss is noticed", every: 15 * time.Second, end: 20 * time.Minute,
			load: held + `
				leader_active{instance="i1"} 1x19 0x60
				leader_active{instance="i2"} 0x20 1x60
				leader_work_after_loss_seconds_total{instance="i1"} 0x19 2x60
				leader_work_after_loss_seconds_total{instance="i2"} 0x80`},
		{id: "W2", name: "six replicas notice a loss within two seconds each", every: 15 * time.Second, end: 20 * time.Minute,
			load: ran + fleet(6, catalog.WorkAfterLoss.Name(), "0x19 2x60")},
		{id: "W3", name: "work after the losses of yesterday", every: 15 * time.Second, end: 20 * time.Minute,
			load: ran + `
				leader_work_after_loss_seconds_total{instance="i1"} _x9 400x60`},
		{id: "W4", name: "a lock below a shared label is worked on after its loss", every: 15 * time.Second, end: 10 * time.Minute,
			load: `
				leader_work_after_loss_seconds_total{instance="i1",lock_name="redacted"} 0x19 30x60`,
			want: `WorkAfterLoss/critical{lock_name="redacted"} 5m.. = 30`},
		{id: "W5", name: "a process was suspended for longer than the window", every: 30 * time.Second, end: 90 * time.Minute,
			load: ran + `
				leader_work_after_loss_seconds_total{instance="i1"} 0x20 stale _x80 2400x100`,
			limit: "the sample before the pause has left the window"},
		{id: "C16", name: "a leader is suspended past its lease and resumed", every: 15 * time.Second, end: 10 * time.Minute,
			load: held + `
				leader_lease_duration_seconds{instance="i2"} 20x40
				leader_active{instance="i1"} 1x4 stale _x3 0x40
				leader_active{instance="i2"} 0x6 1x40
				up{instance="i1"} 1x4 0x4 1x40
				up{instance="i2"} 1x40
				leader_work_after_loss_seconds_total{instance="i1"} 0x4 stale _x3 40x40
				leader_work_after_loss_seconds_total{instance="i2"} 0x40`,
			want: "WorkAfterLoss/critical 2m15s.. = 40"},
	}
}
