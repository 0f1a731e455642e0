package sqllock_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/instrument/internal/expect"
	"github.com/leaderscope/leaderscope/instrument/sqllock"
)

const s = time.Second

func TestConformance(t *testing.T) {
	number := func(lock string) (k int64) {
		for _, c := range lock {
			k = k*31 + int64(c)
		}
		return k
	}
	for _, c := range []struct {
		name  string
		lock  func(name string) sqllock.Lock
		key   func(name string) driver.Value
		waits bool
	}{
		{"pg_advisory_lock", func(n string) sqllock.Lock { return sqllock.Postgres(number(n)) }, func(n string) driver.Value { return number(n) }, true},
		{"pg_try_advisory_lock", func(n string) sqllock.Lock { return sqllock.PostgresTry(number(n)) }, func(n string) driver.Value { return number(n) }, false},
		{"GET_LOCK", sqllock.MariaDB, func(n string) driver.Value { return n }, true},
		{"GET_LOCK without a wait", sqllock.MariaDBTry, func(n string) driver.Value { return n }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var databases sync.Map // by lock: each check has a clock of its own, and what waits by it
			of := func(name string) *database {
				db, _ := databases.LoadOrStore(name, newDatabase())
				return db.(*database)
			}
			electtest.Conformance(t, electtest.Suite{
				New: func(t testing.TB, name string) instrument.Acquirer {
					return sqllock.NewLock(of(name).pool(t), c.lock(name), 10*time.Millisecond)
				},
				VirtualTime: true, Waits: c.waits, RenewsItself: true,
				Lose: func(_ testing.TB, name string) { of(name).change(func(d *database) { d.kill(c.key(name)) }) },
			})
		})
	}
}

// won is what a held lock adds to fresh series.
func won(t *testing.T) electtest.Series {
	return expect.Fresh(t, instrument.Hold()).With(electtest.Series{
		"leader_attempts_total": 1, "leader_acquired_total": 1, "leader_active": 1,
		"leader_acquire_duration_seconds_count": 1, "leader_acquire_duration_seconds_sum": 0,
	})
}

// ended is what the end of the term after that time adds.
func ended(cause string, after time.Duration) electtest.Series {
	return electtest.Series{
		"leader_active": 0, `leader_terms_ended_total{cause="` + cause + `"}`: 1,
		"leader_execution_duration_seconds_count": 1, "leader_execution_duration_seconds_sum": after.Seconds(),
	}
}

// renewals are those of a result, and how long all took.
func renewals(result string, n float64, took time.Duration) electtest.Series {
	return electtest.Series{
		`leader_renewals_total{result="` + result + `"}`: n,
		"leader_renewal_duration_seconds_count":          n, "leader_renewal_duration_seconds_sum": took.Seconds(),
	}
}

