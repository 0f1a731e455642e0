package alerts

import (
	"fmt"

	"github.com/prometheus/common/model"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/condition"
	"github.com/leaderscope/leaderscope/internal/query"
)

// ObserverBlind: the backend's view is stale, or the observer is gone.
type ObserverBlind struct {
	Firing `yaml:",inline"`
	// Lookback bounds how long an observer that is gone is missed.
	Lookback model.Duration `yaml:"lookback" help:"how long an observer that is gone is missed"`
}

func (*ObserverBlind) about() about {
	return about{
		Condition: condition.ObserverBlind, id: "Y",
		fires: "what a backend says of its locks is not known: it cannot be asked, or its observer is gone",
		note:  "The backend's view is stale: the backend cannot be asked, or its observer is gone.",
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
	// A witness stops to look when it leads, or no longer campaigns (Y5): of a
	// job that campaigns MetricsAbsent and ScrapeFailing speak.
	campaigned := query.Over("last_over_time", s.Metric(catalog.Active), lookback)
	watched := query.Op(query.Over("last_over_time", up, lookback), "unless "+query.On(append(s.TargetLabels(), s.Holder)), campaigned)
	gone := query.Op(query.By("group", backends, watched), "unless "+query.On(backends), up)

	locks := s.Metric(catalog.BackendLastEvent)
	return []draft{{
		firing: k.Firing, expr: query.Op(blind, "or", gone),
		summary: fmt.Sprintf("What the backend {{ $labels.%s }} says of its locks is not known", backendLabel),
		description: fmt.Sprintf("No process%s has been able to ask the backend {{ $labels.%s }} for %s, or none that did is scraped any more. "+
			"A lock without a leader is not noticed there.%s", b.where(), backendLabel, k.For,
			b.withQuery(backends, "count(group by ("+catalog.LockName.Name()+") (last_over_time(%s["+lookback+"])))", locks,
				" Locks that were watched there within the last "+lookback+": {{ . | first | value }}.")),
	}}
}
