package scenario

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/leaderscope/leaderscope/internal/panel"
	"github.com/leaderscope/leaderscope/internal/promeval"
)

// Fire loads series as a version of Prometheus stores them and evaluates rules
// over them.
func (s Scenario) Fire(ctx context.Context, rules []promeval.Rule, series []promeval.Series, version promeval.Version) ([]promeval.Firing, error) {
	store, err := s.Store(series, version)
	if err != nil {
		return nil, err
	}
	return s.Run(ctx, rules, store)
}

// Store has the series as a version of Prometheus stores them.
func (s Scenario) Store(series []promeval.Series, version promeval.Version) (*promeval.Store, error) {
	store, err := promeval.Load(series, s.Every, version)
	if err != nil {
		return nil, fmt.Errorf("scenario %s: %w", s.Title(), err)
	}
	return store, nil
}

// Run evaluates rules until the end of the scenario.
func (s Scenario) Run(ctx context.Context, rules []promeval.Rule, store *promeval.Store) ([]promeval.Firing, error) {
	var all []promeval.Firing
	for _, r := range rules {
		fired, err := store.Alerts(ctx, r, s.End, Step)
		if err != nil {
			return nil, fmt.Errorf("scenario %s: %w", s.Title(), err)
		}
		all = append(all, fired...)
	}
	return all, nil
}

// Describe prints firings the way scenarios write them down, sorted.
func Describe(fired []promeval.Firing) string {
	var lines []string
	for _, f := range fired {
		line := Identity(f.Labels) + " " + model.Duration(f.From).String() + ".."
		if !f.Open {
			line += model.Duration(f.To).String()
		}
		line += " = " + strconv.FormatFloat(f.Value, 'g', 3, 64)
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// Identity is an alert's name and severity, with the labels that series do not
// have unless they say so.
func Identity(l labels.Labels) string {
	usual := map[string]string{labels.AlertName: l.Get(labels.AlertName), severityLabel: l.Get(severityLabel), backendLabel: l.Get(backendLabel)}
	for label, value := range defaultLabels {
		usual[label] = value
	}
	var own []string
	l.Range(func(l labels.Label) {
		if usual[l.Name] != l.Value {
			own = append(own, fmt.Sprintf("%s=%q", l.Name, l.Value))
		}
	})
	name := strings.TrimPrefix(l.Get(labels.AlertName), panel.AlertPrefix) + "/" + l.Get(severityLabel)
	if len(own) > 0 {
		name += "{" + strings.Join(own, ",") + "}"
	}
	return name
}

// Labels of alerts under the default configuration.
const (
	severityLabel = "severity"
	backendLabel  = "backend"
)