func TestTheSessionIsChecked(t *testing.T) {
	refusal := errors.New("permission denied")
	for _, c := range []struct {
		name string
		// break is what happens 15 s after the lock was won; the first check
		// was at 10 s, and series are read at 65 s.
		breaks func(db *database)
		opts   []sqllock.Option
		want   electtest.Series
		cause  error
	}{
		{
			name:   "a lock that its session holds is renewed at each check",
			breaks: func(*database) {},
			want:   renewals("ok", 6, 0),
		},
		{
			name:   "an administrator ends the session",
			breaks: func(db *database) { db.kill(int64(1)) },
			want:   renewals("ok", 1, 0).With(ended("lost", 20*s)),
			cause:  driver.ErrBadConn,
		},
		{
			name:   "the session lives, and another client of it has freed the lock",
			breaks: func(db *database) { db.forget(int64(1)) },
			want:   renewals("ok", 1, 0).With(ended("lost", 20*s)),
			cause:  instrument.ErrSessionLost,
		},
		{
			name: "a pooler in transaction mode sends the check to another session",
			breaks: func(db *database) {
				other := db.newBackend()
				db.route = func(*backend) *backend { return other }
			},
			want:  renewals("ok", 1, 0).With(ended("lost", 20*s)),
			cause: sqllock.ErrSessionChanged,
		},
		{
			name: "an error that says nothing of the session is a failed renewal",
			breaks: func(db *database) {
				db.instead = func(_ context.Context, query string) (driver.Value, error, bool) {
					return nil, refusal, isCheck(query)
				}
			},
			want: renewals("ok", 1, 0).With(renewals("error", 5, 0)).With(electtest.Series{"leader_renewal_duration_seconds_count": 6}),
		},
		{
			name: "statement_timeout of a check is no loss, though the lock was waited for",
			breaks: func(db *database) {
				db.instead = func(_ context.Context, query string) (driver.Value, error, bool) {
					return nil, sqlError("57014"), isCheck(query)
				}
			},
			want: renewals("ok", 1, 0).With(renewals("error", 5, 0)).With(electtest.Series{"leader_renewal_duration_seconds_count": 6}),
		},
		{
			name: "a driver that reports first how the connection broke",
			breaks: func(db *database) {
				broke := false
				db.instead = func(_ context.Context, query string) (driver.Value, error, bool) {
					if !isCheck(query) {
						return nil, nil, false
					}
					if !broke {
						broke = true
						return nil, errors.New("read: connection reset by peer"), true
					}
					return nil, driver.ErrBadConn, true
				}
			},
			want:  renewals("ok", 1, 0).With(ended("lost", 20*s)),
			cause: driver.ErrBadConn,
		},
		{
			name: "a slow answer counts once, as a timeout, and is no loss",
			breaks: func(db *database) {
				db.instead = slowly(25*s, 1)
			},
			// ok at 10 s; asked at 20 s and late at 30 s, answered at 45 s; ok at 45 s, 50 s and 60 s
			want: renewals("ok", 4, 0).With(renewals("timeout", 1, 10*s)).With(electtest.Series{"leader_renewal_duration_seconds_count": 5}),
		},
		{
			name:   "a silent connection is lost after 30 s, and its query counts once",
			breaks: func(db *database) { db.instead = silently },
			want:   renewals("ok", 1, 0).With(renewals("timeout", 1, 10*s)).With(electtest.Series{"leader_renewal_duration_seconds_count": 2}).With(ended("lost", 50*s)),
			cause:  context.DeadlineExceeded,
		},
		{
			name:   "a silent connection is lost after as long as the program says",
			breaks: func(db *database) { db.instead = silently },
			opts:   []sqllock.Option{nil, sqllock.AnswerTimeout(2 * s)},
			want:   renewals("ok", 1, 0).With(renewals("timeout", 1, 2*s)).With(electtest.Series{"leader_renewal_duration_seconds_count": 2}).With(ended("lost", 22*s)),
			cause:  context.DeadlineExceeded,
		},
		{
			name:   "an answer within the program's limit is no loss",
			breaks: func(db *database) { db.instead = slowly(40*s, 1) },
			opts:   []sqllock.Option{sqllock.AnswerTimeout(60 * s)},
			want:   renewals("ok", 2, 0).With(renewals("timeout", 1, 10*s)).With(electtest.Series{"leader_renewal_duration_seconds_count": 3}),
		},
	} {
		expect.Bubble(t, c.name, func(t *testing.T) {
			db := newDatabase()
			m := expect.Middleware(t)
			lock := sqllock.NewLock(db.pool(t), sqllock.Postgres(1), 10*s, c.opts...)
			term, err := m.Election(expect.Lock, instrument.Hold()).Acquire(t.Context(), lock)
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(15 * s)
			db.change(c.breaks)
			time.Sleep(50 * s)
			synctest.Wait()
			expect.Whole(t, m, "after 65 s", won(t).With(c.want))
			_, closed := db.counts()
			if cause := context.Cause(term.Context()); c.cause != nil && (!errors.Is(cause, c.cause) || closed != 1) {
				t.Errorf("the term ended with %v, %d connections closed", errors.Unwrap(cause), closed)
			}
			db.change(func(d *database) { d.instead = nil })
			if err := term.Release(t.Context()); (err != nil) != (c.cause != nil) {
				t.Errorf("release: %v", err)
			}
		})
	}
}

type sqlError string

func (e sqlError) Error() string    { return "ERROR " + string(e) }
func (e sqlError) SQLState() string { return string(e) }

// slowly delays the next n checks.
func slowly(by time.Duration, n int) func(context.Context, string) (driver.Value, error, bool) {
	return func(_ context.Context, query string) (driver.Value, error, bool) {
		if isCheck(query) && n > 0 {
			n--
			time.Sleep(by)
		}
		return nil, nil, false
	}
}

