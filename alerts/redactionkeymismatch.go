package alerts

import (
	"fmt"
	"slices"
	"strings"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/condition"
	"github.com/leaderscope/leaderscope/internal/query"
)

// RedactionKeyMismatch: replicas of a job use different redaction policies or
// keys. For must exceed the duration of a rollout: while a key is replaced, both
// are in use.
type RedactionKeyMismatch struct {
	Firing `yaml:",inline"`
}

func (*RedactionKeyMismatch) about() about {
	return about{
		Condition: condition.RedactionKeyMismatch, id: "R",
		fires: "replicas of a job use different redaction policies or keys",
		note:  "Replicas of a job use different redaction policies or keys, for longer than a rollout takes.",
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
		summary: fmt.Sprintf("Replicas%s use different redaction policies or keys", b.where()),
		description: fmt.Sprintf("Replicas%s have used {{ $value }} different redaction policies or keys for more than %s: one lock has several labels, so no alert detects a split brain between these replicas. "+
			"Give all replicas the same policy, key and key id.%s", b.where(), k.For, b.policies(info)),
	}}
}

func (k *RedactionKeyMismatch) detect(d *detector) {
	d.level(k.Firing, "the start of the replica with the other key", 0, 0, shorter)
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
