package scenario

import (
	"strings"
	"time"
)

func absenceScenarios() []Scenario {
	return []Scenario{
		{ID: "M1", Name: "nothing on the server ever had leader election metrics", Every: 30 * time.Second, End: 30 * time.Minute, Alone: true,
			Load: `up{instance="i1"} 1x60`,
			Want: "MetricsAbsent/warning 10m.. = 1"},
		{ID: "M2", Name: "one of two jobs loses its metrics", Every: 30 * time.Second, End: 90 * time.Minute,
			Load: `
				leader_active{instance="i1"} 1x19 stale
				leader_active{instance="i2"} 0x19 stale`,
			Want: "MetricsAbsent/warning 20m..1h4m30s = 20"},
		{ID: "M3", Name: "a deployment that is not rolling leaves five minutes without a replica", Every: 30 * time.Second, End: 30 * time.Minute,
			Load: held + `
				leader_active{instance="i1"} 1x19 stale
				leader_active{instance="i2"} _x30 0 1x60`},
		{ID: "M4", Name: "of three replicas one is left", Every: 30 * time.Second, End: 30 * time.Minute,
			Load: held + `
				leader_active{instance="i1"} 0x19 stale
				leader_active{instance="i2"} 0x19 stale
				leader_active{instance="i3"} 1x60`},
		{ID: "M5", Name: "a job without the middleware", Every: 30 * time.Second, End: 30 * time.Minute,
			Load: `up{instance="i1"} 1x60`},
		{ID: "M6", Name: "the metrics come back", Every: 30 * time.Second, End: time.Hour, Alone: true,
			Load: held + `
				leader_active{instance="i1"} 1x19 stale _x40 1x60`,
			Want: "MetricsAbsent/critical 16m..30m30s = 1\nMetricsAbsent/warning 20m..30m30s = 20"},
	}
}

func vanishedScenarios() []Scenario {
	return []Scenario{
		{ID: "V1", Name: "the replica that led one of two locks is gone for good", Every: 30 * time.Second, End: 90 * time.Minute,
			Load: `
				leader_active{instance="i1",lock_name="y"} 1x200
				leader_elector_info{instance="i2",mode="hold"} 1x19 stale
				leader_active{instance="i2"} 1x19 stale`,
			Want: "LockVanished/warning 20m..1h9m30s = 1"},
		{ID: "V2", Name: "a lock around single runs is retired", Every: 30 * time.Second, End: 90 * time.Minute,
			Load: `
				leader_active{instance="i1",lock_name="y"} 0x200
				leader_elector_info{instance="i1",mode="run"} 1x19 stale
				leader_active{instance="i1"} 0x9 1x3 0x5 stale`},
		{ID: "V3", Name: "a held lock is given back and retired", Every: 30 * time.Second, End: 90 * time.Minute,
			Load: `
				leader_active{instance="i1",lock_name="y"} 1x200
				leader_elector_info{instance="i1",mode="hold"} 1x19 stale
				leader_active{instance="i1"} 1x16 0x1 stale
				leader_last_ended_timestamp_seconds{instance="i1"} _x17 505x2 stale
				leader_active{instance="i2"} 0x19 stale`},
		{ID: "V4", Name: "a held lock is given back and retired between two samples", Every: 30 * time.Second, End: 90 * time.Minute,
			Load: `
				leader_active{instance="i1",lock_name="y"} 1x200
				leader_elector_info{instance="i1",mode="hold"} 1x19 stale
				leader_active{instance="i1"} 1x19 stale`,
			Want:  "LockVanished/warning 20m..1h9m30s = 1",
			Limit: "a lock that is retired in the moment in which it is given back looks like one that was lost"},
		{ID: "V5", Name: "a job that is declared to run is not there after a release", Every: 30 * time.Second, End: 90 * time.Minute,
			Load: `
				leader_active{instance="i1",lock_name="y"} 0x19 stale
				leader_active{instance="i2",lock_name="y"} _x20 0x200
				leader_active{instance="i1"} 0x19 stale
				leader_expected_interval_seconds{instance="i1"} 3600x19 stale`,
			Want: "LockVanished/warning 20m..1h9m30s = 1"},
		{ID: "V6", Name: "a leader dies long before its lock is given up by the others", Every: 30 * time.Second, End: 90 * time.Minute,
			Load: `
				leader_active{instance="i1",lock_name="y"} 1x200
				leader_active{instance="i2"} 1x9 stale
				leader_active{instance="i3"} 0x59 stale`},
		{ID: "V7", Name: "a rollout leaves a lock without series for five minutes", Every: 30 * time.Second, End: time.Hour,
			Load: `
				leader_active{instance="i1",lock_name="y"} 1x200
				leader_active{instance="i2"} 1x19 stale
				leader_active{instance="i3"} _x30 1x200`},
		{ID: "V8", Name: "the locks beyond the cap are gone", Every: 30 * time.Second, End: 30 * time.Minute,
			Load: `
				leader_active{instance="i1",lock_name="y"} 1x200
				leader_active{instance="i2",lock_name="tenant-*/orders"} 3x19 stale`,
			Limit: "a label that locks share says nothing about one of them"},
		{ID: "C38", Name: "a lock is unregistered on purpose while it is led", Every: 15 * time.Second, End: 90 * time.Minute,
			Load: `
				leader_active{instance="i1",lock_name="y"} 1x400
				leader_active{instance="i2"} 1x9 stale
				leader_elector_info{instance="i2",mode="hold"} 1x9 stale`,
			Want:  "LockVanished/warning 12m30s..1h2m15s = 1",
			Limit: "purpose cannot be seen; the alert ends by itself when the lookback is over"},
	}
}

