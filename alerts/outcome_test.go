package alerts

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/leaderscope/leaderscope/internal/promeval"
)

// firings evaluates rules over a scenario.
func (s scenario) firings(ctx context.Context, rules []Rule) ([]promeval.Firing, error) {
	store, err := promeval.Load(s.series(), s.every)
	if err != nil {
		return nil, fmt.Errorf("scenario %s: %w", s.title(), err)
	}
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

func (s scenario) title() string { return s.id + " " + s.name }

func (r Rule) evaluated() promeval.Rule {
	return promeval.Rule{
		Name: r.Name, Expr: r.Expr, For: time.Duration(r.For), KeepFiringFor: time.Duration(r.KeepFiringFor),
		Labels: r.Labels, Annotations: r.Annotations,
	}
}

// describe prints firings the way scenarios write them down.
func describe(fired []promeval.Firing, severityLabel string) string {
	var lines []string
	for _, f := range fired {
		name := strings.TrimPrefix(f.Labels.Get(labels.AlertName), Prefix) + "/" + f.Labels.Get(severityLabel)
		var own []string
		f.Labels.Range(func(l labels.Label) {
			usual := l.Name == labels.AlertName || l.Name == severityLabel || l.Name == "job" && l.Value == "a" || l.Name == "lock_name" && l.Value == "x"
			if !usual {
				own = append(own, fmt.Sprintf("%s=%q", l.Name, l.Value))
			}
		})
		if len(own) > 0 {
			name += "{" + strings.Join(own, ",") + "}"
		}
		line := name + " " + model.Duration(f.From).String() + ".."
		if !f.Open {
			line += model.Duration(f.To).String()
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
