package alerts

import (
	"fmt"

	"github.com/prometheus/prometheus/model/rulefmt"

	"github.com/leaderscope/leaderscope/internal/query"
)

// Recording is one recording rule, ready for any file format.
type Recording struct {
	// Name is level:metric:operations, with the window of operations that have one.
	Name string
	// Expr is PromQL, printed by Prometheus' own printer. It reads the series of
	// the replicas, or recordings that come before it.
	Expr string
}

// Recordings returns the recording rules in the order in which they must be
// evaluated; none unless the configuration asks for them. The error is that of
// [Config.Validate].
func Recordings(c Config) ([]Recording, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if !c.Recording {
		return nil, nil
	}
	facts, err := c.facts()
	if err != nil {
		return nil, err
	}
	var all []Recording
	for _, r := range facts.Recordings() {
		expr, err := query.Pretty(r.Expr)
		if err != nil {
			return nil, fmt.Errorf("recording %s: %w", r.Name, err)
		}
		all = append(all, Recording{Name: r.Name, Expr: expr})
	}
	return all, nil
}

// rateScrapes is the window of a recorded rate, in scrapes.
const rateScrapes = 4

// facts returns what is recorded, with the thresholds of the alerts.
func (c Config) facts() (query.Facts, error) {
	scope, err := c.scope()
	e := c.Alerts.BackendErrors
	return query.Facts{Scope: scope, Limits: query.Limits{
		ErrorShare: e.Warning.Share, MinErrors: e.MinErrors, ErrorWindow: e.Window.String(),
		LeaseWindow: c.Alerts.NearLease.Window.String(),
		RateWindow:  (rateScrapes * c.ScrapeInterval).String(),
	}}, err
}

// recordingGroup returns a separate group, so that alerts do not wait for it.
func recordingGroup(c Config) (*rulefmt.RuleGroup, error) {
	recordings, err := Recordings(c)
	if err != nil || len(recordings) == 0 {
		return nil, err
	}
	group := &rulefmt.RuleGroup{Name: c.Group.Name + "-recording", Interval: c.Group.Interval}
	for _, r := range recordings {
		group.Rules = append(group.Rules, rulefmt.Rule{Record: r.Name, Expr: r.Expr})
	}
	return group, nil
}

// withoutRecordings is the header of a file that cannot contain recording rules
// although the dashboards read them.
const withoutRecordings = "# The recording rules that the dashboards read are not in this file: Grafana does not evaluate them into\n" +
	"# Prometheus. Load them from the file of the format prometheus, prometheusrule or mimir.\n"
