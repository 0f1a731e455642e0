package consullock

import (
	"context"
	"errors"

	"github.com/hashicorp/consul/api"

	"github.com/leaderscope/leaderscope/instrument"
)

// NewLock locks according to opts. Each attempt has its own lock and, unless opts
// name a session, its own session. It waits; with LockTryOnce for LockWaitTime.
// client and s come from NewClient. opts must not be changed afterwards.
//
// Acquire and Release return when their context ends, although the client takes
// no context. Requests of the client that succeed after that are undone in the
// background. It is safe for concurrent use.
func NewLock(client *api.Client, s *Sessions, opts *api.LockOptions) instrument.Acquirer {
	if client == nil || s == nil || opts == nil {
		return missing
	}
	return &fresh{client: client, sessions: s, session: opts.Session, entry: lockEntry(opts), namespace: opts.Namespace,
		make: func(session string) (locker, error) {
			o := *opts
			o.Session = session
			l, err := client.LockOpts(&o)
			entry := &api.KVPair{Key: o.Key, Value: o.Value, Session: session, Flags: api.LockFlagValue, Namespace: o.Namespace}
			return &keyLock{l, client, entry}, err
		},
		holder: reader(client, opts.Key, opts.Namespace)}
}

// NewSemaphore acquires one of the slots that opts limit; declare MaxLeaders. See
// NewLock. There is no token, because several holders have no order.
func NewSemaphore(client *api.Client, s *Sessions, opts *api.SemaphoreOptions) instrument.Acquirer {
	if client == nil || s == nil || opts == nil {
		return missing
	}
	return &fresh{client: client, sessions: s, session: opts.Session, entry: semaphoreEntry(opts), namespace: opts.Namespace,
		make: func(session string) (locker, error) {
			o := *opts
			o.Session = session
			l, err := client.SemaphoreOpts(&o)
			return semaphore{l}, err
		}}
}

// Lock locks l, which the program has created for key. After a loss l returns
// ErrLockHeld, counted as already held, until it is released. Attempts of one
// Acquirer wait for each other. See NewLock for contexts.
func Lock(client *api.Client, s *Sessions, l *api.Lock, key string) instrument.Acquirer {
	if client == nil || s == nil || l == nil {
		return missing
	}
	return &borrowed{client: client, sessions: s, lock: programLock{l}, key: key, turn: make(chan struct{}, 1)}
}

// missing is an elector that was made without what it needs.
var missing = instrument.AcquirerFunc(func(context.Context) (instrument.Lease, error) { return nil, errMissing })

var errMissing = errors.New("consullock: the client, its Sessions, or the lock or its options is nil: pass those of consullock.NewClient and of the client")

// reasons tells the client's errors apart.
type reasons struct{}

// Classify names the reason of an error of Acquire or Release.
func (reasons) Classify(err error) (instrument.Reason, bool) {
	switch {
	case errors.Is(err, api.ErrLockHeld), errors.Is(err, api.ErrSemaphoreHeld):
		return instrument.AlreadyHeld, true
	case errors.Is(err, api.ErrLockNotHeld), errors.Is(err, api.ErrSemaphoreNotHeld), errors.Is(err, instrument.ErrSessionLost):
		return instrument.SessionLost, true
	case isRequestError(err):
		return instrument.BackendError, true
	default:
		return 0, false
	}
}

// requestError is an error of a request. The client puts most of them into
// words, and their types are gone; what its calls return besides the errors
// that it names is one of them.
type requestError struct{ error }

func (e requestError) Unwrap() error { return e.error }

func isRequestError(err error) bool {
	_, ok := errors.AsType[requestError](err)
	return ok
}

// reader reads the key. Its LockIndex grows with each acquisition.
func reader(c *api.Client, key, namespace string) func(context.Context) (*api.KVPair, error) {
	read := &api.QueryOptions{Namespace: namespace, RequireConsistent: true}
	return func(ctx context.Context) (*api.KVPair, error) {
		pair, _, err := c.KV().Get(key, read.WithContext(ctx))
		return pair, err
	}
}

// lockEntry and semaphoreEntry are the sessions that the client would make.
func lockEntry(o *api.LockOptions) *api.SessionEntry {
	if o.SessionOpts != nil {
		return o.SessionOpts
	}
	return &api.SessionEntry{Name: or(o.SessionName, api.DefaultLockSessionName), TTL: or(o.SessionTTL, api.DefaultLockSessionTTL), LockDelay: o.LockDelay}
}

func semaphoreEntry(o *api.SemaphoreOptions) *api.SessionEntry {
	return &api.SessionEntry{Name: or(o.SessionName, api.DefaultSemaphoreSessionName), TTL: or(o.SessionTTL, api.DefaultSemaphoreSessionTTL), Behavior: api.SessionBehaviorDelete}
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
