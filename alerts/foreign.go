package alerts

import (
	"time"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/query"
)

// Series of other projects. Sources: k8s.io/component-base/metrics/prometheus/
// clientgo/leaderelection and controller-runtime/pkg/metrics/leaderelection.go;
// internal/store/lease.go of kube-state-metrics.
const (
	masterStatus  = "leader_election_master_status"
	slowpath      = "leader_election_slowpath_total"
	leaseOwner    = "kube_lease_owner"
	leaseRenewed  = "kube_lease_renew_time"
	clientGoName  = "name"
	leaseName     = "lease"
	leaseHolder   = "lease_holder"
	leaseSpace    = "namespace"
	notElections  = "kube-node-lease"
	apiserverName = "apiserver-.+|kube-apiserver-.+"
)

// foreignRules are what each source allows, in the order of the rules file.
var foreignRules = map[Source][]foreign{
	ClientGo: {{
		alert: "NoLeader", firing: clientGoPatience,
		expr: clientGoNoLeader,
		unseen: "a leader that stopped leading without a failed renewal while its process still runs: its gauge stays 1; all replicas gone: see MetricsAbsent; " +
			"the length of the lease, so a failover that takes longer than for pages",
		summary: "Lock {{ $labels.name }} has no leader",
		description: "No replica{{ with $labels.job }} of job {{ . }}{{ end }}{{ with $labels.namespace }} in namespace {{ . }}{{ end }} has said for FOR that it " +
			"leads the election {{ $labels.name }}. The work of the leader is not being done.",
	}, {
		alert: "SplitBrain", firing: func(c Config) Firing { return c.Alerts.SplitBrain.Firing },
		expr: clientGoSplitBrain,
		soonest: func(c Config) time.Duration {
			return max(time.Duration(c.Alerts.SplitBrain.Window)-time.Duration(c.ScrapeInterval), 0)
		},
		unseen:  "whether the lease of a claim still runs: a process that stopped leading between two renewals and still runs looks like a second leader",
		summary: "Lock {{ $labels.name }} has {{ $value }} leaders at once",
		description: "{{ $value }} replicas{{ with $labels.job }} of job {{ . }}{{ end }}{{ with $labels.namespace }} in namespace {{ . }}{{ end }} have said for FOR that " +
			"they lead the election {{ $labels.name }}. Two processes may do the same work, or one stopped leading without setting its gauge to 0.",
	}, {
		alert: "Flapping", firing: func(c Config) Firing { return c.Alerts.Flapping.Firing },
		expr:    clientGoFlapping,
		unseen:  "terms of which no sample is taken; terms of a process that is started for one term only",
		summary: "Leadership of lock {{ $labels.name }} changes hands too often",
		description: "Replicas{{ with $labels.job }} of job {{ . }}{{ end }}{{ with $labels.namespace }} in namespace {{ . }}{{ end }} won or lost the election " +
			"{{ $labels.name }} about {{ printf \"%.0f\" $value }} times lately. Each handover is a gap in the leader's work.",
	}, {
		alert: "RenewalFailures", firing: func(c Config) Firing { return c.Alerts.RenewalFailures.Firing },
		expr:    clientGoSlowPath,
		unseen:  "renewals that fail because the API server cannot be asked; only those that meet another writer, or an update that was refused, are counted",
		summary: "Renewals of lock {{ $labels.name }} meet other writers",
		description: "{{ printf \"%.0f\" $value }} renewals of the election {{ $labels.name }}{{ with $labels.job }} of job {{ . }}{{ end }} took the slow path lately: " +
			"the record had changed since the last one. Another process, or a person, writes it.",
	}, {
		alert: "MetricsAbsent", firing: func(c Config) Firing { return c.Alerts.MetricsAbsent.Critical.Firing },
		expr:    clientGoAbsent,
		unseen:  "an election that was never seen to be led; one whose replicas are gone for longer than the lookback",
		summary: "No replica exports lock {{ $labels.name }}, which was led",
		description: "No replica{{ with $labels.job }} of job {{ . }}{{ end }}{{ with $labels.namespace }} in namespace {{ . }}{{ end }} has exported the election " +
			"{{ $labels.name }} for FOR, and one led it when it was last seen. If they are down, the work of the leader is not being done.",
	}},
	KubeStateMetrics: {{
		alert: "Vacant", firing: func(c Config) Firing { return c.Alerts.Vacant.Firing },
		expr:    leaseVacant,
		soonest: func(c Config) time.Duration { return time.Duration(c.KubeStateMetrics.StaleAfter) },
		unseen: "the length of a lease: one that is longer than staleAfter looks free; a gap that is shorter; a lock that no process held within the " +
			"lookback; a Lease that is given back is seen sooner, after for and a scrape",
		summary: "No process holds lease {{ $labels.namespace }}/{{ $labels.lease }}",
		description: "Lease {{ $labels.lease }}{{ with $labels.namespace }} in namespace {{ . }}{{ end }} has been given back, or not renewed, and the last renewal was " +
			"{{ $value | humanizeDuration }} ago. The work of the leader is not being done.",
	}, {
		alert: "Flapping", firing: func(c Config) Firing { return c.Alerts.Flapping.Firing },
		expr:    leaseFlapping,
		unseen:  "two processes that take turns under the same identities; terms between two scrapes",
		summary: "Lease {{ $labels.namespace }}/{{ $labels.lease }} changes hands too often",
		description: "Lease {{ $labels.lease }}{{ with $labels.namespace }} in namespace {{ . }}{{ end }} had {{ $value }} different holders lately. " +
			"Each handover is a gap in the leader's work.",
	}, {
		alert: "ObserverBlind", firing: func(c Config) Firing { return c.Alerts.ObserverBlind.Firing },
		expr:    leaseBlind,
		unseen:  "a kube-state-metrics that never watched Leases; one whose watch hangs",
		summary: "kube-state-metrics does not export Leases any more",
		description: "kube-state-metrics{{ with $labels.job }} of job {{ . }}{{ end }} has exported no Lease for FOR, and did before. " +
			"A Lease without a holder is not noticed.",
	}},
}

