package alerts

import (
	"fmt"
	"slices"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/panel"
	"github.com/leaderscope/leaderscope/internal/query"
)

// Alerts about what the others cannot see. All of them ask for leader_active,
// which every handle exports from its construction on.

func metricsAbsent(b builder) []draft {
	k, s := b.Alerts.MetricsAbsent, b.scope
	active := s.Metric(catalog.Active)
	targets := s.TargetLabels()

	gone := query.Op(query.By("group", targets, query.Over("last_over_time", active, k.Lookback.String())),
		"unless", query.By("group", targets, active))
	// Nothing tells a job that never had metrics from one that is not there:
	// that is known only if there is none at all (M2).
	expr := query.Op(gone, "or on ()", query.Call("absent", active))

	return []draft{{
		name: "MetricsAbsent", firing: k.Firing, expr: expr, panel: panel.Instrumentation, perJob: true,
		summary: "There are no leader election metrics" + b.where(),
		description: fmt.Sprintf("No replica%s has exported %s for more than %s. Every other alert about its locks is blind: nothing would tell if nobody led.",
			b.where(), active, k.For),
	}}
}

func lockVanished(b builder) []draft {
	k, s := b.Alerts.LockVanished, b.scope
	active := s.Metric(catalog.Active, single)
	steps := k.Lookback.String() + ":" + b.ScrapeInterval.String()

	// A lock that somebody counts on: one that was led when it was last seen,
	// and not released before (V3), or one that is declared to run. Of any
	// other lock nothing says that it was not retired.
	led := query.Op(query.Over("last_over_time", "("+s.By("max", active)+")", steps), ">", "0")
	declared := s.By("group", query.Over("last_over_time", s.Metric(catalog.ExpectedInterval, single), k.Lookback.String()))
	expr := query.Op(query.Op(led, "or", declared), "unless", s.By("group", active))
	// A job that is gone altogether is for MetricsAbsent (B4).
	targets := s.TargetLabels()
	expr = query.Op(expr, "and "+query.On(targets), query.By("group", targets, s.Metric(catalog.Active)))

	return []draft{{
		name: "LockVanished", firing: k.Firing, expr: expr, panel: panel.Locks,
		summary: "Lock " + b.lock() + " is not there any more",
		description: fmt.Sprintf("No replica%s has exported series of lock %s for more than %s, although others of the job are there. "+
			"It was led when it was last seen, or is declared to run. Retired on purpose, it is forgotten in %s.", b.where(), b.lock(), k.For, k.Lookback),
	}}
}

func scrapeFailing(b builder) []draft {
	k, s := b.Alerts.ScrapeFailing, b.scope
	targets := s.TargetLabels()
	replica := append(slices.Clone(targets), s.Holder)

	// Only targets that exported something about locks lately: a job may be a
	// catch-all (U3).
	exported := query.By("group", replica, query.Over("last_over_time", s.Metric(catalog.Active), k.Lookback.String()))
	down := query.Op(query.By("max", replica, query.Op(s.Up(), "== bool", "0")), "and", exported)
	// One alert for a job, whichever of its pods are down (C40).
	expr := query.Op(query.By("sum", targets, down), ">", "0")

	list := fmt.Sprintf(`{{ range sortByLabel %[1]q . }} {{ label %[1]q . }}{{ end }}`, b.HolderLabel)
	return []draft{{
		name: "ScrapeFailing", firing: k.Firing, expr: expr, panel: panel.Instrumentation, perJob: true,
		summary: fmt.Sprintf("Replicas%s cannot be scraped", b.where()),
		description: fmt.Sprintf("Replicas%s that exported leader election metrics and have not been scraped for more than %s: {{ $value }}. One of them may lead.%s",
			b.where(), k.For, b.withQuery(targets, "topk(5, max by ("+b.HolderLabel+") (%s == 0))", s.Up(), " Targets that are down:"+list+".")),
	}}
}

func labelOverflow(b builder) []draft {
	k, s := b.Alerts.LabelOverflow, b.scope
	window := k.Window.String()
	targets := s.TargetLabels()
	replica := append(slices.Clone(targets), s.Holder)
	folded := s.Metric(catalog.RedactionOverflows)

	// That names were folded is an event, and of a process that starts with
	// many locks one before its first sample. That locks share the label is a
	// state, and of locks that are short-lived one between two samples.
	grown := query.Op(query.By("max", replica, query.Over("increase", folded, window)), ">", atLeast(1))
	shared := query.By("max", replica, s.Metric(catalog.Active, query.Equal(catalog.LockName.Name(), catalog.OverflowLabel)))
	expr := query.Op(query.By("count", targets, query.Op(grown, "or", shared)), ">", "0")

	return []draft{{
		name: "LabelOverflow", firing: k.Firing, expr: expr, panel: panel.Instrumentation, perJob: true,
		summary: fmt.Sprintf("Locks%s share the label %s", b.where(), catalog.OverflowLabel),
		description: fmt.Sprintf("Replicas%s with more locks than the cap on labels allows: {{ $value }}. The locks beyond it share the label %s, and no alert judges one of them.%s",
			b.where(), catalog.OverflowLabel, b.withQuery(targets, "max(max_over_time(%s["+window+"]))", folded, " Names folded by one replica: {{ . | first | value }}.")),
	}}
}
