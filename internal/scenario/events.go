package scenario

import (
	"time"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

func backendScenarios() []Scenario {
	return []Scenario{
		{ID: "E1", Name: "the backend goes away for good", Every: 30 * time.Second, End: 20 * time.Minute,
			Load: ran + `
				leader_attempts_total{instance="i1"} 0+1x40
				leader_not_acquired_total{instance="i1",reason="backend_error"} 0x9 1+1x30`,
			Want: "BackendErrors/critical 7m.. = 0.833\nBackendErrors/warning 11m.. = 0.65\nNoAcquisition/warning 5m30s.. = 11"},
		{ID: "E2", Name: "one error, then all is well", Every: 30 * time.Second, End: 30 * time.Minute,
			Load: ran + `
				leader_attempts_total{instance="i1"} 0x9 1x9 2x9 3x9 4x20
				leader_acquired_total{instance="i1"} 0x19 1x9 2x9 3x20
				leader_not_acquired_total{instance="i1",reason="backend_error"} 0x9 1x50`},
		{ID: "E3", Name: "a fifth of the attempts meets an error", Every: 30 * time.Second, End: 20 * time.Minute,
			Load: ran + `
				leader_attempts_total{instance="i1"} 0+5x40
				leader_acquired_total{instance="i1"} 0+4x40
				leader_not_acquired_total{instance="i1",reason="backend_error"} 0+1x40`,
			Want: "BackendErrors/warning 6m30s.. = 0.2"},
		{ID: "E4", Name: "contention is no error", Every: 30 * time.Second, End: 20 * time.Minute,
			Load: ran + `
				leader_attempts_total{instance="i1"} 0+5x40
				leader_acquired_total{instance="i1"} 0+1x40
				leader_not_acquired_total{instance="i1",reason="contended"} 0+4x40
				leader_not_acquired_total{instance="i1",reason="backend_error"} 0x40`},
		{ID: "E5", Name: "attempts that hung for long fail, and none is started", Every: 30 * time.Second, End: 20 * time.Minute,
			Load: ran + `
				leader_attempts_total{instance="i1"} 40x40
				leader_acquired_total{instance="i1"} 3x40
				leader_not_acquired_total{instance="i1",reason="backend_error"} 2+1x40`,
			Want: "BackendErrors/critical 2m15s.. = +Inf\nBackendErrors/warning 6m15s.. = +Inf"},
		{ID: "E6", Name: "every attempt meets an error while no replica leads", Every: 30 * time.Second, End: 25 * time.Minute,
			Load: held + `
				leader_attempts_total{instance="i1"} 3x9 4+1x50
				leader_acquired_total{instance="i1"} 3x60
				leader_active{instance="i1"} 1x10 0x50
				leader_not_acquired_total{instance="i1",reason="backend_error"} 0x9 1+1x50`,
			Want: "BackendErrors/critical 5m45s.. = 0.917\nBackendErrors/warning 11m.. = 0.95\nNoAcquisition/warning 20m.. = 20\nNoLeader/critical 6m.. = 1"},
		{ID: "E7", Name: "errors below a shared label", Every: 30 * time.Second, End: 20 * time.Minute,
			Load: `
				leader_attempts_total{instance="i1",lock_name="redacted"} 0+5x40
				leader_acquired_total{instance="i1",lock_name="redacted"} 0+4x40
				leader_not_acquired_total{instance="i1",lock_name="redacted",reason="backend_error"} 0+1x40`,
			Want: `BackendErrors/warning{lock_name="redacted"} 6m30s.. = 0.2`},
		{ID: "E8", Name: "one attempt in a hundred meets an error", Every: 30 * time.Second, End: 30 * time.Minute,
			Load: ran + `
				leader_attempts_total{instance="i1"} 0+100x60
				leader_acquired_total{instance="i1"} 0+99x60
				leader_not_acquired_total{instance="i1",reason="backend_error"} 0+1x60`},
		{ID: "E9", Name: "two errors in a row among few attempts", Every: 30 * time.Second, End: 30 * time.Minute,
			Load: ran + `
				leader_attempts_total{instance="i1"} 0x5 1x5 2x5 3x5 4x5 5x5 6x5 7x5 8x5 9x5
				leader_acquired_total{instance="i1"} 0x5 1x5 1x5 1x5 2x5 3x5 4x5 5x5 6x5 7x5
				leader_not_acquired_total{instance="i1",reason="backend_error"} 0x11 1x5 2x60`},
		{ID: "E10", Name: "the backend goes away for good, and no error was counted before", Every: 30 * time.Second, End: 20 * time.Minute, Extrapolated: true,
			Load: ran + `
				leader_attempts_total{instance="i1"} 0+1x40
				leader_not_acquired_total{instance="i1",reason="backend_error"} _x9 1+1x30`,
			Want: "BackendErrors/critical 6m45s.. = 0.833\nBackendErrors/warning 10m45s.. = 0.65\nNoAcquisition/warning 5m30s.. = 11"},
		{ID: "C01", Name: "refusals and errors mixed, then the backend answers", Every: 15 * time.Second, End: 20 * time.Minute,
			Load: ran + `
				leader_attempts_total{instance="i1"} 0+1x10 11x70
				leader_acquired_total{instance="i1"} 0x10 1x70
				leader_active{instance="i1"} 0x10 1x70
				leader_not_acquired_total{instance="i1",reason="contended"} 0+1x4 4x80
				leader_not_acquired_total{instance="i1",reason="backend_error"} 0x4 1+1x5 6x80`,
			Limit: "errors that end before the hold of five minutes do not page"},
		{ID: "C12", Name: "ten pods cancel their calls during a rollout", Every: 15 * time.Second, End: 15 * time.Minute,
			Load: held + `
				leader_active{instance="i1"} 1x60
				leader_attempts_total{instance="i1"} 9x20 13+4x9 49x40
				leader_acquired_total{instance="i1"} 9x60
				leader_not_acquired_total{instance="i1",reason="canceled"} 0x20 4+4x9 40x40
				leader_not_acquired_total{instance="i1",reason="backend_error"} 0x60`},
		{ID: "C12", Name: "attempts run into the deadlines of their callers", Every: 15 * time.Second, End: 15 * time.Minute,
			Load: ran + `
				leader_attempts_total{instance="i1"} 0+2x60
				leader_acquired_total{instance="i1"} 0+1x60
				leader_not_acquired_total{instance="i1",reason="timeout"} 0+1x60
				leader_not_acquired_total{instance="i1",reason="backend_error"} 0x60`},
		{ID: "C27", Name: "the first errors of a counter that was there at 0", Every: 15 * time.Second, End: 15 * time.Minute,
			Load: ran + `
				leader_attempts_total{instance="i1"} 0+1x60
				leader_acquired_total{instance="i1"} 0+1x20 20x40
				leader_not_acquired_total{instance="i1",reason="backend_error"} 0x20 1+1x40`,
			Want: "BackendErrors/critical 6m45s.. = 0.583\nBackendErrors/warning 10m45s.. = 0.575"},
		{ID: "C27", Name: "errors of short-lived processes before their first sample", Every: 15 * time.Second, End: 15 * time.Minute,
			Load: ran + `
				leader_attempts_total{instance="i1"} 3x9 stale
				leader_not_acquired_total{instance="i1",reason="backend_error"} 3x9 stale
				leader_attempts_total{instance="i2"} _x20 3x9 stale
				leader_not_acquired_total{instance="i2",reason="backend_error"} _x20 3x9 stale
				leader_attempts_total{instance="i3"} _x40 3x9 stale
				leader_not_acquired_total{instance="i3",reason="backend_error"} _x40 3x9 stale`,
			Limit: "a counter born with its events has no increase, unless the server ingests start timestamps"},
		{ID: "C40", Name: "errors go on while three pods are replaced one by one", Every: 15 * time.Second, End: 20 * time.Minute,
			Load: ran + `
				leader_attempts_total{instance="p1"} 0+2x40 stale
				leader_not_acquired_total{instance="p1",reason="backend_error"} 0+1x40 stale
				leader_acquired_total{instance="p1"} 0+1x40 stale
				leader_attempts_total{instance="p2"} _x38 0+2x20 stale
				leader_not_acquired_total{instance="p2",reason="backend_error"} _x38 0+1x20 stale
				leader_acquired_total{instance="p2"} _x38 0+1x20 stale
				leader_attempts_total{instance="p3"} _x56 0+2x40
				leader_not_acquired_total{instance="p3",reason="backend_error"} _x56 0+1x40
				leader_acquired_total{instance="p3"} _x56 0+1x40`,
			Want: "BackendErrors/warning 5m45s.. = 0.5"},
		{ID: "C42", Name: "a pod is first seen after 50 errors in 5000 attempts", Every: 15 * time.Second, End: 15 * time.Minute,
			Load: ran + `
				leader_attempts_total{instance="i1"} _x9 0 5000+5x50
				leader_acquired_total{instance="i1"} _x9 0 4950+5x50
				leader_not_acquired_total{instance="i1",reason="backend_error"} _x9 0 50x50`},
		{ID: "C45", Name: "one replica of three cannot reach the backend for an hour", Every: 15 * time.Second, End: time.Hour,
			Load: held + `
				leader_active{instance="i1"} 1x240
				leader_active{instance="i2"} 0x240
				leader_active{instance="i3"} 0x240
				leader_attempts_total{instance="i1"} 1x240
				leader_acquired_total{instance="i1"} 1x240
				leader_attempts_total{instance="i2"} 1x240
				leader_attempts_total{instance="i3"} 1x19 8+7x240
				leader_not_acquired_total{instance="i3",reason="backend_error"} 0x19 7+7x240`,
			Want: "BackendErrors/warning 10m.. = 0.993"},
		{ID: "C45", Name: "the backend is away for 20 s and leadership moves once", Every: 15 * time.Second, End: 20 * time.Minute,
			Load: held + `
				leader_lease_duration_seconds 15x80
				leader_active{instance="i1"} 1x20 0x60
				leader_active{instance="i2"} 0x21 1x60
				leader_attempts_total{instance="i1"} 1x20 6 11x60
				leader_acquired_total{instance="i1"} 1x80
				leader_not_acquired_total{instance="i1",reason="backend_error"} 0x20 5 10x60
				leader_attempts_total{instance="i2"} 1x20 11 21x60
				leader_acquired_total{instance="i2"} 0x21 1x60
				leader_not_acquired_total{instance="i2",reason="backend_error"} 0x20 10 20x60`},
		{ID: "C45", Name: "one renewal of a leader fails and the next one succeeds", Every: 15 * time.Second, End: 20 * time.Minute,
			Load: held + `
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

func leaseScenarios() []Scenario {
	return []Scenario{
		{ID: "G1", Name: "one run uses nine tenths of its lease", Every: 30 * time.Second, End: 70 * time.Minute,
			Load: ran + `
				leader_lease_usage_ratio_count{instance="i1"} 0x9 1+1x150
				leader_lease_usage_ratio_bucket{instance="i1",le="0.8"} 0x9 1+1x9 10+1x140
				leader_lease_overruns_total{instance="i1"} 0x150`,
			Want: "NearLease/warning 10m..54m30s = 1.02"},
		{ID: "G2", Name: "runs stay within their leases", Every: 30 * time.Second, End: 60 * time.Minute,
			Load: ran + `
				leader_lease_usage_ratio_count{instance="i1"} 0+1x150
				leader_lease_usage_ratio_bucket{instance="i1",le="0.8"} 0+1x150
				leader_lease_overruns_total{instance="i1"} 0x150`},
		{ID: "G3", Name: "one run outlives its lease", Every: 30 * time.Second, End: 60 * time.Minute,
			Load: ran + `
				leader_lease_usage_ratio_count{instance="i1"} 0x19 1x150
				leader_lease_usage_ratio_bucket{instance="i1",le="0.8"} 0x150
				leader_attempts_total{instance="i1"} 0x17 1x150
				leader_acquired_total{instance="i1"} 0x17 1x150
				leader_lease_overruns_total{instance="i1"} 0x19 1x150`,
			Want: "LeaseExceeded/critical 10m..54m30s = 1\nNearLease/warning 10m..54m30s = 1.02"},
		{ID: "G4", Name: "slow runs of an hour ago, and fast ones since", Every: 30 * time.Second, End: 30 * time.Minute,
			Load: ran + `
				leader_lease_usage_ratio_count{instance="i1"} 50+6x60
				leader_lease_usage_ratio_bucket{instance="i1",le="0.8"} 0+6x60`},
		{ID: "G5", Name: "a process with overruns of yesterday is first seen", Every: 30 * time.Second, End: 30 * time.Minute,
			Load: ran + `
				leader_attempts_total{instance="i1"} _x20 70x60
				leader_acquired_total{instance="i1"} _x20 70x60
				leader_lease_usage_ratio_count{instance="i1"} _x20 70x60
				leader_lease_usage_ratio_bucket{instance="i1",le="0.8"} _x20 60x60
				leader_lease_overruns_total{instance="i1"} _x20 3x60`},
		{ID: "G6", Name: "a restart in place starts its counters again", Every: 30 * time.Second, End: 60 * time.Minute,
			Load: ran + `
				leader_attempts_total{instance="i1"} 40x20 0+1x100
				leader_acquired_total{instance="i1"} 40x20 0+1x100
				leader_lease_usage_ratio_count{instance="i1"} 40x20 0+1x100
				leader_lease_usage_ratio_bucket{instance="i1",le="0.8"} 30x20 0+1x100
				leader_lease_overruns_total{instance="i1"} 5x20 0x100`},
		{ID: "G7", Name: "a lock below a shared label outlives its lease", Every: 30 * time.Second, End: 20 * time.Minute,
			Load: `
				leader_attempts_total{instance="i1",lock_name="tenant-*/orders"} 0+1x40
				leader_acquired_total{instance="i1",lock_name="tenant-*/orders"} 0+1x40
				leader_lease_overruns_total{instance="i1",lock_name="tenant-*/orders"} 0x19 1x40`,
			Want: `LeaseExceeded/critical{lock_name="tenant-*/orders"} 10m.. = 1`},
		{ID: "G8", Name: "one run uses nine tenths of its lease, and only native histograms are stored", Every: 30 * time.Second, End: time.Hour, Native: true,
			Load: ran + `
				leader_lease_usage_ratio{instance="i1"} {{schema:3 sum:3 count:7 offset:-8 buckets:[7 0 0 0 0 0 0]}}x20 {{schema:3 sum:4 count:8 offset:-8 buckets:[8 0 0 0 0 0 0]}}x10 {{schema:3 sum:4 count:9 offset:-8 buckets:[8 0 0 0 0 0 0 1]}}x150`,
			Want: "NearLease/warning 16m.. = 1.02"},
		{ID: "G9", Name: "runs use up to 84 % of their leases, and only native histograms are stored", Every: 30 * time.Second, End: time.Hour, Native: true,
			Load: ran + `
				leader_lease_usage_ratio{instance="i1"} {{schema:3 sum:0 count:0 offset:-8 buckets:[0 0 0 0 0 0 0 0]}}+{{schema:3 sum:2 count:5 offset:-8 buckets:[2 0 0 0 0 0 3 0]}}x150`,
			Limit: "the next bound that native buckets share is 84 % of the lease"},
		{ID: "G10", Name: "a run at nine tenths of its lease is stored in both forms, and one of yesterday", Every: 30 * time.Second, End: time.Hour, Native: true,
			Load: ran + `
				leader_lease_usage_ratio{instance="i1"} {{schema:3 sum:4 count:8 offset:-8 buckets:[7 0 0 0 0 0 0 1]}}x20 {{schema:3 sum:4 count:9 offset:-8 buckets:[8 0 0 0 0 0 0 1]}}x100
				leader_lease_usage_ratio_count{instance="i1"} 8x20 9x100
				leader_lease_usage_ratio_bucket{instance="i1",le="0.8"} 7x20 8x100`},
		{ID: "G11", Name: "the first run of a process uses nine tenths of its lease, and begins the histogram", Every: 30 * time.Second, End: 20 * time.Minute,
			Load: ran + `
				leader_attempts_total{instance="i1"} 0x9 1x40
				leader_acquired_total{instance="i1"} 0x9 1x40
				leader_lease_usage_ratio_count{instance="i1"} _x10 1x40
				leader_lease_usage_ratio_bucket{instance="i1",le="0.8"} _x10 0x40
				leader_lease_overruns_total{instance="i1"} 0x40`,
			Want: "NearLease/warning 5m.. = 1"},
		{ID: "G12", Name: "the first run of a process begins a native histogram, and uses nine tenths of its lease", Every: 30 * time.Second, End: 20 * time.Minute, Native: true,
			Load: ran + `
				leader_attempts_total{instance="i1"} 0x9 1x40
				leader_acquired_total{instance="i1"} 0x9 1x40
				leader_lease_usage_ratio{instance="i1"} _x10 {{schema:3 sum:0.9 count:1 offset:-1 buckets:[1]}}x40
				leader_lease_overruns_total{instance="i1"} 0x40`,
			Want: "NearLease/warning 5m.. = 1"},
		{ID: "G13", Name: "the first run of a process uses half of its lease", Every: 30 * time.Second, End: 20 * time.Minute,
			Load: ran + `
				leader_attempts_total{instance="i1"} 0x9 1x40
				leader_acquired_total{instance="i1"} 0x9 1x40
				leader_lease_usage_ratio_count{instance="i1"} _x10 1x40
				leader_lease_usage_ratio_bucket{instance="i1",le="0.8"} _x10 1x40
				leader_lease_overruns_total{instance="i1"} 0x40`},
		{ID: "C04", Name: "the renewal period equals the lease", Every: 15 * time.Second, End: 10 * time.Minute,
			Load: held + `
				leader_active{instance="i1"} 1x40
				leader_renewals_total{instance="i1",result="ok"} 0+3x40
				leader_lease_usage_ratio_count{instance="i1"} 0+3x40
				leader_lease_usage_ratio_bucket{instance="i1",le="0.8"} 0x40
				leader_lease_overruns_total{instance="i1"} 0x40`,
			Want: "NearLease/warning 15s.. = 4.5"},
		{ID: "C04", Name: "renewals grow slower and stay below the bound", Every: 15 * time.Second, End: 10 * time.Minute,
			Load: held + `
				leader_active{instance="i1"} 1x40
				leader_lease_usage_ratio_count{instance="i1"} 0+3x40
				leader_lease_usage_ratio_bucket{instance="i1",le="0.7"} 0+3x20 60x20
				leader_lease_usage_ratio_bucket{instance="i1",le="0.8"} 0+3x40
				leader_lease_overruns_total{instance="i1"} 0x40`},
		{ID: "C04", Name: "one dip between two scrapes", Every: 15 * time.Second, End: 10 * time.Minute,
			Load: held + `
				leader_active{instance="i1"} 1x40
				leader_lease_headroom_seconds{instance="i1"} 12x40
				leader_lease_usage_ratio_count{instance="i1"} 0+3x40
				leader_lease_usage_ratio_bucket{instance="i1",le="0.8"} 0+3x19 59+3x20
				leader_lease_overruns_total{instance="i1"} 0x40`,
			Want: "NearLease/warning 5m.. = 1.02"},
		{ID: "C07", Name: "a job of 12 s on a lease of 10 s", Every: 15 * time.Second, End: 10 * time.Minute,
			Load: ran + `
				leader_active{instance="i1"} 0x40
				leader_attempts_total{instance="i1"} 0x9 1x40
				leader_acquired_total{instance="i1"} 0x9 1x40
				leader_lease_usage_ratio_count{instance="i1"} 0x10 1x40
				leader_lease_usage_ratio_bucket{instance="i1",le="0.8"} 0x40
				leader_lease_overruns_total{instance="i1"} 0x10 1x40`,
			Want: "LeaseExceeded/critical 2m45s.. = 1\nNearLease/warning 2m45s.. = 1.05"},
		{ID: "C07", Name: "one renewal meets an error and the next one succeeds", Every: 15 * time.Second, End: 10 * time.Minute,
			Load: held + `
				leader_active{instance="i1"} 1x40
				leader_renewals_total{instance="i1",result="ok"} 0+2x40
				leader_renewals_total{instance="i1",result="error"} 0x19 1x40
				leader_lease_usage_ratio_count{instance="i1"} 0+2x40
				leader_lease_usage_ratio_bucket{instance="i1",le="0.8"} 0+2x40
				leader_lease_overruns_total{instance="i1"} 0x40`},
		{ID: "C27", Name: "the first run of a known process outlives a lease that was not known before", Every: 30 * time.Second, End: 20 * time.Minute,
			Load: ran + `
				leader_attempts_total{instance="i1"} 0x9 1x40
				leader_acquired_total{instance="i1"} 0x9 1x40
				leader_lease_overruns_total{instance="i1"} _x10 1x40`,
			Want: "LeaseExceeded/critical 5m.. = 1"},
	}
}

func lossScenarios() []Scenario {
	return []Scenario{
		{ID: "W1", Name: "two seconds pass until a loss is noticed", Every: 15 * time.Second, End: 20 * time.Minute,
			Load: held + `
				leader_active{instance="i1"} 1x19 0x60
				leader_active{instance="i2"} 0x20 1x60
				leader_work_after_loss_seconds_total{instance="i1"} 0x19 2x60
				leader_work_after_loss_seconds_total{instance="i2"} 0x80`},
		{ID: "W2", Name: "six replicas notice a loss within two seconds each", Every: 15 * time.Second, End: 20 * time.Minute,
			Load: ran + Fleet(6, catalog.WorkAfterLoss.Name(), "0x19 2x60")},
		{ID: "E20", Name: "the whole backend goes away, and one of two standbys tries three times as often", Every: 30 * time.Second, End: 8 * time.Minute,
			Load: `
				leader_elector_info{instance="i1",mode="hold"} 1x20
				leader_elector_info{instance="i2",mode="hold"} 1x20
				leader_elector_info{instance="i3",mode="hold"} 1x20
				leader_active{instance="i1"} 1x9 0x20
				leader_last_ended_timestamp_seconds{instance="i1"} _x10 295x20
				leader_active{instance="i2"} 0x20
				leader_active{instance="i3"} 0x20
				leader_attempts_total{instance="i2"} 0x9 2+2x20
				leader_not_acquired_total{instance="i2",reason="backend_error"} 0x9 2+2x20
				leader_attempts_total{instance="i3"} 0x9 6+6x20
				leader_not_acquired_total{instance="i3",reason="backend_error"} 0x9 3+3x20`,
			Want: "BackendErrors/critical 5m15s.. = 0.625\nNoLeader/critical 5m45s.. = 1"},
		{ID: "W8", Name: "two replicas work on after their losses, one for 10 s and one for 25 s", Every: 30 * time.Second, End: 8 * time.Minute,
			Load: ran + `
				leader_work_after_loss_seconds_total{instance="i1"} 0x9 10x20
				leader_work_after_loss_seconds_total{instance="i2"} 0x9 25x20`,
			Want: "WorkAfterLoss/critical 5m.. = 25"},
		{ID: "W3", Name: "work after the losses of yesterday", Every: 15 * time.Second, End: 20 * time.Minute,
			Load: ran + `
				leader_work_after_loss_seconds_total{instance="i1"} _x9 400x60`},
		{ID: "W4", Name: "a lock below a shared label is worked on after its loss", Every: 15 * time.Second, End: 10 * time.Minute,
			Load: `
				leader_work_after_loss_seconds_total{instance="i1",lock_name="redacted"} 0x19 30x60`,
			Want: `WorkAfterLoss/critical{lock_name="redacted"} 5m.. = 30`},
		{ID: "W5", Name: "a process was suspended for longer than the window", Every: 30 * time.Second, End: 90 * time.Minute,
			Load: ran + `
				leader_work_after_loss_seconds_total{instance="i1"} 0x20 stale _x80 2400x100`,
			Limit: "the sample before the pause has left the window"},
		{ID: "C16", Name: "a leader is suspended past its lease and resumed", Every: 15 * time.Second, End: 10 * time.Minute,
			Load: held + `
				leader_lease_duration_seconds{instance="i2"} 20x40
				leader_active{instance="i1"} 1x4 stale _x3 0x40
				leader_active{instance="i2"} 0x6 1x40
				up{instance="i1"} 1x4 0x4 1x40
				up{instance="i2"} 1x40
				leader_work_after_loss_seconds_total{instance="i1"} 0x4 stale _x3 40x40
				leader_work_after_loss_seconds_total{instance="i2"} 0x40`,
			Want: "WorkAfterLoss/critical 2m15s.. = 40"},
	}
}
