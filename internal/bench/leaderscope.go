package main

import (
	"context"
	"fmt"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/leaderscope/leaderscope/exporter/otelmetric"
	"github.com/leaderscope/leaderscope/exporter/prom"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/redact"
)

// label is what the baselines use; leaderscope makes its own from a name.
const label = "k1:0123456789abcdef"

// locks is the size of the fleets that are collected and weighed.
const locks = 10_000

type lease struct{}

func (lease) Release(context.Context) error { return nil }

var wins = instrument.AcquirerFunc(func(context.Context) (instrument.Lease, error) { return lease{}, nil })

func newMiddleware() *instrument.Middleware {
	policy := made(redact.Hash(make([]byte, redact.MinKeySize), "k1"))
	return made(instrument.New(instrument.WithRedactor(policy), instrument.WithMaxLabels(locks)))
}

func election(m *instrument.Middleware, i int) *instrument.Election {
	return m.Election(fmt.Sprintf("tenant-%d/orders", i), instrument.LeaseDuration(leaseLength), instrument.Backend("etcd"))
}

func cycle(ctx context.Context, e *instrument.Election) {
	if err := made(e.Acquire(ctx, wins)).Release(ctx); err != nil {
		panic(err)
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
