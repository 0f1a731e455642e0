package etcdlock

import (
	"context"
	"fmt"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/leaderscope/leaderscope/instrument"
)

// fresh opens a session for each attempt and closes it with the term.
type fresh struct {
	reasons
	client    *clientv3.Client
	ttl       time.Duration
	candidate func(*concurrency.Session) candidate
}

func (f *fresh) Acquire(ctx context.Context) (instrument.Lease, error) {
	return f.AcquireAsWitness(ctx, nil)
}

// AcquireAsWitness shows as whom an election campaigns, until the term ends.
func (f *fresh) AcquireAsWitness(ctx context.Context, e *instrument.Election) (l instrument.Lease, err error) {
	switch {
	case f.client == nil:
		return nil, errNoClient
	case f.ttl <= 0:
		return nil, fmt.Errorf("etcdlock: the ttl is %v: pass a second or more", f.ttl)
	}
	ctx = orBackground(ctx)
	s, err := open(ctx, f.client, f.ttl)
	if err != nil {
		return nil, fmt.Errorf("etcdlock: open a session: %w", err)
	}
	// etcd cleans up after a cancelled attempt with the session's client, for
	// as long as the backend takes. Revoking the lease does that and has a limit.
	patient := context.AfterFunc(ctx, s.abandon)
	c := f.candidate(s.Session)
	finished := identify(e, c)
	defer func() {
		if l == nil {
			finished()
		}
	}()
	err = win(ctx, s.Session, c)
	if !patient() && err == nil {
		err = fmt.Errorf("etcdlock: %w", context.Cause(ctx))
	}
	if err != nil {
		s.discard()
		return nil, err
	}
	return instrument.NewLease(
		func(ctx context.Context) error { return s.release(ctx, c) },
		instrument.Token(c.token()),
		instrument.ExpiryFrom(s.keeper.Expiry),
		instrument.GrantedFrom(s.keeper.length),
		instrument.WatchWith(both(s.keeper.Watch, holding(f.client, c).watch, finished)),
	), nil
}

// both watches the lease and the key until the term is over.
func both(lease, key func(context.Context, instrument.Sink), finished func()) func(context.Context, instrument.Sink) {
	return func(ctx context.Context, s instrument.Sink) {
		defer finished()
		var wg sync.WaitGroup
		wg.Go(func() { key(ctx, s) })
		lease(ctx, s)
		wg.Wait()
	}
}
