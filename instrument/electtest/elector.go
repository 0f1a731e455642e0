package electtest

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
)

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// Elector is a scripted elector: each Acquire takes the next step, the last
// step forever. It is safe for concurrent use.
type Elector struct {
	mu    sync.Mutex
	steps []Step
}

// Step is one answer of an Elector.
type Step struct {
	// Wait delays the answer, or until the context is done.
	Wait time.Duration
	// Lease is won when Err and Panic are nil.
	Lease instrument.Lease
	Err   error
	// Panic is the value to panic with.
	Panic any
}

// NewElector makes an Elector of these steps; without steps it wins leases without
// capabilities.
func NewElector(steps ...Step) *Elector {
	if len(steps) == 0 {
		steps = []Step{{Lease: instrument.NewLease(nil)}}
	}
	return &Elector{steps: steps}
}

// Wins is an Elector that always wins this lease.
func Wins(l instrument.Lease) *Elector { return NewElector(Step{Lease: l}) }

// Fails is an Elector that always fails with err.
func Fails(err error) *Elector { return NewElector(Step{Err: err}) }

// Acquire implements instrument.Acquirer.
func (e *Elector) Acquire(ctx context.Context) (instrument.Lease, error) {
	step := e.next()
	if step.Wait > 0 {
		select {
		case <-time.After(step.Wait):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if step.Panic != nil {
		panic(step.Panic)
	}
	return step.Lease, step.Err
}

func (e *Elector) next() Step {
	e.mu.Lock()
	defer e.mu.Unlock()
	step := e.steps[0]
	if len(e.steps) > 1 {
		e.steps = e.steps[1:]
	}
	return step
}

// Clock is a clock that changes only with Advance. It is safe for concurrent use.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock makes a clock that shows t.
func NewClock(t time.Time) *Clock { return &Clock{now: t} }

// Now implements instrument.Clock.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock by d.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}
