package keeper

import (
	"context"
	"sync"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/internal/interruptible"
)

// Lock is a lock that was won, of a library whose heartbeats must neither
// overlap nor be cut short. Beat, Release and Withdraw are called one at a time.
type Lock interface {
	// Beat sends one heartbeat and returns the instant just before the request
	// that extends the lease. It may outlive ctx, and must end by itself. An
	// error that wraps ErrGaveUp says that there is no use in sending any.
	Beat(ctx context.Context) (sent time.Time, err error)
	// Ends is as in Keeper. The heartbeat may still be under way.
	Ends(err error) (cause error)
	// Release releases the lock for the holder.
	Release(ctx context.Context) error
	// Withdraw gives back a lock that no term holds, also when ctx has ended.
	Withdraw(ctx context.Context)
}

// holding is a lock while it is held. It sends the heartbeats.
type holding struct {
	Lock
	length  time.Duration
	turn    chan struct{} // full while a request is under way
	stop    context.CancelFunc
	stopped chan struct{} // closed when heartbeats have stopped

	mu    sync.Mutex
	end   time.Time
	cause error // why the term was lost
	sink  instrument.Sink
}

// Hold returns the lease of a lock that was asked for at that instant, and keeps
// it by heartbeats until it is released, whether a term watches it or not. They
// are sent as Keeper.Watch describes, but each waits for its answer until it is
// time to give up.
//
// A win that took long is followed by a heartbeat, since the library does not
// tell when it sent the request that won; so is one whose asked is zero. When
// that fails, the lock is withdrawn in the background, and Hold returns the
// error. The functions in opts are called after it.
func Hold(ctx context.Context, lock Lock, asked time.Time, length time.Duration, opts ...func() instrument.LeaseOption) (instrument.Lease, error) {
	h := &holding{Lock: lock, length: length, end: asked.Add(length), turn: make(chan struct{}, 1), stopped: make(chan struct{})}
	if time.Since(asked) > length/10 {
		if err := h.renew(ctx); err != nil {
			go h.abandon(ctx)
			return nil, err
		}
	}
	known := []instrument.LeaseOption{
		instrument.ExpiryFrom(h.expiry),
		instrument.GrantedFrom(func() time.Duration { return length }),
		instrument.RenewWith(h.renew),
		instrument.WatchWith(h.watch),
	}
	for _, o := range opts {
		known = append(known, o())
	}
	background, stop := context.WithCancel(context.Background())
	h.stop = stop
	go h.keep(background)
	return instrument.NewLease(h.release, known...), nil
}

// expiry is the instant just before the last good request, plus the lease.
func (h *holding) expiry() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.end
}

// renew sends a heartbeat. When ctx ends, the caller does not wait for its answer, which
// still moves the end.
func (h *holding) renew(ctx context.Context) error {
	if ctx == nil {
		ctx = context.Background()
	}
	if err := h.enter(ctx); err != nil {
		return err
	}
	return interruptible.Do(ctx, func() error {
		defer h.leave()
		sent, err := h.Beat(ctx)
		if err == nil {
			h.extend(sent)
		}
		return err
	})
}

func (h *holding) extend(sent time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.end = sent.Add(h.length)
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

func (h *holding) keep(ctx context.Context) {
	defer close(h.stopped)
	k := Keeper{Length: h.length, Expiry: h.expiry, Renew: h.renew, Ends: h.Ends}
	if cause := k.keep(ctx, h.length, h.report); cause != nil {
		h.lose(cause)
	}
}

// report is where the term is told; nowhere before watch.
func (h *holding) report() instrument.Sink {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.sink
}

// lose tells the term, now or once it watches.
func (h *holding) lose(cause error) {
	h.mu.Lock()
	h.cause = cause
	s := h.sink
	h.mu.Unlock()
	s.Lost(cause)
}

// watch passes renewals to s, and the reason why they stopped, until the term
// ends.
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

// abandon gives back a lock that no term holds, once its heartbeat is answered.
// It is the last request.
func (h *holding) abandon(ctx context.Context) {
	h.turn <- struct{}{}
	h.Withdraw(ctx)
}

// release releases the lock, once no heartbeat is under way.
func (h *holding) release(ctx context.Context) error {
	if ctx == nil {
		ctx = context.Background()
	}
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
	return h.Release(ctx)
}
