package otelsetup

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/trace"

	"github.com/leaderscope/leaderscope/exporter/otelmetric"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/redact"
)

func newMiddleware(t *testing.T, opts ...instrument.Option) *instrument.Middleware {
	t.Helper()
	m, err := instrument.New(append([]instrument.Option{instrument.WithRedactor(redact.Raw())}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestTheLimitOfAttributeSetsFitsEveryReasonOfEveryLabel(t *testing.T) {
	reason, ok := catalog.NotAcquired.Label("reason") // the largest closed set
	if !ok {
		t.Fatal("no label reason")
	}
	for name, c := range map[string]struct {
		m    *instrument.Middleware
		want int
	}{
		"no middleware": {nil, otelmetric.DefaultCardinalityLimit},
		"a few labels":  {newMiddleware(t, instrument.WithMaxLabels(10)), otelmetric.DefaultCardinalityLimit},
		"the default":   {newMiddleware(t), (instrument.DefaultMaxLabels+1)*reason.Size() + 1},
		"many labels":   {newMiddleware(t, instrument.WithMaxLabels(1000)), 1001*reason.Size() + 1},
	} {
		t.Run(name, func(t *testing.T) {
			if got := attributeSets(c.m); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}

// attempt has a lock observe how long an attempt took.
func attempt(ctx context.Context, m *instrument.Middleware, name string, took time.Duration) {
	_, _ = m.Named(name).Acquire(ctx, electtest.NewElector(electtest.Step{Wait: took, Err: instrument.ErrContended}))
}

func produce(t *testing.T, p metric.Producer) []metricdata.Metrics {
	t.Helper()
	scopes, err := p.Produce(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var all []metricdata.Metrics
	for _, s := range scopes {
		if s.Scope != (instrumentation.Scope{Name: otelmetric.ScopeName}) || len(s.Metrics) == 0 {
			t.Errorf("scope %v with %d metrics", s.Scope, len(s.Metrics))
		}
		all = append(all, s.Metrics...)
	}
	return all
}

func TestHistogramsProduceNothingBeforeTheFirstObservationAndAfterTheEnd(t *testing.T) {
	for name, opts := range map[string][]HistogramOption{
		"explicit": {nil}, "exponential": {WithNativeHistograms()}, "with exemplars": {WithExemplars()}, "all": {WithNativeHistograms(), WithExemplars()},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMiddleware(t)
			h := NewHistograms(m, opts...)
			m.Named("x")
			if got := produce(t, h); got != nil {
				t.Errorf("before: %v", got)
			}
			attempt(context.Background(), m, "x", 0)
			if got := produce(t, h); len(got) != 1 || got[0].Name != catalog.AcquireDuration.OTel() || got[0].Unit != catalog.AcquireDuration.Unit() || got[0].Description != catalog.AcquireDuration.Help() {
				t.Errorf("%v", got)
			}
			for range 2 {
				if err := h.Close(); err != nil {
					t.Error(err)
				}
			}
			if got := produce(t, h); got != nil {
				t.Errorf("after: %v", got)
			}
		})
	}
	if got := produce(t, NewHistograms(nil, WithNativeHistograms())); got != nil {
		t.Errorf("of no middleware: %v", got)
	}
}

func TestEachValueOfALabelledHistogramIsObservedByItself(t *testing.T) {
	h := NewHistograms(newMiddleware(t), WithNativeHistograms())
	defer func() { _ = h.Close() }()
	o, _ := h.locks.observer("x").(*observer)
	labelled := 0
	for _, m := range catalog.All() {
		if m.Kind() != catalog.Histogram || m.NumLabels() == 0 {
			continue
		}
		labelled++
		for _, value := range []string{"a", "b", "a"} {
			o.Observe(context.Background(), m, []string{value}, 2)
		}
		for value, want := range map[string]uint64{"a": 2, "b": 1} {
			if got := o.read(m, value).GetSampleCount(); got != want {
				t.Errorf("%s of %q has %d observations, want %d", m.Name(), value, got, want)
			}
		}
		if o.read(m, "c") != nil {
			t.Errorf("%s has a value that was not observed", m.Name())
		}
	}
	if labelled == 0 {
		t.Error("the catalogue has no histogram with a label")
	}
}

// An empty label is no label.
func TestALabelledHistogramHasTheNameOfItsBackendWhereThereIsOne(t *testing.T) {
	for form, opts := range map[string][]HistogramOption{"explicit": nil, "exponential": {WithNativeHistograms()}} {
		t.Run(form, func(t *testing.T) {
			m := newMiddleware(t)
			h := NewHistograms(m, opts...)
			defer func() { _ = h.Close() }()
			for _, e := range []*instrument.Election{m.Named("a"), m.Named("b", instrument.Backend("etcd"))} {
				for _, holder := range []string{"one", "another"} {
					e.ObserveBackend(instrument.BackendView{State: instrument.BackendHeld, Holder: holder})
				}
			}
			attempt(context.Background(), m, "b", 0)
			got := map[string][]string{}
			for _, x := range produce(t, h) {
				switch d := x.Data.(type) {
				case metricdata.Histogram[float64]:
					for _, p := range d.DataPoints {
						got[x.Name] = append(got[x.Name], fmt.Sprint(p.Attributes.ToSlice(), p.Count))
					}
				case metricdata.ExponentialHistogram[float64]:
					for _, p := range d.DataPoints {
						got[x.Name] = append(got[x.Name], fmt.Sprint(p.Attributes.ToSlice(), p.Count))
					}
				}
			}
			for _, points := range got {
				slices.Sort(points)
			}
			text := func(pairs ...attribute.KeyValue) string { return fmt.Sprint(pairs, 1) }
			name, backend := attribute.Key(catalog.LockName.Attribute()), attribute.Key(catalog.BackendHandover.LabelAt(0).Attribute())
			want := map[string][]string{
				catalog.BackendHandover.OTel(): {text(backend.String("etcd"), name.String("b")), text(name.String("a"))},
				catalog.AcquireDuration.OTel(): {text(name.String("b"))},
			}
			slices.Sort(want[catalog.BackendHandover.OTel()])
			if !maps.EqualFunc(got, want, slices.Equal) {
				t.Errorf("%v, want %v", got, want)
			}
		})
	}
}

// Explicit buckets are the core's, and an observation of a backend has no span.
func TestALabelledHistogramIsKeptInItsNativeFormOnly(t *testing.T) {
	for name, c := range map[string]struct {
		opts []HistogramOption
		want int
	}{
		"explicit with exemplars": {[]HistogramOption{WithExemplars()}, 0},
		"exponential":             {[]HistogramOption{WithNativeHistograms()}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			h := NewHistograms(newMiddleware(t), c.opts...)
			defer func() { _ = h.Close() }()
			o, _ := h.locks.observer("x").(*observer)
			o.Observe(context.Background(), catalog.BackendHandover, []string{"etcd"}, 1)
			if got := len(o.labelled); got != c.want {
				t.Errorf("%d histograms are kept, want %d", got, c.want)
			}
		})
	}
}

func TestClassicBucketsAreKeptForExemplarsOnly(t *testing.T) {
	for _, c := range []struct{ native, exemplars, classic, want bool }{
		{false, false, true, false},
		{true, false, true, false},
		{true, true, false, false},
		{false, true, true, true},
		{true, true, true, true},
	} {
		h := newHistograms(newMiddleware(t), histogramConfig{native: c.native, exemplars: c.exemplars}, c.classic)
		if h.locks.classic != c.want {
			t.Errorf("%+v: classic buckets are kept: %v", c, h.locks.classic)
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestAnExplicitHistogramIsThatOfTheCore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMiddleware(t)
		h := NewHistograms(m)
		start := time.Now()
		attempt(context.Background(), m, "a", time.Second)
		time.Sleep(time.Second)
		attempt(context.Background(), m, "b", 2*time.Second)
		attempt(context.Background(), m, "b", 3*time.Second)
		data, _ := produce(t, h)[0].Data.(metricdata.Histogram[float64])
		got := map[string]string{}
		for _, p := range data.DataPoints {
			name, _ := p.Attributes.Value("lock.name")
			buckets := ""
			for i, n := range p.BucketCounts {
				if n > 0 {
					buckets += fmt.Sprintf(" %d:%d", i, n)
				}
			}
			got[name.AsString()] = fmt.Sprintf("%d of %v from %v to %v,%s", p.Count, p.Sum, p.StartTime.Sub(start), p.Time.Sub(start), buckets)
			if len(p.BucketCounts) != len(p.Bounds)+1 || len(p.Bounds) != len(catalog.AcquireDuration.Bounds()) || p.Exemplars != nil {
				t.Errorf("%d counts of %d buckets", len(p.BucketCounts), len(p.Bounds))
			}
		}
		bucket := func(v float64) int { return catalog.AcquireDuration.BucketOf(v) }
		want := map[string]string{
			"a": fmt.Sprintf("1 of 1 from 0s to 7s, %d:1", bucket(1)),
			"b": fmt.Sprintf("2 of 5 from 2s to 7s, %d:1 %d:1", bucket(2), bucket(3)),
		}
		if bucket(2) == bucket(3) {
			want["b"] = fmt.Sprintf("2 of 5 from 2s to 7s, %d:2", bucket(2))
		}
		if fmt.Sprint(got) != fmt.Sprint(want) || data.Temporality != metricdata.CumulativeTemporality {
			t.Errorf("%v, want %v; %v", got, want, data.Temporality)
		}
	})
}

// An exponential histogram counts (base^(offset+i), base^(offset+i+1)], where
// base is 2^(1/8).
func TestAnExponentialHistogramCountsEachValueInItsBucket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMiddleware(t)
		h := NewHistograms(m, WithNativeHistograms())
		defer h.Close()
		start := time.Now()
		values := []time.Duration{time.Second + 1, time.Second + 1, 2 * time.Second, 5 * time.Second, 64 * time.Second}
		for _, v := range values {
			attempt(context.Background(), m, "x", v)
		}
		data, _ := produce(t, h)[0].Data.(metricdata.ExponentialHistogram[float64])
		p := data.DataPoints[0]
		got := map[int]uint64{}
		for i, n := range p.PositiveBucket.Counts {
			if n > 0 {
				got[int(p.PositiveBucket.Offset)+i] = n
			}
		}
		want := map[int]uint64{}
		for _, v := range values {
			want[int(math.Ceil(math.Log2(v.Seconds())*8))-1]++
		}
		total := time.Since(start)
		if fmt.Sprint(got) != fmt.Sprint(want) || p.Count != 5 || math.Abs(p.Sum-total.Seconds()) > 1e-6 || p.Scale != 3 || data.Temporality != metricdata.CumulativeTemporality {
			t.Errorf("%v, want %v: %+v", got, want, p)
		}
		if !p.StartTime.Equal(start) || !p.Time.Equal(start.Add(total)) || p.ZeroCount != 0 || len(p.NegativeBucket.Counts) != 0 || p.Exemplars != nil {
			t.Errorf("%+v", p)
		}
		attempt(context.Background(), m, "x", 0)
		data, _ = produce(t, h)[0].Data.(metricdata.ExponentialHistogram[float64])
		if p := data.DataPoints[0]; p.ZeroCount != 1 || p.Count != 6 || p.ZeroThreshold != 0 {
			t.Errorf("with a zero: %+v", p)
		}
	})
}

// The resolution is that of exporter/prom, and of the View for other providers.
func TestAnExponentialHistogramHas160BucketsBeforeItsResolutionIsHalved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMiddleware(t)
		h := NewHistograms(m, WithNativeHistograms())
		defer h.Close()
		for i := range 161 { // in the middle of a bucket of scale 3
			attempt(context.Background(), m, "x", time.Duration(float64(time.Millisecond)*math.Exp2((float64(i)+0.5)/8)))
			data, _ := produce(t, h)[0].Data.(metricdata.ExponentialHistogram[float64])
			if scale := data.DataPoints[0].Scale; (scale == 3) != (i < 160) {
				t.Fatalf("scale %d after %d values", scale, i+1)
			}
		}
	})
}

