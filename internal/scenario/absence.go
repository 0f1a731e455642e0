package scenario

import (
	"fmt"
	"time"
)

func acquisitionScenarios() []Scenario {
	return []Scenario{
		{ID: "A1", Name: "attempts without any win, and no series of wins", Every: 30 * time.Second, End: 30 * time.Minute,
			Load: ran + `leader_attempts_total{instance="i1"} 0+1x60`,
			Want: "NoAcquisition/warning 5m30s.. = 11"},
		{ID: "A2", Name: "a leader that won long ago holds while followers try", Every: 30 * time.Second, End: 30 * time.Minute,
			Load: held + `
				leader_attempts_total{instance="i1"} 1x60
				leader_attempts_total{instance="i2"} 0+1x60
				leader_acquired_total{instance="i1"} 1x60
				leader_acquired_total{instance="i2"} 0x60
				leader_active{instance="i1"} 1x60
				leader_active{instance="i2"} 0x60`},
		{ID: "A3", Name: "runs too short to be sampled win every time", Every: 30 * time.Second, End: 30 * time.Minute,
			Load: ran + `
				leader_attempts_total{instance="i1"} 0+1x60
				leader_acquired_total{instance="i1"} 0+1x60
				leader_active{instance="i1"} 0x60`},
		{ID: "A4", Name: "wins have stopped", Every: 30 * time.Second, End: 40 * time.Minute,
			Load: ran + `
				leader_attempts_total{instance="i1"} 0+1x80
				leader_acquired_total{instance="i1"} 7x80
				leader_active{instance="i1"} 0x80`,
			Want: "NoAcquisition/warning 5m30s.. = 11"},
		{ID: "A5", Name: "a replaced replica takes over the runs", Every: 30 * time.Second, End: 40 * time.Minute,
			Load: ran + `
				leader_attempts_total{instance="i1"} 0+1x19 stale
				leader_acquired_total{instance="i1"} 0+1x19 stale
				leader_attempts_total{instance="i2"} _x22 1+1x60
				leader_acquired_total{instance="i2"} _x22 1+1x60`},
		{ID: "A6", Name: "a half-hourly job without a declared interval fails each time: the alert comes and goes", Every: 30 * time.Second, End: 110 * time.Minute,
			Load: ran + `
				leader_attempts_total{instance="i1"} 0x59 1x59 2x59 3x60
				leader_acquired_total{instance="i1"} 0x240`,
			Want: "NoAcquisition/warning 1h35m..1h49m30s = 1.05\nNoAcquisition/warning 1h5m..1h19m30s = 1.05\nNoAcquisition/warning 35m..49m30s = 1"},
		{ID: "A7", Name: "a lock declared to run daily is judged by its age, not by a window", Every: 30 * time.Second, End: 45 * time.Minute,
			Load: ran + `
				leader_expected_interval_seconds{instance="i1"} 86400x120
				leader_attempts_total{instance="i1"} 0x59 1x60
				leader_acquired_total{instance="i1"} 0x120`},
		{ID: "A8", Name: "a lock declared to run every minute is judged by the window", Every: 30 * time.Second, End: 30 * time.Minute,
			Load: ran + `
				leader_expected_interval_seconds{instance="i1"} 60x60
				leader_attempts_total{instance="i1"} 0+1x60
				leader_acquired_total{instance="i1"} 7x60`,
			Want: "JobOverdue/warning 5m.. = 300\nNoAcquisition/warning 5m30s.. = 11"},
		{ID: "A9", Name: "no lock below a shared label is acquired", Every: 30 * time.Second, End: 20 * time.Minute,
			Load: `
				leader_attempts_total{instance="i1",lock_name="redacted"} 0+3x60
				leader_acquired_total{instance="i1",lock_name="redacted"} 0x60
				leader_active{instance="i1",lock_name="redacted"} 0x60`,
			Want: `NoAcquisition/warning{lock_name="redacted"} 5m30s.. = 33`},
		{ID: "A10", Name: "a run longer than the window holds the lock while others try", Every: 30 * time.Second, End: 30 * time.Minute,
			Load: ran + `
				leader_attempts_total{instance="i1"} 0x3 1x100
				leader_attempts_total{instance="i2"} 0+1x100
				leader_acquired_total{instance="i1"} 0x3 1x100
				leader_acquired_total{instance="i2"} 0x100
				leader_active{instance="i1"} 0x3 1x100
				leader_active{instance="i2"} 0x100`},
		{ID: "C14", Name: "a fast job runs once on every replica", Every: 15 * time.Second, End: 10 * time.Minute,
			Load: ran + `
				leader_attempts_total{instance="i1"} 0x3 1x3 2x3 3x3 4x3 5x3 6x3 7x3 8x3 9x3
				leader_attempts_total{instance="i2"} 0x3 1x3 2x3 3x3 4x3 5x3 6x3 7x3 8x3 9x3
				leader_attempts_total{instance="i3"} 0x3 1x3 2x3 3x3 4x3 5x3 6x3 7x3 8x3 9x3
				leader_acquired_total{instance="i1"} 0x3 1x3 2x3 3x3 4x3 5x3 6x3 7x3 8x3 9x3
				leader_acquired_total{instance="i2"} 0x3 1x3 2x3 3x3 4x3 5x3 6x3 7x3 8x3 9x3
				leader_acquired_total{instance="i3"} 0x3 1x3 2x3 3x3 4x3 5x3 6x3 7x3 8x3 9x3
				leader_active{instance="i1"} 0x40
				leader_active{instance="i2"} 0x40
				leader_active{instance="i3"} 0x40`},
		{ID: "C19", Name: "a standby exports zeros and waits", Every: 15 * time.Second, End: 10 * time.Minute,
			Load: held + `
				leader_attempts_total{instance="i1"} 1x40
				leader_acquired_total{instance="i1"} 1x40
				leader_active{instance="i1"} 1x40
				leader_attempts_total{instance="i2"} 0+1x40
				leader_acquired_total{instance="i2"} 0x40
				leader_active{instance="i2"} 0x40
				leader_not_acquired_total{instance="i2",reason="contended"} 0+1x40
				leader_not_acquired_total{instance="i2",reason="backend_error"} 0x40`},
		{ID: "C31", Name: "Prometheus starts half an hour after the last hourly run", Every: 15 * time.Second, End: 90 * time.Minute,
			Load: ran + `
				leader_attempts_total{instance="i1"} 57x239 58x120
				leader_acquired_total{instance="i1"} 57x239 58x120
				leader_active{instance="i1"} 0x360`},
		{ID: "C32", Name: "replicas of a daily lock are replaced before its run", Every: 30 * time.Second, End: 2 * time.Hour,
			Load: ran + `
				leader_expected_interval_seconds{instance="i1"} 86400x60 stale
				leader_attempts_total{instance="i1"} 3x60 stale
				leader_acquired_total{instance="i1"} 3x60 stale
				leader_expected_interval_seconds{instance="i2"} _x62 86400x200
				leader_attempts_total{instance="i2"} _x62 0x60 1x100
				leader_acquired_total{instance="i2"} _x62 0x60 1x100
				leader_attempts_total{instance="i3"} _x62 0x60 1x100
				leader_acquired_total{instance="i3"} _x62 0x200`},
	}
}

