package natskv

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest/tcpproxy"
)

// creating is a bucket with one key, of which the first answer to a Create is
// lost.
type creating struct {
	faulty
	late    time.Duration // after which the request arrives; negative: never
	err     error         // what the caller has instead of the answer
	created time.Time
}

func (c *creating) create(_ context.Context, _ string, value []byte) (uint64, error) {
	if c.late >= 0 {
		c.value, c.revision, c.created = value, 7, time.Now().Add(c.late)
	}
	return 0, c.err
}

func (c *creating) get(ctx context.Context, key string) (jetstream.KeyValueEntry, error) {
	if c.value == nil || c.deleted || time.Now().Before(c.created) {
		return nil, jetstream.ErrKeyNotFound
	}
	return c.faulty.get(ctx, key)
}

func TestAKeyWhoseCreationWasNotAnsweredIsDeleted(t *testing.T) {
	for name, c := range map[string]struct {
		creating
		deleted bool
	}{
		"it was created":              {creating: creating{err: context.DeadlineExceeded}, deleted: true},
		"it comes a moment later":     {creating: creating{err: nats.ErrTimeout, late: retryAfter / 2}, deleted: true},
		"it was not created":          {creating: creating{err: nats.ErrTimeout, late: -1}},
		"another holds it":            {creating: creating{err: context.Canceled, late: -1, faulty: faulty{value: []byte("other"), revision: 3}}},
		"the server had no room":      {creating: creating{err: &jetstream.APIError{ErrorCode: 10077}, late: -1}},
		"the connection was closed":   {creating: creating{err: nats.ErrConnectionClosed, late: -1}},
		"the key is no name of a key": {creating: creating{err: jetstream.ErrInvalidKey, late: -1}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				kv := &c.creating
				if _, err := newElector(kv, "leader", "replica-1", false).Acquire(t.Context()); !errors.Is(err, c.err) {
					t.Errorf("got %v, want %v", err, c.err)
				}
				time.Sleep(time.Minute) // in which every attempt must have ended
				synctest.Wait()
				if kv.deleted != c.deleted {
					t.Errorf("deleted %v, want %v", kv.deleted, c.deleted)
				}
			})
		})
	}
}

func TestWhenAKeyIsKnownNotToBeThere(t *testing.T) {
	ours := []byte("replica-1 term")
	for name, c := range map[string]struct {
		creating
		done    time.Duration
		deleted bool
	}{
		"it is deleted":         {creating{faulty: faulty{value: ours, revision: 7}}, 0, true},
		"it comes, and is":      {creating{faulty: faulty{value: ours, revision: 7}, late: retryAfter / 2}, retryAfter, true},
		"it does not come":      {creating{}, settleTime, false},
		"another's comes first": {creating{faulty: faulty{value: []byte("other"), revision: 3}}, settleTime, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				kv, deleted, begun := &c.creating, false, time.Now()
				kv.created = begun.Add(kv.late)
				w := &withdrawals{store: kv, key: "leader"}
				<-w.add(ours, func() { deleted = true })
				if took := time.Since(begun); took != c.done || deleted != c.deleted || kv.deleted != c.deleted {
					t.Errorf("known after %v, told of a deletion: %v, deleted: %v; want %v, %v", took, deleted, kv.deleted, c.done, c.deleted)
				}
			})
		})
	}
}

// cutting loses the connection when a key is to be created, so that the
// request waits in the client's buffer.
type cutting struct {
	store
	way *tcpproxy.Proxy
}

func (c *cutting) create(ctx context.Context, key string, value []byte) (uint64, error) {
	c.way.Cut()
	return c.store.create(ctx, key, value)
}

func TestAKeyWhoseAnswerAProxyLostIsDeleted(t *testing.T) {
	s := embedded(t)
	kv := bucket(t, client(t, s.ClientURL()), 0)
	p := tcpproxy.New(t, s.Addr().String())
	far := &cutting{store: newStore(bucket(t, client(t, "nats://"+p.Address()), 0)), way: p}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := newElector(far, "leader", "replica-1", true).Acquire(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("got %v, want the deadline", err)
	}
	p.Resume()
	lease := acquire(t, NewElection(kv, "leader", "replica-2"))
	time.Sleep(2 * retryAfter)
	if err := lease.Release(t.Context()); err != nil {
		t.Errorf("the next holder's release: %v", err)
	}
}

func TestTheRaceForADeletedKeyIsContentionAlsoInABucketWithReplicas(t *testing.T) {
	for _, code := range []jetstream.ErrorCode{wrongLastSequence, wrongLastSequenceReplicated} {
		a := newElector(&creating{err: &jetstream.APIError{ErrorCode: code}, late: -1}, "leader", "replica-1", false)
		_, err := a.Acquire(t.Context())
		if reason, ok := classify(a, err); !ok || reason != instrument.Contended || !errors.Is(err, jetstream.ErrKeyExists) {
			t.Errorf("%v is classified as %v, %v", err, reason, ok)
		}
	}
}
