package alerts

import (
	"fmt"
	"slices"
	"strings"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/condition"
	"github.com/leaderscope/leaderscope/internal/query"
)

// RedactionKeyMismatch: replicas of a job turn lock names into labels in
// different ways. For must be longer than a rollout takes, for a change of the
// key shows both while it lasts.
type RedactionKeyMismatch struct {
	Firing `yaml:",inline"`
}

func (*RedactionKeyMismatch) about() about {
	return about{
		Condition: condition.RedactionKeyMismatch, id: "R",
		fires: "replicas of a job turn lock names into labels in different ways",
		note:  "Replicas of a job turn lock names into labels in different ways, for longer than a rollout takes.",
	}
}

// A replica that misses a scrape agrees with no other, and would resolve it.
func (k *RedactionKeyMismatch) preset() {
	*k = RedactionKeyMismatch{Firing: fires(warning, 15, 5)}
}

func (k *RedactionKeyMismatch) validate(c check) { c.firing("", k.Firing) }

func (k *RedactionKeyMismatch) rules(b builder) []draft {
	s, targets, info := b.scope, b.scope.TargetLabels(), b.scope.Metric(catalog.RedactionInfo)

	// The number of replicas makes no difference, only that of the ways in
	// which they label (R1). Jobs that share no lock may differ (R3).
	ways := query.By("count", targets, query.By("group", slices.Concat(targets, policyLabels()), info))
	// A process may label its own locks in two ways, as its replicas then do
	// too (R5).
	replica := append(s.TargetLabels(), s.Holder)
	own := query.By("count", replica, query.By("group", slices.Concat(replica, policyLabels()), info))
	expr := query.Op(ways, ">", query.By("max", targets, own))

	return []draft{{
		firing: k.Firing, expr: expr,
		summary: fmt.Sprintf("Replicas%s label lock names in different ways", b.where()),
		description: fmt.Sprintf("Replicas%s have labelled lock names in {{ $value }} ways for more than %s. "+
			"One lock has a label under each, so a split brain between such replicas cannot be seen.%s", b.where(), k.For, b.policies(info)),
	}}
}

// policyLabels tell apart the ways in which lock names become labels.
func policyLabels() (names []string) {
	for _, l := range catalog.RedactionInfo.Labels() {
		names = append(names, l.Name())
	}
	return names
}

// policies lists up to five of them, each with the number of its replicas.
func (b builder) policies(info query.Expr) string {
	labels := policyLabels()
	ordered, shown := ".", "{{ value . }}:"
	for _, l := range labels {
		ordered += fmt.Sprintf(" | sortByLabel %q", l)
		shown += fmt.Sprintf("{{ with label %q . }} {{ . }}{{ end }}", l)
	}
	by := strings.Join(labels, ", ")
	format := fmt.Sprintf("topk(5, count by (%[1]s) (group by (%[1]s, %[2]s) (%%s)))", by, b.HolderLabel)
	return b.withQuery(b.scope.TargetLabels(), format, info,
		" In use (replicas: "+by+"):{{ range "+ordered+" }} ("+shown+"){{ end }}.")
}