// clientGoLabels are those of the scope with client-go's name of a lock.
func clientGoLabels(s foreignScope) []string { return append(s.scope.TargetLabels(), clientGoName) }

func (s foreignScope) status(m ...query.Matcher) query.Expr { return s.metric(masterStatus, m...) }

// clientGoPatience is longer than that of a rule that knows when leases end.
func clientGoPatience(c Config) Firing {
	f := c.Alerts.NoLeader.Critical
	f.For = max(f.For, c.Alerts.NoLeader.DownFor)
	return f
}

// clientGoNoLeader excuses a leader that cannot be scraped: it may lead, unseen.
func clientGoNoLeader(s foreignScope) query.Expr {
	labels := clientGoLabels(s)
	led := query.Op(query.Over("last_over_time", s.status(), (2*s.Alerts.NoLeader.DownFor).String()), "==", "1")
	replica := append(s.scope.TargetLabels(), s.HolderLabel)
	down := query.Op(led, "and "+query.On(replica), query.Op(query.By("max", replica, s.scope.Up()), "==", "0"))
	return query.Op(query.Op(query.By("max", labels, s.status()), "==", "0"), "unless "+query.On(labels), down)
}

func clientGoSplitBrain(s foreignScope) query.Expr {
	claims := query.By("max", append(clientGoLabels(s), s.HolderLabel), query.Over("min_over_time", s.status(), s.Alerts.SplitBrain.Window.String()))
	return query.Op(query.By("sum", clientGoLabels(s), claims), ">", "1")
}

// clientGoFlapping counts both directions: a handover between two processes
// that stay is two changes.
func clientGoFlapping(s foreignScope) query.Expr {
	changes := query.By("max", append(clientGoLabels(s), s.HolderLabel), query.Over("changes", s.status(), s.Alerts.Flapping.Window.String()))
	return query.Op(query.By("sum", clientGoLabels(s), changes), ">", query.Number(float64(2*s.Alerts.Flapping.Handovers)))
}

func clientGoSlowPath(s foreignScope) query.Expr {
	k := s.Alerts.RenewalFailures
	return query.Op(query.By("sum", clientGoLabels(s), query.Over("increase", s.metric(slowpath), k.Window.String())), ">", events(k.MinFailures))
}

func clientGoAbsent(s foreignScope) query.Expr {
	labels := clientGoLabels(s)
	led := query.Op(query.Over("last_over_time", s.status(), s.Alerts.MetricsAbsent.Critical.Lookback.String()), "==", "1")
	return query.Op(query.By("max", labels, led), "unless "+query.On(labels), s.status())
}

