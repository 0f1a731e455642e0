package consullock

import (
	"context"
	"fmt"
	"io"

	"github.com/hashicorp/consul/api"

	"github.com/leaderscope/leaderscope/instrument"
)

// borrowed takes a lock of the program, which makes its session itself.
type borrowed struct {
	reasons
	client   *api.Client
	sessions *Sessions
	lock     locker
	key      string
	turn     chan struct{} // full while an attempt has the lock
}

// Format writes what it is for every verb, and keeps the name of the lock from
// code that prints it.
func (*borrowed) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "Consul lock") }

func (b *borrowed) Acquire(ctx context.Context) (instrument.Lease, error) {
	ctx = orBackground(ctx)
	select {
	case b.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("consullock: %w", context.Cause(ctx))
	}
	lost, err := win(ctx, b.lock, func() { <-b.turn })
	if err != nil {
		return nil, err
	}
	holder := reader(b.client, b.key, "")
	h := &holding{lost: lost, holder: holder, lock: b.lock, stop: func() {}, end: func() {}}
	pair, err := holder(ctx)
	if err != nil || pair == nil || !b.sessions.has(pair.Session) {
		// It is unknown which client renews its session.
		return instrument.NewLease(h.release, instrument.LostOn(lost)), nil
	}
	h.sessions, h.session = b.sessions, pair.Session
	h.lock = &repeated{b.lock, b.client, pair}
	return instrument.NewLease(h.release, append(h.options(), instrument.Token(pair.LockIndex))...), nil
}

// repeated is a lock of the program whose release was not answered. The client
// forgets it then, while the session may live, and the key with it.
type repeated struct {
	locker
	client *api.Client
	pair   *api.KVPair
}

func (r *repeated) again(ctx context.Context) error { return releaseKey(ctx, r.client, r.pair) }
