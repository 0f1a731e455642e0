package natskv

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const (
	// retryAfter is the time between two attempts.
	retryAfter = time.Second
	// withdrawFor is for how long an unreachable server is retried.
	withdrawFor = 10 * time.Minute
)

// withdrawal deletes a key whose creation was not answered: it may be there,
// or come when the connection is back, without a holder.
type withdrawal struct {
	kv      jetstream.KeyValue
	key     string
	value   []byte
	missing int // attempts that found no key
}

// unanswered reports whether the key may have been created all the same.
func unanswered(err error) bool {
	_, answered := errors.AsType[jetstream.JetStreamError](err)
	return !answered && !errors.Is(err, nats.ErrNoResponders) && !errors.Is(err, nats.ErrConnectionClosed)
}

// start makes one attempt, and continues in the background until it knows.
func (w *withdrawal) start(ctx context.Context) {
	ctx = context.WithoutCancel(ctx)
	if w.attempt(ctx) {
		return
	}
	go func() {
		for deadline := time.Now().Add(withdrawFor); time.Now().Before(deadline); {
			time.Sleep(retryAfter)
			if w.attempt(ctx) {
				return
			}
		}
	}()
}

// attempt reports whether the key is not there and will not come. That it is
// missing once shows little: the request may be on its way still, and a
// replica that answers may be late.
func (w *withdrawal) attempt(ctx context.Context) (done bool) {
	ctx, cancel := context.WithTimeout(ctx, discardTimeout)
	defer cancel()
	entry, err := w.kv.Get(ctx, w.key)
	switch {
	case errors.Is(err, jetstream.ErrKeyNotFound):
		w.missing++
		return w.missing > 1
	case err != nil:
		return !unanswered(err)
	case !bytes.Equal(entry.Value(), w.value):
		return true
	}
	return w.kv.Delete(ctx, w.key, jetstream.LastRevision(entry.Revision())) == nil
}
