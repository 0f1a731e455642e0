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
)

// creating is a bucket with one key, of which the first answer to a Create is
// lost.
type creating struct {
	faulty
	late    time.Duration // after which the request arrives; negative: never
	err     error         // what the caller has instead of the answer
	created time.Time
}

func (c *creating) Create(_ context.Context, _ string, value []byte, _ ...jetstream.KVCreateOpt) (uint64, error) {
	if c.late >= 0 {
		c.value, c.revision, c.created = value, 7, time.Now().Add(c.late)
	}
	return 0, c.err
}

func (c *creating) Get(ctx context.Context, key string) (jetstream.KeyValueEntry, error) {
	if c.value == nil || c.deleted || time.Now().Before(c.created) {
		return nil, jetstream.ErrKeyNotFound
	}
	return c.faulty.Get(ctx, key)
}

func (c *creating) Status(context.Context) (jetstream.KeyValueStatus, error) {
	return endlessBucket{}, nil
}

type endlessBucket struct{ jetstream.KeyValueStatus }

func (endlessBucket) TTL() time.Duration { return 0 }

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
				if _, err := NewTryElection(kv, "leader", "replica-1").Acquire(t.Context()); !errors.Is(err, c.err) {
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

// cutting loses the connection when a key is to be created, so that the
// request waits in the client's buffer.
type cutting struct {
	jetstream.KeyValue
	proxy *proxy
}

func (c *cutting) Create(ctx context.Context, key string, value []byte, opts ...jetstream.KVCreateOpt) (uint64, error) {
	c.proxy.cut()
	return c.KeyValue.Create(ctx, key, value, opts...)
}

func TestAKeyWhoseAnswerAProxyLostIsDeleted(t *testing.T) {
	s := embedded(t)
	kv := bucket(t, client(t, s.ClientURL()), 0)
	p := newProxy(t, s.Addr().String())
	far := &cutting{KeyValue: bucket(t, client(t, "nats://"+p.address()), 0), proxy: p}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := NewElection(far, "leader", "replica-1").Acquire(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("got %v, want the deadline", err)
	}
	p.restore()
	lease := acquire(t, NewElection(kv, "leader", "replica-2"))
	time.Sleep(2 * retryAfter)
	if err := lease.Release(t.Context()); err != nil {
		t.Errorf("the next holder's release: %v", err)
	}
}

func TestTheRaceForADeletedKeyIsContentionAlsoInABucketWithReplicas(t *testing.T) {
	for _, code := range []jetstream.ErrorCode{jetstream.JSErrCodeStreamWrongLastSequence, jetstream.JSErrCodeStreamWrongLastSequenceConstant} {
		a := NewTryElection(&creating{err: &jetstream.APIError{ErrorCode: code}, late: -1}, "leader", "replica-1")
		_, err := a.Acquire(t.Context())
		if reason, ok := classify(a, err); !ok || reason != instrument.Contended || !errors.Is(err, jetstream.ErrKeyExists) {
			t.Errorf("%v is classified as %v, %v", err, reason, ok)
		}
	}
}
