package alerts

import (
	"fmt"

	"github.com/prometheus/common/model"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/condition"
	"github.com/leaderscope/leaderscope/internal/query"
)

// ObserverBlind: the state of the locks on a backend is unknown.
type ObserverBlind struct {
	Firing `yaml:",inline"`
	// Lookback is how long the alert fires for an observer that is gone.
	Lookback model.Duration `yaml:"lookback" help:"how long the alert fires for an observer that is gone"`
}

func (*ObserverBlind) about() about {
	return about{
		Condition: condition.ObserverBlind, id: "Y",
		fires: "the state of the locks on a backend is unknown: the backend cannot be queried, or its observer is gone",
		note:  "The state of the locks on a backend is unknown: the backend cannot be queried, or its observer is gone.",
	}
}

func (k *ObserverBlind) preset() {
	*k = ObserverBlind{Firing: fires(warning, 5, 0), Lookback: minutes(60)}
}

func (k *ObserverBlind) validate(c check) { c.missed(k.Lookback, k.Firing) }

func (k *ObserverBlind) rules(b builder) []draft {
	s, lookback, up := b.scope, k.Lookback.String(), b.scope.Metric(catalog.BackendUp)
	backends := append(s.TargetLabels(), backendLabel)

	blind := query.Op(query.By("max", backends, up), "==", "0")
	// A standby stops reading the record when it leads, or no longer campaigns (Y5).
	// For jobs that campaign, MetricsAbsent and ScrapeFailing fire.
	campaigned := query.Over("last_over_time", s.Metric(catalog.Active), lookback)
	watched := query.Op(query.Over("last_over_time", up, lookback), "unless "+query.On(append(s.TargetLabels(), s.Holder)), campaigned)
	gone := query.Op(query.By("group", backends, watched), "unless "+query.On(backends), up)

	locks := s.Metric(catalog.BackendLastEvent)
	return []draft{{
		firing: k.Firing, expr: query.Op(blind, "or", gone),
		summary: fmt.Sprintf("The state of the locks on backend {{ $labels.%s }} is unknown", backendLabel),
		description: fmt.Sprintf("The state of the locks on backend {{ $labels.%s }} has been unknown for %s: no process%s can query the backend, or no such process is scraped. "+
			"Check that the observer runs, is scraped and can reach the backend; until then, a lock there without a leader goes unnoticed.%s", backendLabel, k.For, b.where(),
			b.withQuery(backends, "count(group by ("+catalog.LockName.Name()+") (last_over_time(%s["+lookback+"])))", locks,
				" Locks observed there within the last "+lookback+": {{ . | first | value }}.")),
	}}
}

func (k *ObserverBlind) detect(d *detector) {
	d.level(k.Firing, "the last answer of the backend, or the last scrape of the observer", 0, 0, shorter)
}