// silently answers no check, until the driver is told to give up.
func silently(ctx context.Context, query string) (driver.Value, error, bool) {
	if !isCheck(query) {
		return nil, nil, false
	}
	<-ctx.Done()
	return nil, ctx.Err(), true
}

func TestAttempts(t *testing.T) {
	answers := func(answer driver.Value, err error) func(*database) {
		return func(db *database) {
			db.instead = func(_ context.Context, query string) (driver.Value, error, bool) {
				return answer, err, takesLock(query)
			}
		}
	}
	for _, c := range []struct {
		name   string
		lock   sqllock.Lock
		before func(db *database)
		within time.Duration // of the caller; 0 is forever
		reason string
		waited time.Duration
		err    error
		kept   bool // the connection goes back to the pool
	}{
		{name: "another session holds the lock", lock: sqllock.PostgresTry(1), before: held, reason: "contended", err: instrument.ErrContended, kept: true},
		{name: "another session holds the named lock", lock: sqllock.MariaDBTry("n"), before: held, reason: "contended", err: instrument.ErrContended, kept: true},
		{name: "the caller's time is over", lock: sqllock.Postgres(1), before: held, within: s, reason: "timeout", waited: s, err: context.DeadlineExceeded},
		{name: "lock_timeout", lock: sqllock.Postgres(1), before: answers(nil, sqlError("55P03")), reason: "contended", err: instrument.ErrContended},
		{name: "lock_timeout of a lock that is tried", lock: sqllock.PostgresTry(1), before: answers(nil, sqlError("55P03")), reason: "contended", err: instrument.ErrContended},
		{name: "statement_timeout ends the wait", lock: sqllock.Postgres(1), before: answers(nil, sqlError("57014")), reason: "contended", err: sqlError("57014")},
		{name: "statement_timeout of a lock that is tried", lock: sqllock.PostgresTry(1), before: answers(nil, sqlError("57014")), reason: "unknown", err: sqlError("57014")},
		{name: "max_statement_time ends the wait", lock: sqllock.MariaDB("n"), before: answers(nil, nil), reason: "contended"},
		{name: "NULL for a named lock that is tried", lock: sqllock.MariaDBTry("n"), before: answers(nil, nil), reason: "unknown"},
		{name: "the server shuts down while the lock is waited for", lock: sqllock.Postgres(1), before: answers(nil, sqlError("57P01")), reason: "backend_error", err: sqlError("57P01")},
		{name: "a deadlock with other locks ends the wait", lock: sqllock.Postgres(1), before: answers(nil, sqlError("40P01")), reason: "unknown", err: sqlError("40P01")},
		{name: "the user may not", lock: sqllock.PostgresTry(1), before: answers(nil, sqlError("42501")), reason: "backend_error", err: sqlError("42501")},
		{name: "a driver without codes", lock: sqllock.MariaDB("n"), before: answers(nil, errInvalid), reason: "backend_error", err: errInvalid},
		{
			name: "a driver that ignores the caller's context", lock: sqllock.Postgres(1), within: s, reason: "timeout", waited: s, err: context.DeadlineExceeded,
			before: func(db *database) {
				db.instead = func(_ context.Context, query string) (driver.Value, error, bool) {
					time.Sleep(60 * s)
					return nil, nil, false
				}
			},
		},
		{
			name: "statements of the connection reach two sessions", lock: sqllock.PostgresTry(1), reason: "backend_error", err: sqllock.ErrSessionChanged,
			before: func(db *database) { db.route = inTurn(db) },
		},
		{
			name: "statements of the connection reach two sessions of MariaDB", lock: sqllock.MariaDB("n"), reason: "backend_error", err: sqllock.ErrSessionChanged,
			before: func(db *database) { db.route = inTurn(db) },
		},
		{
			name: "two connections share the session that holds the lock", lock: sqllock.PostgresTry(1), reason: "backend_error", err: sqllock.ErrSessionChanged,
			before: func(db *database) {
				same := db.newBackend()
				db.holder[int64(1)] = same
				db.route = func(*backend) *backend { return same }
			},
		},
		{
			name: "the session cannot be learned", lock: sqllock.PostgresTry(1), reason: "backend_error", err: errInvalid,
			before: func(db *database) {
				db.instead = func(_ context.Context, query string) (driver.Value, error, bool) {
					return nil, errInvalid, query == "SELECT pg_backend_pid()"
				}
			},
		},
		{name: "no connection", lock: sqllock.Postgres(1), before: func(db *database) { db.refuse = syscall.ECONNREFUSED }, reason: "backend_error", err: syscall.ECONNREFUSED, kept: true},
	} {
		expect.Bubble(t, c.name, func(t *testing.T) {
			db := newDatabase()
			db.change(c.before)
			ctx := t.Context()
			if c.within > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, c.within)
				defer cancel()
			}
			m := expect.Middleware(t)
			pool := db.pool(t)
			_, err := m.Election(expect.Lock).Acquire(ctx, sqllock.NewLock(pool, c.lock, 10*s))
			if err == nil || c.err != nil && !errors.Is(err, c.err) {
				t.Errorf("acquire: %v", err)
			}
			expect.Whole(t, m, "after the attempt", expect.Fresh(t).With(expect.NotAcquired(c.reason, c.waited)))
			time.Sleep(120 * s) // for drivers that hang
			opened, closed := db.counts()
			want := 1
			if db.refuse != nil {
				want = 0
			}
			if kept := closed == 0; opened != want || kept != c.kept {
				t.Errorf("%d connections opened, %d closed", opened, closed)
			}
		})
	}
}

