// Package sqllock makes the advisory locks of a database observable: an
// instrument.Acquirer over database/sql for pg_advisory_lock of PostgreSQL and
// GET_LOCK of MariaDB and MySQL.
//
//	lock := sqllock.NewLock(db, sqllock.Postgres(42), 10*time.Second)
//	err := election.Run(ctx, lock, work)
//
// Such a lock lives as long as its session and has no lease: its end is
// unknown, and only a query can detect a loss. What an application does
// with its tables under the lock does not belong here.
package sqllock

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/classify"
)

// DefaultAnswerTimeout is the default timeout for the answer to a check.
const DefaultAnswerTimeout = 30 * time.Second

// ErrSessionChanged: statements of one connection reach several sessions of
// the database, or share one with other clients. A session lock cannot be held
// under these conditions.
var ErrSessionChanged = errors.New("leaderscope: advisory lock: the connection does not keep one database session to itself, as behind a pooler in transaction mode; connect to the database directly, or through a pooler in session mode")

// Option configures NewLock. Nil options are ignored.
type Option func(*acquirer)

// AnswerTimeout limits the time for the answer to a check, by default to
// DefaultAnswerTimeout. After it the term ends as lost and the connection is
// closed. The server releases the lock when it detects that; if the network drops
// all packets, this takes as long as the server's own keepalive.
func AnswerTimeout(d time.Duration) Option { return func(a *acquirer) { a.answerTimeout = d } }

// NewLock acquires the lock on its own connection, which is taken from the pool
// until the lock is released. A waiting attempt also uses a connection, so the
// pool must be large enough for both. The connection must have one database
// session to itself: if statements reach another session, for example behind a
// pooler in transaction mode, Acquire fails, and an open term is lost, with
// ErrSessionChanged.
//
// check is the interval of a query whether the session of this connection still
// holds the lock. Each answer counts as one renewal. A check without an answer
// until the next one is due counts as timed out, and is not a loss before
// AnswerTimeout. The checks also prevent the server from closing an idle session,
// as MariaDB does after wait_timeout. With zero there are no checks; declare
// instrument.HiddenRenewals then.
//
// Every call returns when its context ends, even if the driver does not. A
// connection whose state is unknown then, or after an error, is closed and not
// reused, so that no lock remains in the pool. If a release fails, the server
// releases the lock when it detects the closed connection.
//
// Closing db ends the term as canceled and closes the connection, unless check
// is zero.
//
// Acquire returns an error that names an invalid argument.
func NewLock(db *sql.DB, lock Lock, check time.Duration, opts ...Option) instrument.Acquirer {
	a := &acquirer{db: db, lock: lock, check: check, answerTimeout: DefaultAnswerTimeout}
	for _, o := range opts {
		if o != nil {
			o(a)
		}
	}
	return a
}

type acquirer struct {
	db            *sql.DB
	lock          Lock
	check         time.Duration
	answerTimeout time.Duration
}

// errCutShort marks a wait that the database ended although the lock was
// still held by another, by a limit on the time of statements.
var errCutShort = errors.New("the database ended the wait")

// databaseError is an error of the database or its driver, which says nothing
// of who holds the lock.
type databaseError struct{ error }

func (e databaseError) Unwrap() error { return e.error }

// Classify takes a wait that the database ended for contention, and a
// connection that cannot hold a lock and other errors of the database for a
// failed backend.
func (a *acquirer) Classify(err error) (instrument.Reason, bool) {
	switch {
	case errors.Is(err, instrument.ErrSessionLost), errors.Is(err, instrument.ErrContended):
		return 0, false // the sentinels speak for themselves
	case errors.Is(err, errCutShort):
		return instrument.ContendedUnlessDone, true
	case errors.Is(err, ErrSessionChanged):
		return instrument.BackendError, true
	}
	_, ok := errors.AsType[databaseError](err)
	return instrument.BackendError, ok
}

// Acquire implements instrument.Acquirer.
func (a *acquirer) Acquire(ctx context.Context) (instrument.Lease, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	if err := a.validate(); err != nil {
		return nil, fmt.Errorf("leaderscope: advisory lock: %w", err)
	}
	s, err := open(ctx, a.db, a.lock)
	if err != nil {
		return nil, fmt.Errorf("leaderscope: advisory lock: connect: %w", databaseError{err})
	}
	if err := s.take(ctx); err != nil {
		return nil, err
	}
	l := newLease(s, a.check, a.answerTimeout)
	if a.check == 0 {
		return instrument.NewLease(l.release), nil
	}
	return instrument.NewLease(l.release, instrument.WatchWith(func(ctx context.Context, s instrument.Sink) { l.watch(ctx, s, a.db) })), nil
}

func (a *acquirer) validate() error {
	switch {
	case a.db == nil:
		return errors.New("no database: the *sql.DB is nil")
	case a.lock.kind == nil:
		return errors.New("no lock: use Postgres, PostgresTry, MariaDB or MariaDBTry")
	case a.lock.invalid != nil:
		return a.lock.invalid
	case a.check < 0:
		return fmt.Errorf("check every %v: want more than 0, or 0 for never", a.check)
	case a.answerTimeout <= 0:
		return fmt.Errorf("AnswerTimeout(%v): want more than 0", a.answerTimeout)
	}
	return nil
}

// take takes the lock. A connection that did not goes back to the pool if its
// state is known.
func (s *session) take(ctx context.Context) error {
	if err := s.identify(ctx); err != nil {
		s.discard()
		return fmt.Errorf("leaderscope: advisory lock: %w", databaseError{err})
	}
	answer, err := s.ask(ctx, s.lock.kind.take)
	switch {
	case err == nil && answer == taken:
		return nil
	case err == nil && answer == refused:
		_ = s.conn.Close()
		return instrument.ErrContended
	}
	s.discard() // the lock may be ours after all
	switch {
	case err != nil:
		return s.lock.notTaken(err)
	case answer == null:
		return s.lock.notTaken(errNull)
	default:
		return ErrSessionChanged
	}
}

// errNull: GET_LOCK answers so when a limit on the time of statements or an
// administrator ends its wait, and when it fails.
var errNull = errors.New("the database answered NULL")

// notTaken says what an error of the statement that takes the lock means.
func (l Lock) notTaken(err error) error {
	classifier := classify.SQLState()
	if l.waits {
		classifier = classify.SQLStateWaiting()
	}
	reason, ok := classifier.Classify(err)
	switch {
	case l.waits && err == errNull, ok && reason == instrument.ContendedUnlessDone:
		return fmt.Errorf("leaderscope: advisory lock: %w: %w", errCutShort, err)
	case ok && reason == instrument.Contended:
		return fmt.Errorf("%w: %w", instrument.ErrContended, err)
	case err == errNull, undecided(err):
		return fmt.Errorf("leaderscope: advisory lock: %w", err)
	default:
		return fmt.Errorf("leaderscope: advisory lock: %w", databaseError{err})
	}
}
