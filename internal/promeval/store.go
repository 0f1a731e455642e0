// Package promeval evaluates alerting and recording rules over given series, with
// Prometheus' own query engine and template expander. It replaces promtool in tests
// that must not need a binary; restored alert state is not modelled.
package promeval

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/util/annotations"
)

// Series is one series in the notation of promtool's rule tests.
type Series struct {
	// Selector is the series, as in up{job="a"}.
	Selector string
	// Values are samples from time 0 on, one every interval, as in
	// "0+1x60 _x3 stale".
	Values string
}

// Version is a major version of Prometheus. They differ in the sample that
// lies exactly at the beginning of a range or of the lookback.
type Version int

// The versions. V3 leaves the sample at the beginning out, V2 counts it in.
// Source: the migration guide of Prometheus 3.
const (
	V3 Version = 3
	V2 Version = 2
)

// margin widens ranges for V2 by less than any distance between samples.
func (v Version) margin() time.Duration {
	if v == V2 {
		return time.Millisecond
	}
	return 0
}

// Store holds series and answers queries. It is safe for concurrent use.
type Store struct {
	series  []storage.Series
	engine  *promql.Engine
	version Version
}

// Load reads series whose samples are interval apart, beginning at the epoch,
// for queries as a version of Prometheus answers them.
func Load(series []Series, interval time.Duration, version Version) (*Store, error) {
	return LoadLimited(series, interval, version, 10_000_000)
}

// LoadLimited is [Load] for queries that may hold so many samples at once.
func LoadLimited(series []Series, interval time.Duration, version Version, maxSamples int) (*Store, error) {
	p := parser.NewParser(parser.Options{})
	s := newStore(interval, version, maxSamples)
	for _, in := range series {
		lset, values, err := p.ParseSeriesDesc(in.Selector + " " + in.Values)
		if err != nil {
			return nil, fmt.Errorf("series %s: %w", in.Selector, err)
		}
		if slices.ContainsFunc(s.series, func(o storage.Series) bool { return labels.Equal(o.Labels(), lset) }) {
			return nil, fmt.Errorf("duplicate series %s", lset)
		}
		s.series = append(s.series, storage.NewListSeries(lset, samples(values, interval)))
	}
	slices.SortFunc(s.series, func(a, b storage.Series) int { return labels.Compare(a.Labels(), b.Labels()) })
	return s, nil
}

func newStore(interval time.Duration, version Version, maxSamples int) *Store {
	return &Store{version: version, engine: promql.NewEngine(promql.EngineOpts{
		MaxSamples: maxSamples, Timeout: time.Minute, LookbackDelta: 5*time.Minute + version.margin(),
		EnableAtModifier: true, EnableNegativeOffset: true,
		NoStepSubqueryIntervalFn: func(int64) int64 { return interval.Milliseconds() },
		Parser:                   parser.NewParser(parser.Options{}),
	})}
}

func samples(values []parser.SequenceValue, interval time.Duration) []chunks.Sample {
	var out []chunks.Sample
	for i, v := range values {
		if !v.Omitted {
			out = append(out, sample{t: int64(i) * interval.Milliseconds(), f: v.Value, h: v.Histogram})
		}
	}
	return out
}

// sample is a value or a native histogram.
type sample struct {
	t int64
	f float64
	h *histogram.FloatHistogram
}

func (s sample) T() int64                { return s.t }
func (s sample) ST() int64               { return 0 }
func (s sample) F() float64              { return s.f }
func (s sample) H() *histogram.Histogram { return nil }
func (s sample) Copy() chunks.Sample     { return s }

// FH is a copy: the engine computes in what it is given.
func (s sample) FH() *histogram.FloatHistogram {
	if s.h == nil {
		return nil
	}
	return s.h.Copy()
}

func (s sample) Type() chunkenc.ValueType {
	if s.h != nil {
		return chunkenc.ValFloatHistogram
	}
	return chunkenc.ValFloat
}

// Querier implements [storage.Queryable]. The engine itself trims to time.
func (s *Store) Querier(int64, int64) (storage.Querier, error) {
	return &storage.MockQuerier{SelectMockFunction: s.selectSeries}, nil
}

func (s *Store) selectSeries(_ bool, hints *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
	set := &seriesSet{}
	for _, series := range s.series {
		if matches(series, matchers) && !outside(series, hints) {
			set.rest = append(set.rest, series)
		}
	}
	return set
}

func matches(series storage.Series, matchers []*labels.Matcher) bool {
	l := series.Labels()
	return !slices.ContainsFunc(matchers, func(m *labels.Matcher) bool { return !m.Matches(l.Get(m.Name)) })
}

type seriesSet struct {
	current storage.Series
	rest    []storage.Series
}

func (s *seriesSet) Next() bool {
	if len(s.rest) == 0 {
		return false
	}
	s.current, s.rest = s.rest[0], s.rest[1:]
	return true
}

func (s *seriesSet) At() storage.Series                { return s.current }
func (s *seriesSet) Err() error                        { return nil }
func (s *seriesSet) Warnings() annotations.Annotations { return nil }

// Query evaluates an expression at one time. Scalars come back as a vector
// without labels.
func (s *Store) Query(ctx context.Context, expr string, at time.Time) (promql.Vector, error) {
	reduced := s.reduced(expr)
	if reduced == "" {
		return nil, nil
	}
	q, err := s.engine.NewInstantQuery(ctx, s, nil, reduced, at)
	if err != nil {
		return nil, fmt.Errorf("query %s: %w", oneLine(expr), err)
	}
	defer q.Close()
	result := q.Exec(ctx)
	if result.Err != nil {
		return nil, fmt.Errorf("query %s: %w", oneLine(expr), result.Err)
	}
	switch v := result.Value.(type) {
	case promql.Vector:
		return slices.Clone(v), nil
	case promql.Scalar:
		return promql.Vector{{T: v.T, F: v.V}}, nil
	default:
		return nil, fmt.Errorf("query %s: %s is neither vector nor scalar", oneLine(expr), v.Type())
	}
}

// Values evaluates an expression every step from 0 to end, both included.
func (s *Store) Values(ctx context.Context, expr string, end, step time.Duration) (promql.Matrix, error) {
	m, done, err := s.evaluate(ctx, expr, end, step)
	if err != nil {
		return nil, err
	}
	defer done()
	all := make(promql.Matrix, len(m))
	for i, series := range m {
		all[i] = promql.Series{Metric: series.Metric, Floats: slices.Clone(series.Floats)}
	}
	return all, nil
}

// evaluate returns the values of an expression at each step from 0 to end. One
// range query gives the same answers as an instant query at each step.
func (s *Store) evaluate(ctx context.Context, expr string, end, step time.Duration) (promql.Matrix, func(), error) {
	return s.Range(ctx, expr, epoch, epoch.Add(end), step)
}

var epoch = time.Unix(0, 0).UTC()

func oneLine(expr string) string { return strings.Join(strings.Fields(expr), " ") }
