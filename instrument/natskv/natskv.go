package natskv

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/leaderscope/leaderscope/instrument"
)

// NewElection campaigns for key and waits until it wins. holder is what others read
// in the key; a random word that marks the term follows it, after a space.
//
// The key is updated every third of the bucket's TTL. A holder whose updates
// fail gives up a tenth of the TTL before the key may go, so that its work can
// stop in time. A bucket without a TTL makes a lock that only its holder can
// give back: it has no end, and nothing is renewed.
func NewElection(kv jetstream.KeyValue, key, holder string) instrument.Acquirer {
	return &elector{kv: kv, key: key, holder: holder, waits: true}
}

// NewTryElection takes key, or returns [jetstream.ErrKeyExists], wrapped, at once. See
// [NewElection] for holder and the lease.
func NewTryElection(kv jetstream.KeyValue, key, holder string) instrument.Acquirer {
	return &elector{kv: kv, key: key, holder: holder}
}

type elector struct {
	kv          jetstream.KeyValue
	key, holder string
	waits       bool
}

// Classify names the reason of an error of Acquire. A revision that does not
// match is tested for first: on a bucket with one replica it is also an
// ErrKeyExists. A deadline is the caller's, which the caller's context tells,
// or that of a server that does not answer.
func (e *elector) Classify(err error) (instrument.Reason, bool) {
	switch {
	case errors.Is(err, jetstream.ErrKeyRevisionMismatch):
		return instrument.SessionLost, true
	case errors.Is(err, jetstream.ErrKeyExists):
		return instrument.Contended, true
	case fromServer(err), isAny(err, noServer), errors.Is(err, context.DeadlineExceeded):
		return instrument.BackendError, true
	default:
		return 0, false
	}
}

// noServer are the errors of the client that mean that no server answers it.
var noServer = []error{
	nats.ErrTimeout, nats.ErrNoResponders, nats.ErrNoServers, nats.ErrConnectionClosed, nats.ErrConnectionDraining,
	nats.ErrConnectionReconnecting, nats.ErrDisconnected, nats.ErrStaleConnection, nats.ErrReconnectBufExceeded,
	nats.ErrAuthorization, nats.ErrAuthExpired, nats.ErrAuthRevoked, nats.ErrAccountAuthExpired, nats.ErrPermissionViolation,
	jetstream.ErrNoStreamResponse, jetstream.ErrBucketNotFound, jetstream.ErrStreamNotFound,
	jetstream.ErrJetStreamNotEnabled, jetstream.ErrJetStreamNotEnabledForAccount,
}

// fromServer reports errors that JetStream answered.
func fromServer(err error) bool {
	_, ok := errors.AsType[*jetstream.APIError](err)
	return ok
}

func isAny(err error, targets []error) bool {
	return slices.ContainsFunc(targets, func(target error) bool { return errors.Is(err, target) })
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

// create takes the key. Of two that find it deleted at once, the one that comes
// late is told of the sequence, by a code of its own where the bucket has
// replicas: the key exists.
func (e *elector) create(ctx context.Context, ttl time.Duration) (*keeper, error) {
	value := []byte(e.holder + " " + rand.Text())
	asked := time.Now()
	revision, err := e.kv.Create(ctx, e.key, value)
	if err == nil {
		return newKeeper(e.kv, e.key, value, revision, asked, ttl), nil
	}
	if answer, ok := errors.AsType[*jetstream.APIError](err); ok && answer.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant && !errors.Is(err, jetstream.ErrKeyExists) {
		return nil, fmt.Errorf("%w: %w", jetstream.ErrKeyExists, err)
	}
	if unanswered(err) {
		(&withdrawal{kv: e.kv, key: e.key, value: value}).start(ctx)
	}
	return nil, err
}
