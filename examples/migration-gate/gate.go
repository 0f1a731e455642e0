//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/leaderscope/leaderscope/examples/internal/stage"
	"github.com/leaderscope/leaderscope/instrument"
)

// outcome is how an instance passed the gate.
type outcome string

const (
	none           outcome = "" // it did not
	migrated       outcome = "migrated"
	alreadyApplied outcome = "already applied"
)

// gate lets an instance pass once a migration is applied, by it or by another.
// Two things see to it: a lock, so that one tries and the others wait, and a
// marker in the database, which alone says whether it is done.
type gate struct {
	election *instrument.Election
	lock     instrument.Acquirer // answers at once
	// applied reads the marker. An error means that it is unknown, which is
	// never taken for "not applied".
	applied func(context.Context) (bool, error)
	// migrate applies the migration and sets the marker, both or neither. It
	// reports false when the marker was set already.
	migrate func(context.Context) (bool, error)
	every   time.Duration
	tally   stage.Tally // what it counts itself, to be compared
}

// pass returns once the migration is applied, or with the reason why this
// instance must not start.
func (g *gate) pass(ctx context.Context) (outcome, error) {
	for {
		// Before: most starts find the work done, and need no lock.
		done, err := g.check(ctx, "before the lock")
		switch {
		case err != nil:
			return none, err
		case done:
			return alreadyApplied, nil
		}
		did, ran, err := g.attempt(ctx)
		switch {
		case ran && err == nil:
			return g.leave(ctx, did)
		case ran || !errors.Is(err, instrument.ErrContended):
			return none, err
		}
		// Another migrates; the next poll shows whether it is done.
		if !stage.Wait(ctx, g.every) {
			return none, context.Cause(ctx)
		}
	}
}

// attempt migrates if it gets the lock. ran says that it did; then err is that
// of the work and not that of the release: whether the lock could be given
// back changes nothing about what was committed.
func (g *gate) attempt(ctx context.Context) (did, ran bool, err error) {
	missed := g.election.Run(ctx, g.lock, func(ctx context.Context, _ *instrument.Term) error {
		ran = true
		did, err = g.inside(ctx)
		g.tally.Ran(g.election.Label(), err != nil && !(errors.Is(err, context.Canceled) && ctx.Err() != nil))
		return err
	})
	if !ran {
		g.tally.Missed(g.election.Label())
		err = missed
	}
	return did, ran, err
}

// inside looks again under the lock: the previous holder may have done it.
func (g *gate) inside(ctx context.Context) (did bool, err error) {
	if done, err := g.check(ctx, "under the lock"); done || err != nil {
		return false, err
	}
	return g.migrate(ctx)
}

// leave looks once more: what was done must be there to be seen.
func (g *gate) leave(ctx context.Context, did bool) (outcome, error) {
	done, err := g.check(ctx, "after the lock")
	switch {
	case err != nil:
		return none, err
	case !done:
		return none, errors.New("after the lock: the migration was applied, but its marker is missing")
	case did:
		return migrated, nil
	default:
		return alreadyApplied, nil
	}
}

func (g *gate) check(ctx context.Context, when string) (bool, error) {
	done, err := g.applied(ctx)
	if err != nil {
		return false, fmt.Errorf("%s: cannot tell whether the migration is applied: %w", when, err)
	}
	return done, nil
}
