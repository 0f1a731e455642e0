package main

import (
	"context"
	"fmt"
	"io"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/leaderscope/leaderscope/exporter/otelmetric"
	"github.com/leaderscope/leaderscope/exporter/prom"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/redact"
)

// label is what the baselines use; leaderscope makes its own from a name.
const label = "k1:0123456789abcdef"

// benchKey is the key of the labels that are measured.
var benchKey = []byte("0123456789abcdef0123456789abcdef")

// locks is the size of the fleets that are collected and weighed.
const locks = 10_000

type lease struct{}

func (lease) Release(context.Context) error { return nil }

var wins = instrument.AcquirerFunc(func(context.Context) (instrument.Lease, error) { return lease{}, nil })

func newMiddleware() *instrument.Middleware {
	return made(instrument.New(instrument.WithRedactor(redact.Hash(benchKey, "k1")), instrument.WithMaxLabels(locks)))
}

func election(m *instrument.Middleware, i int) *instrument.Election {
	return m.Named(fmt.Sprintf("tenant-%d/orders", i), instrument.LeaseDuration(leaseLength), instrument.Backend("etcd"))
}

func cycle(ctx context.Context, e *instrument.Election) {
	if err := made(e.Acquire(ctx, wins)).Release(ctx); err != nil {
		panic(err)
	}
}

func recording(w io.Writer) {
	ours := &variant{name: "leaderscope, exporter/prom", run: through(withProm())}
	native := &variant{name: "leaderscope, exporter/prom with native histograms and exemplars", run: through(withProm(prom.WithHistograms(prom.Native), prom.WithExemplars()))}
	cached := &variant{name: "client_golang, children kept", run: clientCached}
	lookup := &variant{name: "client_golang, WithLabelValues at each call", run: clientLookup}
	otel := &variant{name: "leaderscope, exporter/otelmetric", run: through(withOTel)}
	sync := &variant{name: "OpenTelemetry, all synchronous, options kept", run: otelCached}
	naive := &variant{name: "OpenTelemetry, attributes made at each call", run: otelNaive}
	fmt.Fprintf(w, "## Recording: one acquisition and its release\n\nLabels are hashed, exemplars off. The one allocation of leaderscope is the term that the caller gets.\n\n")
	measure(w, ours, native, cached, lookup, otel, sync, naive)
	target := newTargets(w)
	target.most("exporter/prom against client_golang with children kept", ours.nanos/cached.nanos, 0.8)
	target.least("client_golang with WithLabelValues against exporter/prom", lookup.nanos/ours.nanos, 3)
	target.most("exporter/otelmetric against OpenTelemetry with attributes made at each call", otel.nanos/naive.nanos, 0.25)
	target.most("exporter/otelmetric against OpenTelemetry all synchronous, options kept", otel.nanos/sync.nanos, 0.6)
	target.most("allocations of leaderscope beyond the term, worst of three", float64(max(ours.alloc, native.alloc, otel.alloc)-1), 0)
}

// running compares a whole Run, whose body has a context and whose release has
// another, on both sides.
func running(w io.Writer) {
	ours := &variant{name: "leaderscope, exporter/prom", run: ourRun}
	cached := &variant{name: "client_golang, children kept", run: clientRun}
	fmt.Fprintf(w, "\n## Recording: one Run\n\nAcquire, body, release. On both sides the body has a context that ends with the term, and the release one with a deadline of its own;\nthat is most of the time and all of the baseline's allocations. leaderscope adds the term and passes the end of the term on to the body.\n\n")
	measure(w, ours, cached)
	target := newTargets(w)
	target.most("allocations of leaderscope beyond the term and the contexts", float64(ours.alloc-cached.alloc-1), 0)
}

func ourRun(b *testing.B) {
	m := newMiddleware()
	withProm()(m)
	e, ctx := election(m, 42), context.Background()
	body := func(context.Context, *instrument.Term) error { return nil }
	b.ReportAllocs()
	for b.Loop() {
		if err := e.Run(ctx, wins, body); err != nil {
			b.Fatal(err)
		}
	}
}

// through measures one acquisition and release with an exporter attached.
func through(attach func(*instrument.Middleware)) func(*testing.B) {
	return func(b *testing.B) {
		m := newMiddleware()
		attach(m)
		e, ctx := election(m, 42), context.Background()
		b.ReportAllocs()
		for b.Loop() {
			cycle(ctx, e)
		}
	}
}

func withProm(opts ...prom.Option) func(*instrument.Middleware) {
	return func(m *instrument.Middleware) { made(prom.Register(prometheus.NewRegistry(), m, opts...)) }
}

func withOTel(m *instrument.Middleware) {
	p, _ := newProvider()
	made(otelmetric.New(m, otelmetric.WithMeterProvider(p)))
}

func fleet(m *instrument.Middleware) []*instrument.Election {
	all := make([]*instrument.Election, locks)
	for i := range all {
		all[i] = election(m, i)
	}
	return all
}

// work gives each lock of a fleet something to show.
func work(all []*instrument.Election) {
	ctx := context.Background()
	for _, e := range all {
		cycle(ctx, e)
	}
}
