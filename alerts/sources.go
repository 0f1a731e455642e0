package alerts

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"

	"github.com/leaderscope/leaderscope/internal/query"
)

// Source says whose series the rules read.
type Source string

// The sources.
const (
	// Leaderscope reads the series of this project, for every alert.
	Leaderscope Source = "leaderscope"
	// ClientGo reads leader_election_master_status and
	// leader_election_slowpath_total, as client-go and controller-runtime export
	// them.
	ClientGo Source = "client-go"
	// KubeStateMetrics reads kube_lease_owner and kube_lease_renew_time.
	KubeStateMetrics Source = "kube-state-metrics"
)

// Sources are all of them, Leaderscope first.
func Sources() []Source { return []Source{Leaderscope, ClientGo, KubeStateMetrics} }

// Foreign reports whether the series are those of another project. Fewer
// alerts are possible then, and their locks have other labels.
func (s Source) Foreign() bool { return s != Leaderscope }

// Possible is what a source allows of one alert.
type Possible struct {
	// Alert lacks [Prefix].
	Alert string
	// Yes: there is a rule.
	Yes bool
	// Soonest and Latest are when it begins to fire, with the configuration
	// that was asked; both are 0 where there is no rule.
	Soonest, Latest time.Duration
	// Why says what the rule does not see, or why there is none.
	Why string
}

// Possibilities says of each alert whether a foreign source allows it, with
// what delay, and why not. Of [Leaderscope] [Detect] speaks. The error is that
// of [Config.Validate].
func Possibilities(c Config) ([]Possible, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	possible := foreignRules[c.Source]
	var out []Possible
	c.Alerts.each(func(_ string, a alert) {
		name := a.about().Alert
		p := Possible{Alert: name, Why: impossible[c.Source][name]}
		for _, f := range possible {
			if f.alert == name {
				hold := time.Duration(f.firing(c).For)
				p.Yes, p.Why = true, f.unseen
				if f.soonest != nil {
					p.Soonest = f.soonest(c)
				}
				p.Soonest += hold
				p.Latest = p.Soonest + time.Duration(c.ScrapeInterval) + f.step(c)
			}
		}
		out = append(out, p)
	})
	return out, nil
}

// step is the time between evaluations.
func (f foreign) step(c Config) time.Duration {
	if c.Group.Interval > 0 {
		return time.Duration(c.Group.Interval)
	}
	return time.Duration(c.ScrapeInterval)
}

// foreign is a rule on the series of another project.
type foreign struct {
	alert string
	// firing are the knobs that the alert has for leaderscope's own series.
	firing func(Config) Firing
	expr   func(foreignScope) query.Expr
	// soonest is how long after the event the expression may become true, for
	// less the time of a scrape; nil: at once.
	soonest func(Config) time.Duration
	unseen  string
	// summary and description are templates; of the latter %s is the time of for.
	summary, description string
}

// foreignScope selects series of another project.
type foreignScope struct {
	Config
	scope query.Scope
}

func (s foreignScope) metric(name string, m ...query.Matcher) query.Expr {
	return query.Selector(name, append(slices.Clone(s.scope.TargetMatchers), m...)...)
}

// foreignRules builds the rules of a foreign source.
func (c Config) foreignRules(scope query.Scope) ([]Rule, error) {
	s := foreignScope{c, scope}
	var rules []Rule
	for _, f := range foreignRules[c.Source] {
		firing := f.firing(c)
		if !firing.Enabled {
			continue
		}
		expr, err := query.Pretty(f.expr(s))
		if err != nil {
			return nil, fmt.Errorf("alert %s of %s: %w", f.alert, c.Source, err)
		}
		labels, annotations := map[string]string{}, map[string]string{}
		maps.Copy(labels, c.Labels)
		maps.Copy(annotations, c.Annotations)
		labels[c.SeverityLabel] = firing.Severity
		annotations["summary"] = f.summary
		annotations["description"] = strings.ReplaceAll(f.description, "FOR", firing.For.String())
		if c.RunbookBaseURL != "" {
			annotations["runbook_url"] = strings.TrimSuffix(c.RunbookBaseURL, "/") + "/" + Prefix + f.alert + ".md"
		}
		rules = append(rules, Rule{
			Name: Prefix + f.alert, Severity: firing.Severity, Expr: expr, For: firing.For, KeepFiringFor: firing.KeepFiringFor,
			Labels: labels, Annotations: annotations,
		})
	}
	return rules, nil
}

// KubeStateMetricsKnobs are what kube-state-metrics does not tell.
type KubeStateMetricsKnobs struct {
	// StaleAfter is the age of a renewal from which a Lease counts as free:
	// longer than every lease, whose length is not exported.
	StaleAfter model.Duration `yaml:"staleAfter"`
}
