package pglocklead

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"cirello.io/pglock"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/classify"
	"github.com/leaderscope/leaderscope/instrument/internal/keeper"
)

// NewLock waits for the lock until its context ends. The client polls once per
// lease, so a released lock may stay free for that long.
//
// lease must equal the client's pglock.WithLeaseDuration; Acquire fails if it
// differs. Create the client with pglock.WithHeartbeatFrequency(0).
func NewLock(client *pglock.Client, name string, lease time.Duration, opts ...pglock.LockOption) instrument.Acquirer {
	return &locker{client: client, name: name, lease: lease, opts: opts}
}

// NewTryLock answers at once, with pglock.ErrNotAcquired if another holder has the
// lock. See NewLock for lease and client.
//
// If the attempts of an Acquirer have found the same record for longer than a
// lease, the holder is considered crashed. The next attempt takes the lock over and
// needs one lease for it, because the library requires the client to watch the
// record for that long. Keep one Acquirer for all attempts.
func NewTryLock(client *pglock.Client, name string, lease time.Duration, opts ...pglock.LockOption) instrument.Acquirer {
	return &locker{client: client, name: name, lease: lease, opts: opts, tries: true}
}

type locker struct {
	client *pglock.Client
	name   string
	lease  time.Duration
	opts   []pglock.LockOption
	tries  bool
	last   lastSeen
}

// Format writes what it is for every verb, and keeps the name of the lock from
// code that prints it.
func (*locker) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "pglock lock") }

// Acquire acquires the lock.
func (l *locker) Acquire(ctx context.Context) (instrument.Lease, error) {
	if err := keeper.CheckLease("pglock", l.client, l.lease); err != nil {
		return nil, err
	}
	if ctx == nil {
		ctx = context.Background()
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	lock, err := l.take(ctx)
	switch {
	case err == nil:
	case !errors.Is(err, pglock.ErrNotAcquired) && l.closed():
		return nil, fmt.Errorf("leaderscope: pglock: the *sql.DB is closed: %w: %w", instrument.ErrBackend, err)
	default:
		return nil, err
	}
	h := &holding{l: l, lock: lock}
	lease, err := keeper.Hold(ctx, h, time.Time{}, l.lease, h.token)
	if err != nil {
		return nil, fmt.Errorf("leaderscope: pglock: heartbeat after the lock was won: %w", err)
	}
	return lease, nil
}

// queryCanceled is the SQLSTATE of a statement that was cut short.
const queryCanceled = "57014"

// Classify names the reason of an error. ErrNotAcquired also answers a caller
// that gave up. No statement waits for the lock, so that one which takes too
// long, by the client's limit of a lease or the server's of a statement, shows
// a server that does not answer.
func (*locker) Classify(err error) (instrument.Reason, bool) {
	if errors.Is(err, pglock.ErrNotAcquired) {
		return instrument.ContendedUnlessDone, true
	}
	if errors.Is(err, pglock.ErrLockAlreadyReleased) {
		return instrument.SessionLost, true
	}
	if _, away := errors.AsType[*pglock.UnavailableError](err); away || errors.Is(err, context.DeadlineExceeded) {
		return instrument.BackendError, true
	}
	if coded, ok := errors.AsType[sqlError](err); ok && coded.SQLState() == queryCanceled {
		return instrument.BackendError, true
	}
	return classify.SQLState().Classify(err)
}

type sqlError interface {
	error
	SQLState() string
}