// leaseLabels identify a Lease; the job is that of kube-state-metrics.
func leaseLabels(s foreignScope) []string {
	var labels []string
	for _, l := range s.scope.AnyReporter() {
		if l != catalog.LockName.Name() {
			labels = append(labels, l)
		}
	}
	return append(labels, leaseSpace, leaseName)
}

// elections leave out Leases that elect no leader: of nodes and API servers.
func (s foreignScope) elections(name string, m ...query.Matcher) query.Expr {
	return s.metric(name, append([]query.Matcher{query.Unequal(leaseSpace, notElections), query.MatchesNot(leaseName, apiserverName)}, m...)...)
}

// leaseVacant is the age of the last renewal of a Lease that is old, or that
// was given back: the record of a graceful stop has no holder and a fresh time.
func leaseVacant(s foreignScope) query.Expr {
	labels := leaseLabels(s)
	age := query.Op(query.Call("time"), "-", query.By("max", labels, s.elections(leaseRenewed)))
	given := query.Op(age, "and "+query.On(labels), s.elections(leaseOwner, query.Equal(leaseHolder, "")))
	stale := query.Op(age, ">", seconds(s.KubeStateMetrics.StaleAfter))
	return query.Op(query.Op(stale, "or", given), "<", seconds(s.Alerts.Vacant.Lookback))
}

func leaseFlapping(s foreignScope) query.Expr {
	labels := leaseLabels(s)
	holders := query.By("group", append(labels, leaseHolder), query.Over("last_over_time", s.elections(leaseOwner, query.Unequal(leaseHolder, "")), s.Alerts.Flapping.Window.String()))
	return query.Op(query.By("count", labels, holders), ">", query.Number(float64(s.Alerts.Flapping.Handovers)))
}

func leaseBlind(s foreignScope) query.Expr {
	var labels []string
	for _, l := range s.scope.TargetLabels() {
		if l != leaseSpace {
			labels = append(labels, l)
		}
	}
	gone := query.By("group", labels, query.Over("last_over_time", s.metric(leaseRenewed), s.Alerts.ObserverBlind.Lookback.String()))
	return query.Op(gone, "unless "+query.On(labels), s.metric(leaseRenewed))
}

// impossible says why a source allows no rule. Of the others [foreignRules]
// speaks.
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
		"LockVanished":         "the gauge of an election that is retired is not taken away, so a series that is gone is a process that is gone: see MetricsAbsent",
		"ScrapeFailing":        "of a target that is down, nothing tells that it took part: alert on up",
		"RedactionKeyMismatch": noRedaction,
		"LabelOverflow":        noRedaction,
	},
	KubeStateMetrics: {
		"NoAcquisition":        noCandidates,
		"NoLeader":             "what the candidates say is not there; Vacant reads the record",
		"SplitBrain":           "a record names one holder; a second process that acts as leader is not in it",
		"Overlap":              "a record names one holder; a second process that acts as leader is not in it",
		"BackendErrors":        noCandidates,
		"RenewalFailures":      noCandidates,
		"NearLease":            "the length of the lease is not exported",
		"LeaseExceeded":        "the length of the lease is not exported",
		"LowHeadroom":          "the length of the lease is not exported",
		"WorkAfterLoss":        noCandidates,
		"JobOverdue":           "no interval is declared",
		"TaskFailing":          noCandidates,
		"TokenRegressed":       "transitions are not exported",
		"StaleWrite":           "no store checks a token",
		"NoStandby":            noCandidates,
		"AttemptStuck":         noCandidates,
		"Impostor":             "no process says as whom it campaigns, nor that it leads",
		"MetricsAbsent":        "see ObserverBlind",
		"LockVanished":         "a Lease that is deleted is gone, on purpose or not",
		"ScrapeFailing":        "see ObserverBlind",
		"RedactionKeyMismatch": noRedaction,
		"LabelOverflow":        noRedaction,
	},
}

const (
	noLease      = "neither the end nor the length of the lease is exported"
	noWork       = "the work under the lock is not seen"
	noView       = "what the backend says is not exported: leader-observer exports it"
	noRedaction  = "names are exported as they are"
	noCandidates = "the candidates are not seen, only the record"
)
