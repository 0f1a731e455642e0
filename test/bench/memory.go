package main

import (
	"context"
	"fmt"
	"io"
	"runtime"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/leaderscope/leaderscope/exporter/otelmetric"
	"github.com/leaderscope/leaderscope/exporter/prom"
	"github.com/leaderscope/leaderscope/instrument"
)

func memory(w io.Writer) {
	fmt.Fprintf(w, "\n## Memory: what a lock keeps\n\n%d locks, after one acquisition of each and one collection; the rows with an exporter include the core.\n", locks)
	fmt.Fprintf(w, "Native histograms are client_golang's; with them a lock keeps %.0f bytes.\n", weight(keepProm(prom.WithHistograms(prom.Native))))
	target := newTargets(w)
	target.most("core, bytes", weight(keepCore), 800)
	target.most("core and exporter/prom, bytes", weight(keepProm()), 4500)
	target.most("core, exporter/otelmetric and the SDK, bytes", weight(keepOTel), 3000)
}

// weight is what a fleet keeps, for each lock, after one cycle of each lock
// and one collection, in bytes. keep makes the fleet and returns what holds it.
func weight(keep func() any) float64 {
	before := heap()
	held := keep()
	after := heap()
	runtime.KeepAlive(held)
	return float64(after-before) / locks
}

func heap() int64 {
	var s runtime.MemStats
	for range 3 { // finalizers and pools take a cycle each
		runtime.GC()
	}
	runtime.ReadMemStats(&s)
	return int64(s.HeapAlloc)
}

func keepCore() any {
	m := newMiddleware()
	all := fleet(m)
	work(all)
	m.Collect(func(*instrument.Sample) {})
	return []any{m, all}
}

func keepProm(opts ...prom.Option) func() any {
	return func() any {
		m, r := newMiddleware(), prometheus.NewRegistry()
		made(prom.Register(r, m, opts...))
		all := fleet(m)
		work(all)
		made(r.Gather())
		return []any{m, r, all}
	}
}

func keepOTel() any {
	m := newMiddleware()
	p, r := newProvider()
	e := made(otelmetric.New(m, otelmetric.WithMeterProvider(p)))
	all := fleet(m)
	work(all)
	var data metricdata.ResourceMetrics
	if err := r.Collect(context.Background(), &data); err != nil {
		panic(err)
	}
	return []any{m, p, r, e, all}
}
