package instrument_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
)

// sessions is a database that knows advisory locks and nothing else.
type sessions struct {
	mu     sync.Mutex
	holder map[driver.Value]*session
	freed  chan struct{} // closed when a lock may be free
	opened int
	closed int
	// answer replaces that of a query; ok is false for the usual one.
	answer func(ctx context.Context, query string) (value driver.Value, err error, ok bool)
	// row is the answer to a query without arguments, if any.
	row func() ([]driver.Value, error)
}

func newSessions() *sessions {
	return &sessions{holder: map[driver.Value]*session{}, freed: make(chan struct{})}
}

// database is a pool of connections to s, as one process has it.
func (s *sessions) database(t testing.TB) *sql.DB {
	db := sql.OpenDB(s)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func (s *sessions) Connect(context.Context) (driver.Conn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opened++
	return &session{db: s}, nil
}

func (s *sessions) Driver() driver.Driver { return nil }

func (s *sessions) counts() (opened, closed int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.opened, s.closed
}

// kill ends the session that holds the lock, as an administrator does.
func (s *sessions) kill(key driver.Value) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.holder[key]; c != nil {
		c.dead = true
		s.free(c)
	}
}

// free gives back what a session holds. The caller holds mu.
func (s *sessions) free(c *session) {
	for key, holder := range s.holder {
		if holder == c {
			delete(s.holder, key)
		}
	}
	close(s.freed)
	s.freed = make(chan struct{})
}

type session struct {
	db   *sessions
	dead bool
}

func (c *session) Prepare(string) (driver.Stmt, error) { return nil, errors.ErrUnsupported }
func (c *session) Begin() (driver.Tx, error)           { return nil, errors.ErrUnsupported }

func (c *session) Close() error {
	c.db.mu.Lock()
	defer c.db.mu.Unlock()
	c.db.closed++
	c.db.free(c)
	return nil
}

func (c *session) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if c.db.answer != nil {
		if value, err, ok := c.db.answer(ctx, query); ok {
			return &rows{values: []driver.Value{value}}, err
		}
	}
	if len(args) == 0 {
		c.db.mu.Lock()
		defer c.db.mu.Unlock()
		if c.dead {
			return nil, driver.ErrBadConn
		}
		if c.db.row != nil {
			values, err := c.db.row()
			return &rows{values: values}, err
		}
		return &rows{values: []driver.Value{int64(1)}}, nil
	}
	for {
		done, freed, err := c.try(query, args[0].Value)
		if done || err != nil || strings.Contains(query, "try") {
			return &rows{values: []driver.Value{done}}, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-freed:
		}
	}
}

func (c *session) try(query string, key driver.Value) (done bool, freed <-chan struct{}, err error) {
	s := c.db
	s.mu.Lock()
	defer s.mu.Unlock()
	holder := s.holder[key]
	switch {
	case c.dead:
		return false, nil, driver.ErrBadConn
	case strings.Contains(query, "unlock"):
		if holder == c {
			s.free(c)
		}
		return holder == c, nil, nil
	case holder == nil:
		s.holder[key] = c
		return true, nil, nil
	default:
		return false, s.freed, nil
	}
}

// rows is one row, or none.
type rows struct{ values []driver.Value }

func (r *rows) Columns() []string { return make([]string, len(r.values)) }
func (r *rows) Close() error      { return nil }

func (r *rows) Next(into []driver.Value) error {
	if len(r.values) == 0 {
		return io.EOF
	}
	copy(into, r.values)
	r.values = nil
	return nil
}

func TestAdvisoryLocksConform(t *testing.T) {
	key := func(lock string) (k int64) {
		for _, c := range lock {
			k = k*31 + int64(c)
		}
		return k
	}
	for name, of := range map[string]func(int64) instrument.SQLLock{
		"waiting": instrument.PostgresLock, "answering at once": instrument.PostgresTryLock,
	} {
		t.Run(name, func(t *testing.T) {
			s := newSessions()
			electtest.Conformance(t, electtest.Suite{
				New: func(t testing.TB, lock string) instrument.Acquirer {
					return instrument.SQLAdvisory(s.database(t), of(key(lock)), 10*time.Millisecond)
				},
				Waits: name == "waiting",
				Lose:  func(_ testing.TB, lock string) { s.kill(key(lock)) },
			})
		})
	}
}

