package dynamolocklead

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"

	"cirello.io/dynamolock/v2"

	"github.com/leaderscope/leaderscope/instrument"
)

// errGaveUp is the cause of a term whose record was not written in time.
var errGaveUp = fmt.Errorf("leaderscope: dynamolock: no heartbeat was answered in time: %w", instrument.ErrGaveUp)

// errDeleted is the answer to a heartbeat for a record that was deleted.
var errDeleted = fmt.Errorf("leaderscope: dynamolock: the record is gone: %w", instrument.ErrSessionLost)

// holding is a lock while it is held. It sends the heartbeats.
type holding struct {
	l       *locker
	lock    *dynamolock.Lock
	turn    chan struct{} // full while a request is under way
	stop    context.CancelFunc
	stopped chan struct{} // closed when no more heartbeats are sent

	mu    sync.Mutex
	end   time.Time
	cause error // why the term was lost
	sink  instrument.Sink
}

func newHolding(l *locker, lock *dynamolock.Lock, end time.Time) *holding {
	return &holding{l: l, lock: lock, end: end, turn: make(chan struct{}, 1), stopped: make(chan struct{})}
}

// start begins with the heartbeats and returns the lease. It has no token: the
// record version is random.
func (h *holding) start() instrument.Lease {
	ctx, stop := context.WithCancel(context.Background())
	h.stop = stop
	go h.keep(ctx)
	return instrument.NewLease(h.release,
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

// Renew sends a heartbeat. It is never cut short: if it was written all the
// same, the library would not recognise the record any more. When ctx ends, its
// answer is awaited by nobody, and still moves the end.
func (h *holding) Renew(ctx context.Context) error {
	if err := h.enter(ctx); err != nil {
		return err
	}
	sent, answers := time.Now(), make(chan error, 1)
	go func() {
		err := h.beat(ctx)
		if err == nil {
			h.extend(sent)
		}
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

// beat sends one heartbeat, and another when the first one's answer was lost:
// then it looks which of its two versions the record has.
func (h *holding) beat(ctx context.Context) (err error) {
	ctx, cancel := h.l.detached(ctx)
	defer cancel()
	defer func() {
		// The library looks into a record that is not there any more.
		if r := recover(); r != nil {
			if _, its := r.(runtime.Error); !its {
				panic(r)
			}
			err = errDeleted
		}
	}()
	return h.l.client.SendHeartbeatWithContext(ctx, h.lock, dynamolock.HeartbeatRetries(1, 0))
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

func (h *holding) extend(sent time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.end = sent.Add(h.l.lease)
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
// has failed. It gives up when a tenth of the lease is left, so that the work
// has a moment to stop.
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
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			h.report().Renewed(instrument.Renewal{Sent: sent, Expiry: h.Expiry(), Granted: lease})
			next = sent.Add(lease / 3)
			continue
		}
		h.report().RenewalFailedSince(sent, err)
		if refused(err) || gone(err) || err == errDeleted {
			h.lose(err)
			return
		}
		next = sent.Add(lease / 6)
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
	h.l.withdraw(ctx, h.lock)
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
	_, err := h.l.client.ReleaseLockWithContext(ctx, h.lock)
	return err
}
