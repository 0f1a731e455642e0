// Package keeper renews a lease for adapters of locks that their holder renews:
// a Keeper while its term is open, and Hold by heartbeats from the win on.
//
// How a lease is renewed, and what its errors mean, belongs to the adapter.
package keeper

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
)

// errGaveUp is the cause of terms whose lease was not renewed in time.
var errGaveUp = fmt.Errorf("lease was not renewed in time: %w", instrument.ErrGaveUp)

// Keeper is a lease and how to renew it.
type Keeper struct {
	// Length is that of the lease.
	Length time.Duration
	// Expiry is the end of the lease as it is known now.
	Expiry func() time.Time
	// Renew renews the lease once and returns when ctx ends. An error that says
	// that the lock is gone ends the term, as the acquirer classifies it.
	Renew func(ctx context.Context) error
	// Ends returns why an error of Renew ends the term although the acquirer
	// does not classify it so, and nil where the next renewal may succeed. A nil
	// Ends always returns nil.
	Ends func(err error) (cause error)
}

// Watch renews every third of the lease until ctx ends, and twice as often once
// a renewal has failed. A renewal waits a third of the lease for its answer. It
// gives up a tenth of the lease early: others may lead from the lease end on,
// and the work needs a moment to stop.
func (k Keeper) Watch(ctx context.Context, s instrument.Sink) {
	if cause := k.keep(ctx, k.Length/3, func() instrument.Sink { return s }); cause != nil {
		s.Lost(cause)
	}
}

// keep does what Watch describes and returns why it cannot continue, or nil when
// ctx has ended. A renewal waits for its answer as long as patience. One that
// answers with ErrGaveUp was not sent, and is not reported.
func (k Keeper) keep(ctx context.Context, patience time.Duration, report func() instrument.Sink) error {
	next := k.Expiry().Add(-2 * k.Length / 3)
	for sleepUntil(ctx, earlier(next, k.last())) {
		sent := time.Now()
		if !sent.Before(k.last()) {
			return errGaveUp
		}
		err := k.renew(ctx, sent.Add(patience))
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil:
			report().Renewed(instrument.Renewal{Sent: sent, Expiry: k.Expiry()})
			next = sent.Add(k.Length / 3)
		case errors.Is(err, instrument.ErrGaveUp):
			return err
		default:
			report().RenewalFailedSince(sent, err)
			if k.Ends != nil {
				if cause := k.Ends(err); cause != nil {
					return cause
				}
			}
			next = sent.Add(k.Length / 6)
		}
	}
	return nil
}

// last is when there is no time left to renew. The holder may move it, too.
func (k Keeper) last() time.Time { return k.Expiry().Add(-k.Length / 10) }

// renew waits for the answer until that instant, but not beyond last.
func (k Keeper) renew(ctx context.Context, until time.Time) error {
	ctx, cancel := context.WithDeadline(ctx, earlier(until, k.last()))
	defer cancel()
	return k.Renew(ctx)
}

func sleepUntil(ctx context.Context, t time.Time) bool {
	select {
	case <-time.After(time.Until(t)):
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
