package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb"

	"github.com/leaderscope/leaderscope/alerts"
	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// groupCost is how long one evaluation of the rule groups takes.
type groupCost struct {
	locks, series     int
	alerts, recording time.Duration
	// slowest is the alert that takes longest, and its time.
	slowest     string
	slowestTime time.Duration
}

// measureGroups evaluates each rule some times over a fleet of that size.
func measureGroups(ctx context.Context, f fleet, times int) (cost groupCost, err error) {
	c := alerts.Default()
	c.Recording = true
	rules, err := alerts.Rules(c)
	if err != nil {
		return cost, err
	}
	recordings, err := alerts.Recordings(c)
	if err != nil {
		return cost, err
	}
	f.reads = readBy(rules, recordings)
	dir, err := os.MkdirTemp("", "querycost-")
	if err != nil {
		return cost, err
	}
	defer os.RemoveAll(dir)
	end := time.Now().Truncate(scrape)
	cost.locks = f.locks
	if cost.series, err = f.write(ctx, dir, end); err != nil {
		return cost, err
	}
	// What judgements of the recording group read; only the last minutes of it
	// are looked at, but for the count of near leases.
	if err := record(ctx, dir, recordings[:independent(recordings)], end, f.span); err != nil {
		return cost, err
	}
	db, err := tsdb.OpenDBReadOnly(dir, "", slog.New(slog.DiscardHandler))
	if err != nil {
		return cost, err
	}
	defer db.Close()
	engine := newEngine()
	defer engine.Close()
	for _, r := range rules {
		least, err := fastestRule(ctx, engine, db, r.Expr, end, times)
		if err != nil {
			return cost, fmt.Errorf("alert %s: %w", r.Name, err)
		}
		cost.alerts += least
		if least > cost.slowestTime {
			cost.slowest, cost.slowestTime = r.Name, least
		}
	}
	for _, r := range recordings {
		least, err := fastestRule(ctx, engine, db, r.Expr, end, times)
		if err != nil {
			return cost, fmt.Errorf("recording %s: %w", r.Name, err)
		}
		cost.recording += least
	}
	return cost, nil
}

func fastestRule(ctx context.Context, engine *promql.Engine, db storage.Queryable, expr string, at time.Time, times int) (time.Duration, error) {
	var least time.Duration
	for i := range times {
		begin := time.Now()
		q, err := engine.NewInstantQuery(ctx, db, nil, expr, at)
		if err != nil {
			return 0, err
		}
		err = q.Exec(ctx).Err
		q.Close()
		if err != nil {
			return 0, err
		}
		if took := time.Since(begin); i == 0 || took < least {
			least = took
		}
	}
	return least, nil
}

// readBy says which metrics the rules name, so that no others are made up.
func readBy(rules []alerts.Rule, recordings []alerts.Recording) func(*catalog.Metric) bool {
	var text strings.Builder
	for _, r := range rules {
		text.WriteString(r.Expr)
	}
	for _, r := range recordings {
		text.WriteString(r.Expr)
	}
	all := text.String()
	return func(m *catalog.Metric) bool { return strings.Contains(all, m.Name()) }
}
