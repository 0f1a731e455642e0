package natskv

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/leaderscope/leaderscope/instrument"
)

// NewElection campaigns for key and waits until it wins. The value of the key is
// holder, a space, and a random word that identifies the term.
//
// The key is updated every third of the bucket's TTL, and watched: the term is
// lost at once if the key is deleted or written by another replica. A holder whose
// updates fail gives up a tenth of the TTL before the key may expire, so that its
// work can stop in time. In a bucket without a TTL only the holder can release the
// lock: the lease has no end, and nothing is renewed.
//
// It is safe for concurrent use, as are all values of this package.
func NewElection(kv jetstream.KeyValue, key, holder string) instrument.Acquirer {
	return newElector(newStore(kv), key, holder, true)
}

// NewTryElection creates key, or returns [jetstream.ErrKeyExists], wrapped, at once. See
// [NewElection] for holder and the lease.
func NewTryElection(kv jetstream.KeyValue, key, holder string) instrument.Acquirer {
	return newElector(newStore(kv), key, holder, false)
}

type elector struct {
	*bucketKey
	holder string
	waits  bool
}

// bucketKey is a key, and what was left of it.
type bucketKey struct {
	store       store
	key         string
	withdrawals *withdrawals
}

func newElector(s store, key, holder string, waits bool) *elector {
	return &elector{bucketKey: &bucketKey{store: s, key: key, withdrawals: &withdrawals{store: s, key: key}}, holder: holder, waits: waits}
}

// Format writes what it is for every verb, and keeps the name of the lock from
// code that prints it.
func (*elector) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "NATS election") }

// Classify names the reason of an error of Acquire, Renew or Release. A
// revision that does not match means that another wrote the key. A deadline is
// the caller's, which the caller's context tells, or that of a server that does
// not answer.
func (e *elector) Classify(err error) (instrument.Reason, bool) {
	switch {
	case errors.Is(err, instrument.ErrSessionLost):
		return instrument.SessionLost, true
	case errors.Is(err, instrument.ErrContended), errors.Is(err, jetstream.ErrKeyExists), isWrongRevision(err):
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
	nats.ErrAuthorization, nats.ErrAuthExpired, nats.ErrAuthRevoked, nats.ErrAccountAuthExpired,
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

// The codes by which a server says that a key is not at the revision that the
// request named: of a bucket with one replica, and of one with several. The
// client has names for them in some versions only.
const (
	wrongLastSequence           jetstream.ErrorCode = 10071
	wrongLastSequenceReplicated jetstream.ErrorCode = 10164
)

func isWrongRevision(err error) bool {
	answer, ok := errors.AsType[jetstream.JetStreamError](err)
	if !ok || answer.APIError() == nil {
		return false
	}
	code := answer.APIError().ErrorCode
	return code == wrongLastSequence || code == wrongLastSequenceReplicated
}

func (e *elector) Acquire(ctx context.Context) (instrument.Lease, error) {
	return e.AcquireAsWitness(ctx, nil)
}

// AcquireAsWitness tells election what the watch of a standby shows.
func (e *elector) AcquireAsWitness(ctx context.Context, election *instrument.Election) (instrument.Lease, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	ttl, err := e.store.ttl(ctx) // which may have been changed
	if err != nil {
		return nil, fmt.Errorf("natskv: read the bucket's TTL: %w", err)
	}
	watching, stop := context.WithCancel(ctx)
	defer stop()
	w := &waiter{bucketKey: e.bucketKey, every: ttl / 3, witness: witness{election: election, ttl: ttl}}
	won, ended := false, func() {}
	if e.waits {
		ended = election.Identify(e.holder)
		defer w.witness.leaves()
	}
	defer func() {
		if !won {
			ended()
		}
	}()
	for {
		k, err := e.create(ctx, ttl)
		switch {
		case err == nil:
			w.witness.wins(e.holder, k.fencing)
			won = true
			return k.lease(ended), nil
		case !e.waits || !errors.Is(err, jetstream.ErrKeyExists):
			return nil, fmt.Errorf("natskv: %w", err)
		}
		if err := w.freed(watching); err != nil {
			return nil, fmt.Errorf("natskv: %w", err)
		}
	}
}

// create takes the key. Of two that find it deleted at once, the one that comes
// late is notified of the sequence: the key exists.
func (e *elector) create(ctx context.Context, ttl time.Duration) (*keeper, error) {
	value := []byte(e.holder + " " + rand.Text())
	asked := time.Now()
	revision, err := e.store.create(ctx, e.key, value)
	switch {
	case err == nil:
		return newKeeper(e.bucketKey, value, revision, asked, ttl), nil
	case isWrongRevision(err) && !errors.Is(err, jetstream.ErrKeyExists):
		return nil, fmt.Errorf("%w: %w", jetstream.ErrKeyExists, err)
	case unanswered(err):
		select {
		case <-e.withdrawals.add(value, nil):
		case <-time.After(cleanUpWait):
		}
	}
	return nil, err
}