func TestAdvisoryLock(t *testing.T) {
	unknown := errors.New("syntax error")
	bubble(t, "a lock that another holds leaves its connection in the pool", func(t *testing.T) {
		db := newSessions()
		holder := acquireLease(t, instrument.SQLAdvisory(db.database(t), instrument.PostgresTryLock(1), 0))
		other := db.database(t)
		for range 3 {
			_, err := instrument.SQLAdvisory(other, instrument.PostgresTryLock(1), 0).Acquire(t.Context())
			if !errors.Is(err, instrument.ErrContended) {
				t.Errorf("got %v", err)
			}
		}
		if opened, closed := db.counts(); opened != 2 || closed != 0 {
			t.Errorf("%d connections opened, %d closed", opened, closed)
		}
		releaseLease(t, holder)
	})
	bubble(t, "a connection whose state is unknown is not used again", func(t *testing.T) {
		for name, answer := range map[string]func(context.Context, string) (driver.Value, error, bool){
			"error": func(context.Context, string) (driver.Value, error, bool) { return nil, unknown, true },
			"NULL":  func(context.Context, string) (driver.Value, error, bool) { return nil, nil, true },
			"the caller gave up": func(ctx context.Context, _ string) (driver.Value, error, bool) {
				<-ctx.Done()
				return nil, ctx.Err(), true
			},
		} {
			db := newSessions()
			db.answer = answer
			ctx, cancel := context.WithTimeout(t.Context(), s)
			_, err := instrument.SQLAdvisory(db.database(t), instrument.PostgresLock(1), 0).Acquire(ctx)
			cancel()
			if opened, closed := db.counts(); err == nil || opened != 1 || closed != 1 {
				t.Errorf("%s: %v with %d connections opened, %d closed", name, err, opened, closed)
			}
		}
	})
	bubble(t, "a release that cannot be sent frees the lock by closing the connection", func(t *testing.T) {
		db := newSessions()
		lease := acquireLease(t, instrument.SQLAdvisory(db.database(t), instrument.PostgresTryLock(1), 0))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := lease.Release(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("release: %v", err)
		}
		releaseLease(t, acquireLease(t, instrument.SQLAdvisory(db.database(t), instrument.PostgresTryLock(1), 0)))
		if err := lease.Release(t.Context()); !errors.Is(err, instrument.ErrSessionLost) {
			t.Errorf("second release: %v", err)
		}
	})
	bubble(t, "a slow answer is a failed renewal and no loss", func(t *testing.T) {
		db := newSessions()
		slow := true
		db.answer = func(_ context.Context, query string) (driver.Value, error, bool) {
			if query == "SELECT 1" && slow {
				slow = false
				time.Sleep(35 * s)
			}
			return nil, nil, false
		}
		m := newMiddleware(t)
		e := m.Election("x", instrument.Hold())
		term := acquire(t, e, instrument.SQLAdvisory(db.database(t), instrument.PostgresTryLock(1), 10*s))
		time.Sleep(61 * s)
		synctest.Wait()
		want := held(zero).With(electtest.Series{
			"leader_attempts_total": 1, "leader_acquired_total": 1, "leader_active": 1,
			"leader_acquire_duration_seconds_count":   1,
			`leader_renewals_total{result="timeout"}`: 3, // of the question asked at 10 s
			`leader_renewals_total{result="ok"}`:      3, // at 45 s, 50 s and 60 s
		})
		check(t, m, "after 61 s", want)
		release(t, term)
	})
	bubble(t, "a release waits for the question under way", func(t *testing.T) {
		db := newSessions()
		db.answer = func(ctx context.Context, query string) (driver.Value, error, bool) {
			if query != "SELECT 1" {
				return nil, nil, false
			}
			select {
			case <-ctx.Done():
				return nil, ctx.Err(), true // a driver closes the connection then
			case <-time.After(5 * s):
				return int64(1), nil, true
			}
		}
		m := newMiddleware(t)
		term := acquire(t, m.Election("x", instrument.Hold()), instrument.SQLAdvisory(db.database(t), instrument.PostgresTryLock(1), 10*s))
		time.Sleep(12 * s)
		start := time.Now()
		release(t, term)
		if took := time.Since(start); took != 3*s {
			t.Errorf("released after %v", took)
		}
		if _, closed := db.counts(); closed != 0 {
			t.Error("the connection was closed")
		}
	})
}

func acquireLease(t *testing.T, a instrument.Acquirer) instrument.Lease {
	t.Helper()
	l, err := a.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func releaseLease(t *testing.T, l instrument.Lease) {
	t.Helper()
	if err := l.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
}
