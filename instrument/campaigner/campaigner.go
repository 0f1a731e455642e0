// Package campaigner makes an elector observable that campaigns, resigns and
// can be asked whether it leads, such as leader.Elector of bluetape-go. It imports
// no library: any type with these methods is accepted.
//
//	candidate := campaigner.New(election, elector, time.Second)
//
// When to campaign again does not belong here.
package campaigner

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
)

// Candidate campaigns and resigns, as bluetape-go's leader.Elector does.
type Candidate interface {
	Campaign(ctx context.Context) error
	Resign(ctx context.Context) error
	IsLeader() bool
	Leader(ctx context.Context) (string, error)
}

// Campaigner is a Candidate that is observed. It is safe for concurrent use if
// the wrapped candidate is.
type Campaigner struct {
	e    *instrument.Election
	next Candidate
	poll time.Duration

	mu   sync.Mutex
	term *instrument.Term
}

// New observes next: a campaign that returns without an error is a term, a
// resignation ends it. next reports no loss, so while it leads, IsLeader is called
// every poll. With zero or less it is not polled: a loss is then detected when the
// application calls IsLeader. next renews its lease without reporting it: declare instrument.Hold and
// instrument.HiddenRenewals.
func New(e *instrument.Election, next Candidate, poll time.Duration) *Campaigner {
	if next == nil {
		next = noCandidate{}
	}
	return &Campaigner{e: e, next: next, poll: poll}
}

// noCandidate replaces a candidate that is nil: it never leads.
type noCandidate struct{}

var errNoCandidate = errors.New("leaderscope: campaigner: the candidate is nil: pass the elector to observe")

func (noCandidate) Campaign(context.Context) error         { return errNoCandidate }
func (noCandidate) Resign(context.Context) error           { return errNoCandidate }
func (noCandidate) IsLeader() bool                         { return false }
func (noCandidate) Leader(context.Context) (string, error) { return "", errNoCandidate }

// Campaign campaigns. A success while a term is open does not begin another term:
// it counts as already held.
func (c *Campaigner) Campaign(ctx context.Context) error {
	attempt := c.e.Begin(ctx)
	defer attempt.Panicked() // unless its end is known by then
	if err := c.next.Campaign(ctx); err != nil {
		attempt.NotAcquired(err)
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if open(c.term) {
		attempt.NotAcquired(instrument.ErrAlreadyHeld)
		return nil
	}
	c.term = attempt.Won(instrument.NewLease(c.next.Resign))
	if c.poll > 0 {
		go c.ask(c.term)
	}
	return nil
}

// Resign resigns, even if no term is known to be open.
func (c *Campaigner) Resign(ctx context.Context) error {
	if t := c.current(); open(t) {
		return t.Release(ctx)
	}
	return c.next.Resign(ctx)
}

// IsLeader calls the wrapped candidate; false ends the term.
func (c *Campaigner) IsLeader() bool {
	t := c.current() // of before the question: the answer says nothing about a later one
	leads := c.next.IsLeader()
	if !leads {
		t.Sink().Lost(nil)
	}
	return leads
}

// Leader calls the wrapped candidate.
func (c *Campaigner) Leader(ctx context.Context) (string, error) { return c.next.Leader(ctx) }

// Unwrap is the wrapped candidate.
func (c *Campaigner) Unwrap() Candidate { return c.next }

// Format writes the label of the lock for every verb.
func (c *Campaigner) Format(f fmt.State, verb rune) { c.e.Format(f, verb) }

// ask asks the candidate until the term has ended. A panic of a question that
// the application did not ask must not end the program; nothing is known then.
func (c *Campaigner) ask(t *instrument.Term) {
	defer func() { _ = recover() }()
	tick := time.Tick(c.poll)
	for {
		select {
		case <-t.Context().Done():
			return
		case <-tick:
		}
		if !c.next.IsLeader() {
			t.Sink().Lost(nil)
			return
		}
	}
}

func (c *Campaigner) current() *instrument.Term {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.term
}

// open reports whether the term has neither been released nor lost.
func open(t *instrument.Term) bool { return t != nil && t.Context().Err() == nil }
