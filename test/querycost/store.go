package main

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/timestamp"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb"

	"github.com/leaderscope/leaderscope/alerts"
)

// write puts the fleet's samples until end into a block of dir, and returns
// the number of its series.
func (f fleet) write(ctx context.Context, dir string, end time.Time) (int, error) {
	w, err := newBlock(dir, f.span)
	if err != nil {
		return 0, err
	}
	defer w.Close()
	all := f.all()
	refs := make([]storage.SeriesRef, len(all))
	gone := make([]bool, len(all))
	start := end.Add(-f.span)
	for n := 0; n <= int(f.span/scrape); n++ {
		at := start.Add(time.Duration(n) * scrape)
		app := w.Appender(ctx)
		for i, s := range all {
			p := s.point
			p.n, p.at = n, at.Unix()
			v := s.value(p)
			if math.IsNaN(v) {
				if refs[i] == 0 || gone[i] {
					continue
				}
				v = math.Float64frombits(value.StaleNaN)
			}
			gone[i] = math.IsNaN(v)
			if refs[i], err = app.Append(refs[i], s.labels, timestamp.FromTime(at), v); err != nil {
				return 0, fmt.Errorf("%s at %s: %w", s.labels, at, err)
			}
		}
		if err := app.Commit(); err != nil {
			return 0, err
		}
	}
	_, err = w.Flush(ctx)
	return written(refs), err
}

// written counts the series that ever had a sample.
func written(refs []storage.SeriesRef) (n int) {
	for _, ref := range refs {
		if ref != 0 {
			n++
		}
	}
	return n
}

// newBlock takes samples in any order of time: a head refuses what is older
// than half of its range.
func newBlock(dir string, span time.Duration) (*tsdb.BlockWriter, error) {
	return tsdb.NewBlockWriter(slog.New(slog.DiscardHandler), dir, (4 * span).Milliseconds())
}

// newEngine is Prometheus' own, without its limit on samples.
func newEngine() *promql.Engine {
	return promql.NewEngine(promql.EngineOpts{
		MaxSamples: math.MaxInt32, Timeout: 10 * time.Minute, LookbackDelta: 5 * time.Minute,
		EnableAtModifier: true, EnableNegativeOffset: true,
		NoStepSubqueryIntervalFn: func(int64) int64 { return scrape.Milliseconds() },
		Parser:                   parser.NewParser(parser.Options{}),
	})
}

// record evaluates the recording rules over the whole span, in rounds so that
// rules see what earlier ones recorded, and writes a block for each round.
func record(ctx context.Context, dir string, rules []alerts.Recording, end time.Time, span time.Duration) error {
	for len(rules) > 0 {
		n := independent(rules)
		if err := recordRound(ctx, dir, rules[:n], end, span); err != nil {
			return err
		}
		rules = rules[n:]
	}
	return nil
}

// independent is how many rules at the beginning read none of each other.
func independent(rules []alerts.Recording) int {
	names := map[string]bool{}
	for i, r := range rules {
		parsed, err := parser.NewParser(parser.Options{}).ParseExpr(r.Expr)
		if err != nil {
			return i
		}
		for _, selector := range parser.ExtractSelectors(parsed) {
			for _, m := range selector {
				if m.Name == model.MetricNameLabel && names[m.Value] {
					return i
				}
			}
		}
		names[r.Name] = true
	}
	return len(rules)
}

func recordRound(ctx context.Context, dir string, rules []alerts.Recording, end time.Time, span time.Duration) error {
	db, err := tsdb.OpenDBReadOnly(dir, "", slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	defer db.Close()
	w, err := newBlock(dir, span)
	if err != nil {
		return err
	}
	defer w.Close()
	engine := newEngine()
	defer engine.Close()
	for _, r := range rules {
		q, err := engine.NewRangeQuery(ctx, db, nil, r.Expr, end.Add(-span), end, scrape)
		if err != nil {
			return fmt.Errorf("recording %s: %w", r.Name, err)
		}
		result := q.Exec(ctx)
		matrix, err := result.Matrix()
		if err == nil {
			err = appendRecorded(ctx, w, r.Name, matrix, end)
		}
		q.Close()
		if err != nil {
			return fmt.Errorf("recording %s: %w", r.Name, err)
		}
	}
	_, err = w.Flush(ctx)
	return err
}

// appendRecorded writes a rule's result, with a marker where a series ends.
func appendRecorded(ctx context.Context, w *tsdb.BlockWriter, name string, matrix promql.Matrix, end time.Time) error {
	app := w.Appender(ctx)
	for _, s := range matrix {
		lset := labels.NewBuilder(s.Metric).Set(model.MetricNameLabel, name).Labels()
		var ref storage.SeriesRef
		var err error
		last := timestamp.FromTime(end)
		for i, p := range s.Floats {
			if ref, err = app.Append(ref, lset, p.T, p.F); err != nil {
				return err
			}
			next := p.T + scrape.Milliseconds()
			if ends := next <= last && (i+1 == len(s.Floats) || s.Floats[i+1].T != next); ends {
				if ref, err = app.Append(ref, lset, next, math.Float64frombits(value.StaleNaN)); err != nil {
					return err
				}
			}
		}
	}
	return app.Commit()
}
