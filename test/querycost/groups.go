package main

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb"

	"github.com/leaderscope/leaderscope/alerts"
	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// groupCost is how long one evaluation of the rule groups takes.
type groupCost struct {
	locks, series int
	recording     time.Duration
	// reference is the time of that query in the same engine.
	reference time.Duration
	rules     []ruleCost
}

// ruleCost is how long one evaluation of an alert takes.
type ruleCost struct {
	name, severity string
	// interval is the time between evaluations.
	interval, took time.Duration
}

// alerts is the time of one evaluation of all groups.
func (g groupCost) alerts() (sum time.Duration) {
	for _, r := range g.rules {
		sum += r.took
	}
	return sum
}

// perScrape is the average time in the interval of the fastest group.
func (g groupCost) perScrape() (sum time.Duration) {
	for _, r := range g.rules {
		sum += time.Duration(float64(r.took) * float64(scrape) / float64(r.interval))
	}
	return sum
}

// every is the time of one evaluation of each group, by its interval, and the
// number of its rules.
func (g groupCost) every(interval time.Duration) (n int, sum time.Duration) {
	for _, r := range g.rules {
		if r.interval == interval {
			n++
			sum += r.took
		}
	}
	return n, sum
}

// intervals are those of the groups, the shortest first.
func (g groupCost) intervals() (all []time.Duration) {
	for _, r := range g.rules {
		all = append(all, r.interval)
	}
	slices.Sort(all)
	return slices.Compact(all)
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
	if cost.reference, err = fastestRule(ctx, engine, db, reference, end, 3*times); err != nil {
		return cost, err
	}
	for _, r := range rules {
		least, err := fastestRule(ctx, engine, db, r.Expr, end, times)
		if err != nil {
			return cost, fmt.Errorf("alert %s: %w", r.Name, err)
		}
		cost.rules = append(cost.rules, ruleCost{
			name: strings.TrimPrefix(r.Name, alerts.Prefix), severity: strings.TrimSpace(r.Severity + " " + r.Variant),
			interval: cmp.Or(time.Duration(r.Interval), scrape), took: least,
		})
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
		begin := used()
		q, err := engine.NewInstantQuery(ctx, db, nil, expr, at)
		if err != nil {
			return 0, err
		}
		err = q.Exec(ctx).Err
		q.Close()
		if err != nil {
			return 0, err
		}
		if took := used() - begin; i == 0 || took < least {
			least = took
		}
	}
	return least, nil
}

// used is the processor time of the process: unlike the time that passes, it does
// not count what else the machine does.
func used() time.Duration {
	var r syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &r) // fails only for another argument
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
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
