package etcdlock

import (
	"context"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

const (
	// settleTime is how long a request whose caller did not wait for the answer may still
	// create its key: a server gives up a proposal after 5 s and two election
	// timeouts, 7 s if not configured.
	settleTime = 10 * time.Second
	// sweepAfter is the time to the second look for a key; it doubles up to
	// sweepAtMost.
	sweepAfter  = 100 * time.Millisecond
	sweepAtMost = 2 * time.Second
)

// sweep looks in the background for a key that a failed attempt left.
type sweep struct{ stop, stopped chan struct{} }

// sweep deletes the key that a failed attempt may have left in the queue, where
// it would keep others out for as long as the session lives. The attempt's
// context is over, so the requests have one of their own. Without an answer, or
// while the key may still be created, it continues in the background.
func (b *borrowed) sweep() {
	deleted, err := b.deleteLeft()
	if deleted {
		return
	}
	s := &sweep{make(chan struct{}), make(chan struct{})}
	b.mu.Lock()
	b.sweeping = s
	b.mu.Unlock()
	go func() {
		defer close(s.stopped)
		b.sweepUntil(s.stop, err == nil)
	}()
}

// sweepUntil ends when the key was deleted, when it was not there for the
// settle time after the first answer, with the session, or with stop.
func (b *borrowed) sweepUntil(stop <-chan struct{}, answered bool) {
	first := time.Now()
	for wait := sweepAfter; !answered || time.Since(first) < settleTime; wait = min(2*wait, sweepAtMost) {
		select {
		case <-time.After(wait):
		case <-stop:
			return
		case <-b.session.Ctx().Done():
			return
		}
		deleted, err := b.deleteLeft()
		if deleted {
			return
		}
		if !answered && err == nil {
			answered, first = true, time.Now()
		}
	}
}

// stopSweep ends the sweep before the next attempt, whose key is the same, and
// waits for its last request: revokeTimeout at most. That attempt sweeps again
// if it fails.
func (b *borrowed) stopSweep() {
	b.mu.Lock()
	s := b.sweeping
	b.sweeping = nil
	b.mu.Unlock()
	if s != nil {
		close(s.stop)
		<-s.stopped
	}
}

// deleteLeft deletes the session's key, unless a term holds it. It asks for the
// revision first: a deletion that arrives late must not hit the key of a later
// attempt.
func (b *borrowed) deleteLeft() (deleted bool, err error) {
	ctx, cancel := context.WithTimeout(b.session.Ctx(), revokeTimeout)
	defer cancel()
	key, err := b.candidate.leftKey(ctx)
	if err != nil || key == "" {
		return false, err
	}
	client := b.session.Client()
	resp, err := client.Get(ctx, key)
	if err != nil || len(resp.Kvs) == 0 || clientv3.LeaseID(resp.Kvs[0].Lease) != b.session.Lease() {
		return false, err
	}
	created := resp.Kvs[0].CreateRevision
	if uint64(created) <= b.holds.Load() {
		return true, nil // another attempt won it
	}
	_, err = client.Txn(ctx).If(clientv3.Compare(clientv3.CreateRevision(key), "=", created)).Then(clientv3.OpDelete(key)).Commit()
	return err == nil, err
}