var errInvalid = errors.New("invalid connection")

// held has another session hold each lock of the tests.
func held(db *database) {
	other := db.newBackend()
	db.holder[int64(1)], db.holder["n"] = other, other
}

// inTurn routes each statement to the next of two sessions, as a pooler may.
func inTurn(db *database) func(*backend) *backend {
	next, after := db.newBackend(), db.newBackend()
	return func(*backend) *backend {
		next, after = after, next
		return next
	}
}

func TestReleases(t *testing.T) {
	for _, c := range []struct {
		name string
		// release releases the lock, 2 s after a check was asked.
		release func(t *testing.T, db *database, term *instrument.Term) error
		err     error
		want    electtest.Series
		kept    bool
	}{
		{
			name:    "the connection goes back to the pool",
			release: func(t *testing.T, _ *database, term *instrument.Term) error { return term.Release(t.Context()) },
			want:    ended("released", 12*s).With(electtest.Series{`leader_releases_total{result="ok"}`: 1}),
			kept:    true,
		},
		{
			name: "a release that cannot be sent frees the lock by closing the connection",
			release: func(t *testing.T, db *database, term *instrument.Term) error {
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				return term.Release(ctx)
			},
			err:  context.Canceled,
			want: ended("release_failed", 12*s).With(electtest.Series{`leader_releases_total{result="error"}`: 1}),
		},
		{
			name: "a release that reaches another session is no release",
			release: func(t *testing.T, db *database, term *instrument.Term) error {
				db.change(func(d *database) {
					other := d.newBackend()
					d.route = func(*backend) *backend { return other }
				})
				return term.Release(t.Context())
			},
			err:  sqllock.ErrSessionChanged,
			want: ended("lost", 12*s).With(electtest.Series{`leader_releases_total{result="not_owner"}`: 1}),
		},
		{
			name: "a release of a lock that the session does not hold any more",
			release: func(t *testing.T, db *database, term *instrument.Term) error {
				db.change(func(d *database) { d.forget(int64(1)) })
				return term.Release(t.Context())
			},
			err:  instrument.ErrSessionLost,
			want: ended("lost", 12*s).With(electtest.Series{`leader_releases_total{result="not_owner"}`: 1}),
		},
		{
			name: "a release on a connection that broke",
			release: func(t *testing.T, db *database, term *instrument.Term) error {
				db.change(func(d *database) { d.kill(int64(1)) })
				return term.Release(t.Context())
			},
			err:  instrument.ErrSessionLost,
			want: ended("lost", 12*s).With(electtest.Series{`leader_releases_total{result="not_owner"}`: 1}),
		},
		{
			name: "a release on a connection whose driver reports first how it broke",
			release: func(t *testing.T, db *database, term *instrument.Term) error {
				broke := false
				db.change(func(d *database) {
					d.instead = func(context.Context, string) (driver.Value, error, bool) {
						if broke {
							return nil, driver.ErrBadConn, true
						}
						broke = true
						return nil, errInvalid, true
					}
				})
				return term.Release(t.Context())
			},
			err:  driver.ErrBadConn,
			want: ended("lost", 12*s).With(electtest.Series{`leader_releases_total{result="not_owner"}`: 1}),
		},
		{
			name: "a release whose answer was lost",
			release: func(t *testing.T, db *database, term *instrument.Term) error {
				db.change(func(d *database) {
					d.instead = func(_ context.Context, query string) (driver.Value, error, bool) {
						if isCheck(query) {
							return nil, nil, false
						}
						d.change(func(d *database) { d.forget(int64(1)) })
						return nil, errInvalid, true
					}
				})
				return term.Release(t.Context())
			},
			want: ended("released", 12*s).With(electtest.Series{`leader_releases_total{result="ok"}`: 1}),
			kept: true,
		},
		{
			name: "an error of the server says nothing of the lock",
			release: func(t *testing.T, db *database, term *instrument.Term) error {
				db.change(func(d *database) {
					d.instead = func(context.Context, string) (driver.Value, error, bool) { return nil, sqlError("57014"), true }
				})
				return term.Release(t.Context())
			},
			err:  sqlError("57014"),
			want: ended("release_failed", 12*s).With(electtest.Series{`leader_releases_total{result="error"}`: 1}),
		},
		{
			name: "a driver that ignores the context of the release",
			release: func(t *testing.T, db *database, term *instrument.Term) error {
				db.change(func(d *database) {
					d.instead = func(context.Context, string) (driver.Value, error, bool) {
						time.Sleep(60 * s)
						return nil, nil, false
					}
				})
				ctx, cancel := context.WithTimeout(t.Context(), s)
				defer cancel()
				defer expectSleep(t, s)()
				return term.Release(ctx)
			},
			err:  context.DeadlineExceeded,
			want: ended("release_failed", 12*s).With(electtest.Series{`leader_releases_total{result="error"}`: 1}),
		},
		{
			name: "a second release is a release of nothing",
			release: func(t *testing.T, _ *database, term *instrument.Term) error {
				if err := term.Release(t.Context()); err != nil {
					t.Error(err)
				}
				return term.Release(t.Context())
			},
			err:  instrument.ErrSessionLost,
			want: ended("released", 12*s).With(electtest.Series{`leader_releases_total{result="ok"}`: 1}),
			kept: true,
		},
	} {
		expect.Bubble(t, c.name, func(t *testing.T) {
			db := newDatabase()
			m := expect.Middleware(t)
			term, err := m.Election(expect.Lock, instrument.Hold()).Acquire(t.Context(), sqllock.NewLock(db.pool(t), sqllock.Postgres(1), 10*s))
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(12 * s)
			if err := c.release(t, db, term); !errors.Is(err, c.err) {
				t.Errorf("release: %v", err)
			}
			expect.Whole(t, m, "after the release", won(t).With(renewals("ok", 1, 0)).With(c.want))
			time.Sleep(120 * s)
			if _, closed := db.counts(); (closed == 0) != c.kept {
				t.Errorf("%d connections closed", closed)
			}
			db.change(func(d *database) { d.route, d.instead = nil, nil })
			next, err := m.Election(expect.Lock).Acquire(t.Context(), sqllock.NewLock(db.pool(t), sqllock.PostgresTry(1), 0))
			switch {
			case err == nil:
				_ = next.Release(t.Context())
			case !errors.Is(c.err, sqllock.ErrSessionChanged): // that session keeps it
				t.Errorf("the next holder: %v", err)
			}
		})
	}
}

