package main

import (
	"context"
	"fmt"
	"io"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/leaderscope/leaderscope/instrument/fence"
)

// fencing measures the store's side in memory.
func fencing(w io.Writer) {
	admitted := &variant{name: "leaderscope, a check that admits", run: checks(7)}
	refused := &variant{name: "leaderscope, a check that refuses", run: checks(6)}
	run := &variant{name: "leaderscope, a write within Do", run: writes}
	byHand := &variant{name: "by hand: a mutex, a comparison, a counter and a gauge of client_golang", run: checksByHand}
	fmt.Fprintf(w, "\n## Fencing: one check in memory\n\nA refusal allocates its error, which has both numbers. Do gives the write a context that ends with the term.\n\n")
	measure(w, admitted, refused, run, byHand)
	target := newTargets(w)
	target.most("a check, ns", max(admitted.nanos, refused.nanos), 100)
	target.most("allocations of a check that admits", float64(admitted.alloc), 0)
	target.most("a check that admits against one by hand", admitted.nanos/byHand.nanos, 1)
}

// checks checks a token after 7 was seen.
func checks(token uint64) func(*testing.B) {
	return func(b *testing.B) {
		g := fence.New(election(newMiddleware(), 0))
		if err := g.Check(7); err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for b.Loop() {
			if err := g.Check(token); (err != nil) != (token < 7) {
				b.Fatal(err)
			}
		}
	}
}

func writes(b *testing.B) {
	g, ctx := fence.New(election(newMiddleware(), 0)), context.Background()
	b.ReportAllocs()
	for b.Loop() {
		if err := g.Do(ctx, 7, func(context.Context) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}

func checksByHand(b *testing.B) {
	var mu sync.Mutex
	var highest uint64
	admitted := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "checks"}, []string{"lock_name", "result"}).WithLabelValues(label, "admitted")
	token := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "token"}, []string{"lock_name"}).WithLabelValues(label)
	b.ReportAllocs()
	for b.Loop() {
		mu.Lock()
		if highest <= 7 {
			highest = 7
			admitted.Inc()
			token.Set(7)
		}
		mu.Unlock()
	}
}