func TestTheViewTakesTheHistogramsOfOtelmetricOnly(t *testing.T) {
	ours := instrumentation.Scope{Name: otelmetric.ScopeName}
	in := metric.Instrument{Name: "n", Description: "d", Unit: "s", Kind: metric.InstrumentKindHistogram, Scope: ours}
	stream, ok := NativeHistograms(in)
	want := metric.Stream{Name: "n", Description: "d", Unit: "s", Aggregation: metric.AggregationBase2ExponentialHistogram{MaxSize: 160, MaxScale: 3}}
	if !ok || fmt.Sprintf("%#v", stream) != fmt.Sprintf("%#v", want) {
		t.Errorf("%#v, %v", stream, ok)
	}
	counter, other := in, in
	counter.Kind, other.Scope.Name = metric.InstrumentKindObservableCounter, "other"
	for _, i := range []metric.Instrument{counter, other} {
		if stream, ok := NativeHistograms(i); ok || stream.Aggregation != nil {
			t.Errorf("%v: %#v", i, stream)
		}
	}
}

func TestExemplarsAreThoseOfSampledOperationsWhereTheyAreAskedFor(t *testing.T) {
	id := trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}}
	for name, c := range map[string]struct {
		opts    []HistogramOption
		flags   trace.TraceFlags
		present bool
	}{
		"explicit, sampled":                  {[]HistogramOption{WithExemplars()}, trace.FlagsSampled, true},
		"explicit, not sampled":              {[]HistogramOption{WithExemplars()}, 0, false},
		"explicit, not asked for":            {nil, trace.FlagsSampled, false},
		"exponential, sampled":               {[]HistogramOption{WithNativeHistograms(), WithExemplars()}, trace.FlagsSampled, true},
		"exponential, not sampled":           {[]HistogramOption{WithNativeHistograms(), WithExemplars()}, 0, false},
		"exponential, without being asked":   {[]HistogramOption{WithNativeHistograms()}, trace.FlagsSampled, false},
		"exponential, neither asked nor set": {[]HistogramOption{WithNativeHistograms()}, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMiddleware(t)
				h := NewHistograms(m, c.opts...)
				defer h.Close()
				id.TraceFlags = c.flags
				ctx := trace.ContextWithSpanContext(context.Background(), trace.NewSpanContext(id))
				attempt(ctx, m, "x", 3*time.Second)
				var got []metricdata.Exemplar[float64]
				switch d := produce(t, h)[0].Data.(type) {
				case metricdata.Histogram[float64]:
					got = d.DataPoints[0].Exemplars
				case metricdata.ExponentialHistogram[float64]:
					got = d.DataPoints[0].Exemplars
				}
				if !c.present {
					if len(got) != 0 {
						t.Errorf("%v", got)
					}
					return
				}
				if len(got) != 1 || got[0].Value != 3 || !got[0].Time.Equal(time.Now()) || string(got[0].TraceID) != string(id.TraceID[:]) || string(got[0].SpanID) != string(id.SpanID[:]) {
					t.Errorf("%v", got)
				}
			})
		})
	}
}