// expectSleep reports calls that do not take that long.
func expectSleep(t *testing.T, want time.Duration) func() {
	start := time.Now()
	return func() {
		if took := time.Since(start); took != want {
			t.Errorf("took %v, want %v", took, want)
		}
	}
}

func TestAReleaseWhileACheckIsUnderWay(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer time.Duration // of the check asked at 10 s
		within time.Duration // of the release at 12 s
		took   time.Duration
		err    error
	}{
		{"waits for the answer", 5 * s, 60 * s, 3 * s, nil},
		{"ends when the check is given up", 50 * s, 60 * s, 28 * s, instrument.ErrSessionLost},
		{"ends with the caller's context, and closes the connection", 50 * s, 4 * s, 4 * s, context.DeadlineExceeded},
	} {
		expect.Bubble(t, c.name, func(t *testing.T) {
			db := newDatabase()
			cut := false
			db.instead = func(ctx context.Context, query string) (driver.Value, error, bool) {
				if !isCheck(query) {
					return nil, nil, false
				}
				select {
				case <-ctx.Done():
					cut = true // a driver closes the connection then
					return nil, ctx.Err(), true
				case <-time.After(c.answer):
					return nil, nil, false
				}
			}
			m := expect.Middleware(t)
			term, err := m.Election(expect.Lock, instrument.Hold()).Acquire(t.Context(), sqllock.NewLock(db.pool(t), sqllock.PostgresTry(1), 10*s))
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(12 * s)
			ctx, cancel := context.WithTimeout(t.Context(), c.within)
			defer cancel()
			slept := expectSleep(t, c.took)
			if err := term.Release(ctx); !errors.Is(err, c.err) {
				t.Errorf("release: %v", err)
			}
			slept()
			synctest.Wait()
			_, closed := db.counts()
			if failed := c.err != nil; cut != failed || (closed == 1) != failed {
				t.Errorf("the check was cut short: %v; %d connections closed", cut, closed)
			}
		})
	}
}

