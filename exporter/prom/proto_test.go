package prom_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"github.com/leaderscope/leaderscope/exporter/prom"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
)

// created is when each series that counts began, as seconds since start.
func created(t *testing.T, g prometheus.Gatherer, start time.Time) map[string][]string {
	t.Helper()
	families, err := g.Gather()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			lock := ""
			for _, l := range m.GetLabel() {
				if l.GetName() == catalog.LockName.Name() {
					lock = l.GetValue()
				}
			}
			began := "no time"
			stamp := m.GetCounter().GetCreatedTimestamp()
			if h := m.GetHistogram(); h != nil {
				stamp = h.GetCreatedTimestamp()
			}
			if stamp != nil {
				began = stamp.AsTime().Sub(start).String()
			}
			key := fmt.Sprintf("%s of %q", f.GetType(), lock)
			if !slices.Contains(all[key], began) {
				all[key] = append(all[key], began)
			}
		}
	}
	return all
}

// A scrape in text does not show it, but Prometheus takes a counter that is
// new from its creation on.
func TestASeriesBeginsWithItsLock(t *testing.T) {
	for form, histograms := range map[prom.Histograms][3]string{
		prom.Classic:          {"0s", "5s", "9s"},
		prom.Native:           {"0s", "5s", "9s"},
		prom.ClassicAndNative: {"0s", "5s", "9s"},
	} {
		t.Run(fmt.Sprint(form), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				m, r := newMiddleware(t), prometheus.NewPedanticRegistry()
				defer closeIt(t, register(t, r, m, prom.WithHistograms(form)))
				attempt := func(name string) {
					_, _ = named(m, name).Acquire(context.Background(), electtest.Fails(instrument.ErrContended))
				}
				attempt("a")
				time.Sleep(5 * s)
				attempt("b")
				time.Sleep(4 * s)
				attempt("c")
				time.Sleep(s)
				attempt("a")
				want := map[string][]string{`COUNTER of ""`: {"0s"}, `GAUGE of ""`: {"no time"}}
				for i, name := range []string{"a", "b", "c"} {
					want[fmt.Sprintf("COUNTER of %q", name)] = []string{[]string{"0s", "5s", "9s"}[i]}
					want[fmt.Sprintf("GAUGE of %q", name)] = []string{"no time"}
					want[fmt.Sprintf("HISTOGRAM of %q", name)] = []string{histograms[i]}
				}
				if diff := cmp.Diff(want, created(t, r, start)); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		})
	}
}

// The resolution is that of package otelsetup, so that a program can change
// from one to the other.
func TestANativeHistogramHas160BucketsBeforeItsResolutionIsHalved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, r := newMiddleware(t), prometheus.NewPedanticRegistry()
		defer closeIt(t, register(t, r, m, prom.WithHistograms(prom.Native)))
		e := m.Election("x")
		observe := func(i int) { // in the middle of a bucket of schema 3
			d := time.Duration(float64(time.Millisecond) * math.Exp2((float64(i)+0.5)/8))
			_, _ = e.Acquire(context.Background(), electtest.NewElector(electtest.Step{Wait: d, Err: instrument.ErrContended}))
		}
		for i := range 160 {
			observe(i)
		}
		h := histogram(t, r, catalog.AcquireDuration)
		if h.GetSchema() != 3 || len(h.GetPositiveDelta()) != 160 || h.GetZeroThreshold() != 0 {
			t.Errorf("160 values: schema %d, %d buckets, zero up to %v", h.GetSchema(), len(h.GetPositiveDelta()), h.GetZeroThreshold())
		}
		observe(160)
		h = histogram(t, r, catalog.AcquireDuration)
		if h.GetSchema() != 2 || h.GetSampleCount() != 161 {
			t.Errorf("161 values: schema %d, %d observations", h.GetSchema(), h.GetSampleCount())
		}
	})
}

