package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/leaderscope/leaderscope/test/record"
	"github.com/leaderscope/leaderscope/test/soak/timeline"
)

const (
	// looksEvery is how often the referee reads the record.
	looksEvery = 25 * time.Millisecond
	// looksApart is how far two looks may be apart for the time between them to
	// be certain.
	looksApart = 100 * time.Millisecond
	// patience is how long a server may take for one look.
	patience = 500 * time.Millisecond
)

// referee keeps what the backend had of the lock, all the time.
type referee struct {
	start time.Time

	mu    sync.Mutex
	looks []timeline.Look
	delay harness
	terms int
	free  bool // the server is down, and its locks are gone with it
}

// down says whether the server is down and its locks are gone with it.
func (r *referee) down(free bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.free = free
}

// harness is how late the harness itself was: on a machine with other work
// the figures have gaps.
type harness struct {
	// Together is how many electors ran at once, Load the system's mean load
	// average of a minute at the faults; 0 where the system does not tell.
	Together      int
	Load          float64
	Processors    int
	Looks, Failed int
	// LateMedian and LateMost are how much later than planned a look began.
	LateMedian, LateMost time.Duration
	// LookMedian and LookMost are how long looks took that were answered.
	LookMedian, LookMost time.Duration
	// ClockDrift is the most by which the wall clock, which the processes share,
	// and the monotonic clock moved apart.
	ClockDrift time.Duration

	late, took []time.Duration
}

// watch looks until ctx ends.
func (r *referee) watch(ctx context.Context, look record.Read) {
	tick := time.NewTicker(looksEvery)
	defer tick.Stop()
	due := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		due = due.Add(looksEvery)
		r.look(ctx, look, due)
		if time.Since(due) > looksEvery { // what was missed is not caught up
			due = time.Now()
		}
	}
}

func (r *referee) look(ctx context.Context, look record.Read, due time.Time) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	asked := time.Now()
	got, err := look(ctx)
	answered := time.Now()
	if ctx.Err() != nil && err == nil {
		return
	}
	l := timeline.Look{Asked: onWall(r.start, asked), Answered: onWall(r.start, answered)}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		l.Holder, l.Term, l.Rest, l.Spread = got.Holder, r.name(got), got.Rest, got.Spread
		r.delay.took = append(r.delay.took, answered.Sub(asked))
	} else {
		r.delay.Failed++
		l.Failed = !r.free
	}
	r.looks = append(r.looks, l)
	r.delay.Looks++
	r.delay.late = append(r.delay.late, max(asked.Sub(due), 0))
	r.delay.ClockDrift = max(r.delay.ClockDrift, (answered.Sub(r.start) - l.Answered).Abs())
}

// name makes the name of a term unique: a backend may use one again.
func (r *referee) name(got record.Record) string {
	if got.Holder == "" {
		return ""
	}
	last := r.last()
	if term, n := cutNumber(last.Term); last.Holder == got.Holder && term == got.Term {
		return term + "#" + n
	}
	r.terms++
	return fmt.Sprint(got.Term, "#", r.terms)
}

// last is the last look that was answered.
func (r *referee) last() timeline.Look {
	for _, l := range slices.Backward(r.looks) {
		if !l.Failed {
			return l
		}
	}
	return timeline.Look{}
}

// holder is the replica that held the lock at the last reading; "" if no replica
// did or the reading failed.
func (r *referee) holder() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last().Holder
}

func (r *referee) result() ([]timeline.Look, harness) {
	r.mu.Lock()
	defer r.mu.Unlock()
	d := r.delay
	d.LateMedian, d.LateMost = middle(d.late)
	d.LookMedian, d.LookMost = middle(d.took)
	return r.looks, d
}

func middle(all []time.Duration) (median, most time.Duration) {
	if len(all) == 0 {
		return 0, 0
	}
	sorted := slices.Sorted(slices.Values(all))
	return sorted[len(sorted)/2], sorted[len(sorted)-1]
}

// onWall is an instant on the wall clock, which all processes share, as time
// since the start.
func onWall(start, t time.Time) time.Duration { return t.Round(0).Sub(start.Round(0)) }

// cutNumber splits the name of a term into the backend's and the number.
func cutNumber(name string) (term, number string) {
	i := strings.LastIndex(name, "#")
	if i < 0 {
		return name, ""
	}
	return name[:i], name[i+1:]
}
