package instrument

import (
	"context"
	"time"
)

// Acquirer acquires leadership. The implementation decides whether Acquire tries
// once or waits. Acquire returns a Lease or an error. An Acquirer that is also a
// Classifier classifies its own errors.
type Acquirer interface {
	Acquire(ctx context.Context) (Lease, error)
}

// AcquirerFunc is a function that is an Acquirer.
type AcquirerFunc func(ctx context.Context) (Lease, error)

// Acquire calls f.
func (f AcquirerFunc) Acquire(ctx context.Context) (Lease, error) { return f(ctx) }

// Witness is an Acquirer that learns the holder of the lock while it waits.
// Election calls AcquireAsWitness instead of Acquire, and passes the handle for
// its reports: ObserveBackend and Identify. Before it returns it reports
// BackendUnwatched, since this process no longer watches the backend then.
type Witness interface {
	Acquirer
	AcquireAsWitness(ctx context.Context, e *Election) (Lease, error)
}

// Lease is one won term. Release releases it. A Lease may implement the
// optional capabilities below; each has a value for "unknown", so that a
// wrapper can implement all of them and still be correct. A panic of Expiry,
// LeaseDuration, Lost, FencingToken or Watch is recovered, counted as a fault
// and treated as "unknown".
type Lease interface {
	Release(ctx context.Context) error
}

// Expirer knows when the lease ends unless it is renewed. The zero time means
// unknown, and so does a time more than a hundred years away: a lease that
// never ends has no end. Expiry is called right after the win and after each
// renewal, from the goroutine that won or renewed; never during collection.
//
// A safe value is the instant just before the request that won or renewed
// the lease, plus its length. Times with a monotonic reading are compared on
// the monotonic clock.
//
// The end of a held leadership (see Hold) is used only if its renewals are
// observable, through a Renewer or a Watcher: otherwise the lease may have been
// renewed since.
type Expirer interface {
	Expiry() time.Time
}

// Granter knows the length of the lease that the backend granted; zero means
// unknown. It is called together with the Expirer and has precedence over the
// declared LeaseDuration.
type Granter interface {
	LeaseDuration() time.Duration
}

// LossNotifier closes a channel when the lock is lost. A nil channel never
// signals. It gives no cause: while the lease is unexpired, another replica is
// expected to lead only after its end. A Watcher can report the cause; a lease
// with a Watcher should report losses only through it, since the two race.
type LossNotifier interface {
	Lost() <-chan struct{}
}

// Fencer has a token that grows from term to term; ok is false when the
// backend has none. A random value is no fencing token.
type Fencer interface {
	FencingToken() (token uint64, ok bool)
}

// Renewer extends the lease on the caller's demand. errors.ErrUnsupported
// means that it cannot. A lease type with this method counts as renewable
// once a renewal has succeeded; with RenewWith it does from the start.
type Renewer interface {
	Renew(ctx context.Context) error
}

// Watcher reports what the library does by itself: renewals and losses. Watch
// reports to s until ctx is done, which is when the term has ended; it runs in
// its own goroutine. If it returns earlier without having reported a renewal,
// renewals are not observable.
type Watcher interface {
	Watch(ctx context.Context, s Sink)
}
