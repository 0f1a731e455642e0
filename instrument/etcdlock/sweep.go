package etcdlock

import (
	"context"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
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

// background deletes what an attempt or a term has left on the caller's
// session. The next attempt has the same key and stops it before.
type background struct {
	mu      sync.Mutex
	cancel  context.CancelFunc
	stopped chan struct{}
}

// start runs work until it ends, the session ends, or stop is called.
func (b *background) start(s *concurrency.Session, work func(context.Context)) (stopped <-chan struct{}) {
	b.stop()
	ctx, cancel := during(context.Background(), s)
	done := make(chan struct{})
	b.mu.Lock()
	b.cancel, b.stopped = cancel, done
	b.mu.Unlock()
	go func() {
		defer close(done)
		defer cancel()
		work(ctx)
	}()
	return done
}

// stop waits for the work to end.
func (b *background) stop() {
	b.mu.Lock()
	cancel, stopped := b.cancel, b.stopped
	b.mu.Unlock()
	if cancel != nil {
		cancel()
		<-stopped
	}
}

// sweep deletes the key that a failed attempt may have left in the queue, where
// it would keep others out for as long as the session lives. Without an answer,
// or while the key may still be created, it continues in the background.
func (b *borrowed) sweep() {
	select {
	case <-b.remaining.start(b.session, b.sweepUntilGone):
	case <-time.After(cleanUpWait):
	}
}

// sweepUntilGone ends when the key was deleted, when it was not there for the
// settle time after the first answer, or with ctx.
func (b *borrowed) sweepUntilGone(ctx context.Context) {
	var first time.Time // answer
	for wait := sweepAfter; first.IsZero() || time.Since(first) < settleTime; wait = min(2*wait, sweepAtMost) {
		deleted, err := b.deleteLeft(ctx)
		if deleted {
			return
		}
		if err == nil && first.IsZero() {
			first = time.Now()
		}
		if !sleepUntil(ctx, time.Now().Add(wait)) {
			return
		}
	}
}

// deleteLeft deletes the session's key, unless a term holds it. It asks for the
// revision first: a deletion that arrives late must not hit the key of a later
// attempt.
func (b *borrowed) deleteLeft(ctx context.Context) (deleted bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, revokeTimeout)
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
	if held(b.session, key, created) {
		return true, nil
	}
	_, err = client.Txn(ctx).If(clientv3.Compare(clientv3.CreateRevision(key), "=", created)).Then(clientv3.OpDelete(key)).Commit()
	return err == nil, err
}