func TestAnElectionThatIsForgottenDuringACheckKeepsItsLock(t *testing.T) {
	expect.Bubble(t, "and gives it back", func(t *testing.T) {
		db, m := newDatabase(), expect.Middleware(t)
		db.instead = slowly(5*s, 1)
		term, err := m.Election(expect.Lock).Acquire(t.Context(), sqllock.NewLock(db.pool(t), sqllock.PostgresTry(1), 10*s))
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(12 * s)
		m.Election(expect.Lock).Forget()
		time.Sleep(30 * s)
		if _, closed := db.counts(); closed != 0 {
			t.Errorf("%d connections closed", closed)
		}
		if err := term.Release(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestAWaitThatTheDatabaseEndedIsContentionUnlessTheCallerIsDone(t *testing.T) {
	db := newDatabase()
	db.instead = func(_ context.Context, query string) (driver.Value, error, bool) {
		return nil, sqlError("57014"), takesLock(query)
	}
	a := sqllock.NewLock(db.pool(t), sqllock.Postgres(1), 10*s)
	_, err := a.Acquire(t.Context())
	if reason, ok := a.(instrument.Classifier).Classify(err); reason != instrument.ContendedUnlessDone || !ok {
		t.Errorf("%v is classified as %v, %v", err, reason, ok)
	}
}

func TestAConnectionThatComesTooLateGoesBackToThePool(t *testing.T) {
	expect.Bubble(t, "unused", func(t *testing.T) {
		db, m := newDatabase(), expect.Middleware(t)
		db.way = 5 * s
		pool := db.pool(t)
		ctx, cancel := context.WithTimeout(t.Context(), s)
		defer cancel()
		if _, err := m.Election(expect.Lock).Acquire(ctx, sqllock.NewLock(pool, sqllock.Postgres(1), 10*s)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("acquire: %v", err)
		}
		expect.Whole(t, m, "after the attempt", expect.Fresh(t).With(expect.NotAcquired("timeout", s)))
		time.Sleep(5 * s)
		if used := pool.Stats().InUse; used != 0 {
			t.Errorf("%d connections are in use", used)
		}
	})
}

func TestNoCheckRunsBesideARelease(t *testing.T) {
	expect.Bubble(t, "that takes longer than the interval", func(t *testing.T) {
		db, m := newDatabase(), expect.Middleware(t)
		l, err := sqllock.NewLock(db.pool(t), sqllock.PostgresTry(1), 10*s).Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		// A term ends its watcher before it releases; another holder of the lease may not.
		term, err := m.Election(expect.Lock).Acquire(t.Context(), electtest.Wins(l))
		if err != nil {
			t.Fatal(err)
		}
		db.change(func(d *database) {
			d.instead = func(_ context.Context, query string) (driver.Value, error, bool) {
				if isCheck(query) {
					t.Error("a check was sent")
				} else {
					time.Sleep(25 * s)
				}
				return nil, nil, false
			}
		})
		if err := l.Release(t.Context()); err != nil {
			t.Error(err)
		}
		_ = term.Release(t.Context())
	})
}

func TestClosingThePoolEndsItsTerms(t *testing.T) {
	for _, c := range []struct {
		name   string
		check  time.Duration
		silent bool
		after  time.Duration // of closing
	}{
		{"within a second", 10 * s, false, s},
		{"with the next check, where that is sooner", s / 2, false, s / 2},
		{"with the answer or its timeout, where a check is under way", 5 * s, true, 30 * s},
	} {
		expect.Bubble(t, c.name, func(t *testing.T) {
			db := newDatabase()
			if c.silent {
				db.instead = silently
			}
			m := expect.Middleware(t)
			pool := db.pool(t)
			term, err := m.Election(expect.Lock).Acquire(t.Context(), sqllock.NewLock(pool, sqllock.Postgres(1), c.check))
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(6*s + s/4)
			go func() { _ = pool.Close() }()
			closed := time.Now()
			<-term.Context().Done()
			if took := time.Since(closed); took > c.after {
				t.Errorf("ended after %v, want %v", took, c.after)
			}
			got := electtest.Read(m, expect.Lock)
			cause := "canceled"
			if c.silent {
				cause = "lost"
			}
			if got[`leader_terms_ended_total{cause="`+cause+`"}`] != 1 || got["leader_active"] != 0 {
				t.Errorf("%v", got)
			}
			synctest.Wait()
			if opened, closed := db.counts(); opened != closed {
				t.Errorf("%d connections opened, %d closed", opened, closed)
			}
			if err := term.Release(t.Context()); !errors.Is(err, instrument.ErrSessionLost) {
				t.Errorf("release: %v", err)
			}
		})
	}
}

func TestWithoutChecks(t *testing.T) {
	expect.Bubble(t, "nothing is asked and renewals are hidden", func(t *testing.T) {
		db := newDatabase()
		m := expect.Middleware(t)
		opts := []instrument.ElectionOption{instrument.Hold(), instrument.HiddenRenewals()}
		pool := db.pool(t)
		synctest.Wait()
		before := runtime.NumGoroutine()
		term, err := m.Election(expect.Lock, opts...).Acquire(t.Context(), sqllock.NewLock(pool, sqllock.PostgresTry(1), 0))
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if n := runtime.NumGoroutine() - before; n != 0 {
			t.Errorf("%d goroutines more while nothing is to be done", n)
		}
		db.change(func(d *database) {
			d.instead = func(_ context.Context, query string) (driver.Value, error, bool) {
				t.Errorf("asked %s", query)
				return nil, nil, false
			}
		})
		time.Sleep(60 * s)
		expect.Whole(t, m, "after a minute", expect.Fresh(t, opts...).With(electtest.Series{
			"leader_attempts_total": 1, "leader_acquired_total": 1, "leader_active": 1,
			"leader_acquire_duration_seconds_count": 1, "leader_acquire_duration_seconds_sum": 0,
		}))
		db.change(func(d *database) { d.instead = nil })
		if err := term.Release(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestArgumentsThatMakeNoSense(t *testing.T) {
	db := newDatabase().pool(t)
	for _, c := range []struct {
		name  string
		db    *sql.DB
		lock  sqllock.Lock
		check time.Duration
		opts  []sqllock.Option
		want  string
	}{
		{"no database", nil, sqllock.Postgres(1), s, nil, "*sql.DB is nil"},
		{"no lock", db, sqllock.Lock{}, s, nil, "no lock"},
		{"a negative interval", db, sqllock.Postgres(1), -s, nil, "check every -1s"},
		{"no time for an answer", db, sqllock.Postgres(1), s, []sqllock.Option{sqllock.AnswerTimeout(0)}, "AnswerTimeout(0s)"},
		{"an empty name", db, sqllock.MariaDB(""), s, nil, "name is empty"},
		{"a long name", db, sqllock.MariaDBTry(strings.Repeat("é", 65)), s, nil, "65 characters"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := sqllock.NewLock(c.db, c.lock, c.check, c.opts...).Acquire(t.Context())
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "é") {
				t.Errorf("got %v", err)
			}
		})
	}
}

// bomb is a driver that panics when it connects.
type bomb struct{}

func (bomb) Connect(context.Context) (driver.Conn, error) { panic("boom") }
func (bomb) Driver() driver.Driver                        { return nil }

func TestAPanicOfTheDriverReachesTheCaller(t *testing.T) {
	db := sql.OpenDB(bomb{})
	defer db.Close()
	defer func() {
		if p := recover(); p != "boom" {
			t.Errorf("recovered %v", p)
		}
	}()
	_, err := sqllock.NewLock(db, sqllock.Postgres(1), time.Second).Acquire(t.Context())
	t.Errorf("returned %v", err)
}
