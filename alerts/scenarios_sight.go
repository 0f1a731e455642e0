package alerts

import (
	"strings"
	"time"
)

func absenceScenarios() []scenario {
	return []scenario{
		{id: "M1", name: "nothing on the server ever had leader election metrics", every: 30 * time.Second, end: 30 * time.Minute, alone: true,
			load: `up{instance="i1"} 1x60`,
			want: "MetricsAbsent/warning 10m.. = 1"},
		{id: "M2", name: "one of two jobs loses its metrics", every: 30 * time.Second, end: 90 * time.Minute,
			load: `
				leader_active{instance="i1"} 1x19 stale
				leader_active{instance="i2"} 0x19 stale`,
			want: "MetricsAbsent/warning 20m..1h4m30s = 20"},
		{id: "M3", name: "a deployment that is not rolling leaves five minutes without a replica", every: 30 * time.Second, end: 30 * time.Minute,
			load: held + `
				leader_active{instance="i1"} 1x19 stale
				leader_active{instance="i2"} _x30 0 1x60`},
		{id: "M4", name: "of three replicas one is left", every: 30 * time.Second, end: 30 * time.Minute,
			load: held + `
				leader_active{instance="i1"} 0x19 stale
				leader_active{instance="i2"} 0x19 stale
				leader_active{instance="i3"} 1x60`},
		{id: "M5", name: "a job without the middleware", every: 30 * time.Second, end: 30 * time.Minute,
			load: `up{instance="i1"} 1x60`},
		{id: "M6", name: "the metrics come back", every: 30 * time.Second, end: time.Hour, alone: true,
			load: held + `
				leader_active{instance="i1"} 1x19 stale _x40 1x60`,
			want: "MetricsAbsent/critical 16m..30m30s = 1\nMetricsAbsent/warning 20m..30m30s = 20"},
	}
}

func vanishedScenarios() []scenario {
	return []scenario{
		{id: "V1", name: "the replica that led one of two locks is gone for good", every: 30 * time.Second, end: 90 * time.Minute,
			load: `
				leader_active{instance="i1",lock_name="y"} 1x200
				leader_elector_info{instance="i2",mode="hold"} 1x19 stale
				leader_active{instance="i2"} 1x19 stale`,
			want: "LockVanished/warning 20m..1h9m30s = 1"},
		{id: "V2", name: "a lock around single runs is retired", every: 30 * time.Second, end: 90 * time.Minute,
			load: `
				leader_active{instance="i1",lock_name="y"} 0x200
				leader_elector_info{instance="i1",mode="run"} 1x19 stale
				leader_active{instance="i1"} 0x9 1x3 0x5 stale`},
		{id: "V3", name: "a held lock is given back and retired", every: 30 * time.Second, end: 90 * time.Minute,
			load: `
				leader_active{instance="i1",lock_name="y"} 1x200
				leader_elector_info{instance="i1",mode="hold"} 1x19 stale
				leader_active{instance="i1"} 1x16 0x1 stale
				leader_active{instance="i2"} 0x19 stale`},
		{id: "V4", name: "a held lock is given back and retired between two samples", every: 30 * time.Second, end: 90 * time.Minute,
			load: `
				leader_active{instance="i1",lock_name="y"} 1x200
				leader_elector_info{instance="i1",mode="hold"} 1x19 stale
				leader_active{instance="i1"} 1x19 stale`,
			want:  "LockVanished/warning 20m..1h9m30s = 1",
			limit: "a lock that is retired in the moment in which it is given back looks like one that was lost"},
		{id: "V5", name: "a job that is declared to run is not there after a release", every: 30 * time.Second, end: 90 * time.Minute,
			load: `
				leader_active{instance="i1",lock_name="y"} 0x19 stale
				leader_active{instance="i2",lock_name="y"} _x20 0x200
				leader_active{instance="i1"} 0x19 stale
				leader_expected_interval_seconds{instance="i1"} 3600x19 stale`,
			want: "LockVanished/warning 20m..1h9m30s = 1"},
		{id: "V6", name: "a leader dies long before its lock is given up by the others", every: 30 * time.Second, end: 90 * time.Minute,
			load: `
				leader_active{instance="i1",lock_name="y"} 1x200
				leader_active{instance="i2"} 1x9 stale
				leader_active{instance="i3"} 0x59 stale`},
		{id: "V7", name: "a rollout leaves a lock without series for five minutes", every: 30 * time.Second, end: time.Hour,
			load: `
				leader_active{instance="i1",lock_name="y"} 1x200
				leader_active{instance="i2"} 1x19 stale
				leader_active{instance="i3"} _x30 1x200`},
		{id: "V8", name: "the locks beyond the cap are gone", every: 30 * time.Second, end: 30 * time.Minute,
			load: `
				leader_active{instance="i1",lock_name="y"} 1x200
				leader_active{instance="i2",lock_name="tenant-*/orders"} 3x19 stale`,
			limit: "a label that locks share says nothing about one of them"},
		{id: "C38", name: "a lock is unregistered on purpose while it is led", every: 15 * time.Second, end: 90 * time.Minute,
			load: `
				leader_active{instance="i1",lock_name="y"} 1x400
				leader_active{instance="i2"} 1x9 stale
				leader_elector_info{instance="i2",mode="hold"} 1x9 stale`,
			want:  "LockVanished/warning 12m30s..1h2m15s = 1",
			limit: "purpose cannot be seen; the alert ends by itself when the lookback is over"},
	}
}

