package alerts

import (
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/common/model"

	"github.com/leaderscope/leaderscope/internal/query"
)

// Source is the exporter whose series the rules read.
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

// Sources returns all sources, Leaderscope first.
func Sources() []Source { return []Source{Leaderscope, ClientGo, KubeStateMetrics} }

// Foreign reports whether another project exports the series. Fewer alerts are
// possible then, and locks have other labels.
func (s Source) Foreign() bool { return s != Leaderscope }

// Possible says what a source allows for one alert.
type Possible struct {
	// Alert lacks [Prefix].
	Alert string
	// Yes: there is a rule.
	Yes bool
	// Soonest and Latest are when the alert starts to fire with the given
	// configuration; both are 0 if there is no rule.
	Soonest, Latest time.Duration
	// Why says what the rule does not detect, or why there is no rule.
	Why string
}

// Possibilities says for each alert whether a foreign source allows it, with what
// delay, or why not. For [Leaderscope], use [Detect]. The error is that of
// [Config.Validate].
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

// foreign is a rule for the series of another project.
type foreign struct {
	alert string
	// panel is the one of the source's dashboard that shows the condition.
	panel int
	// firing returns the settings that the alert has for leaderscope's own series.
	firing func(Config) Firing
	expr   func(foreignScope) query.Expr
	// soonest is the least time from the event until the expression is true; nil
	// means at once.
	soonest func(Config) time.Duration
	unseen  string
	// summary and description are templates; FOR in the latter is replaced by for.
	summary, description string
}

// foreignScope selects series of another project.
type foreignScope struct {
	Config
	scope query.Scope
}

func (s foreignScope) clientGo() query.ClientGo { return query.ClientGo{Scope: s.scope} }

func (s foreignScope) leases() query.Leases { return query.Leases{Scope: s.scope} }

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
		s.link(annotations, f)
		rules = append(rules, Rule{
			Name: Prefix + f.alert, Severity: firing.Severity, Expr: expr, For: firing.For, KeepFiringFor: firing.KeepFiringFor,
			Labels: labels, Annotations: annotations,
		})
	}
	return rules, nil
}

// link adds the links to the dashboard of the source.
func (s foreignScope) link(annotations map[string]string, f foreign) {
	if s.SourceDashboardUID == "" {
		return
	}
	if s.DashboardBaseURL != "" {
		labels := s.clientGo().LockLabels()
		if s.Source == KubeStateMetrics {
			labels = s.leases().LockLabels()
		}
		annotations["dashboard_url"] = s.panelURL(s.SourceDashboardUID, f.panel, labels)
	}
	// Grafana wants both or neither.
	annotations["__dashboardUid__"] = s.SourceDashboardUID
	annotations["__panelId__"] = strconv.Itoa(f.panel)
}

// KubeStateMetricsKnobs are settings for what kube-state-metrics does not export.
type KubeStateMetricsKnobs struct {
	// StaleAfter is the age of the last renewal after which a Lease counts as free.
	// It must exceed every lease duration, which is not exported.
	StaleAfter model.Duration `yaml:"staleAfter"`
}
