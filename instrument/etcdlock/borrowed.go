package etcdlock

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/leaderscope/leaderscope/instrument"
)

// borrowed campaigns on the caller's session.
type borrowed struct {
	reasons
	session   *concurrency.Session
	candidate candidate
	holds     atomic.Uint64 // the token of a term that was not released; 0 none

	mu       sync.Mutex
	sweeping *sweep // after the last attempt, which failed; nil none
}

func (b *borrowed) Acquire(ctx context.Context) (instrument.Lease, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("etcdlock: %w", context.Cause(ctx))
	}
	b.stopSweep()
	if err := win(ctx, b.session, b.candidate); err != nil {
		if !ended(b.session) && !b.candidate.leavesNothing() {
			b.sweep()
		}
		return nil, err
	}
	l := listen(ctx, b.session)
	token := b.candidate.token()
	b.holds.Store(token)
	return instrument.NewLease(
		b.releaser(token),
		instrument.Token(token),
		instrument.ExpiryFrom(l.Expiry),
		instrument.GrantedFrom(l.length),
		instrument.WatchWith(both(l.Watch, holding(b.session.Client(), b.candidate).watch)),
	), nil
}

// releaser deletes the key of this term. Resign forgets the key when it fails,
// and Unlock would delete the key of a later term.
func (b *borrowed) releaser(token uint64) func(context.Context) error {
	key, owner := b.candidate.key(), b.candidate.owner()
	return func(ctx context.Context) error {
		b.holds.CompareAndSwap(token, 0)
		_, err := b.session.Client().Txn(ctx).If(owner).Then(clientv3.OpDelete(key)).Commit()
		return err
	}
}
