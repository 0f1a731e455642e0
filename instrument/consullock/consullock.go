package consullock

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/hashicorp/consul/api"

	"github.com/leaderscope/leaderscope/instrument"
)

// NewLock locks as opts say, with a lock and, unless opts name one, a session
// of its own for each attempt. It waits, for LockTryOnce until LockWaitTime.
// The client looks at its caller's context between two requests only: an
// attempt that was given up ends within LockWaitTime. client and s come from
// NewClient. opts must not be changed afterwards.
func NewLock(client *api.Client, s *Sessions, opts *api.LockOptions) instrument.Acquirer {
	return &fresh{client: client, sessions: s, own: opts.Session == "", entry: lockEntry(opts), namespace: opts.Namespace,
		make: func(session string) (locker, string, error) {
			o := *opts
			if o.Session == "" {
				o.Session = session
			}
			l, err := client.LockOpts(&o)
			return l, o.Session, err
		},
		holder: reader(client, opts.Key, opts.Namespace)}
}

// NewSemaphore takes one of the slots that opts limit; declare MaxLeaders. See
// NewLock. There is no token: no order is among several holders.
func NewSemaphore(client *api.Client, s *Sessions, opts *api.SemaphoreOptions) instrument.Acquirer {
	return &fresh{client: client, sessions: s, own: opts.Session == "", entry: semaphoreEntry(opts), namespace: opts.Namespace,
		make: func(session string) (locker, string, error) {
			o := *opts
			if o.Session == "" {
				o.Session = session
			}
			l, err := client.SemaphoreOpts(&o)
			return semaphore{l}, o.Session, err
		}}
}

// Lock locks l of the program, which was made for key. After a loss l answers
// ErrLockHeld, counted as already held, until it is released.
func Lock(client *api.Client, s *Sessions, l *api.Lock, key string) instrument.Acquirer {
	return &borrowed{client: client, sessions: s, lock: l, key: key}
}

// locker is *api.Lock.
type locker interface {
	Lock(stop <-chan struct{}) (<-chan struct{}, error)
	Unlock() error
}

type semaphore struct{ *api.Semaphore }

func (s semaphore) Lock(stop <-chan struct{}) (<-chan struct{}, error) { return s.Acquire(stop) }
func (s semaphore) Unlock() error                                      { return s.Release() }

// reasons tells the client's errors apart.
type reasons struct{}

// Classify names the reason of an error of Acquire or Release.
func (reasons) Classify(err error) (instrument.Reason, bool) {
	switch {
	case errors.Is(err, api.ErrLockHeld), errors.Is(err, api.ErrSemaphoreHeld):
		return instrument.AlreadyHeld, true
	case errors.Is(err, api.ErrLockNotHeld), errors.Is(err, api.ErrSemaphoreNotHeld):
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

// named are the errors by which the client tells what a lock is.
var named = []error{api.ErrLockHeld, api.ErrLockConflict, api.ErrSemaphoreHeld, api.ErrSemaphoreConflict}

// win takes l. The client answers neither a channel nor an error when it
// was told to stop and when it tried once; that is no win.
func win(ctx context.Context, l locker) (<-chan struct{}, error) {
	lost, err := l.Lock(ctx.Done())
	switch {
	case slices.Contains(named, err):
		return nil, err
	case err != nil:
		return nil, requestError{err}
	case lost != nil:
		return lost, nil
	case ctx.Err() != nil:
		return nil, fmt.Errorf("consullock: %w", ctx.Err())
	default:
		return nil, fmt.Errorf("consullock: %w", instrument.ErrContended)
	}
}

// fresh makes a lock and a session for each attempt.
type fresh struct {
	reasons
	client    *api.Client
	sessions  *Sessions
	own       bool // sessions are made here
	entry     *api.SessionEntry
	namespace string
	make      func(session string) (l locker, of string, err error)
	holder    func(ctx context.Context) (*api.KVPair, error) // nil: several hold it
}

func (f *fresh) Acquire(ctx context.Context) (lease instrument.Lease, err error) {
	id, end, err := f.open(ctx)
	if err != nil {
		return nil, fmt.Errorf("consullock: create a session: %w", err)
	}
	defer func() {
		if lease == nil { // also after a panic: a nil context makes one
			end()
		}
	}()
	l, id, err := f.make(id)
	if err != nil {
		return nil, err
	}
	lost, err := win(ctx, l)
	if err != nil {
		return nil, err
	}
	h := &holding{sessions: f.sessions, session: id, lost: lost, holder: f.holder}
	options := h.options()
	if f.holder != nil {
		if pair, err := f.holder(ctx); err == nil && pair != nil && pair.Session == id {
			options = append(options, instrument.Token(pair.LockIndex))
		}
	}
	return instrument.NewLease(func(context.Context) error {
		defer end()
		return h.release(l)
	}, options...), nil
}

// open makes a session and keeps it as the client's lock would, until end.
func (f *fresh) open(ctx context.Context) (id string, end func(), err error) {
	if !f.own {
		return "", func() {}, nil
	}
	write := &api.WriteOptions{Namespace: f.namespace}
	id, _, err = f.client.Session().Create(f.entry, write.WithContext(ctx))
	if err != nil {
		return "", nil, requestError{err}
	}
	done := make(chan struct{})
	go func() {
		// What becomes of it, Sessions sees.
		_ = f.client.Session().RenewPeriodic(or(f.entry.TTL, api.DefaultLockSessionTTL), id, write, done)
	}()
	return id, sync.OnceFunc(func() { close(done) }), nil
}

// borrowed takes a lock of the program, whose session it makes itself.
type borrowed struct {
	reasons
	client   *api.Client
	sessions *Sessions
	lock     locker
	key      string
}

func (b *borrowed) Acquire(ctx context.Context) (instrument.Lease, error) {
	lost, err := win(ctx, b.lock)
	if err != nil {
		return nil, err
	}
	holder := reader(b.client, b.key, "")
	pair, err := holder(ctx)
	if err != nil || pair == nil || !b.sessions.has(pair.Session) {
		// Whose renewals it hangs on cannot be seen.
		return instrument.NewLease(func(context.Context) error { return b.lock.Unlock() }, instrument.LostOn(lost)), nil
	}
	h := &holding{sessions: b.sessions, session: pair.Session, lost: lost, holder: holder}
	return instrument.NewLease(func(context.Context) error { return h.release(b.lock) },
		append(h.options(), instrument.Token(pair.LockIndex))...), nil
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
