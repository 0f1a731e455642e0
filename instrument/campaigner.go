package instrument

import (
	"context"
	"sync"
	"time"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// Candidate campaigns and resigns, as bluetape-go's leader.Elector does.
type Candidate interface {
	Campaign(ctx context.Context) error
	Resign(ctx context.Context) error
	IsLeader() bool
	Leader(ctx context.Context) (string, error)
}

// LeaderCampaigner is a Candidate that is observed.
type LeaderCampaigner struct {
	e    *Election
	next Candidate
	poll time.Duration

	mu   sync.Mutex
	term *Term
}

// Campaigner observes next: a campaign that returns without an error is a
// term, a resignation ends it. next tells of no loss, so while it leads it is
// asked every poll; zero asks never, and a loss shows when the application
// asks. next renews where nobody can see it: declare Hold and HiddenRenewals.
func Campaigner(e *Election, next Candidate, poll time.Duration) *LeaderCampaigner {
	return &LeaderCampaigner{e: e, next: next, poll: poll}
}

// Campaign campaigns. One that succeeds while a term is open is no other term:
// it counts as already held.
func (c *LeaderCampaigner) Campaign(ctx context.Context) error {
	at := c.e.Begin(ctx)
	returned := false
	defer func() {
		if !returned {
			at.trial().fail(ctx, catalog.Panicked)
		}
	}()
	err := c.next.Campaign(ctx)
	returned = true
	if err != nil {
		at.NotAcquired(err)
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.term.isOpen() {
		at.NotAcquired(ErrAlreadyHeld)
		return nil
	}
	var options []LeaseOption
	if c.poll > 0 {
		options = append(options, WatchWith(c.watch))
	}
	c.term = at.Won(NewLease(c.next.Resign, options...))
	return nil
}

// Resign resigns, also when no term is known to be open.
func (c *LeaderCampaigner) Resign(ctx context.Context) error {
	if t := c.current(); t.isOpen() {
		return t.Release(ctx)
	}
	return c.next.Resign(ctx)
}

// IsLeader asks the wrapped candidate; a no ends the term.
func (c *LeaderCampaigner) IsLeader() bool {
	t := c.current() // of before the question: the answer says nothing of a later one
	leads := c.next.IsLeader()
	if !leads && t.isOpen() {
		t.lost(nil)
	}
	return leads
}

// Leader asks the wrapped candidate.
func (c *LeaderCampaigner) Leader(ctx context.Context) (string, error) { return c.next.Leader(ctx) }

// Unwrap is the wrapped candidate.
func (c *LeaderCampaigner) Unwrap() Candidate { return c.next }

func (c *LeaderCampaigner) watch(ctx context.Context, s Sink) {
	tick := time.NewTicker(c.poll)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if !c.next.IsLeader() {
				s.Lost(nil)
				return
			}
		}
	}
}

func (c *LeaderCampaigner) current() *Term {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.term
}

// isOpen reports whether the term has not ended; a nil term is not open.
func (t *Term) isOpen() bool {
	if t == nil {
		return false
	}
	return t.stoppedAt() == 0
}
