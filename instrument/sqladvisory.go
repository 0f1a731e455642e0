package instrument

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"time"
)

// SQLLock is an advisory lock of a database, for SQLAdvisory.
type SQLLock struct {
	take, give string // each answers true, false or NULL
	arg        any
}

// PostgresLock is pg_advisory_lock: it waits for its turn.
func PostgresLock(key int64) SQLLock {
	return SQLLock{"SELECT pg_advisory_lock($1) IS NOT NULL", "SELECT pg_advisory_unlock($1)", key}
}

// PostgresTryLock is pg_try_advisory_lock: it answers at once.
func PostgresTryLock(key int64) SQLLock {
	return SQLLock{"SELECT pg_try_advisory_lock($1)", "SELECT pg_advisory_unlock($1)", key}
}

// MariaDBLock is GET_LOCK with a wait of a year, in effect until the caller
// gives up.
func MariaDBLock(name string) SQLLock {
	return SQLLock{"SELECT GET_LOCK(?, 31536000)", "SELECT RELEASE_LOCK(?)", name}
}

// MariaDBTryLock is GET_LOCK without a wait: it answers at once.
func MariaDBTryLock(name string) SQLLock {
	return SQLLock{"SELECT GET_LOCK(?, 0)", "SELECT RELEASE_LOCK(?)", name}
}

// SQLAdvisory takes an advisory lock on a connection of its own, which is out
// of the pool until the lock is given back; one that waits is out too, so the
// pool needs room for both. The lock lives as long as the connection and has
// no lease: its end is unknown, and nothing but a query tells of a loss.
//
// check is how often the connection is asked for a sign of life while the
// lock is held; each answer counts as a renewal. It also keeps the server
// from closing a connection that is idle, and the lock with it, as MariaDB
// does after wait_timeout. Zero asks never; declare HiddenRenewals then. A
// slow answer is a failed renewal and no loss: cutting it short would close
// the connection, and lose the lock.
//
// A connection whose state is unknown, after an error or a release that could
// not be sent, is closed and not used again, so that no lock stays behind in
// the pool. A release that fails frees the lock all the same, once the server
// sees the connection go.
func SQLAdvisory(db *sql.DB, lock SQLLock, check time.Duration) Acquirer {
	return &sqlAdvisory{db: db, lock: lock, check: check}
}

type sqlAdvisory struct {
	db    *sql.DB
	lock  SQLLock
	check time.Duration
}

// Classify takes a lock_timeout of PostgreSQL for contention.
func (a *sqlAdvisory) Classify(err error) (Reason, bool) { return SQLState()(err) }

func (a *sqlAdvisory) Acquire(ctx context.Context) (Lease, error) {
	conn, err := a.db.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("leaderscope: advisory lock: connect: %w", err)
	}
	var got sql.NullBool
	err = conn.QueryRowContext(ctx, a.lock.take, a.lock.arg).Scan(&got)
	if err == nil && !got.Valid {
		err = errors.New("database answered NULL")
	}
	if err != nil {
		discard(conn) // the lock may be ours after all
		return nil, fmt.Errorf("leaderscope: advisory lock: %w", err)
	}
	if !got.Bool {
		_ = conn.Close() // back to the pool
		return nil, fmt.Errorf("leaderscope: advisory lock: %w", ErrContended)
	}
	life, quit := context.WithCancel(context.Background())
	l := &sqlLease{conn: conn, lock: a.lock, check: a.check, idle: make(chan struct{}, 1), life: life, quit: quit}
	if a.check <= 0 {
		return NewLease(l.release), nil
	}
	return NewLease(l.release, WatchWith(l.watch)), nil
}

type sqlLease struct {
	conn  *sql.Conn
	lock  SQLLock
	check time.Duration
	idle  chan struct{} // full while the connection is asked something
	life  context.Context
	quit  context.CancelFunc
}

// release waits for a check that is under way, since cutting it short would
// close the connection.
func (l *sqlLease) release(ctx context.Context) error {
	var gave sql.NullBool
	var err error
	select {
	case <-l.life.Done():
		err = sql.ErrConnDone
	case l.idle <- struct{}{}:
		err = l.conn.QueryRowContext(ctx, l.lock.give, l.lock.arg).Scan(&gave)
	case <-ctx.Done():
		err = ctx.Err()
	}
	l.quit()
	if err == nil && gave.Bool {
		return l.conn.Close()
	}
	discard(l.conn)
	switch {
	case err == nil:
		return fmt.Errorf("leaderscope: advisory lock: release: %w", ErrSessionLost)
	case connectionGone(err):
		return fmt.Errorf("leaderscope: advisory lock: release: %w: %w", ErrSessionLost, err)
	default:
		return fmt.Errorf("leaderscope: advisory lock: release: %w", err)
	}
}

func (l *sqlLease) watch(ctx context.Context, s Sink) {
	tick := time.NewTicker(l.check)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		err := l.signOfLife(ctx, s, tick.C)
		switch {
		case ctx.Err() != nil, l.life.Err() != nil:
			return
		case err == nil:
			s.Renewed(time.Time{})
		case connectionGone(err):
			s.Lost(err)
			return
		default:
			s.RenewalFailed(err)
		}
	}
}

// signOfLife asks the connection, and reports each tick that passes without an
// answer.
func (l *sqlLease) signOfLife(ctx context.Context, s Sink, tick <-chan time.Time) error {
	answer := make(chan error, 1)
	go func() { answer <- l.ask() }()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-answer:
			return err
		case <-tick:
			s.RenewalFailed(context.DeadlineExceeded)
		}
	}
}

// ask queries the connection until it answers or the lock is given back. A
// driver may report how a connection broke first, and that it is broken only
// when it is asked again.
func (l *sqlLease) ask() error {
	select {
	case l.idle <- struct{}{}:
		defer func() { <-l.idle }()
	default:
		return nil // being released
	}
	err := l.query()
	if err == nil || connectionGone(err) || l.life.Err() != nil {
		return err
	}
	if again := l.query(); connectionGone(again) {
		return again
	}
	return err
}

func (l *sqlLease) query() error {
	var one int
	return l.conn.QueryRowContext(l.life, "SELECT 1").Scan(&one)
}

// connectionGone reports whether the connection, and the lock with it, is
// gone: the driver says so, or the server ended the session.
func connectionGone(err error) bool {
	if errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) {
		return true
	}
	coded, ok := errors.AsType[interface {
		error
		SQLState() string
	}](err)
	return ok && (strings.HasPrefix(coded.SQLState(), "57P") || strings.HasPrefix(coded.SQLState(), "08"))
}

// discard closes the connection instead of giving it back to the pool.
func discard(conn *sql.Conn) {
	_ = conn.Raw(func(any) error { return driver.ErrBadConn }) // what database/sql closes it on
	_ = conn.Close()
}
