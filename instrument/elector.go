package instrument

import (
	"context"
	"time"
)

// Acquirer obtains leadership: once or waiting, the implementation decides.
// Acquire returns a Lease or an error. An Acquirer may also implement
//
//	Classify(error) (Reason, bool)
//
// to tell its own errors apart; see Classifier.
type Acquirer interface {
	Acquire(ctx context.Context) (Lease, error)
}

// AcquirerFunc is a function that is an Acquirer.
type AcquirerFunc func(ctx context.Context) (Lease, error)

// Acquire calls f.
func (f AcquirerFunc) Acquire(ctx context.Context) (Lease, error) { return f(ctx) }

// Lease is one won term. Release gives it back. A Lease may implement the
// optional capabilities below; each has an answer for "unknown", so that a
// wrapper can carry all of them and still tell the truth.
type Lease interface {
	Release(ctx context.Context) error
}

// Expirer knows when the lease ends unless it is renewed. The zero time means
// unknown. It is asked right after winning and after each renewal, from the
// goroutine that won or renewed; never at collection.
//
// A safe answer is the instant just before the request that won or renewed
// the lease, plus its length. Times with a monotonic reading are compared on
// the monotonic clock.
type Expirer interface {
	Expiry() time.Time
}

// LossNotifier closes a channel when the lock is lost. A nil channel never
// signals.
type LossNotifier interface {
	Lost() <-chan struct{}
}

// Fencer has a token that grows from term to term; ok is false when the
// backend has none. A random value is no fencing token.
type Fencer interface {
	FencingToken() (token uint64, ok bool)
}

// Renewer extends the lease on the caller's demand. errors.ErrUnsupported
// means that the library renews by itself.
type Renewer interface {
	Renew(ctx context.Context) error
}

// Watcher reports what the library does by itself. Watch pushes to s until
// ctx is done, which is when the term has ended; it runs in a goroutine of
// its own.
type Watcher interface {
	Watch(ctx context.Context, s Sink)
}

// Sink takes what a Watcher sees. Its methods are safe for concurrent use and
// do nothing once the term has ended.
type Sink interface {
	// Renewed reports a renewal and the new lease end; zero means unknown.
	Renewed(expiry time.Time)
	// RenewalFailed reports a renewal that failed and may be tried again.
	RenewalFailed(err error)
	// Lost ends the term. A cause that is context.Canceled means that the
	// elector stopped; any other, nil included, that the lock is gone.
	Lost(cause error)
}
