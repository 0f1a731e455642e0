package promeval

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/storage"
)

// Of is a store of series that were made elsewhere, at any times. Queries pass
// over a series with a method Between(from, to int64) bool that denies having
// samples in their range, in milliseconds.
func Of(series []storage.Series, interval time.Duration, version Version, maxSamples int) *Store {
	s := newStore(interval, version, maxSamples)
	s.series = slices.Clone(series)
	slices.SortFunc(s.series, func(a, b storage.Series) int { return labels.Compare(a.Labels(), b.Labels()) })
	return s
}

// bounded knows when it has samples.
type bounded interface {
	Between(from, to int64) bool
}

func outside(series storage.Series, hints *storage.SelectHints) bool {
	b, ok := series.(bounded)
	return ok && hints != nil && !b.Between(hints.Start, hints.End)
}

// Range evaluates an expression every step from one time to another, both
// included. The matrix is valid until done is called.
func (s *Store) Range(ctx context.Context, expr string, from, to time.Time, step time.Duration) (m promql.Matrix, done func(), err error) {
	reduced := s.reduced(expr)
	if reduced == "" {
		return nil, func() {}, nil
	}
	q, err := s.engine.NewRangeQuery(ctx, s, nil, reduced, from, to, step)
	if err != nil {
		return nil, nil, fmt.Errorf("query %s: %w", oneLine(expr), err)
	}
	m, err = q.Exec(ctx).Matrix()
	if err != nil {
		q.Close()
		return nil, nil, fmt.Errorf("query %s: %w", oneLine(expr), err)
	}
	return m, q.Close, nil
}

// State is what Prometheus knows of one alert between evaluations. The zero
// State is that of an alert that was never seen. Source: AlertingRule.Eval in
// github.com/prometheus/prometheus/rules.
type State struct {
	active, keptSince time.Duration
	seen, kept        bool
	// Firing says that the alert fires after the last evaluation.
	Firing bool
}

// Step is one evaluation, which finds the alert's condition or does not.
func (s *State) Step(r Rule, at time.Duration, found bool) {
	if found {
		s.kept = false
		if !s.seen {
			s.active, s.seen = at, true
		}
		s.Firing = s.Firing || at-s.active >= r.For
		return
	}
	if s.Firing && r.KeepFiringFor > 0 {
		// Counted from the first evaluation without a result.
		if !s.kept {
			s.keptSince, s.kept = at, true
		}
		if at-s.keptSince < r.KeepFiringFor {
			return
		}
	}
	*s = State{}
}
