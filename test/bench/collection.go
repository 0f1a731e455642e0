package main

import (
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/leaderscope/leaderscope/exporter/prom"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// collections of 10,000 locks take seconds, so there are fewer of them.
const collections = 5

func collecting(w io.Writer) {
	ours, bare, keep := registries()
	var best, base gathering
	for i := range collections {
		o, b := gather(ours), gather(bare)
		if i == 0 || o.took < best.took {
			best = o
		}
		if i == 0 || b.took < base.took {
			base = b
		}
	}
	runtime.KeepAlive(keep)
	fmt.Fprintf(w, "\n## Collection: %d locks\n\nA registry with exporter/prom against one written by hand with the same series.\n\n", locks)
	fmt.Fprintf(w, "| | series | ms | allocations | MB |\n|---|--:|--:|--:|--:|\n")
	for _, row := range []struct {
		name string
		gathering
	}{{"leaderscope", best}, {"client_golang by hand", base}} {
		fmt.Fprintf(w, "| %s | %d | %.0f | %d | %.0f |\n", row.name, row.series, row.took.Seconds()*1e3, row.allocs, float64(row.bytes)/1e6)
	}
	target := newTargets(w)
	target.most("time", best.took.Seconds()/base.took.Seconds(), 1.2)
	target.most("allocations", float64(best.allocs)/float64(base.allocs), 1.2)
}

// gathering is one collection of a registry.
type gathering struct {
	series int
	took   time.Duration
	allocs uint64
	bytes  uint64
}

func gather(r prometheus.Gatherer) gathering {
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	families := made(r.Gather())
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	g := gathering{took: took, allocs: after.Mallocs - before.Mallocs, bytes: after.TotalAlloc - before.TotalAlloc}
	for _, f := range families {
		g.series += len(f.GetMetric())
	}
	return g
}

// registries are one of leaderscope and one written by hand, with the same
// series at the same values.
func registries() (ours, bare *prometheus.Registry, keep any) {
	m := newMiddleware()
	ours, bare = prometheus.NewRegistry(), prometheus.NewRegistry()
	made(prom.Register(ours, m))
	all := fleet(m)
	work(all)

	vectors := map[*catalog.Metric]collectors{}
	for _, metric := range catalog.All() {
		v := newCollectors(metric)
		bare.MustRegister(v.any())
		vectors[metric] = v
	}
	m.Collect(func(s *instrument.Sample) { vectors[s.Metric].set(s) })
	return ours, bare, []any{m, all}
}

// collectors is the vector of one metric.
type collectors struct {
	counter   *prometheus.CounterVec
	gauge     *prometheus.GaugeVec
	histogram *prometheus.HistogramVec
}

func newCollectors(m *catalog.Metric) collectors {
	switch m.Kind() {
	case catalog.Counter:
		return collectors{counter: prometheus.NewCounterVec(prometheus.CounterOpts{Name: m.Name(), Help: m.Help()}, names(m))}
	case catalog.Histogram:
		return collectors{histogram: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: m.Name(), Help: m.Help(), Buckets: m.Bounds()}, names(m))}
	default:
		return collectors{gauge: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: m.Name(), Help: m.Help()}, names(m))}
	}
}

func (c collectors) any() prometheus.Collector {
	switch {
	case c.counter != nil:
		return c.counter
	case c.histogram != nil:
		return c.histogram
	default:
		return c.gauge
	}
}

func (c collectors) set(s *instrument.Sample) {
	var values []string
	if s.Metric.PerLock() {
		values = append(values, s.Lock)
	}
	values = append(values, s.Values[:len(s.Metric.Labels())]...)
	switch {
	case c.counter != nil:
		c.counter.WithLabelValues(values...).Add(s.Value)
	case c.gauge != nil:
		c.gauge.WithLabelValues(values...).Set(s.Value)
	default:
		h := c.histogram.WithLabelValues(values...)
		for i, n := range s.Histogram.Counts {
			for range n {
				h.Observe(s.Metric.Bounds()[min(i, len(s.Metric.Bounds())-1)])
			}
		}
	}
}
