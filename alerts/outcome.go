package alerts

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/leaderscope/leaderscope/internal/promeval"
)

func (s scenario) title() string { return s.id + " " + s.name }

// firings evaluates rules over series of the scenario.
func (s scenario) firings(ctx context.Context, rules []Rule, series []promeval.Series, version promeval.Version) ([]promeval.Firing, error) {
	store, err := promeval.Load(series, s.every, version)
	if err != nil {
		return nil, fmt.Errorf("scenario %s: %w", s.title(), err)
	}
	return s.run(ctx, rules, store)
}

func (s scenario) run(ctx context.Context, rules []Rule, store *promeval.Store) ([]promeval.Firing, error) {
	var all []promeval.Firing
	for _, r := range rules {
		fired, err := store.Alerts(ctx, r.evaluated(), s.end, evaluationStep)
		if err != nil {
			return nil, fmt.Errorf("scenario %s: %w", s.title(), err)
		}
		all = append(all, fired...)
	}
	return all, nil
}

func (r Rule) evaluated() promeval.Rule {
	return promeval.Rule{
		Name: r.Name, Expr: r.Expr, For: time.Duration(r.For), KeepFiringFor: time.Duration(r.KeepFiringFor),
		Labels: r.Labels, Annotations: r.Annotations,
	}
}

// describe prints firings the way scenarios write them down.
func describe(fired []promeval.Firing) string {
	var lines []string
	for _, f := range fired {
		line := identity(f.Labels) + " " + model.Duration(f.From).String() + ".."
		if !f.Open {
			line += model.Duration(f.To).String()
		}
		line += " = " + strconv.FormatFloat(f.Value, 'g', 3, 64)
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// identity leaves out the labels that the series of a scenario have unless
// they say otherwise.
func identity(l labels.Labels) string {
	usual := map[string]string{"job": "a", "lock_name": "x", labels.AlertName: l.Get(labels.AlertName), "severity": l.Get("severity"), backendLabel: l.Get(backendLabel)}
	var own []string
	l.Range(func(l labels.Label) {
		if usual[l.Name] != l.Value {
			own = append(own, fmt.Sprintf("%s=%q", l.Name, l.Value))
		}
	})
	name := strings.TrimPrefix(l.Get(labels.AlertName), Prefix) + "/" + l.Get("severity")
	if len(own) > 0 {
		name += "{" + strings.Join(own, ",") + "}"
	}
	return name
}
