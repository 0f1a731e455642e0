package natskv

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/leaderscope/leaderscope/instrument"
)

// New campaigns for key and waits until it wins. holder is what others read
// in the key; a random word that marks the term follows it, after a space.
//
// The key is updated every third of the bucket's TTL. A holder whose updates
// fail loses its term a tenth of the TTL before the key may go, so that its
// work can stop in time. A bucket without a TTL makes a lock that only its
// holder can give back: its end is unknown, and nothing is renewed.
func New(kv jetstream.KeyValue, key, holder string) instrument.Acquirer {
	return &elector{kv: kv, key: key, holder: holder, waits: true}
}

// NewTry takes key, or returns [jetstream.ErrKeyExists], wrapped, at once. See
// [New] for holder and the lease.
func NewTry(kv jetstream.KeyValue, key, holder string) instrument.Acquirer {
	return &elector{kv: kv, key: key, holder: holder}
}

type elector struct {
	kv          jetstream.KeyValue
	key, holder string
	waits       bool
}

// Classify names the reason of an error of Acquire. A revision that does not
// match is tested for first: on a bucket with one replica it is also an
// ErrKeyExists.
func (e *elector) Classify(err error) (instrument.Reason, bool) {
	switch {
	case errors.Is(err, jetstream.ErrKeyRevisionMismatch):
		return instrument.SessionLost, true
	case errors.Is(err, jetstream.ErrKeyExists):
		return instrument.Contended, true
	default:
		return 0, false
	}
}

func (e *elector) Acquire(ctx context.Context) (instrument.Lease, error) {
	ttl, err := e.ttl(ctx)
	if err != nil {
		return nil, fmt.Errorf("natskv: ask for the bucket's TTL: %w", err)
	}
	w := &waiter{kv: e.kv, key: e.key, every: ttl / 3}
	defer w.stop()
	for {
		l, err := e.create(ctx, ttl)
		switch {
		case err == nil:
			return l.lease(), nil
		case !e.waits || !errors.Is(err, jetstream.ErrKeyExists):
			return nil, fmt.Errorf("natskv: %w", err)
		}
		if err := w.freed(ctx); err != nil {
			return nil, fmt.Errorf("natskv: %w", err)
		}
	}
}

// ttl is asked for by every attempt: the bucket's configuration may change.
func (e *elector) ttl(ctx context.Context) (time.Duration, error) {
	status, err := e.kv.Status(ctx)
	if err != nil {
		return 0, err
	}
	return status.TTL(), nil
}

func (e *elector) create(ctx context.Context, ttl time.Duration) (*keeper, error) {
	value := []byte(e.holder + " " + rand.Text())
	asked := time.Now()
	revision, err := e.kv.Create(ctx, e.key, value)
	if err != nil {
		return nil, err
	}
	return newKeeper(e.kv, e.key, value, revision, asked, ttl), nil
}
