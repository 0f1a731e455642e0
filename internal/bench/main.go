// Command bench measures what the recording path costs and prints ratios: the
// times of one machine and one run, each against a hand-written baseline that
// records the same with client_golang.
package main

import (
	"context"
	"flag"
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
// best of each counts: many short ones find the quiet moments of a busy machine.
const (
	rounds   = 25
	duration = "200ms"
)

type variant struct {
	name  string
	run   func(*testing.B)
	nanos float64
	alloc int64
}

func main() {
	testing.Init()
	if err := flag.Set("test.benchtime", duration); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	variants := []*variant{
		{name: "leaderscope: acquire, run, release", run: middlewareCycle},
		{name: "client_golang, cached children", run: cachedCycle},
		{name: "client_golang, WithLabelValues each time", run: lookupCycle},
	}
	lookups := []*variant{
		{name: "leaderscope: the handle of a name", run: handleLookup},
		{name: "sync.Map, bare", run: bareLookup},
		{name: "leaderscope: first sight of a name", run: firstSight},
	}
	measure(variants)
	measure(lookups)

	fmt.Printf("one cycle with the Prometheus exporter and hashed labels; %s, %d CPUs, best of %d\n\n", runtime.Version(), runtime.GOMAXPROCS(0), rounds)
	table("ns\tallocations\tof cached\t of lookup\t\t", variants, variants[1], variants[2])
	fmt.Println("\nThe one allocation is the term that the caller gets.")
	fmt.Printf("\none look-up by name among %d\n\n", len(lookupNames))
	table("ns\tallocations\tof sync.Map\t\t", lookups, lookups[1])
}

func measure(variants []*variant) {
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
}

// table prints each variant with its share of the baselines.
func table(head string, variants []*variant, baselines ...*variant) {
	w := tabwriter.NewWriter(os.Stdout, 0, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, head)
	for _, v := range variants {
		fmt.Fprintf(w, "%.0f\t%d", v.nanos, v.alloc)
		for _, b := range baselines {
			fmt.Fprintf(w, "\t%.2f", v.nanos/b.nanos)
		}
		fmt.Fprintf(w, "\t  %s\t\n", v.name)
	}
	if err := w.Flush(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
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
