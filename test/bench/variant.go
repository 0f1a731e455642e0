package main

import (
	"fmt"
	"io"
	"math"
	"testing"
)

// Rounds are taken in turns, so that all variants meet the same noise; the
// best of each counts: many short ones find the quiet moments of a busy
// machine.
const (
	rounds   = 25
	duration = "200ms"
)

// variant is one way to do a thing.
type variant struct {
	name  string
	run   func(*testing.B)
	nanos float64
	alloc int64
}

// measure fills in the variants of one table and writes it.
func measure(w io.Writer, all ...*variant) {
	for range rounds {
		for _, v := range all {
			v.measure()
		}
	}
	fmt.Fprintf(w, "| | ns | allocations |\n|---|--:|--:|\n")
	for _, v := range all {
		fmt.Fprintf(w, "| %s | %.0f | %d |\n", v.name, v.nanos, v.alloc)
	}
}

func (v *variant) measure() {
	r := testing.Benchmark(v.run)
	n := float64(r.T.Nanoseconds()) / float64(r.N)
	if v.nanos == 0 {
		v.nanos = math.Inf(1)
	}
	v.nanos, v.alloc = min(v.nanos, n), r.AllocsPerOp()
}
