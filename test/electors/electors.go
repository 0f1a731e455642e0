// Package electors makes electors as their users write them, before real
// servers, for tests that run them in processes of their own and break things.
// What breaks, and what is expected then, does not belong here.
package electors

import (
	"context"
	"errors"
	"log"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
)

// Lease is short enough for a test and long enough for a loaded machine.
const Lease = 4 * time.Second

// Replica is who campaigns for what, and where its server is.
type Replica struct {
	Address, Lock, ID string
	// Renewed is called for each answer to a renewal, by the client and not by the
	// observed adapter; nil: it is not called.
	Renewed func()
	// Answered is called for each answer by which the client can know that it has
	// its lease, with the time at which it asked; nil: it is not called.
	Answered func(asked time.Time)
	// Stopped is called when a campaign with callbacks has ended, which may be long
	// after its work when it gives the lock back; nil: it is not called.
	Stopped func()
}

func (r Replica) renewed(asked time.Time) {
	if r.Renewed != nil {
		r.Renewed()
	}
	r.answered(asked)
}

// answered says when the client asked; zero: there is no lease.
func (r Replica) answered(asked time.Time) {
	if r.Answered != nil && !asked.IsZero() {
		r.Answered(asked)
	}
}

// Connect makes an elector of the replica's lock, and how to let go of the
// server; that may be nil after an error.
type Connect = func(context.Context, Replica) (instrument.Acquirer, func(), error)

// Connected tries until the server is there or ctx ends.
func Connected(ctx context.Context, connect Connect, r Replica) (instrument.Acquirer, func(), error) {
	for {
		a, closing, err := connect(ctx, r)
		if err == nil {
			return a, closing, nil
		}
		if closing != nil {
			closing()
		}
		select {
		case <-ctx.Done():
			return nil, nil, err
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// Lead campaigns again and again until ctx is done.
func Lead(ctx context.Context, connect Connect, r Replica, run func(context.Context, instrument.Acquirer) error) error {
	a, closing, err := Connected(ctx, connect, r)
	if err != nil {
		return errors.Join(errors.New("no server before the end"), err)
	}
	defer closing()
	for ctx.Err() == nil {
		if err := run(ctx, a); err != nil && ctx.Err() == nil {
			log.Printf("%s: %v", r.ID, err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
	return nil
}
