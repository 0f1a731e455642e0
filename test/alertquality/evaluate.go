package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/storage"

	"github.com/leaderscope/leaderscope/internal/promeval"
	"github.com/leaderscope/leaderscope/test/alertquality/fleet"
)

// firing is a stretch of time in which one alert of a rule fired.
type firing struct {
	rule   *rule
	labels labels.Labels
	fleet.Span
	value float64
}

// part is how much of a world is evaluated at once: series that have no
// samples in it cost nothing.
const part = 12 * time.Hour

// maxSamples is what one query may hold.
const maxSamples = 50_000_000

// evaluation runs rules over a history, as a server does that evaluates every
// step.
type evaluation struct {
	history *fleet.History
	length  time.Duration
	step    time.Duration
	store   *promeval.Store
}

func newEvaluation(h *fleet.History, length, step time.Duration) *evaluation {
	series := make([]storage.Series, len(h.Series))
	for i, s := range h.Series {
		series[i] = s
	}
	return &evaluation{history: h, length: length, step: step, store: promeval.Of(series, step, promeval.V3, maxSamples)}
}

// firings evaluates a rule. A restart of the server leaves evaluations out and
// forgets what was pending: the rules wait for less than the ten minutes from
// which on Prometheus restores it.
func (e *evaluation) firings(ctx context.Context, r *rule) ([]firing, error) {
	step := cmp.Or(r.interval, e.step)
	states := map[uint64]*alertState{}
	var out []firing
	for from := time.Duration(0); from < e.length; from += part {
		to := min(from+part, e.length) - step
		matrix, done, err := e.store.Range(ctx, r.Expr, fleet.Epoch.Add(from), fleet.Epoch.Add(to), step)
		if err != nil {
			return nil, fmt.Errorf("rule %s: %w", r.key, err)
		}
		at := map[uint64]map[time.Duration]float64{}
		for _, series := range matrix {
			id := series.Metric.Hash()
			if states[id] == nil {
				states[id] = &alertState{labels: alertLabels(r, series.Metric)}
			}
			values := make(map[time.Duration]float64, len(series.Floats))
			for _, p := range series.Floats {
				values[time.Duration(p.T-fleet.Epoch.UnixMilli())*time.Millisecond] = p.F
			}
			at[id] = values
		}
		done()
		for id, s := range states {
			for now := from; now <= to; now += step {
				v, found := at[id][now]
				out = s.step(r, e.history, now, v, found, out)
			}
		}
	}
	for _, s := range states {
		if s.Firing {
			out = append(out, s.fired(r, e.length))
		}
	}
	slices.SortFunc(out, func(a, b firing) int {
		return cmp.Or(cmp.Compare(a.From, b.From), labels.Compare(a.labels, b.labels))
	})
	return out, nil
}

// alertState is one alert between evaluations.
type alertState struct {
	promeval.State
	labels labels.Labels
	since  time.Duration
	value  float64
}

func (s *alertState) step(r *rule, h *fleet.History, now time.Duration, v float64, found bool, out []firing) []firing {
	before := s.Firing
	if restarting(h, now) {
		s.State = promeval.State{}
	} else {
		s.Step(r.Rule, now, found)
	}
	switch {
	case s.Firing && !before:
		s.since, s.value = now, v
	case !s.Firing && before:
		out = append(out, s.fired(r, now))
	}
	return out
}

func (s *alertState) fired(r *rule, until time.Duration) firing {
	return firing{rule: r, labels: s.labels, Span: fleet.Span{From: s.since, To: until}, value: s.value}
}

func restarting(h *fleet.History, now time.Duration) bool {
	for _, r := range h.Restarts {
		if now >= r.From && now < r.To {
			return true
		}
	}
	return false
}

func alertLabels(r *rule, metric labels.Labels) labels.Labels {
	b := labels.NewBuilder(metric).Del(model.MetricNameLabel).Set(labels.AlertName, r.Name)
	for name, value := range r.Labels {
		b.Set(name, value)
	}
	return b.Labels()
}
