package main

import (
	"fmt"
	"io"
	"sync"
	"testing"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/redact"
)

// lookupNames are as many locks as one process has at most, of the length that
// names have in the field.
var lookupNames = func() []string {
	names := make([]string, 1024)
	for i := range names {
		names[i] = fmt.Sprintf("tenant-%06d/orders/aggregation-dly", i)
	}
	return names
}()

func lookups(w io.Writer) {
	ours := &variant{name: "leaderscope, the handle of a name", run: handleLookup}
	bare := &variant{name: "sync.Map by hand", run: bareLookup}
	first := &variant{name: "leaderscope, first sight of a name", run: firstSight}
	fmt.Fprintf(w, "\n## Look-up by name, among %d\n\nFirst sight makes the label, the handle and the series.\n\n", len(lookupNames))
	measure(w, ours, bare, first)
	target := newTargets(w)
	target.most("look-up against a sync.Map", ours.nanos/bare.nanos, 1)
	target.most("allocations of a look-up", float64(ours.alloc), 0)
	target.most("first sight, µs", first.nanos/1e3, 15)
	target.most("allocations of first sight", float64(first.alloc), 60)
}

// bareLookup finds a pointer by name in a sync.Map.
func bareLookup(b *testing.B) {
	var handles sync.Map
	for _, name := range lookupNames {
		handles.Store(name, new(instrument.Election))
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		h, _ := handles.Load(lookupNames[i%len(lookupNames)])
		if h.(*instrument.Election) == nil {
			b.Fatal("no handle")
		}
		i++
	}
}

// handleLookup finds the handle of a lock by name.
func handleLookup(b *testing.B) {
	m := lookupMiddleware(b)
	for _, name := range lookupNames {
		m.Named(name)
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if m.Named(lookupNames[i%len(lookupNames)]) == nil {
			b.Fatal("no handle")
		}
		i++
	}
}

// firstSight makes the label, the handle and the series of a name.
func firstSight(b *testing.B) {
	b.ReportAllocs()
	i := 0
	m := lookupMiddleware(b)
	for b.Loop() {
		if i%len(lookupNames) == 0 {
			m = lookupMiddleware(b)
		}
		m.Named(lookupNames[i%len(lookupNames)])
		i++
	}
}

func lookupMiddleware(b *testing.B) *instrument.Middleware {
	m, err := instrument.New(instrument.WithRedactor(redact.Hash(benchKey, "k1")), instrument.WithMaxLabels(len(lookupNames)))
	if err != nil {
		b.Fatal(err)
	}
	return m
}
