package promeval

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunks"
)

// Record evaluates a recording rule every step from 0 to end, both included,
// and adds what it finds to the store, so that rules recorded later can read
// it. Where a series ends it is marked stale, as Prometheus does. It must not
// run beside queries.
func (s *Store) Record(ctx context.Context, name, expr string, end, step time.Duration) error {
	matrix, done, err := s.evaluate(ctx, expr, end, step)
	if err != nil {
		return err
	}
	defer done()
	for _, series := range matrix {
		b := labels.NewBuilder(series.Metric)
		lset := b.Set(model.MetricNameLabel, name).Labels()
		if slices.ContainsFunc(s.series, func(o storage.Series) bool { return labels.Equal(o.Labels(), lset) }) {
			return fmt.Errorf("recording %s: two results become the series %s", name, lset)
		}
		s.series = append(s.series, storage.NewListSeries(lset, recorded(series, end, step)))
	}
	slices.SortFunc(s.series, func(a, b storage.Series) int { return labels.Compare(a.Labels(), b.Labels()) })
	return nil
}

// recorded are the samples of a series, with a marker after each stretch.
func recorded(series promql.Series, end, step time.Duration) []chunks.Sample {
	at := map[int64]sample{}
	for _, p := range series.Floats {
		at[p.T] = sample{t: p.T, f: p.F}
	}
	for _, p := range series.Histograms {
		at[p.T] = sample{t: p.T, h: p.H.Copy()}
	}
	var out []chunks.Sample
	present := false
	for t := time.Duration(0); t <= end; t += step {
		found, ok := at[t.Milliseconds()]
		switch {
		case ok:
			out = append(out, found)
		case present:
			out = append(out, sample{t: t.Milliseconds(), f: math.Float64frombits(value.StaleNaN)})
		}
		present = ok
	}
	return out
}

// RecordAlerts adds the series ALERTS and ALERTS_FOR_STATE of alerts that fired,
// as their evaluation every step from 0 to end writes them; alerts that are
// pending are left out. It must not run beside queries.
func (s *Store) RecordAlerts(fired []Firing, end, step time.Duration) {
	alerts := map[uint64]*promql.Series{}
	since := map[uint64]*promql.Series{}
	for _, f := range fired {
		h := f.Labels.Hash()
		if alerts[h] == nil {
			b := labels.NewBuilder(f.Labels)
			since[h] = &promql.Series{Metric: b.Set(model.MetricNameLabel, "ALERTS_FOR_STATE").Labels()}
			alerts[h] = &promql.Series{Metric: b.Set(model.MetricNameLabel, "ALERTS").Set("alertstate", "firing").Labels()}
		}
		for t := f.From; t <= end && (f.Open || t < f.To); t += step {
			alerts[h].Floats = append(alerts[h].Floats, promql.FPoint{T: t.Milliseconds(), F: 1})
			since[h].Floats = append(since[h].Floats, promql.FPoint{T: t.Milliseconds(), F: f.From.Seconds()})
		}
	}
	for _, series := range []map[uint64]*promql.Series{alerts, since} {
		for _, one := range series {
			s.series = append(s.series, storage.NewListSeries(one.Metric, recorded(*one, end, step)))
		}
	}
	slices.SortFunc(s.series, func(a, b storage.Series) int { return labels.Compare(a.Labels(), b.Labels()) })
}