func targetScenarios() []Scenario {
	return []Scenario{
		{ID: "U1", Name: "one of two replicas cannot be scraped", Every: 30 * time.Second, End: 30 * time.Minute,
			Load: `
				leader_active{instance="i1"} 0x19 stale
				leader_active{instance="i2"} 1x60
				up{instance="i1"} 1x19 0x60
				up{instance="i2"} 1x60`,
			Want: "ScrapeFailing/warning 15m.. = 1"},
		{ID: "U2", Name: "pods of a rollout stay as targets for two minutes after they have stopped", Every: 30 * time.Second, End: 30 * time.Minute,
			Load: held + `
				leader_active{instance="p1"} 0x9 stale
				leader_active{instance="p2"} 0x15 stale
				leader_active{instance="p3"} _x10 0x60
				leader_active{instance="p0"} 1x60
				up{instance="p1"} 1x9 0x3 stale
				up{instance="p2"} 1x15 0x3 stale
				up{instance="p3"} _x10 1x60`},
		{ID: "U3", Name: "a target without locks is down in a job of many services", Every: 30 * time.Second, End: 30 * time.Minute,
			Load: held + `
				leader_active{instance="i1"} 1x60
				up{instance="i1"} 1x60
				up{instance="z"} 1x9 0x60`},
		{ID: "U4", Name: "a replica that is down stays a target for hours", Every: 30 * time.Second, End: 90 * time.Minute,
			Load: `
				leader_active{instance="i1"} 0x19 stale
				leader_active{instance="i2"} 1x200
				up{instance="i1"} 1x19 0x200
				up{instance="i2"} 1x200`,
			Want:  "ScrapeFailing/warning 15m..1h14m30s = 1",
			Limit: "after the lookback nothing tells that the target had locks"},
		{ID: "U5", Name: "every second scrape of a replica fails", Every: 30 * time.Second, End: 30 * time.Minute,
			Load: held + `
				leader_active{instance="i2"} 1x60
				leader_active{instance="i1"} ` + strings.Repeat("0 stale ", 40) + `
				up{instance="i1"} ` + strings.Repeat("1 0 ", 40),
			Limit: "the hold starts again with each scrape that succeeds"},
		{ID: "U6", Name: "two Prometheus replicas find the same target down", Every: 30 * time.Second, End: 20 * time.Minute,
			Load: `
				leader_active{instance="i1",prometheus_replica="0"} 0x19 stale
				leader_active{instance="i1",prometheus_replica="1"} 0x19 stale
				leader_active{instance="i2",prometheus_replica="0"} 1x60
				up{instance="i1",prometheus_replica="0"} 1x19 0x60
				up{instance="i1",prometheus_replica="1"} 1x19 0x60`,
			Want: "ScrapeFailing/warning 15m.. = 1"},
		{ID: "C40", Name: "pods are down one after the other", Every: 15 * time.Second, End: 30 * time.Minute,
			Load: held + `
				leader_active{instance="p1"} 0x9 stale
				leader_active{instance="p2"} 0x39 stale
				leader_active{instance="p3"} 1x120
				up{instance="p1"} 1x9 0x35 stale
				up{instance="p2"} 1x39 0x40 stale
				up{instance="p3"} 1x120`,
			Want: "ScrapeFailing/warning 7m30s..25m15s = 1"},
	}
}

func overflowScenarios() []Scenario {
	return []Scenario{
		{ID: "O1", Name: "a process starts with more locks than labels", Every: 30 * time.Second, End: 90 * time.Minute,
			Load: `
				leader_redaction_overflows_total{instance="i1"} 44x200
				leader_active{instance="i1",lock_name="overflow"} 3x200`,
			Want: "LabelOverflow/warning 5m.. = 1"},
		{ID: "O2", Name: "names come and go between two samples", Every: 30 * time.Second, End: 90 * time.Minute,
			Load: `
				leader_active{instance="i1"} 1x200
				leader_redaction_overflows_total{instance="i1"} 0x19 1x9 4x200`,
			Want: "LabelOverflow/warning 15m..1h14m30s = 1"},
		{ID: "O3", Name: "there is room for every lock", Every: 30 * time.Second, End: 30 * time.Minute,
			Load: `
				leader_active{instance="i1"} 1x60
				leader_redaction_overflows_total{instance="i1"} 0x60`},
		{ID: "O4", Name: "names were folded yesterday, and their locks are gone", Every: 30 * time.Second, End: 30 * time.Minute,
			Load: `
				leader_active{instance="i1"} 1x60
				leader_redaction_overflows_total{instance="i1"} 44x60`},
		{ID: "O5", Name: "a policy gives all locks one label", Every: 30 * time.Second, End: 30 * time.Minute,
			Load: `
				leader_active{instance="i1",lock_name="redacted"} 7x60
				leader_redaction_overflows_total{instance="i1"} 0x60`},
		{ID: "O6", Name: "a lock beyond the cap is taken once, and its handle forgotten", Every: 30 * time.Second, End: 30 * time.Minute,
			Load: `
				leader_active{instance="i1"} 1x60
				leader_active{instance="i1",lock_name="overflow"} _x20 1x3 stale
				leader_redaction_overflows_total{instance="i1"} 44x60`,
			Limit: "a label that is shared for less than the hold, by names that were folded before, is let pass"},
		{ID: "C53", Name: "two of three replicas fold names", Every: 15 * time.Second, End: 20 * time.Minute,
			Load: `
				leader_active{instance="i1",lock_name="overflow"} 3x80
				leader_active{instance="i2",lock_name="overflow"} 0x80
				leader_redaction_overflows_total{instance="i1"} 9744x80
				leader_redaction_overflows_total{instance="i2"} 9744x80
				leader_redaction_overflows_total{instance="i3"} 0x80`,
			Want: "LabelOverflow/warning 5m.. = 2"},
	}
}
