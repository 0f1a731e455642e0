// Package keeper renews a lease while its term is open, for adapters of locks
// that their holder renews.
//
// How a lease is renewed, and what its errors mean, belongs to the adapter.
package keeper

import (
	"context"
	"fmt"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
)

// Causes of terms that nothing renews any more.
var (
	errGaveUp = fmt.Errorf("lease was not renewed in time: %w", instrument.ErrGaveUp)
	errClosed = fmt.Errorf("client was closed: %w", context.Canceled)
)

// Keeper is a lease and how to renew it.
type Keeper struct {
	// Length is that of the lease.
	Length time.Duration
	// Expiry is the end of the lease as it is known now.
	Expiry func() time.Time
	// Renew renews the lease once and returns when ctx ends. An error that says
	// that the lock is gone ends the term, as the acquirer classifies it.
	Renew func(ctx context.Context) error
	// Closed reports errors of a client that the program has closed. Nothing
	// can be renewed then, and the term ends as canceled.
	Closed func(error) bool
}

// Watch renews every third of the lease until ctx ends, and twice as often once
// a renewal has failed. It gives up a tenth of the lease early: others may lead
// from the lease end on, and the work needs a moment to stop.
func (k Keeper) Watch(ctx context.Context, s instrument.Sink) {
	next := k.Expiry().Add(-2 * k.Length / 3)
	for sleepUntil(ctx, earlier(next, k.last())) {
		sent := time.Now()
		if !sent.Before(k.last()) {
			s.Lost(errGaveUp)
			return
		}
		err := k.renew(ctx, sent)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			s.Renewed(instrument.Renewal{Sent: sent, Expiry: k.Expiry()})
			next = sent.Add(k.Length / 3)
		default:
			s.RenewalFailedSince(sent, err)
			if k.Closed != nil && k.Closed(err) {
				s.Lost(errClosed)
				return
			}
			next = sent.Add(k.Length / 6)
		}
	}
}

// last is when there is no time left to renew. The holder may move it, too.
func (k Keeper) last() time.Time { return k.Expiry().Add(-k.Length / 10) }

// renew waits a third of the lease for the answer, but not beyond last.
func (k Keeper) renew(ctx context.Context, sent time.Time) error {
	ctx, cancel := context.WithDeadline(ctx, earlier(sent.Add(k.Length/3), k.last()))
	defer cancel()
	return k.Renew(ctx)
}

func sleepUntil(ctx context.Context, t time.Time) bool {
	timer := time.NewTimer(time.Until(t))
	defer timer.Stop()
	select {
	case <-timer.C:
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
