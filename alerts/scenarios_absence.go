package alerts

import (
	"fmt"
	"time"
)

func acquisitionScenarios() []scenario {
	return []scenario{
		{id: "A1", name: "attempts without any win, and no series of wins", every: 30 * time.Second, end: 30 * time.Minute,
			load: ran + `leader_attempts_total{instance="i1"} 0+1x60`,
			want: "NoAcquisition/warning 5m30s.. = 11"},
		{id: "A2", name: "a leader that won long ago holds while followers try", every: 30 * time.Second, end: 30 * time.Minute,
			load: held + `
				leader_attempts_total{instance="i1"} 1x60
				leader_attempts_total{instance="i2"} 0+1x60
				leader_acquired_total{instance="i1"} 1x60
				leader_acquired_total{instance="i2"} 0x60
				leader_active{instance="i1"} 1x60
				leader_active{instance="i2"} 0x60`},
		{id: "A3", name: "runs too short to be sampled win every time", every: 30 * time.Second, end: 30 * time.Minute,
			load: ran + `
				leader_attempts_total{instance="i1"} 0+1x60
				leader_acquired_total{instance="i1"} 0+1x60
				leader_active{instance="i1"} 0x60`},
		{id: "A4", name: "wins have stopped", every: 30 * time.Second, end: 40 * time.Minute,
			load: ran + `
				leader_attempts_total{instance="i1"} 0+1x80
				leader_acquired_total{instance="i1"} 7x80
				leader_active{instance="i1"} 0x80`,
			want: "NoAcquisition/warning 5m30s.. = 11"},
		{id: "A5", name: "a replaced replica takes over the runs", every: 30 * time.Second, end: 40 * time.Minute,
			load: ran + `
				leader_attempts_total{instance="i1"} 0+1x19 stale
				leader_acquired_total{instance="i1"} 0+1x19 stale
				leader_attempts_total{instance="i2"} _x22 1+1x60
				leader_acquired_total{instance="i2"} _x22 1+1x60`},
		{id: "A6", name: "a half-hourly job without a declared interval fails each time: the alert comes and goes", every: 30 * time.Second, end: 110 * time.Minute,
			load: ran + `
				leader_attempts_total{instance="i1"} 0x59 1x59 2x59 3x60
				leader_acquired_total{instance="i1"} 0x240`,
			want: "NoAcquisition/warning 1h35m..1h49m30s = 1.05\nNoAcquisition/warning 1h5m..1h19m30s = 1.05\nNoAcquisition/warning 35m..49m30s = 1"},
		{id: "A7", name: "a lock declared to run daily is judged by its age, not by a window", every: 30 * time.Second, end: 45 * time.Minute,
			load: ran + `
				leader_expected_interval_seconds{instance="i1"} 86400x120
				leader_attempts_total{instance="i1"} 0x59 1x60
				leader_acquired_total{instance="i1"} 0x120`},
		{id: "A8", name: "a lock declared to run every minute is judged by the window", every: 30 * time.Second, end: 30 * time.Minute,
			load: ran + `
				leader_expected_interval_seconds{instance="i1"} 60x60
				leader_attempts_total{instance="i1"} 0+1x60
				leader_acquired_total{instance="i1"} 7x60`,
			want: "JobOverdue/warning 5m.. = 300\nNoAcquisition/warning 5m30s.. = 11"},
		{id: "A9", name: "no lock below a shared label is acquired", every: 30 * time.Second, end: 20 * time.Minute,
			load: `
				leader_attempts_total{instance="i1",lock_name="redacted"} 0+3x60
				leader_acquired_total{instance="i1",lock_name="redacted"} 0x60
				leader_active{instance="i1",lock_name="redacted"} 0x60`,
			want: `NoAcquisition/warning{lock_name="redacted"} 5m30s.. = 33`},
		{id: "A10", name: "a run longer than the window holds the lock while others try", every: 30 * time.Second, end: 30 * time.Minute,
			load: ran + `
				leader_attempts_total{instance="i1"} 0x3 1x100
				leader_attempts_total{instance="i2"} 0+1x100
				leader_acquired_total{instance="i1"} 0x3 1x100
				leader_acquired_total{instance="i2"} 0x100
				leader_active{instance="i1"} 0x3 1x100
				leader_active{instance="i2"} 0x100`},
		{id: "C14", name: "a fast job runs once on every replica", every: 15 * time.Second, end: 10 * time.Minute,
			load: ran + `
				leader_attempts_total{instance="i1"} 0x3 1x3 2x3 3x3 4x3 5x3 6x3 7x3 8x3 9x3
				leader_attempts_total{instance="i2"} 0x3 1x3 2x3 3x3 4x3 5x3 6x3 7x3 8x3 9x3
				leader_attempts_total{instance="i3"} 0x3 1x3 2x3 3x3 4x3 5x3 6x3 7x3 8x3 9x3
				leader_acquired_total{instance="i1"} 0x3 1x3 2x3 3x3 4x3 5x3 6x3 7x3 8x3 9x3
				leader_acquired_total{instance="i2"} 0x3 1x3 2x3 3x3 4x3 5x3 6x3 7x3 8x3 9x3
				leader_acquired_total{instance="i3"} 0x3 1x3 2x3 3x3 4x3 5x3 6x3 7x3 8x3 9x3
				leader_active{instance="i1"} 0x40
				leader_active{instance="i2"} 0x40
				leader_active{instance="i3"} 0x40`},
		{id: "C19", name: "a standby exports zeros and waits", every: 15 * time.Second, end: 10 * time.Minute,
			load: held + `
				leader_attempts_total{instance="i1"} 1x40
				leader_acquired_total{instance="i1"} 1x40
				leader_active{instance="i1"} 1x40
				leader_attempts_total{instance="i2"} 0+1x40
				leader_acquired_total{instance="i2"} 0x40
				leader_active{instance="i2"} 0x40
				leader_not_acquired_total{instance="i2",reason="contended"} 0+1x40
				leader_not_acquired_total{instance="i2",reason="backend_error"} 0x40`},
		{id: "C31", name: "Prometheus starts half an hour after the last hourly run", every: 15 * time.Second, end: 90 * time.Minute,
			load: ran + `
				leader_attempts_total{instance="i1"} 57x239 58x120
				leader_acquired_total{instance="i1"} 57x239 58x120
				leader_active{instance="i1"} 0x360`},
		{id: "C32", name: "replicas of a daily lock are replaced before its run", every: 30 * time.Second, end: 2 * time.Hour,
			load: ran + `
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

func leaderScenarios() []scenario {
	return []scenario{
		{id: "B1", name: "the leader gives up and nobody follows for five minutes", every: 30 * time.Second, end: 15 * time.Minute,
			load: held + `
				leader_active{instance="i1"} 1x9 0x9 1x20
				leader_active{instance="i2"} 0x40`,
			want: "NoLeader/critical 6m30s..10m = 1"},
		{id: "B2", name: "a rollout leaves a gap of a minute", every: 30 * time.Second, end: 20 * time.Minute,
			load: held + `
				leader_active{instance="i1"} 1x9 stale
				leader_active{instance="i2"} 0x11 1x8 stale
				leader_active{instance="i3"} _x9 0x11 1x20`},
		{id: "B3", name: "the leader cannot be scraped for six minutes", every: 30 * time.Second, end: 20 * time.Minute,
			load: held + `
				leader_active{instance="i1"} 1x9 stale _x11 1x20
				leader_last_acquired_timestamp_seconds{instance="i1"} -60x9 stale _x11 -60x20
				leader_active{instance="i2"} 0x40
				up{instance="i1"} 1x9 0x12 1x20
				up{instance="i2"} 1x40`,
			want: "NoLeader/critical 9m..11m = 1\nScrapeFailing/warning 10m..16m30s = 1"},
		{id: "B4", name: "every series is gone", every: 30 * time.Second, end: 20 * time.Minute,
			load: held + `
				leader_active{instance="i1"} 1x9 stale
				leader_active{instance="i2"} 0x9 stale
				leader_attempts_total{instance="i1"} 1x9 stale`,
			want:  "MetricsAbsent/critical 11m.. = 1",
			limit: "nothing is left to say that no replica leads: MetricsAbsent is for that"},
		{id: "B5", name: "one of two locks is retired", every: 30 * time.Second, end: 20 * time.Minute,
			load: `
				leader_elector_info{mode="hold"} 1x9 stale
				leader_active{instance="i1"} 1x9 stale
				leader_active{instance="i1",lock_name="y"} 1x40
				leader_elector_info{mode="hold",lock_name="y"} 1x40`,
			want: "LockVanished/warning 15m.. = 1"},
		{id: "B6", name: "Prometheus was away for three minutes", every: 30 * time.Second, end: 30 * time.Minute,
			load: `
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
		{id: "B7", name: "a lock around single runs is free most of the time", every: 30 * time.Second, end: 20 * time.Minute,
			load: ran + `
				leader_active{instance="i1"} 0x40
				leader_active{instance="i2"} 0x40`},
		{id: "B8", name: "a target is down while the leader is not", every: 30 * time.Second, end: 20 * time.Minute,
			load: held + `
				leader_active{instance="i1"} 1x40
				leader_active{instance="i2"} 0x9 stale
				up{instance="i1"} 1x40
				up{instance="i2"} 1x9 0x30`,
			want: "ScrapeFailing/warning 10m.. = 1"},
		{id: "B9", name: "a target of another job is down while no replica leads", every: 30 * time.Second, end: 20 * time.Minute,
			load: held + `
				leader_active{instance="i1"} 1x9 0x30
				up{instance="i1"} 1x40
				up{instance="z",job="other"} 1x9 0x40`,
			want: "NoLeader/critical 6m30s.. = 1"},
		{id: "B10", name: "the last replica restarts without end and never leads", every: 30 * time.Second, end: 20 * time.Minute,
			load: `
				leader_elector_info{instance="i1",mode="hold"} 1x40
				leader_max_leaders{instance="i1"} 1x40
				leader_active{instance="i1"} 0x40`,
			want: "NoLeader/critical 1m30s.. = 1"},
		{id: "B11", name: "a rollout turns a held lock into one around single runs", every: 30 * time.Second, end: 20 * time.Minute,
			load: `
				leader_elector_info{instance="i1",mode="hold"} 1x9 stale
				leader_active{instance="i1"} 1x9 stale
				leader_elector_info{instance="i2",mode="run"} _x10 1x40
				leader_active{instance="i2"} _x10 0x40`},
		{id: "B12", name: "a target that died long ago hides no page", every: 30 * time.Second, end: 40 * time.Minute,
			load: held + `
				leader_active{instance="i1"} 1x39 0x60
				up{instance="i1"} 1x100
				up{instance="i2"} 1x3 0x100`,
			want: "NoLeader/critical 21m30s.. = 1"},
		{id: "B13", name: "the leader dies with its target, and nobody follows", every: 30 * time.Second, end: 40 * time.Minute,
			load: held + `
				leader_active{instance="i1"} 1x9 stale
				leader_last_acquired_timestamp_seconds{instance="i1"} -60x9 stale
				leader_active{instance="i2"} 0x100
				up{instance="i1"} 1x9 0x100
				up{instance="i2"} 1x100`,
			want: "NoLeader/critical 9m.. = 1\nScrapeFailing/warning 10m.. = 1"},
		{id: "B40", name: "the leader cannot be scraped, and the backend names it", every: 30 * time.Second, end: 25 * time.Minute,
			load: held + witnessed + `
				up{instance="i1"} 1x9 0x100
				leader_backend_held{instance="i2",backend="etcd"} 1x100
				leader_backend_holder_info{instance="i2",backend="etcd",holder="h1"} 1x100`,
			want: "NoLeader/warning 10m.. = 1\nScrapeFailing/warning 10m.. = 1"},
		{id: "B41", name: "the leader's node dies, its target stays, and the backend says that the lock is free", every: 30 * time.Second, end: 25 * time.Minute,
			load: held + witnessed + `
				up{instance="i1"} 1x9 0x100
				leader_backend_held{instance="i2",backend="etcd"} 1x10 0x100
				leader_backend_holder_info{instance="i2",backend="etcd",holder="h1"} 1x10 stale`,
			want: "NoLeader/critical 7m.. = 1\nScrapeFailing/warning 10m.. = 1"},
		{id: "B42", name: "the leader goes, and a stranger takes its lock", every: 30 * time.Second, end: 20 * time.Minute,
			load: held + witnessed + `
				leader_backend_held{instance="i2",backend="etcd"} 1x100
				leader_backend_holder_info{instance="i2",backend="etcd",holder="h1"} 1x9 stale
				leader_backend_holder_info{instance="i2",backend="etcd",holder="other"} _x10 1x100`,
			want: "NoLeader/critical 6m30s.. = 1"},
		{id: "B43", name: "a failover within a minute, as the backend sees it", every: 30 * time.Second, end: 20 * time.Minute,
			load: held + `
				leader_active{instance="i1"} 1x9 stale
				leader_last_acquired_timestamp_seconds{instance="i1"} -60x9 stale
				leader_identity_info{instance="i1",holder="h1"} 1x9 stale
				leader_identity_info{instance="i2",holder="h2"} 1x100
				leader_active{instance="i2"} 0x10 1x100
				leader_backend_held{instance="i2",backend="etcd"} 1x9 0 1x100
				leader_backend_holder_info{instance="i2",backend="etcd",holder="h1"} 1x9 stale
				leader_backend_holder_info{instance="i2",backend="etcd",holder="h2"} _x11 1x100`},
		{id: "C02", name: "a zombie candidate is told that it leads after its session died", every: 15 * time.Second, end: 10 * time.Minute,
			load: held + `
				leader_lease_duration_seconds 15x40
				leader_active{instance="i1"} 1x19 stale
				leader_active{instance="i2"} 0x40
				leader_attempts_total{instance="i2"} 1x40
				leader_acquired_total{instance="i2"} 0x40
				leader_not_acquired_total{instance="i2",reason="session_lost"} 0x19 1x20`,
			want: "NoLeader/critical 6m30s.. = 1"},
		{id: "C03", name: "a renewal hangs, and the lease of the only leader runs out", every: 15 * time.Second, end: 6 * time.Minute,
			load: held + `
				leader_lease_duration_seconds{instance="i1"} 15x40
				leader_active{instance="i1"} 1x1 0x30
				leader_lease_headroom_seconds{instance="i1"} 4-15x30
				leader_renewals_total{instance="i1",result="ok"} 2x30`,
			want: "LowHeadroom/warning 1m45s.. = -6.73\nNoLeader/critical 2m.. = 1"},
		{id: "C09", name: "everybody lost once and nobody contends again", every: 15 * time.Second, end: 20 * time.Minute,
			load: held + `
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
			want: "NoLeader/critical 11m45s.. = 1"},
		{id: "C21", name: "no replica leads the locks beyond the cap", every: 15 * time.Second, end: 10 * time.Minute,
			load: `
				leader_elector_info{mode="hold",lock_name="overflow"} 1x40
				leader_max_leaders{lock_name="overflow"} 1x40
				leader_active{instance="i1",lock_name="overflow"} 0x40
				leader_elector_info{mode="hold",lock_name="tenant-*/orders"} 1x40
				leader_active{instance="i1",lock_name="tenant-*/orders"} 0x40`,
			want:  "LabelOverflow/warning 5m.. = 1",
			limit: "a label that locks share says nothing about one of them"},
		{id: "C34", name: "one of two clusters with a lock of the same name loses its leader", every: 15 * time.Second, end: 12 * time.Minute,
			load: `
				leader_elector_info{mode="hold",cluster="eu"} 1x60
				leader_elector_info{mode="hold",cluster="us"} 1x60
				leader_max_leaders{cluster="eu"} 1x60
				leader_max_leaders{cluster="us"} 1x60
				leader_active{instance="i1",cluster="eu"} 1x60
				leader_active{instance="i1",cluster="us"} 1x19 0x19 1x60`,
			want: `NoLeader/critical{cluster="us"} 6m30s..10m = 1`},
		{id: "C38", name: "of two locks one vanishes with its series", every: 15 * time.Second, end: 15 * time.Minute,
			load: held + `
				leader_active{instance="i1"} 1x60
				leader_active{instance="i2",lock_name="y"} 1x9 stale
				leader_elector_info{instance="i2",lock_name="y",mode="hold"} 1x9 stale`,
			want:  `LockVanished/warning{lock_name="y"} 12m30s.. = 1`,
			limit: "a lock without series is no lock without a leader: LockVanished is for that"},
		{id: "C40", name: "all pods of the job are down", every: 15 * time.Second, end: 20 * time.Minute,
			load: `
				leader_elector_info{instance="i1",mode="hold"} 1x19 stale
				leader_active{instance="i1"} 1x19 stale
				leader_active{instance="i2"} 0x19 stale
				up{instance="i1"} 1x19 0x80
				up{instance="i2"} 1x19 0x80`,
			want:  "MetricsAbsent/critical 11m.. = 1\nMetricsAbsent/warning 15m.. = 20\nScrapeFailing/warning 10m.. = 2",
			limit: "one page is enough, and it is that of the targets; MetricsAbsent mutes ScrapeFailing"},
		gap("graceful release, 2 s", 20, 20, 15, ""),
		gap("crash with a lease of 30 s, 30 s", 20, 22, 30, ""),
		gap("lease doubled and a lock delay, 90 s", 20, 26, 15, ""),
		gap("crash with a lease of 200 s, 225 s", 20, 35, 200, ""),
		gap("a lease of 15 s does not explain 225 s", 20, 35, 15, "NoLeader/critical 7m15s..9m = 1"),
	}
}

// gap is a failover: one replica leads up to a sample, the other from another.
func gap(name string, last, next int, lease int, want string) scenario {
	return scenario{id: "C44", name: "failover: " + name, every: 15 * time.Second, end: 20 * time.Minute, want: want,
		load: held + `
			leader_lease_duration_seconds ` + times(lease, 80) + `
			leader_lease_expiry_timestamp_seconds{instance="i1"} ` + fmt.Sprintf("%d+15x%d", lease, last) + ` stale
			leader_active{instance="i1"} ` + times(1, last) + ` stale
			leader_active{instance="i2"} ` + times(0, next) + ` 1x60
			leader_acquired_total{instance="i1"} ` + times(1, last) + ` stale
			leader_acquired_total{instance="i2"} ` + times(0, next) + ` 1x60
			up{instance="i2"} 1x80`}
}
