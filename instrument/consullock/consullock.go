package consullock

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

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
		token: func(ctx context.Context, session string) (uint64, bool) {
			return lockIndex(ctx, client, opts.Key, opts.Namespace, session)
		}}
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
	default:
		return 0, false
	}
}

// win takes l. The client answers neither a channel nor an error when it
// was told to stop and when it tried once; that is no win.
func win(ctx context.Context, l locker) (<-chan struct{}, error) {
	lost, err := l.Lock(ctx.Done())
	switch {
	case err != nil:
		return nil, err
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
	token     func(ctx context.Context, session string) (uint64, bool) // nil: none
}

func (f *fresh) Acquire(ctx context.Context) (instrument.Lease, error) {
	id, end, err := f.open(ctx)
	if err != nil {
		return nil, fmt.Errorf("consullock: create a session: %w", err)
	}
	l, id, err := f.make(id)
	if err != nil {
		end()
		return nil, err
	}
	lost, err := win(ctx, l)
	if err != nil {
		end()
		return nil, err
	}
	options := observed(f.sessions, id, lost)
	if f.token != nil {
		if token, ok := f.token(ctx, id); ok {
			options = append(options, instrument.Token(token))
		}
	}
	return instrument.NewLease(func(context.Context) error {
		defer end()
		return l.Unlock()
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
		return "", nil, err
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
	options := []instrument.LeaseOption{instrument.LostOn(lost)}
	if pair := holder(ctx, b.client, b.key, ""); pair != nil && b.sessions.has(pair.Session) {
		options = append(observed(b.sessions, pair.Session, lost), instrument.Token(pair.LockIndex))
	}
	return instrument.NewLease(func(context.Context) error { return b.lock.Unlock() }, options...), nil
}

// observed are the capabilities of a lease that hangs on a session.
func observed(s *Sessions, id string, lost <-chan struct{}) []instrument.LeaseOption {
	return []instrument.LeaseOption{
		instrument.LostOn(lost),
		instrument.ExpiryFrom(func() time.Time { return s.expiry(id) }),
		instrument.WatchWith(func(ctx context.Context, sink instrument.Sink) {
			defer s.watch(id, sink)()
			<-ctx.Done()
		}),
	}
}

func (s *Sessions) has(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known[id] != nil
}

// lockIndex grows with each acquisition of the key.
func lockIndex(ctx context.Context, c *api.Client, key, namespace, session string) (uint64, bool) {
	pair := holder(ctx, c, key, namespace)
	if pair == nil || pair.Session != session {
		return 0, false
	}
	return pair.LockIndex, true
}

// holder reads the key once. A win whose key cannot be read has no token.
func holder(ctx context.Context, c *api.Client, key, namespace string) *api.KVPair {
	read := &api.QueryOptions{Namespace: namespace, RequireConsistent: true}
	pair, _, err := c.KV().Get(key, read.WithContext(ctx))
	if err != nil {
		return nil
	}
	return pair
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
