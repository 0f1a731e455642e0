package alerts

import (
	"time"

	"github.com/leaderscope/leaderscope/internal/panel"
	"github.com/leaderscope/leaderscope/internal/query"
)

// foreignRules are the rules that each source allows, in the order of the rules
// file.
var foreignRules = map[Source][]foreign{
	ClientGo: {{
		alert: "NoLeader", panel: panel.HolderTimeline, firing: clientGoPatience,
		expr: clientGoNoLeader,
		unseen: "leaders that stopped leading without a failed renewal while their process still runs, because their gauge stays 1; the loss of all replicas: see MetricsAbsent; " +
			"the lease duration, so a failover that takes longer than for fires the alert",
		summary: "Lock {{ $labels.name }} has no leader",
		description: "Lock {{ $labels.name }}{{ with $labels.job }} of job {{ . }}{{ end }}{{ with $labels.namespace }} in namespace {{ . }}{{ end }} has had no leader for FOR: " +
			"the leader's work is not being done. Check that replicas run and campaign, and look up the holder of the lock in its Lease.",
	}, {
		alert: "SplitBrain", panel: panel.HolderTimeline, firing: func(c Config) Firing { return c.Alerts.SplitBrain.Firing },
		expr: clientGoSplitBrain,
		soonest: func(c Config) time.Duration {
			return max(time.Duration(c.Alerts.SplitBrain.Window)-time.Duration(c.ScrapeInterval), 0)
		},
		unseen:  "whether the lease of a claim is still valid: a process that stopped leading between two renewals and still runs looks like a second leader",
		summary: "Lock {{ $labels.name }} has {{ $value }} leaders at once",
		description: "Lock {{ $labels.name }}{{ with $labels.job }} of job {{ . }}{{ end }}{{ with $labels.namespace }} in namespace {{ . }}{{ end }} has had {{ $value }} leaders for FOR: " +
			"two processes may do the same work, or one stopped leading without setting its gauge to 0. Look up the holder of the lock in its Lease, and stop the other processes.",
	}, {
		alert: "Flapping", panel: panel.Transitions, firing: func(c Config) Firing { return c.Alerts.Flapping.Firing },
		expr:    clientGoFlapping,
		unseen:  "terms without a sample; terms of processes that are started for one term only",
		summary: "Leadership of lock {{ $labels.name }} changes hands too often",
		description: "Lock {{ $labels.name }}{{ with $labels.job }} of job {{ . }}{{ end }}{{ with $labels.namespace }} in namespace {{ . }}{{ end }} was won or lost " +
			"about {{ printf \"%.0f\" $value }} times recently: each handover is a gap in the leader's work. Find out why replicas lose the lock: restarts, CPU throttling, a slow API server.",
	}, {
		alert: "RenewalFailures", panel: panel.Renewals, firing: func(c Config) Firing { return c.Alerts.RenewalFailures.Firing },
		expr:    clientGoSlowPath,
		unseen:  "renewals that fail because the API server cannot be reached; only conflicts with another writer, and updates that were refused, are counted",
		summary: "Renewals of lock {{ $labels.name }} conflict with another writer",
		description: "{{ printf \"%.0f\" $value }} renewals of lock {{ $labels.name }}{{ with $labels.job }} of job {{ . }}{{ end }} took the slow path recently, because its record had changed since the last renewal. " +
			"Find out which other process, or person, writes the record.",
	}, {
		alert: "MetricsAbsent", panel: panel.Scraped, firing: func(c Config) Firing { return c.Alerts.MetricsAbsent.Critical.Firing },
		expr:    clientGoAbsent,
		unseen:  "locks that never had a leader in any sample; locks whose replicas are gone for longer than the lookback",
		summary: "No replica exports lock {{ $labels.name }}, which had a leader",
		description: "No replica{{ with $labels.job }} of job {{ . }}{{ end }}{{ with $labels.namespace }} in namespace {{ . }}{{ end }} has exported lock " +
			"{{ $labels.name }} for FOR, and one of them led it when it was last scraped. Check that the replicas run and are scraped: if they are down, the leader's work is not being done.",
	}},
	KubeStateMetrics: {{
		alert: "Vacant", panel: panel.BackendTimeline, firing: func(c Config) Firing { return c.Alerts.Vacant.Firing },
		expr:    leaseVacant,
		soonest: func(c Config) time.Duration { return time.Duration(c.KubeStateMetrics.StaleAfter) },
		unseen: "the lease duration: a lease longer than staleAfter looks free; gaps shorter than staleAfter; locks that no process held within the " +
			"lookback; a Lease that is released is detected sooner, after for and a scrape",
		summary: "No process holds lease {{ $labels.namespace }}/{{ $labels.lease }}",
		description: "Lease {{ $labels.lease }}{{ with $labels.namespace }} in namespace {{ . }}{{ end }} has no holder that renews it, and its last renewal was " +
			"{{ $value | humanizeDuration }} ago: the leader's work is not being done. Check that candidates run and can reach the API server.",
	}, {
		alert: "Flapping", panel: panel.BackendTerms, firing: func(c Config) Firing { return c.Alerts.Flapping.Firing },
		expr:    leaseFlapping,
		unseen:  "processes that take turns with the same identities; terms between two scrapes",
		summary: "Lease {{ $labels.namespace }}/{{ $labels.lease }} changes hands too often",
		description: "Lease {{ $labels.lease }}{{ with $labels.namespace }} in namespace {{ . }}{{ end }} had {{ $value }} different holders recently: " +
			"each handover is a gap in the leader's work. Find out why holders lose the Lease: restarts, CPU throttling, a slow API server.",
	}, {
		alert: "ObserverBlind", panel: panel.BackendReporters, firing: func(c Config) Firing { return c.Alerts.ObserverBlind.Firing },
		expr:    leaseBlind,
		unseen:  "kube-state-metrics without access to Leases from the start; a watch that hangs",
		summary: "kube-state-metrics no longer exports Leases",
		description: "kube-state-metrics{{ with $labels.job }} of job {{ . }}{{ end }} has exported no Lease for FOR, although it did before. " +
			"Check its permissions and its scrape: until it exports Leases again, a Lease without a holder goes unnoticed.",
	}},
}

