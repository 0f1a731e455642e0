package alerts

import (
	"fmt"

	"github.com/prometheus/common/model"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/condition"
	"github.com/leaderscope/leaderscope/internal/query"
)

// LabelOverflow: locks share the overflow label, because there are more than
// the limit on labels allows.
type LabelOverflow struct {
	Firing `yaml:",inline"`
	Window model.Duration `yaml:"window" help:"lookback window"`
}

func (*LabelOverflow) about() about {
	return about{
		Condition: condition.LabelOverflow, id: "O",
		fires: "there are more locks than the limit on labels allows, and some share one label",
		note:  "Locks share the overflow label, because there are more than the limit on labels allows.",
	}
}

func (k *LabelOverflow) preset() {
	*k = LabelOverflow{Firing: fires(warning, 5, 0), Window: minutes(60)}
}

func (k *LabelOverflow) validate(c check) { c.windowed(k.Window, k.Firing) }

func (k *LabelOverflow) rules(b builder) []draft {
	s, window, targets := b.scope, k.Window.String(), b.scope.TargetLabels()
	replica := append(s.TargetLabels(), s.Holder)
	folded := s.Metric(catalog.RedactionOverflows)

	// That names were folded is an event, and of a process that starts with
	// many locks one before its first sample. That locks share the label is a
	// state, and of locks that are short-lived one between two samples.
	grown := query.Op(query.By("max", replica, query.Over("increase", folded, window)), ">", atLeast(1))
	shared := query.By("max", replica, s.Metric(catalog.Active, query.Equal(catalog.LockName.Name(), catalog.OverflowLabel)))
	expr := query.Op(query.By("count", targets, query.Op(grown, "or", shared)), ">", "0")

	return []draft{{
		firing: k.Firing, expr: expr,
		summary: fmt.Sprintf("Locks%s share the label %s", b.where(), catalog.OverflowLabel),
		description: fmt.Sprintf("Locks%s share the label %s on {{ $value }} of the replicas, because there are more locks than the limit on labels allows: per-lock alerts do not cover them. "+
			"Raise the limit with WithMaxLabels, or group the locks into families.%s",
			b.where(), catalog.OverflowLabel, b.withQuery(targets, "max(max_over_time(%s["+window+"]))", folded, " Lock names that one replica folded into it: {{ . | first | value }}.")),
	}}
}

func (k *LabelOverflow) detect(d *detector) {
	d.level(k.Firing, "the first name beyond the limit", 0, 0, dies)
}
