// Command bench measures what the recording path costs and prints ratios: the
// times of one machine and one run, each against a hand-written baseline that
// records the same with client_golang.
package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"runtime"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/leaderscope/leaderscope/exporter/prom"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/redact"
)

// rounds are taken in turns, so that all variants meet the same noise; the
// best of each counts.
const rounds = 5

type variant struct {
	name  string
	run   func(*testing.B)
	nanos float64
	alloc int64
}

func main() {
	testing.Init()
	variants := []*variant{
		{name: "leaderscope: acquire, run, release", run: middlewareCycle},
		{name: "client_golang, cached children", run: cachedCycle},
		{name: "client_golang, WithLabelValues each time", run: lookupCycle},
	}
	for range rounds {
		for _, v := range variants {
			r := testing.Benchmark(v.run)
			n := float64(r.T.Nanoseconds()) / float64(r.N)
			if v.nanos == 0 {
				v.nanos = math.Inf(1)
			}
			v.nanos, v.alloc = min(v.nanos, n), r.AllocsPerOp()
		}
	}
	fmt.Printf("one cycle with the Prometheus exporter and hashed labels; %s, %d CPUs, best of %d\n\n", runtime.Version(), runtime.GOMAXPROCS(0), rounds)
	w := tabwriter.NewWriter(os.Stdout, 0, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "ns\tallocations\tof cached\t of lookup\t\t")
	for _, v := range variants {
		fmt.Fprintf(w, "%.0f\t%d\t%.2f\t%.2f\t  %s\t\n", v.nanos, v.alloc, v.nanos/variants[1].nanos, v.nanos/variants[2].nanos, v.name)
	}
	if err := w.Flush(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("\nThe one allocation is the term that the caller gets.")
}

type lease struct{}

func (lease) Release(context.Context) error { return nil }

// middlewareCycle is one acquisition, body and release of a scripted elector.
func middlewareCycle(b *testing.B) {
	policy, err := redact.Hash(make([]byte, redact.MinKeySize), "k1")
	if err != nil {
		b.Fatal(err)
	}
	m, err := instrument.New(instrument.WithRedactor(policy))
	if err != nil {
		b.Fatal(err)
	}
	if _, err := prom.Register(prometheus.NewRegistry(), m); err != nil {
		b.Fatal(err)
	}
	e := m.Election("tenant-42/orders", instrument.LeaseDuration(time.Minute))
	ctx := context.Background()
	a := instrument.AcquirerFunc(func(context.Context) (instrument.Lease, error) { return lease{}, nil })
	b.ReportAllocs()
	for b.Loop() {
		t, err := e.Acquire(ctx, a)
		if err != nil {
			b.Fatal(err)
		}
		if err := t.Release(ctx); err != nil {
			b.Fatal(err)
		}
	}
}
