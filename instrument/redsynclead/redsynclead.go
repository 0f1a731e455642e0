package redsynclead

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/go-redsync/redsync/v4"

	"github.com/leaderscope/leaderscope/instrument"
)

// NewMutex locks the mutex of that name, with as many tries as its options say:
// by default 32, every 50 to 250 ms. To wait longer, use redsync.WithTries and
// redsync.WithRetryDelay. Each Acquire has its own mutex, so that the acquirer is
// safe for concurrent use.
//
// The lease end is that of the mutex: it counts from just before the winning
// request, less the drift that redsync allows for. Acquire, Term.Renew and
// Term.Release return when their context ends, although the client may continue
// to read.
//
// A request whose answer was lost may have taken the lock without a holder. The
// lock is released in the background, unless opts contain
// redsync.WithGenValueFunc.
func NewMutex(rs *redsync.Redsync, name string, opts ...redsync.Option) instrument.Acquirer {
	return newElector(rs, name, opts, (*redsync.Mutex).LockContext)
}

// NewTryMutex locks the mutex of that name or returns a *redsync.ErrTaken at once
// if another holder has it. See NewMutex.
func NewTryMutex(rs *redsync.Redsync, name string, opts ...redsync.Option) instrument.Acquirer {
	return newElector(rs, name, opts, (*redsync.Mutex).TryLockContext)
}

// Mutex locks m, with as many tries as m's options say; see NewMutex. A mutex
// holds one lock at a time: while it does, Acquire returns
// instrument.ErrAlreadyHeld. Do not use m elsewhere meanwhile. If the answer of a
// winning request was lost, the lock is kept until the expiry of m.
func Mutex(m *redsync.Mutex, opts ...Option) instrument.Acquirer {
	return wrap(m, opts, (*redsync.Mutex).LockContext)
}

// TryMutex locks m or answers at once; see Mutex.
func TryMutex(m *redsync.Mutex, opts ...Option) instrument.Acquirer {
	return wrap(m, opts, (*redsync.Mutex).TryLockContext)
}

// Option is an option of this package. NewMutex and NewTryMutex take it among
// those of redsync; given to redsync itself it does nothing.
type Option interface {
	redsync.Option
	isOfThisPackage()
}

// WithAutoRenew extends the lock every third of its expiry while it is held, so
// that the work may take longer. When that fails until a tenth of the expiry is
// left, the term's context ends, so that the work can stop before another
// replica may begin. Term.Renew works as well.
func WithAutoRenew() Option { return autoRenew{} }

type autoRenew struct{}

func (autoRenew) Apply(*redsync.Mutex) {}
func (autoRenew) isOfThisPackage()     {}

type elector struct {
	next      func() (*attempt, error) // makes the mutex of an attempt
	lock      func(*redsync.Mutex, context.Context) error
	autoRenew bool
}

func newElector(rs *redsync.Redsync, name string, opts []redsync.Option, lock func(*redsync.Mutex, context.Context) error) *elector {
	renews := slices.ContainsFunc(opts, func(o redsync.Option) bool { return o == redsync.Option(autoRenew{}) })
	opts = slices.DeleteFunc(slices.Clone(opts), func(o redsync.Option) bool { return o == nil })
	expiry, known := expiryOf(name, opts)
	return &elector{func() (*attempt, error) {
		switch {
		case rs == nil:
			return nil, errors.New("leaderscope: redsynclead: the Redsync is nil: pass one of redsync.New")
		case known && expiry < time.Millisecond:
			return nil, fmt.Errorf("leaderscope: redsynclead: the expiry is %v: pass 1ms or more to redsync.WithExpiry", expiry)
		}
		return newAttempt(rs, name, expiry, opts), nil
	}, lock, renews}
}

func wrap(m *redsync.Mutex, opts []Option, lock func(*redsync.Mutex, context.Context) error) *elector {
	shared := newMutex(m)
	return &elector{func() (*attempt, error) {
		if m == nil {
			return nil, errors.New("leaderscope: redsynclead: the mutex is nil: pass one of Redsync.NewMutex")
		}
		return &attempt{mutex: shared}, nil
	}, lock, slices.Contains(opts, Option(autoRenew{}))}
}

// Format writes what it is for every verb, and keeps the name of the lock from
// code that prints it.
func (*elector) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "redsync mutex") }

// Classify names the reason of an error of Acquire, Renew or Release. A node
// that failed is tested for first: with it, nodes that are taken show no other
// holder. ErrFailed says that the answer came too late to be of use, or that
// the caller gave up, which its context tells.
func (*elector) Classify(err error) (instrument.Reason, bool) {
	switch {
	case is[*redsync.RedisError](err), errors.Is(err, redsync.ErrFailed):
		return instrument.BackendError, true
	case is[*redsync.ErrTaken](err), is[*redsync.ErrNodeTaken](err):
		return instrument.Contended, true
	case errors.Is(err, redsync.ErrLockAlreadyExpired):
		return instrument.SessionLost, true
	default:
		return 0, false
	}
}

func is[E error](err error) bool {
	_, is := errors.AsType[E](err)
	return is
}

// Acquire implements instrument.Acquirer.
func (e *elector) Acquire(ctx context.Context) (instrument.Lease, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	a, err := e.next()
	if err != nil {
		return nil, err
	}
	h, err := a.lock(ctx, e.lock)
	if err != nil {
		return nil, err
	}
	return h.lease(e.autoRenew), nil
}
