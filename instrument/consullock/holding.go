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

// errUnwatched is the cause of a loss that nothing but the client's word shows.
var errUnwatched = errors.New("consullock: client does not watch the lock any more")

// holding is a lock that is held by a session whose renewals are seen.
type holding struct {
	sessions *Sessions
	session  string
	lost     <-chan struct{}
	holder   func(context.Context) (*api.KVPair, error) // nil: several hold it
	released atomic.Bool
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
	case <-h.lost:
		if !h.released.Load() {
			s.Lost(h.why(ctx))
		}
	}
}

// why tells a lock that is gone from one that the client watches no more: it
// gives up a lock when it cannot read the key, too. There is time for a
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
	switch pair, err := h.holder(ctx); {
	case err != nil, pair != nil && pair.Session == h.session:
		return errUnwatched
	case pair == nil, pair.Session == "":
		return fmt.Errorf("consullock: the key has no holder: %w", instrument.ErrSessionLost)
	default:
		return fmt.Errorf("consullock: another session holds the key: %w", instrument.ErrContended)
	}
}

func (h *holding) release(l locker) error {
	h.released.Store(true)
	return l.Unlock()
}
