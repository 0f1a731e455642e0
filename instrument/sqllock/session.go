package sqllock

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"strings"
)

// session is a connection of its own and the session of the database that it
// reached first. It is used by one goroutine at a time.
type session struct {
	conn      *sql.Conn
	lock      Lock
	id        int64
	abandoned <-chan struct{} // closed when the query that was left to itself has ended; nil without one
}

// open takes a connection out of the pool.
func open(ctx context.Context, db *sql.DB, lock Lock) (*session, error) {
	type result struct {
		conn     *sql.Conn
		err      error
		panicked any
	}
	opened := make(chan result, 1)
	go func() {
		var r result
		defer func() {
			r.panicked = recover()
			opened <- r
		}()
		r.conn, r.err = db.Conn(ctx)
	}()
	select {
	case r := <-opened:
		if r.panicked != nil {
			panic(r.panicked) // a driver's own, for the caller
		}
		if r.err != nil {
			return nil, r.err
		}
		return &session{conn: r.conn, lock: lock}, nil
	case <-ctx.Done():
		go func() {
			if r := <-opened; r.conn != nil {
				_ = r.conn.Close() // nothing was asked, so it may go back to the pool
			}
		}()
		return nil, ctx.Err()
	}
}

// identify learns which session the connection has reached.
func (s *session) identify(ctx context.Context) error {
	id, err := s.query(ctx, s.lock.kind.session)
	s.id = id
	return err
}

// ask runs a statement in the session and returns its answer.
func (s *session) ask(ctx context.Context, st statement) (answer int64, err error) {
	return s.query(ctx, st.text, s.lock.args(st, s.id)...)
}

// query returns when ctx ends, also when the driver does not.
func (s *session) query(ctx context.Context, text string, args ...any) (int64, error) {
	if ctx.Err() != nil {
		return 0, ctx.Err()
	}
	type result struct {
		answer   sql.NullInt64
		err      error
		panicked any
	}
	answered, ended := make(chan result, 1), make(chan struct{})
	go func() {
		defer close(ended)
		var r result
		defer func() {
			if r.panicked = recover(); r.panicked != nil {
				answered <- r
			}
		}()
		r.err = s.conn.QueryRowContext(ctx, text, args...).Scan(&r.answer)
		answered <- r
	}()
	select {
	case r := <-answered:
		if r.panicked != nil {
			panic(r.panicked) // a driver's own, for the caller
		}
		if r.err == nil && !r.answer.Valid {
			return null, nil
		}
		return r.answer.Int64, r.err
	case <-ctx.Done():
		s.abandoned = ended
		return 0, ctx.Err()
	}
}

// discard closes the connection instead of returning it to the pool. It does
// not wait for a driver that still hangs in a query.
func (s *session) discard() {
	if s.abandoned == nil {
		s.drop()
		return
	}
	go func() {
		<-s.abandoned
		s.drop()
	}()
}

func (s *session) drop() {
	_ = s.conn.Raw(func(any) error { return driver.ErrBadConn }) // what database/sql closes it on
	_ = s.conn.Close()
}

// undecided reports errors by which the database ended a statement that may
// have waited for other locks: a limit of time, and a deadlock.
func undecided(err error) bool {
	coded, ok := errors.AsType[interface {
		error
		SQLState() string
	}](err)
	return ok && (coded.SQLState() == "57014" || coded.SQLState() == "40P01")
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
