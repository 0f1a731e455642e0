package redislocklead

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/bsm/redislock"
	"github.com/redis/go-redis/v9"

	"github.com/leaderscope/leaderscope/instrument"
)

// NewLock locks key for ttl, which is rounded down to milliseconds, and waits for
// the lock until the context of Acquire ends: it tries again every twentieth of
// ttl, or every second if that is less. See WithRetry.
//
// Each request must be answered within ttl, even if the client's timeouts are
// longer, since its lease would have ended by then. Acquire, Term.Renew and
// Term.Release return when their context ends, although go-redis may continue to
// read.
//
// A request whose answer was lost may have taken the lock without a holder. The
// lock is released in the background, so that other replicas do not wait for the
// end of ttl.
//
// The acquirer is safe for concurrent use.
func NewLock(client *redislock.Client, key string, ttl time.Duration, opts ...Option) instrument.Acquirer {
	e := newElector(client, key, ttl, opts)
	if e.retry == nil {
		e.retry = func() redislock.RetryStrategy { return redislock.LinearBackoff(min(e.ttl/20, time.Second)) }
	}
	return e
}

// NewTryLock locks key for ttl or returns redislock.ErrNotObtained at once. See
// NewLock for ttl and the contexts; WithRetry does nothing.
func NewTryLock(client *redislock.Client, key string, ttl time.Duration, opts ...Option) instrument.Acquirer {
	e := newElector(client, key, ttl, opts)
	e.retry = nil
	return e
}

// Option changes how a lock is acquired or held. Nil options are ignored.
type Option func(*elector)

// WithAutoRenew renews the lock every third of its ttl while it is held, so
// that the work may take longer than ttl. When renewals fail until a tenth of
// ttl is left, the term's context ends, so that the work can stop before
// another replica may begin. Term.Renew works as well.
func WithAutoRenew() Option { return func(e *elector) { e.autoRenew = true } }

// WithRetry sets how long NewLock waits between two requests. The function is
// called for each Acquire, since the strategies of redislock count the
// requests. A strategy that returns less than 1 ends the wait, and Acquire
// returns redislock.ErrNotObtained. A nil function keeps the default.
func WithRetry(strategy func() redislock.RetryStrategy) Option {
	return func(e *elector) {
		if strategy != nil {
			e.retry = strategy
		}
	}
}

// WithMetadata stores a text beside the random token in the key, such as the
// name of the replica, for operators who read the key.
func WithMetadata(text string) Option { return func(e *elector) { e.metadata = text } }

type elector struct {
	client    *redislock.Client
	key       string
	ttl       time.Duration
	retry     func() redislock.RetryStrategy // nil: one request
	metadata  string
	autoRenew bool
}

func newElector(client *redislock.Client, key string, ttl time.Duration, opts []Option) *elector {
	e := &elector{client: client, key: key, ttl: ttl.Truncate(time.Millisecond)}
	for _, o := range opts {
		if o != nil {
			o(e)
		}
	}
	return e
}

// Format writes what it is for every verb, and keeps the name of the lock from
// code that prints it.
func (*elector) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "redislock lock") }

// Classify names the reason of an error of Acquire, Renew or Release. One
// request was sent when a deadline passes that is not the caller's: the server
// does not answer, which is no evidence about the holder of the lock.
func (*elector) Classify(err error) (instrument.Reason, bool) {
	switch {
	case errors.Is(err, redislock.ErrNotObtained):
		return instrument.Contended, true
	case errors.Is(err, redislock.ErrLockNotHeld):
		return instrument.SessionLost, true
	case isAnswer(err), isClosed(err), errors.Is(err, io.EOF), errors.Is(err, context.DeadlineExceeded):
		return instrument.BackendError, true
	default:
		return 0, false
	}
}

// isAnswer reports errors that Redis answered.
func isAnswer(err error) bool {
	_, is := errors.AsType[redis.Error](err)
	return is
}

// isClosed reports a client that the program has closed.
func isClosed(err error) bool { return errors.Is(err, redis.ErrClosed) }

// Acquire implements instrument.Acquirer.
func (e *elector) Acquire(ctx context.Context) (instrument.Lease, error) {
	switch {
	case e.client == nil:
		return nil, errors.New("leaderscope: redislocklead: the client is nil: pass one of redislock.New")
	case e.ttl <= 0:
		return nil, fmt.Errorf("leaderscope: redislocklead: the ttl is %v after the fraction of a millisecond is left out: pass 1ms or more", e.ttl)
	}
	ctx = orBackground(ctx)
	var again redislock.RetryStrategy
	if e.retry != nil {
		again = e.retry()
	}
	for {
		h, err := e.obtain(ctx)
		switch {
		case err == nil:
			return h.lease(), nil
		case again == nil || !errors.Is(err, redislock.ErrNotObtained):
			return nil, err
		}
		backoff := again.NextBackoff()
		if backoff < 1 {
			return nil, err
		}
		sleep(ctx, backoff)
	}
}

func orBackground(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return ctx
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