// clientGoPatience extends for, because the rule does not know when leases end.
func clientGoPatience(c Config) Firing {
	f := c.Alerts.NoLeader.Critical
	f.For = max(f.For, c.Alerts.NoLeader.seen(c))
	return f
}

// clientGoNoLeader does not fire for a leader that cannot be scraped: it may still
// lead.
func clientGoNoLeader(s foreignScope) query.Expr {
	c := s.clientGo()
	led := query.Op(query.Over("last_over_time", c.Status(), (2*s.Alerts.NoLeader.DownFor).String()), "==", "1")
	replica := append(s.scope.TargetLabels(), s.HolderLabel)
	down := query.Op(led, "and "+query.On(replica), query.Op(query.By("max", replica, s.scope.Up()), "==", "0"))
	return query.Op(c.Leaderless(), "unless "+query.On(c.LockLabels()), down)
}

func clientGoSplitBrain(s foreignScope) query.Expr {
	return query.Op(s.clientGo().ClaimsFor(s.Alerts.SplitBrain.Window.String()), ">", "1")
}

// clientGoFlapping counts both directions: a handover between two processes
// that stay is two changes.
func clientGoFlapping(s foreignScope) query.Expr {
	return query.Op(s.clientGo().Changes(s.Alerts.Flapping.Window.String()), ">", query.Number(float64(2*s.Alerts.Flapping.Handovers)))
}

func clientGoSlowPath(s foreignScope) query.Expr {
	k := s.Alerts.RenewalFailures
	return query.Op(s.clientGo().SlowPaths(k.Window.String()), ">", events(k.MinFailures))
}