func TestAnExemplarIsTheLastOfItsBucketWithItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		m, r := newMiddleware(t), prometheus.NewPedanticRegistry()
		defer closeIt(t, register(t, r, m, prom.WithExemplars()))
		e := m.Election("x")
		bounds := catalog.AcquireDuration.Bounds()
		seconds := func(v float64) time.Duration { return time.Duration(v * float64(s)) }
		last := seconds(bounds[len(bounds)-1])
		for _, d := range []time.Duration{0, seconds(bounds[0]), seconds(bounds[0]) + time.Millisecond, last, last + s} {
			_, _ = e.Acquire(sampled(trace.FlagsSampled), electtest.NewElector(electtest.Step{Wait: d, Err: instrument.ErrContended}))
		}
		_, _ = e.Acquire(context.Background(), electtest.NewElector(electtest.Step{Err: instrument.ErrContended}))
		got := map[string]string{}
		var times []time.Duration
		for _, b := range histogram(t, r, catalog.AcquireDuration).GetBucket() {
			if x := b.GetExemplar(); x != nil {
				got[fmt.Sprint(b.GetUpperBound())] = fmt.Sprint(x.GetValue())
				times = append(times, x.GetTimestamp().AsTime().Sub(start))
			}
		}
		want := map[string]string{
			fmt.Sprint(bounds[0]): fmt.Sprint(bounds[0]), fmt.Sprint(bounds[1]): fmt.Sprint((seconds(bounds[0]) + time.Millisecond).Seconds()),
			fmt.Sprint(bounds[len(bounds)-1]): fmt.Sprint(last.Seconds()), "+Inf": fmt.Sprint((last + s).Seconds()),
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		first, second := seconds(bounds[0]), 2*seconds(bounds[0])+time.Millisecond
		if want := []time.Duration{first, second, second + last, second + 2*last + s}; !slices.Equal(times, want) {
			t.Errorf("at %v, want %v", times, want)
		}
	})
}

func TestOnlyTheHistogramsHaveExemplars(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, r := newMiddleware(t), prometheus.NewPedanticRegistry()
		defer closeIt(t, register(t, r, m))
		runs(sampled(trace.FlagsSampled), m.Election("x"))
		if got := exemplarsOf(histogram(t, r, catalog.AcquireDuration)); got != nil {
			t.Errorf("exemplars that were not asked for: %v", got)
		}
	})
}

// Buckets are cumulative, in order, and end with the largest finite bound.
func TestAClassicHistogramIsCumulative(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, r := newMiddleware(t), prometheus.NewPedanticRegistry()
		defer closeIt(t, register(t, r, m))
		e, bounds := m.Election("x"), catalog.AcquireDuration.Bounds()
		sum := 0.0
		for _, bound := range append(slices.Clone(bounds), 2*bounds[len(bounds)-1]) {
			d := time.Duration(bound * float64(s))
			sum += d.Seconds()
			_, _ = e.Acquire(context.Background(), electtest.NewElector(electtest.Step{Wait: d, Err: instrument.ErrContended}))
		}
		h := histogram(t, r, catalog.AcquireDuration)
		var got []float64
		for i, b := range h.GetBucket() {
			got = append(got, b.GetUpperBound())
			if b.GetCumulativeCount() != uint64(i+1) {
				t.Errorf("bucket %d counts %d", i, b.GetCumulativeCount())
			}
		}
		if !slices.Equal(got, bounds) || h.GetSampleCount() != uint64(len(bounds)+1) || math.Abs(h.GetSampleSum()-sum) > 1e-9 {
			t.Errorf("bounds %v, count %d, sum %v of %v", got, h.GetSampleCount(), h.GetSampleSum(), sum)
		}
	})
}

// What the series of one lock have in common, and what never changes, is there
// once, and many are made at a time: the forty series of a lock take this many
// allocations, most of them for its two histograms.
const allocationsPerLock = 15

func TestAScrapeAllocatesLittleForEachLock(t *testing.T) {
	for name, opts := range map[string][]prom.Option{
		"bare": nil, "with constant labels": {prom.WithConstLabels(prometheus.Labels{"pool": "a", "zone": "b"})},
	} {
		t.Run(name, func(t *testing.T) {
			allocations := func(locks int) float64 {
				m, registry := newMiddleware(t), &collecting{}
				defer closeIt(t, register(t, registry, m, opts...))
				for i := range locks {
					e := named(m, fmt.Sprint("lock-", i), instrument.LeaseDuration(time.Minute))
					_, _ = e.Acquire(context.Background(), electtest.Fails(instrument.ErrContended))
				}
				metrics := make(chan prometheus.Metric, 50*locks)
				return testing.AllocsPerRun(10, func() {
					registry.collector.Collect(metrics)
					for len(metrics) > 0 {
						<-metrics
					}
				})
			}
			if got := (allocations(60) - allocations(20)) / 40; got > allocationsPerLock {
				t.Errorf("%.2f for each lock, want at most %d", got, allocationsPerLock)
			}
		})
	}
}

// collecting keeps the collector that is registered with it.
type collecting struct{ collector prometheus.Collector }

func (c *collecting) Register(x prometheus.Collector) error {
	descs := make(chan *prometheus.Desc, 1000)
	x.Describe(descs)
	if len(descs) > 1 { // not what asks for the labels that are added
		c.collector = x
	}
	return nil
}
func (c *collecting) MustRegister(...prometheus.Collector) {}
func (c *collecting) Unregister(prometheus.Collector) bool { return true }