func leaderScenarios() []Scenario {
	return []Scenario{
		{ID: "B1", Name: "the leader gives up and nobody follows for five minutes", Every: 30 * time.Second, End: 15 * time.Minute,
			Load: held + `
				leader_active{instance="i1"} 1x9 0x9 1x20
				leader_active{instance="i2"} 0x40`,
			Want: "NoLeader/critical 6m30s..10m = 1"},
		{ID: "B2", Name: "a rollout leaves a gap of a minute", Every: 30 * time.Second, End: 20 * time.Minute,
			Load: held + `
				leader_active{instance="i1"} 1x9 stale
				leader_active{instance="i2"} 0x11 1x8 stale
				leader_active{instance="i3"} _x9 0x11 1x20`},
		{ID: "B3", Name: "the leader cannot be scraped for six minutes", Every: 30 * time.Second, End: 20 * time.Minute,
			Load: held + `
				leader_active{instance="i1"} 1x9 stale _x11 1x20
				leader_last_acquired_timestamp_seconds{instance="i1"} -60x9 stale _x11 -60x20
				leader_active{instance="i2"} 0x40
				up{instance="i1"} 1x9 0x12 1x20
				up{instance="i2"} 1x40`,
			Want: "NoLeader/critical 6m30s..11m = 1\nScrapeFailing/warning 10m..16m30s = 1"},
		{ID: "B4", Name: "every series is gone", Every: 30 * time.Second, End: 20 * time.Minute,
			Load: held + `
				leader_active{instance="i1"} 1x9 stale
				leader_active{instance="i2"} 0x9 stale
				leader_attempts_total{instance="i1"} 1x9 stale`,
			Want:  "MetricsAbsent/critical 11m.. = 1",
			Limit: "nothing is left to say that no replica leads: MetricsAbsent is for that"},
		{ID: "B5", Name: "one of two locks is retired", Every: 30 * time.Second, End: 20 * time.Minute,
			Load: `
				leader_elector_info{mode="hold"} 1x9 stale
				leader_active{instance="i1"} 1x9 stale
				leader_active{instance="i1",lock_name="y"} 1x40
				leader_elector_info{mode="hold",lock_name="y"} 1x40`,
			Want: "LockVanished/warning 15m.. = 1"},
		{ID: "B6", Name: "Prometheus was away for three minutes", Every: 30 * time.Second, End: 30 * time.Minute,
			Load: `
				leader_elector_info{mode="hold"} 1x19 _x6 1x60
				leader_max_leaders 1x19 _x6 1x60
				leader_lease_duration_seconds 15x19 _x6 15x60
				leader_attempts_total{instance="i1"} 7x19 _x6 7x60
				leader_acquired_total{instance="i1"} 7x19 _x6 7x60
				leader_attempts_total{instance="i2"} 5x19 _x6 5x60
				leader_acquired_total{instance="i2"} 4x19 _x6 4x60
				leader_lease_overruns_total{instance="i1"} 3x19 _x6 3x60
				leader_work_after_loss_seconds_total{instance="i1"} 60x19 _x6 60x60
				leader_active{instance="i1"} 1x19 _x6 1x60
				leader_active{instance="i2"} 0x19 _x6 0x60`},
		{ID: "B7", Name: "a lock around single runs is free most of the time", Every: 30 * time.Second, End: 20 * time.Minute,
			Load: ran + `
				leader_active{instance="i1"} 0x40
				leader_active{instance="i2"} 0x40`},
		{ID: "B8", Name: "a target is down while the leader is not", Every: 30 * time.Second, End: 20 * time.Minute,
			Load: held + `
				leader_active{instance="i1"} 1x40
				leader_active{instance="i2"} 0x9 stale
				up{instance="i1"} 1x40
				up{instance="i2"} 1x9 0x30`,
			Want: "ScrapeFailing/warning 10m.. = 1"},
		{ID: "B9", Name: "a target of another job is down while no replica leads", Every: 30 * time.Second, End: 20 * time.Minute,
			Load: held + `
				leader_active{instance="i1"} 1x9 0x30
				up{instance="i1"} 1x40
				up{instance="z",job="other"} 1x9 0x40`,
			Want: "NoLeader/critical 6m30s.. = 1"},
		{ID: "B10", Name: "the last replica restarts without end and never leads", Every: 30 * time.Second, End: 20 * time.Minute,
			Load: `
				leader_elector_info{instance="i1",mode="hold"} 1x40
				leader_max_leaders{instance="i1"} 1x40
				leader_active{instance="i1"} 0x40`,
			Want: "NoLeader/critical 1m15s.. = 1"},
		{ID: "B11", Name: "a rollout turns a held lock into one around single runs", Every: 30 * time.Second, End: 20 * time.Minute,
			Load: `
				leader_elector_info{instance="i1",mode="hold"} 1x9 stale
				leader_active{instance="i1"} 1x9 stale
				leader_elector_info{instance="i2",mode="run"} _x10 1x40
				leader_active{instance="i2"} _x10 0x40`},
		{ID: "B12", Name: "a target that died long ago hides no page", Every: 30 * time.Second, End: 40 * time.Minute,
			Load: held + `
				leader_active{instance="i1"} 1x39 0x60
				up{instance="i1"} 1x100
				up{instance="i2"} 1x3 0x100`,
			Want: "NoLeader/critical 21m30s.. = 1"},
		{ID: "B13", Name: "the leader dies with its target, and nobody follows", Every: 30 * time.Second, End: 40 * time.Minute,
			Load: held + `
				leader_active{instance="i1"} 1x9 stale
				leader_last_acquired_timestamp_seconds{instance="i1"} -60x9 stale
				leader_active{instance="i2"} 0x100
				up{instance="i1"} 1x9 0x100
				up{instance="i2"} 1x100`,
			Want: "NoLeader/critical 6m30s.. = 1\nScrapeFailing/warning 10m.. = 1"},
		{ID: "B40", Name: "the leader cannot be scraped, and the backend names it", Every: 30 * time.Second, End: 25 * time.Minute,
			Load: held + witnessed + `
				up{instance="i1"} 1x9 0x100
				leader_backend_held{instance="i2",backend="etcd"} 1x100
				leader_backend_holder_info{instance="i2",backend="etcd",holder="h1"} 1x100`,
			Want: "NoLeader/warning 10m.. = 1\nScrapeFailing/warning 10m.. = 1"},
		{ID: "B41", Name: "the leader's node dies, its target stays, and the backend says that the lock is free", Every: 30 * time.Second, End: 25 * time.Minute,
			Load: held + witnessed + `
				up{instance="i1"} 1x9 0x100
				leader_backend_held{instance="i2",backend="etcd"} 1x10 0x100
				leader_backend_holder_info{instance="i2",backend="etcd",holder="h1"} 1x10 stale`,
			Want: "NoLeader/critical 6m30s.. = 1\nScrapeFailing/warning 10m.. = 1\nVacant/critical 6m30s.. = 0"},
		{ID: "B42", Name: "the leader goes, and a stranger takes its lock", Every: 30 * time.Second, End: 20 * time.Minute,
			Load: held + witnessed + `
				leader_backend_held{instance="i2",backend="etcd"} 1x100
				leader_backend_holder_info{instance="i2",backend="etcd",holder="h1"} 1x9 stale
				leader_backend_holder_info{instance="i2",backend="etcd",holder="other"} _x10 1x100`,
			Want: "NoLeader/critical 6m30s.. = 1"},
		{ID: "B43", Name: "a failover within a minute, as the backend sees it", Every: 30 * time.Second, End: 20 * time.Minute,
			Load: held + `
				leader_active{instance="i1"} 1x9 stale
				leader_last_acquired_timestamp_seconds{instance="i1"} -60x9 stale
				leader_identity_info{instance="i1",holder="h1"} 1x9 stale
				leader_identity_info{instance="i2",holder="h2"} 1x100
				leader_active{instance="i2"} 0x10 1x100
				leader_backend_held{instance="i2",backend="etcd"} 1x9 0 1x100
				leader_backend_holder_info{instance="i2",backend="etcd",holder="h1"} 1x9 stale
				leader_backend_holder_info{instance="i2",backend="etcd",holder="h2"} _x11 1x100`},
		{ID: "C02", Name: "a zombie candidate is told that it leads after its session died", Every: 15 * time.Second, End: 10 * time.Minute,
			Load: held + `
				leader_lease_duration_seconds 15x40
				leader_active{instance="i1"} 1x19 stale
				leader_active{instance="i2"} 0x40
				leader_attempts_total{instance="i2"} 1x40
				leader_acquired_total{instance="i2"} 0x40
				leader_not_acquired_total{instance="i2",reason="session_lost"} 0x19 1x20`,
			Want: "NoLeader/critical 6m45s.. = 1"},
		{ID: "C03", Name: "a renewal hangs, and the lease of the only leader runs out", Every: 15 * time.Second, End: 6 * time.Minute,
			Load: held + `
				leader_lease_duration_seconds{instance="i1"} 15x40
				leader_active{instance="i1"} 1x1 0x30
				leader_lease_headroom_seconds{instance="i1"} 4-15x30
				leader_renewals_total{instance="i1",result="ok"} 2x30`,
			Want: "LowHeadroom/warning 1m45s.. = -6.73\nNoLeader/critical 2m15s.. = 1"},
		{ID: "C09", Name: "everybody lost once and nobody contends again", Every: 15 * time.Second, End: 20 * time.Minute,
			Load: held + `
				leader_lease_duration_seconds 15x80
				leader_active{instance="i1"} 1x3 0x80
				leader_active{instance="i2"} 0x4 1x18 0x80
				leader_active{instance="i3"} 0x23 1x16 0x80
				leader_attempts_total{instance="i1"} 1x80
				leader_attempts_total{instance="i2"} 1x80
				leader_attempts_total{instance="i3"} 1x80
				leader_acquired_total{instance="i1"} 1x80
				leader_acquired_total{instance="i2"} 0x4 1x80
				leader_acquired_total{instance="i3"} 0x23 1x80
				up{instance="i1"} 1x80
				up{instance="i2"} 1x80
				up{instance="i3"} 1x80`,
			Want: "NoLeader/critical 12m.. = 1"},
		{ID: "C21", Name: "no replica leads the locks beyond the cap", Every: 15 * time.Second, End: 10 * time.Minute,
			Load: `
				leader_elector_info{mode="hold",lock_name="overflow"} 1x40
				leader_max_leaders{lock_name="overflow"} 1x40
				leader_active{instance="i1",lock_name="overflow"} 0x40
				leader_elector_info{mode="hold",lock_name="tenant-*/orders"} 1x40
				leader_active{instance="i1",lock_name="tenant-*/orders"} 0x40`,
			Want:  "LabelOverflow/warning 5m.. = 1",
			Limit: "a label that locks share says nothing about one of them"},
		{ID: "C34", Name: "one of two clusters with a lock of the same name loses its leader", Every: 15 * time.Second, End: 12 * time.Minute,
			Load: `
				leader_elector_info{mode="hold",cluster="eu"} 1x60
				leader_elector_info{mode="hold",cluster="us"} 1x60
				leader_max_leaders{cluster="eu"} 1x60
				leader_max_leaders{cluster="us"} 1x60
				leader_active{instance="i1",cluster="eu"} 1x60
				leader_active{instance="i1",cluster="us"} 1x19 0x19 1x60`,
			Want: `NoLeader/critical{cluster="us"} 6m45s..10m = 1`},
		{ID: "C38", Name: "of two locks one vanishes with its series", Every: 15 * time.Second, End: 15 * time.Minute,
			Load: held + `
				leader_active{instance="i1"} 1x60
				leader_active{instance="i2",lock_name="y"} 1x9 stale
				leader_elector_info{instance="i2",lock_name="y",mode="hold"} 1x9 stale`,
			Want:  `LockVanished/warning{lock_name="y"} 12m30s.. = 1`,
			Limit: "a lock without series is no lock without a leader: LockVanished is for that"},
		{ID: "C40", Name: "all pods of the job are down", Every: 15 * time.Second, End: 20 * time.Minute,
			Load: `
				leader_elector_info{instance="i1",mode="hold"} 1x19 stale
				leader_active{instance="i1"} 1x19 stale
				leader_active{instance="i2"} 0x19 stale
				up{instance="i1"} 1x19 0x80
				up{instance="i2"} 1x19 0x80`,
			Want:  "MetricsAbsent/critical 11m.. = 1\nMetricsAbsent/warning 15m.. = 20\nScrapeFailing/warning 10m.. = 2",
			Limit: "one page is enough, and it is that of the targets; MetricsAbsent mutes ScrapeFailing"},
		gap("graceful release, 2 s", 20, 20, 15, ""),
		gap("crash with a lease of 30 s, 30 s", 20, 22, 30, ""),
		gap("lease doubled and a lock delay, 90 s", 20, 26, 15, ""),
		gap("crash with a lease of 200 s, 225 s", 20, 35, 200, ""),
		gap("a lease of 15 s does not explain 225 s", 20, 35, 15, "NoLeader/critical 7m30s..9m = 1"),
	}
}

// gap is a failover: one replica leads up to a sample, the other from another.
func gap(name string, last, next int, lease int, want string) Scenario {
	return Scenario{ID: "C44", Name: "failover: " + name, Every: 15 * time.Second, End: 20 * time.Minute, Want: want,
		Load: held + `
			leader_lease_duration_seconds ` + times(lease, 80) + `
			leader_lease_expiry_timestamp_seconds{instance="i1"} ` + fmt.Sprintf("%d+15x%d", lease, last) + ` stale
			leader_active{instance="i1"} ` + times(1, last) + ` stale
			leader_active{instance="i2"} ` + times(0, next) + ` 1x60
			leader_pending_age_seconds{instance="i2"} ` + times(60, next) + ` 0x60
			leader_acquired_total{instance="i1"} ` + times(1, last) + ` stale
			leader_acquired_total{instance="i2"} ` + times(0, next) + ` 1x60
			up{instance="i2"} 1x80`}
}
