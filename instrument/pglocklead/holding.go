package pglocklead

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"cirello.io/pglock"

	"github.com/leaderscope/leaderscope/instrument"
)

// errGaveUp is the cause of a term whose heartbeat failed or was not answered
// in time.
var errGaveUp = fmt.Errorf("leaderscope: pglock: a heartbeat failed, or none was answered in time: %w", instrument.ErrGaveUp)

// holding is a lock while it is held. It sends the heartbeats.
type holding struct {
	l       *locker
	lock    *pglock.Lock
	token   uint64
	turn    chan struct{} // full while a request is under way
	stop    context.CancelFunc
	stopped chan struct{} // closed when no more heartbeats are sent

	mu     sync.Mutex
	end    time.Time
	broken error // of the heartbeat that failed
	cause  error // why the term was lost
	sink   instrument.Sink
}

func newHolding(l *locker, lock *pglock.Lock, end time.Time) *holding {
	return &holding{
		l: l, lock: lock, end: end, token: uint64(lock.RecordVersionNumber()),
		turn: make(chan struct{}, 1), stopped: make(chan struct{}),
	}
}

// start begins with the heartbeats and returns the lease.
func (h *holding) start() instrument.Lease {
	ctx, stop := context.WithCancel(context.Background())
	h.stop = stop
	go h.keep(ctx)
	return instrument.NewLease(h.release,
		instrument.Token(h.token), // from a sequence: each holder's is higher than those before
		instrument.ExpiryFrom(h.Expiry),
		instrument.GrantedFrom(func() time.Duration { return h.l.lease }),
		instrument.RenewWith(h.Renew),
		instrument.WatchWith(h.watch))
}

// Expiry is the instant just before the last good request, plus the lease.
func (h *holding) Expiry() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.end
}

// Renew sends a heartbeat. When ctx ends, nobody waits for its answer, which
// still moves the end. Drivers may need longer to give up.
func (h *holding) Renew(ctx context.Context) error {
	if err := h.enter(ctx); err != nil {
		return err
	}
	answers := make(chan error, 1)
	go func() {
		err := h.beat(ctx)
		h.leave()
		answers <- err
	}()
	select {
	case err := <-answers:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// beat sends a heartbeat, and does not cut it short. The library gives a lock
// up when one fails, whatever the reason: so a look at the record goes first,
// which may fail.
func (h *holding) beat(ctx context.Context) error {
	if broken := h.isBroken(); broken != nil {
		return fmt.Errorf("%w: %w", errGaveUp, broken)
	}
	if err := h.look(ctx); err != nil {
		return err
	}
	sent := time.Now()
	err := h.l.client.SendHeartbeat(context.WithoutCancel(ctx), h.lock) // within a lease, by the client's own limit
	h.answered(sent, err)
	return err
}

// look reports whether a heartbeat is likely to be answered. A record that is
// gone is left to the heartbeat.
func (h *holding) look(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, h.l.lease/3)
	defer cancel()
	_, err := h.l.client.GetContext(limited, h.l.name)
	if _, gone := errors.AsType[*pglock.NotExistError](err); !gone && err != nil {
		return err
	}
	return ctx.Err()
}

// enter waits for the request that is under way.
func (h *holding) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case h.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (h *holding) leave() { <-h.turn }

func (h *holding) answered(sent time.Time, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case err == nil:
		h.end = sent.Add(h.l.lease)
	case h.broken == nil:
		h.broken = err
	}
}

func (h *holding) isBroken() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.broken
}

// watch passes renewals to s, and why there are no more, until the term ends.
func (h *holding) watch(ctx context.Context, s instrument.Sink) {
	h.mu.Lock()
	h.sink = s
	cause := h.cause
	h.mu.Unlock()
	if cause != nil {
		s.Lost(cause)
	}
	<-ctx.Done()
}

// keep sends a heartbeat every third of the lease, and twice as often once one
// could not be sent. It gives up when a tenth of the lease is left, so that the
// work has a moment to stop, or when a heartbeat has failed.
func (h *holding) keep(ctx context.Context) {
	defer close(h.stopped)
	lease := h.l.lease
	for next := h.Expiry().Add(-2 * lease / 3); ; {
		if !sleepUntil(ctx, earlier(next, h.Expiry().Add(-lease/10))) {
			return
		}
		sent, last := time.Now(), h.Expiry().Add(-lease/10) // the holder may have moved it
		if !sent.Before(last) {
			h.lose(errGaveUp)
			return
		}
		beat, cancel := context.WithDeadline(ctx, last)
		err := h.Renew(beat)
		cancel()
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			h.report().Renewed(instrument.Renewal{Sent: sent, Expiry: h.Expiry(), Granted: lease})
			next = sent.Add(lease / 3)
		case errors.Is(err, errGaveUp): // over the holder's own heartbeat, which is counted
			h.lose(err)
			return
		default:
			h.report().RenewalFailedSince(sent, err)
			if broken := h.isBroken(); errors.Is(broken, pglock.ErrLockAlreadyReleased) {
				h.lose(broken)
				return
			} else if broken != nil {
				h.lose(errGaveUp)
				return
			}
			next = sent.Add(lease / 6)
		}
	}
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

// lose tells the term, now or once it watches.
func (h *holding) lose(cause error) {
	h.mu.Lock()
	h.cause = cause
	s := h.sink
	h.mu.Unlock()
	s.Lost(cause)
}

// report is where the term is told; nowhere before watch.
func (h *holding) report() instrument.Sink {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.sink
}

// abandon gives back a lock that no term holds, once its heartbeat is answered.
func (h *holding) abandon(ctx context.Context) {
	h.turn <- struct{}{}
	defer h.leave()
	withdraw(ctx, h.l.client, h.lock)
}

// release gives the lock back, once no heartbeat is under way.
func (h *holding) release(ctx context.Context) error {
	h.stop()
	<-h.stopped
	select {
	case h.turn <- struct{}{}: // also when ctx has ended
	default:
		if err := h.enter(ctx); err != nil {
			return err
		}
	}
	defer h.leave()
	err := h.l.client.ReleaseContext(ctx, h.lock)
	if err == nil || errors.Is(err, pglock.ErrLockAlreadyReleased) {
		return err
	}
	if !h.reachable(ctx) {
		return err
	}
	again := h.l.client.ReleaseContext(ctx, h.lock)
	if errors.Is(again, pglock.ErrLockAlreadyReleased) {
		return err // perhaps by the first request
	}
	return again
}

// reachable reports whether the server is there. That a connection of the pool
// broke since its last use shows with the next request, and a pool keeps two.
func (h *holding) reachable(ctx context.Context) bool {
	for range 2 {
		if h.look(ctx) == nil {
			return true
		}
	}
	return false
}