func targetScenarios() []scenario {
	return []scenario{
		{id: "U1", name: "one of two replicas cannot be scraped", every: 30 * time.Second, end: 30 * time.Minute,
			load: `
				leader_active{instance="i1"} 0x19 stale
				leader_active{instance="i2"} 1x60
				up{instance="i1"} 1x19 0x60
				up{instance="i2"} 1x60`,
			want: "ScrapeFailing/warning 15m.. = 1"},
		{id: "U2", name: "pods of a rollout stay as targets for two minutes after they have stopped", every: 30 * time.Second, end: 30 * time.Minute,
			load: held + `
				leader_active{instance="p1"} 0x9 stale
				leader_active{instance="p2"} 0x15 stale
				leader_active{instance="p3"} _x10 0x60
				leader_active{instance="p0"} 1x60
				up{instance="p1"} 1x9 0x3 stale
				up{instance="p2"} 1x15 0x3 stale
				up{instance="p3"} _x10 1x60`},
		{id: "U3", name: "a target without locks is down in a job of many services", every: 30 * time.Second, end: 30 * time.Minute,
			load: held + `
				leader_active{instance="i1"} 1x60
				up{instance="i1"} 1x60
				up{instance="z"} 1x9 0x60`},
		{id: "U4", name: "a replica that is down stays a target for hours", every: 30 * time.Second, end: 90 * time.Minute,
			load: `
				leader_active{instance="i1"} 0x19 stale
				leader_active{instance="i2"} 1x200
				up{instance="i1"} 1x19 0x200
				up{instance="i2"} 1x200`,
			want:  "ScrapeFailing/warning 15m..1h14m30s = 1",
			limit: "after the lookback nothing tells that the target had locks"},
		{id: "U5", name: "every second scrape of a replica fails", every: 30 * time.Second, end: 30 * time.Minute,
			load: held + `
				leader_active{instance="i2"} 1x60
				leader_active{instance="i1"} ` + strings.Repeat("0 stale ", 40) + `
				up{instance="i1"} ` + strings.Repeat("1 0 ", 40),
			limit: "the hold starts again with each scrape that succeeds"},
		{id: "U6", name: "two Prometheus replicas find the same target down", every: 30 * time.Second, end: 20 * time.Minute,
			load: `
				leader_active{instance="i1",prometheus_replica="0"} 0x19 stale
				leader_active{instance="i1",prometheus_replica="1"} 0x19 stale
				leader_active{instance="i2",prometheus_replica="0"} 1x60
				up{instance="i1",prometheus_replica="0"} 1x19 0x60
				up{instance="i1",prometheus_replica="1"} 1x19 0x60`,
			want: "ScrapeFailing/warning 15m.. = 1"},
		{id: "C40", name: "pods are down one after the other", every: 15 * time.Second, end: 30 * time.Minute,
			load: held + `
				leader_active{instance="p1"} 0x9 stale
				leader_active{instance="p2"} 0x39 stale
				leader_active{instance="p3"} 1x120
				up{instance="p1"} 1x9 0x35 stale
				up{instance="p2"} 1x39 0x40 stale
				up{instance="p3"} 1x120`,
			want: "ScrapeFailing/warning 7m30s..25m15s = 1"},
	}
}

func overflowScenarios() []scenario {
	return []scenario{
		{id: "O1", name: "a process starts with more locks than labels", every: 30 * time.Second, end: 90 * time.Minute,
			load: `
				leader_redaction_overflows_total{instance="i1"} 44x200
				leader_active{instance="i1",lock_name="overflow"} 3x200`,
			want: "LabelOverflow/warning 5m.. = 1"},
		{id: "O2", name: "names come and go between two samples", every: 30 * time.Second, end: 90 * time.Minute,
			load: `
				leader_active{instance="i1"} 1x200
				leader_redaction_overflows_total{instance="i1"} 0x19 1x9 4x200`,
			want: "LabelOverflow/warning 15m..1h14m30s = 1"},
		{id: "O3", name: "there is room for every lock", every: 30 * time.Second, end: 30 * time.Minute,
			load: `
				leader_active{instance="i1"} 1x60
				leader_redaction_overflows_total{instance="i1"} 0x60`},
		{id: "O4", name: "names were folded yesterday, and their locks are gone", every: 30 * time.Second, end: 30 * time.Minute,
			load: `
				leader_active{instance="i1"} 1x60
				leader_redaction_overflows_total{instance="i1"} 44x60`},
		{id: "O5", name: "a policy gives all locks one label", every: 30 * time.Second, end: 30 * time.Minute,
			load: `
				leader_active{instance="i1",lock_name="redacted"} 7x60
				leader_redaction_overflows_total{instance="i1"} 0x60`},
		{id: "O6", name: "a lock beyond the cap is taken once, and its handle forgotten", every: 30 * time.Second, end: 30 * time.Minute,
			load: `
				leader_active{instance="i1"} 1x60
				leader_active{instance="i1",lock_name="overflow"} _x20 1x3 stale
				leader_redaction_overflows_total{instance="i1"} 44x60`,
			limit: "a label that is shared for less than the hold, by names that were folded before, is let pass"},
		{id: "C53", name: "two of three replicas fold names", every: 15 * time.Second, end: 20 * time.Minute,
			load: `
				leader_active{instance="i1",lock_name="overflow"} 3x80
				leader_active{instance="i2",lock_name="overflow"} 0x80
				leader_redaction_overflows_total{instance="i1"} 9744x80
				leader_redaction_overflows_total{instance="i2"} 9744x80
				leader_redaction_overflows_total{instance="i3"} 0x80`,
			want: "LabelOverflow/warning 5m.. = 2"},
	}
}
