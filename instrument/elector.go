package instrument

import (
	"context"
	"time"
)

// Acquirer obtains leadership: once or waiting, the implementation decides.
// Acquire returns a Lease or an error. An Acquirer that is also a Classifier
// tells its own errors apart.
type Acquirer interface {
	Acquire(ctx context.Context) (Lease, error)
}

// AcquirerFunc is a function that is an Acquirer.
type AcquirerFunc func(ctx context.Context) (Lease, error)

// Acquire calls f.
func (f AcquirerFunc) Acquire(ctx context.Context) (Lease, error) { return f(ctx) }

// Witness is an Acquirer that is told who holds the lock while it waits for it.
// Election calls AcquireAsWitness instead of Acquire, with the handle that
// takes what it sees: ObserveBackend and Identify. Before it returns it says
// BackendUnwatched, since no process looks any more then.
type Witness interface {
	Acquirer
	AcquireAsWitness(ctx context.Context, e *Election) (Lease, error)
}

// Lease is one won term. Release gives it back. A Lease may implement the
// optional capabilities below; each has an answer for "unknown", so that a
// wrapper can carry all of them and still tell the truth. A panic of Expiry,
// LeaseDuration, Lost, FencingToken or Watch is contained, counted as a fault
// and taken for "unknown".
type Lease interface {
	Release(ctx context.Context) error
}

// Expirer knows when the lease ends unless it is renewed. The zero time means
// unknown, and so does a time more than a hundred years away: a lease that
// never ends has no end. It is asked right after winning and after each renewal, from the
// goroutine that won or renewed; never at collection.
//
// A safe answer is the instant just before the request that won or renewed
// the lease, plus its length. Times with a monotonic reading are compared on
// the monotonic clock.
//
// The end of a held leadership (see Hold) counts only where its renewals can
// be seen, through a Renewer or a Watcher: otherwise the end that is known is
// that of a lease which has been renewed since.
type Expirer interface {
	Expiry() time.Time
}

// Granter knows the length of the lease that the backend granted; zero means
// unknown. It is asked together with the Expirer and believed ahead of the
// declared LeaseDuration.
type Granter interface {
	LeaseDuration() time.Duration
}

// LossNotifier closes a channel when the lock is lost. A nil channel never
// signals. It does not say why: where the lease still runs, another replica is
// expected to lead only when it has ended. A Watcher can say more; a lease that
// has one should tell of losses through it alone, since the two race.
type LossNotifier interface {
	Lost() <-chan struct{}
}

// Fencer has a token that grows from term to term; ok is false when the
// backend has none. A random value is no fencing token.
type Fencer interface {
	FencingToken() (token uint64, ok bool)
}

// Renewer extends the lease on the caller's demand. errors.ErrUnsupported
// means that it cannot. A lease type that has the method is believed to renew
// once a renewal has succeeded; RenewWith says so from the start.
type Renewer interface {
	Renew(ctx context.Context) error
}

// Watcher reports what the library does by itself: renewals and losses. Watch
// pushes to s until ctx is done, which is when the term has ended; it runs in
// a goroutine of its own. One that returns before without having reported a
// renewal says that renewals are not observable.
type Watcher interface {
	Watch(ctx context.Context, s Sink)
}
