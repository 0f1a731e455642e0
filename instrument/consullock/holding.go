package consullock

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/hashicorp/consul/api"

	"github.com/leaderscope/leaderscope/instrument"
)

// askTimeout bounds the question whose the lock is after the client gave it
// up.
const askTimeout = time.Second

var (
	// errUnwatched is the cause of a loss that nothing but the client's word shows.
	errUnwatched = errors.New("consullock: client no longer watches the lock")
	// errGaveUp is the cause of a term whose session the client no longer renews.
	errGaveUp = fmt.Errorf("consullock: session was not renewed in time: %w", instrument.ErrGaveUp)
)

// holding is a lock that is held by a session whose renewals are seen.
type holding struct {
	sessions *Sessions
	session  string
	lost     <-chan struct{}
	stopped  <-chan error                               // by the renewals; nil: not told
	holder   func(context.Context) (*api.KVPair, error) // nil: several hold it
	lock     locker
	stop     func() // renewing
	end      func() // the session

	released atomic.Bool // or being released
	gone     atomic.Bool // Consul has shown that the lock is
	asked    atomic.Bool // a release may have been made
	given    atomic.Bool // in the background
}

func (h *holding) options() []instrument.LeaseOption {
	return []instrument.LeaseOption{
		instrument.ExpiryFrom(func() time.Time { return h.sessions.expiry(h.session) }),
		instrument.GrantedFrom(func() time.Duration { return h.sessions.length(h.session) }),
		instrument.WatchWith(h.watch),
	}
}

// watch passes on what becomes of the session and of the lock.
func (h *holding) watch(ctx context.Context, s instrument.Sink) {
	defer h.sessions.watch(h.session, s)()
	select {
	case <-ctx.Done():
	case cause := <-h.stopped:
		s.Lost(cause)
	case <-h.lost:
		if !h.released.Load() {
			s.Lost(h.why(ctx))
		}
	}
}

// why distinguishes a lock that is gone from one that the client no longer
// watches: the client also gives up a lock when it cannot read the key. There is time for a
// question while the lease may still run.
func (h *holding) why(ctx context.Context) error {
	patience := askTimeout
	if end := h.sessions.expiry(h.session); !end.IsZero() {
		patience = min(patience, time.Until(end))
	}
	if h.holder == nil || patience <= 0 {
		return errUnwatched
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	pair, err := h.holder(ctx)
	if err != nil || pair != nil && pair.Session == h.session {
		return errUnwatched
	}
	h.gone.Store(true)
	if pair == nil || pair.Session == "" {
		return fmt.Errorf("consullock: the key has no holder: %w", instrument.ErrSessionLost)
	}
	return fmt.Errorf("consullock: another session holds the key: %w", instrument.ErrContended)
}

// release releases the lock and ends the session, if that was made for it.
// The session is not renewed meanwhile, so that the lock becomes free in the
// end even if every request fails.
func (h *holding) release(ctx context.Context) error {
	h.released.Store(true)
	if h.given.Load() {
		return nil
	}
	h.stop()
	err := h.lock.release(orBackground(ctx))
	switch {
	case errors.Is(err, instrument.ErrSessionLost) && h.asked.Load():
		err = nil // by the request before
	case passing(err):
		h.asked.Store(true)
		go h.again()
		return fmt.Errorf("consullock: release: %w", err)
	}
	h.end()
	if err == nil && h.gone.Load() {
		err = errNotOurs // the client's own Unlock does not look
	}
	return err
}

// again releases until Consul has answered, or has dropped the session.
func (h *holding) again() {
	release := h.lock.release
	if r, ok := h.lock.(*repeated); ok {
		release = r.again
	}
	err := repeat(context.Background(), func(ctx context.Context) error {
		if h.sessions != nil && h.sessions.finished(h.session) {
			return errNotOurs
		}
		return release(ctx)
	})
	h.given.Store(err == nil || errors.Is(err, instrument.ErrSessionLost))
	h.end()
}
