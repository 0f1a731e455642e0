package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/leaderscope/leaderscope/test/electors"
	"github.com/leaderscope/leaderscope/test/server"
	"github.com/leaderscope/leaderscope/test/soak/timeline"
)

// candidateCount is how many campaign.
const candidateCount = 3

// soak is one run of one elector.
type soak struct {
	backend backend
	lock    string
	start   time.Time
	say     func(format string, args ...any)

	server     server.Server
	referee    *referee
	register   *store
	candidates []*process
	applied    []applied
	loads      []float64

	mu      sync.Mutex
	stalled []timeline.Span // in which this process did not run
}

// run breaks one thing after the other, for no longer than length, and returns
// what was seen. The seed names the run.
func run(ctx context.Context, b backend, faults []fault, seed uint64, length time.Duration, say func(string, ...any)) (_ *recording, err error) {
	dir, err := os.MkdirTemp("", "leaderscope-soak-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	r := &soak{backend: b, lock: fmt.Sprintf("soak-%d", seed), say: say}
	if r.server, err = server.Start(b.server); err != nil {
		return nil, err
	}
	defer r.server.Close()
	r.start = time.Now()
	r.referee = &referee{start: r.start}
	look, closing, err := b.referee(r.server.Addresses(), r.lock)
	if closing != nil {
		defer closing()
	}
	if err != nil {
		return nil, fmt.Errorf("referee: %w", err)
	}
	if r.register, err = newStore(r.start); err != nil {
		return nil, err
	}
	defer r.register.close()

	watching, over := context.WithCancel(context.Background())
	var referees sync.WaitGroup
	referees.Go(func() { r.referee.watch(watching, look) })
	referees.Go(func() {
		watchStalls(watching, func(from, to time.Time) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.stalled = append(r.stalled, timeline.Span{From: onWall(r.start, from), To: onWall(r.start, to)})
		})
	})
	defer referees.Wait()
	defer over()
	defer func() {
		for _, p := range r.candidates {
			p.close()
		}
	}()
	for i := range candidateCount {
		addresses := r.server.Addresses()
		p, err := newProcess(i, order{Elector: b.name, Lock: r.lock, Register: r.register.url()}, dir, addresses[i%len(addresses)])
		if err != nil {
			return nil, err
		}
		r.candidates = append(r.candidates, p)
		if err := p.start(); err != nil {
			return nil, err
		}
	}
	if err := r.faults(ctx, faults, length); err != nil {
		return nil, err
	}
	sleep(ctx, 2*electors.Lease)
	for _, p := range r.candidates {
		if err := p.quit(); err != nil {
			return nil, err
		}
	}
	sleep(ctx, 4*looksEvery) // the record of the last is seen to go
	over()
	referees.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return r.recorded(seed)
}

// faults waits for a leader and applies one fault after the other. A server may
// take long to start again: what does not fit into the time is left out.
func (r *soak) faults(ctx context.Context, all []fault, length time.Duration) error {
	for deadline := time.Now().Add(time.Minute); r.referee.holder() == ""; sleep(ctx, interval) {
		if time.Now().After(deadline) || ctx.Err() != nil {
			return errors.New("no candidate leads within a minute")
		}
	}
	began := time.Now()
	for i, f := range all {
		if time.Since(began)+f.After+f.For > length-2*electors.Lease {
			r.say("%d faults do not fit into %v and are left out", len(all)-i, length)
			return nil
		}
		sleep(ctx, f.After)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		r.say("%d of %d, after %.0f s: %s, for %.1f s", i+1, len(all), time.Since(began).Seconds(), f.Kind, f.For.Seconds())
		r.loads = append(r.loads, load())
		if err := r.inject(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

// load is the system's load average of the last minute; 0 where the system does
// not tell.
func load() (l float64) {
	if text, err := os.ReadFile("/proc/loadavg"); err == nil {
		_, _ = fmt.Sscan(string(text), &l)
	}
	return l
}