// Exemplars are kept for each bucket of the catalogue, not of a default.
func TestEachClassicBucketHasItsExemplar(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMiddleware(t)
		h := NewHistograms(m, WithExemplars())
		defer h.Close()
		ctx := trace.ContextWithSpanContext(context.Background(), trace.NewSpanContext(trace.SpanContextConfig{
			TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, TraceFlags: trace.FlagsSampled,
		}))
		bounds := catalog.AcquireDuration.Bounds()
		for _, bound := range bounds {
			attempt(ctx, m, "x", time.Duration(bound*float64(time.Second)))
		}
		data, _ := produce(t, h)[0].Data.(metricdata.Histogram[float64])
		if got := len(data.DataPoints[0].Exemplars); got != len(bounds) {
			t.Errorf("%d exemplars of %d buckets", got, len(bounds))
		}
	})
}

// The core closes an observer without a mutex, so that the label may have come
// back by then.
func TestAnObserverThatIsClosedLateLeavesItsSuccessor(t *testing.T) {
	h := NewHistograms(newMiddleware(t), WithNativeHistograms())
	defer h.Close()
	first, _ := h.locks.observer("x").(*observer)
	other, _ := h.locks.observer("y").(*observer)
	second, _ := h.locks.observer("x").(*observer)
	if first.Close(); h.locks.find("x") != second || h.locks.find("y") != other {
		t.Error("the second has gone with the first")
	}
	first.Observe(context.Background(), catalog.AcquireDuration, nil, 1)
	second.Observe(context.Background(), catalog.Attempts, nil, 1) // no histogram
	if second.read(catalog.AcquireDuration, "") != nil || second.read(catalog.Attempts, "") != nil {
		t.Error("the second has what it was not told")
	}
	if second.Close(); h.locks.find("x") != nil || h.locks.find("y") != other || len(h.locks.by) != 1 {
		t.Errorf("%d labels are left", len(h.locks.by))
	}
	var none *observer
	none.Observe(context.Background(), catalog.AcquireDuration, nil, 1)
	if none.read(catalog.AcquireDuration, "") != nil || none.exemplars(catalog.AcquireDuration) != nil {
		t.Error("no observer has something")
	}
}

func TestOnlyWhatIsExportedIsKept(t *testing.T) {
	m := newMiddleware(t, instrument.WithoutSeries(catalog.GroupWaiting))
	h := NewHistograms(m, WithNativeHistograms())
	defer h.Close()
	o, _ := h.locks.observer("x").(*observer)
	o.Observe(context.Background(), catalog.AcquireDuration, nil, 1)
	o.Observe(context.Background(), catalog.ExecutionDuration, nil, 1)
	if o.read(catalog.AcquireDuration, "") != nil || o.read(catalog.ExecutionDuration, "") == nil {
		t.Error("a series that was left out is kept, or one that was not is not")
	}
}

func TestAnExemplarWithoutProperIdentifiersHasItsValue(t *testing.T) {
	if e := exemplarOf(nil); e.Value != 0 || e.TraceID != nil || e.SpanID != nil {
		t.Errorf("%v", e)
	}
}
