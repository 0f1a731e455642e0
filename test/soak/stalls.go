package main

import (
	"context"
	"time"
)

const (
	// stallsEvery is how often a process looks whether it runs.
	stallsEvery = 10 * time.Millisecond
	// stalls is how late it may be before that is a stall.
	stalls = 30 * time.Millisecond
)

// watchStalls notes when this process did not run although its time had come:
// the machine had other work, or the process was suspended. What it does late
// then says nothing about the product.
func watchStalls(ctx context.Context, note func(from, to time.Time)) {
	tick := time.NewTimer(stallsEvery)
	defer tick.Stop()
	for {
		due := time.Now().Add(stallsEvery)
		tick.Reset(stallsEvery)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if now := time.Now(); now.Sub(due) > stalls {
			note(due, now)
		}
	}
}
