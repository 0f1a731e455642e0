package scenario

import (
	"strings"
	"time"
)

// Foreign are courses of events on the series of another project, by the name of
// the source that gen-dashboards gives it; none of an unknown one.
func Foreign(source string) []Scenario {
	all := foreignScenarios()[source]
	for i := range all {
		all[i].Alone = true
	}
	return all
}

func foreignScenarios() map[string][]Scenario {
	const every, end = 30 * time.Second, 20 * time.Minute
	const two = `
		up{instance="i1"} 1x60
		up{instance="i2"} 1x60
	`
	owner := func(lease, holder, values string) string {
		return `kube_lease_owner{job="ksm",namespace="ns",lease="` + lease + `",owner_kind="",owner_name="",lease_holder="` + holder + `"} ` + values + "\n"
	}
	renewed := func(lease, values string) string {
		return `kube_lease_renew_time{job="ksm",namespace="ns",lease="` + lease + `"} ` + values + "\n"
	}
	return map[string][]Scenario{
		"client-go": {
			{ID: "FC1", Name: "the leader dies and no other takes over", Every: every, End: end, Load: two + `
				leader_election_master_status{instance="i1",name="ctl"} 1x10 stale
				leader_election_master_status{instance="i2",name="ctl"} 0x60`, Want: `NoLeader/critical{name="ctl"} 7m15s.. = 0`},
			{ID: "FC2", Name: "a failover within a minute", Every: every, End: end, Load: two + `
				leader_election_master_status{instance="i1",name="ctl"} 1x10 stale
				leader_election_master_status{instance="i2",name="ctl"} 0x11 1x60`},
			{ID: "FC3", Name: "the leader cannot be scraped for two minutes", Every: every, End: end, Load: `
				up{instance="i1"} 1x10 0x4 1x60
				up{instance="i2"} 1x60
				leader_election_master_status{instance="i1",name="ctl"} 1x10 stale _x3 1x60
				leader_election_master_status{instance="i2",name="ctl"} 0x60`},
			{ID: "FC4", Name: "two lead", Every: every, End: end, Load: two + `
				leader_election_master_status{instance="i1",name="ctl"} 1x60
				leader_election_master_status{instance="i2",name="ctl"} 0x10 1x30`, Want: `SplitBrain/critical{name="ctl"} 7m.. = 2`},
			{ID: "FC5", Name: "a handover that one sample shows twice", Every: every, End: end, Load: two + `
				leader_election_master_status{instance="i1",name="ctl"} 1x11 0x60
				leader_election_master_status{instance="i2",name="ctl"} 0x10 1x60`},
			{ID: "FC6", Name: "two elections of one program have one leader each", Every: every, End: end, Load: two + `
				leader_election_master_status{instance="i1",name="ctl"} 1x60
				leader_election_master_status{instance="i2",name="other"} 1x60
				leader_election_master_status{instance="i2",name="ctl"} 0x60
				leader_election_master_status{instance="i1",name="other"} 0x60`},
			{ID: "FC7", Name: "two replicas take turns every minute", Every: every, End: end, Load: two + `
				leader_election_master_status{instance="i1",name="ctl"} ` + strings.Repeat("1 1 0 0 ", 10) + `
				leader_election_master_status{instance="i2",name="ctl"} ` + strings.Repeat("0 0 1 1 ", 10),
				Want: `Flapping/warning{name="ctl"} 6m.. = 12`},
			{ID: "FC8", Name: "all replicas of an election that was led are gone", Every: every, End: end, Load: `
				leader_election_master_status{instance="i1",name="ctl"} 1x10 stale
				leader_election_master_status{instance="i2",name="ctl"} 0x10 stale`, Want: `MetricsAbsent/critical{name="ctl"} 11m30s.. = 1`},
			{ID: "FC9", Name: "another process writes the record", Every: every, End: end, Load: two + `
				leader_election_master_status{instance="i1",name="ctl"} 1x60
				leader_election_slowpath_total{instance="i1",name="ctl"} 0x10 0+2x40`, Want: `RenewalFailures/warning{name="ctl"} 10m30s.. = 20`},
			{ID: "FC10", Name: "a renewal meets another writer once", Every: every, End: end, Load: two + `
				leader_election_master_status{instance="i1",name="ctl"} 1x60
				leader_election_slowpath_total{instance="i1",name="ctl"} 0x10 1x40`},
			{ID: "FC11", Name: "a process stopped leading and runs on", Every: every, End: end, Load: two + `
				leader_election_master_status{instance="i1",name="ctl"} 1x60
				leader_election_master_status{instance="i2",name="ctl"} 0x10 1x40`, Want: `SplitBrain/critical{name="ctl"} 7m.. = 2`,
				Limit: "client-go sets its gauge back after a failed renewal only"},
		},
		"kube-state-metrics": {
			{ID: "FK1", Name: "a holder dies and no other takes over", Every: every, End: end, Load: owner("app", "pod-1", "1x60") + renewed("app", "0+30x10 300x50"),
				Want: `Vacant/critical{lease="app",namespace="ns"} 7m45s.. = 165`},
			{ID: "FK2", Name: "a failover within a minute", Every: every, End: end, Load: owner("app", "pod-1", "1x11 stale") + owner("app", "pod-2", "_x12 1x50") + renewed("app", "0+30x10 300x1 360+30x40")},
			{ID: "FK3", Name: "a holder gives the Lease back, and no other takes it", Every: every, End: end, Load: owner("app", "pod-1", "1x10 stale") + owner("app", "", "_x11 1x50") + renewed("app", "0+30x10 325x50"),
				Want: `Vacant/critical{lease="app",namespace="ns"} 6m30s.. = 65`},
			{ID: "FK4", Name: "a Lease of a program that was uninstalled yesterday", Every: every, End: end, Load: owner("app", "pod-1", "1x60") + renewed("app", "-90000x60")},
			{ID: "FK5", Name: "Leases of nodes and of API servers", Every: every, End: end, Load: `
				kube_lease_renew_time{job="ksm",namespace="kube-node-lease",lease="node-1"} 0x60
				kube_lease_renew_time{job="ksm",namespace="kube-system",lease="apiserver-abc"} 0x60`},
			{ID: "FK6", Name: "a program that crashes in a loop", Every: every, End: end, Load: owner("app", "p-1", "1x5 stale") + owner("app", "p-2", "_x6 1x5 stale") +
				owner("app", "p-3", "_x12 1x5 stale") + owner("app", "p-4", "_x18 1x5 stale") + owner("app", "p-5", "_x24 1x30") + renewed("app", "0+30x60"),
				Want: `Flapping/warning{lease="app",namespace="ns"} 13m.. = 5`},
			{ID: "FK7", Name: "two processes take turns", Every: every, End: end, Load: owner("app", "p-1", strings.Repeat("1 1 stale _ ", 10)) + owner("app", "p-2", strings.Repeat("_ _ 1 1 stale ", 8)) + renewed("app", "0+30x60"),
				Limit: "holders are counted, and not their changes"},
			{ID: "FK8", Name: "kube-state-metrics is gone", Every: every, End: end, Load: owner("app", "p-1", "1x10 stale") + renewed("app", "0+30x10 stale"),
				Want: `ObserverBlind/warning{job="ksm"} 10m30s.. = 1`},
			{ID: "FK9", Name: "a Lease is deleted", Every: every, End: end, Load: renewed("a", "0+30x60") + renewed("b", "0+30x10 stale")},
		},
	}
}