func clientGoAbsent(s foreignScope) query.Expr {
	c := s.clientGo()
	led := query.Op(query.Over("last_over_time", c.Status(), s.Alerts.MetricsAbsent.Critical.Lookback.String()), "==", "1")
	return query.Op(query.By("max", c.LockLabels(), led), "unless "+query.On(c.LockLabels()), c.Status())
}

func leaseVacant(s foreignScope) query.Expr {
	return s.leases().Vacant(time.Duration(s.KubeStateMetrics.StaleAfter), time.Duration(s.Alerts.Vacant.Lookback))
}

func leaseFlapping(s foreignScope) query.Expr {
	return query.Op(s.leases().Holders(s.Alerts.Flapping.Window.String()), ">", query.Number(float64(s.Alerts.Flapping.Handovers)))
}

func leaseBlind(s foreignScope) query.Expr {
	l := s.leases()
	gone := query.By("group", l.ExporterLabels(), query.Over("last_over_time", l.Exported(), s.Alerts.ObserverBlind.Lookback.String()))
	return query.Op(gone, "unless "+query.On(l.ExporterLabels()), l.Exported())
}

// impossible says why a source allows no rule for an alert. The other alerts are
// in [foreignRules].
var impossible = map[Source]map[string]string{
	ClientGo: {
		"NoAcquisition":        "attempts are not counted",
		"Overlap":              "no process exports when its term began and ended",
		"BackendErrors":        "errors of attempts are not counted",
		"NearLease":            noLease,
		"LeaseExceeded":        noLease,
		"LowHeadroom":          noLease,
		"WorkAfterLoss":        noWork,
		"JobOverdue":           "no interval is declared, and runs are not counted",
		"TaskFailing":          noWork,
		"TokenRegressed":       "no token is exported",
		"StaleWrite":           "no store checks a token",
		"NoStandby":            "a process that lost the election exports the same as a candidate",
		"AttemptStuck":         "attempts in flight are not exported",
		"Vacant":               noView,
		"Impostor":             noView,
		"ObserverBlind":        noView,
		"LockVanished":         "the gauge of a retired election is never removed, so a missing series means a missing process: see MetricsAbsent",
		"ScrapeFailing":        "it is unknown whether a target that is down took part in an election: alert on up",
		"RedactionKeyMismatch": noRedaction,
		"LabelOverflow":        noRedaction,
	},
	KubeStateMetrics: {
		"NoAcquisition":        noCandidates,
		"NoLeader":             "the candidates export nothing; Vacant reads the record",
		"SplitBrain":           "a record names one holder, not a second process that acts as leader",
		"Overlap":              "a record names one holder, not a second process that acts as leader",
		"BackendErrors":        noCandidates,
		"RenewalFailures":      noCandidates,
		"NearLease":            "the lease duration is not exported",
		"LeaseExceeded":        "the lease duration is not exported",
		"LowHeadroom":          "the lease duration is not exported",
		"WorkAfterLoss":        noCandidates,
		"JobOverdue":           "no interval is declared",
		"TaskFailing":          noCandidates,
		"TokenRegressed":       "transitions are not exported",
		"StaleWrite":           "no store checks a token",
		"NoStandby":            noCandidates,
		"AttemptStuck":         noCandidates,
		"Impostor":             "no process exports its identity, nor that it leads",
		"MetricsAbsent":        "see ObserverBlind",
		"LockVanished":         "the source cannot tell whether a Lease was deleted on purpose",
		"ScrapeFailing":        "see ObserverBlind",
		"RedactionKeyMismatch": noRedaction,
		"LabelOverflow":        noRedaction,
	},
}

const (
	noLease      = "neither the end nor the duration of the lease is exported"
	noWork       = "the work under the lock is not exported"
	noView       = "the backend's record is not exported: leader-observer exports it"
	noRedaction  = "names are exported as they are"
	noCandidates = "only the record is exported, not the candidates"
)
