package pglocklead_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cirello.io/pglock"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/instrument/internal/expect"
	"github.com/leaderscope/leaderscope/instrument/pglocklead"
)

func TestAnAttemptUnderAnEndedContextAsksNoServer(t *testing.T) {
	for name, make := range map[string]func(x *table, t testing.TB, key string) instrument.Acquirer{"waiting": (*table).lock, "at once": (*table).tryLock} {
		expect.Bubble(t, name, func(t *testing.T) {
			x := newTable()
			a := make(x, t, expect.Lock)
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if _, err := a.Acquire(ctx); err != context.Canceled {
				t.Errorf("got %v", err)
			}
			time.Sleep(lease)
			x.change(func(x *table) {
				if x.sent != 0 {
					t.Errorf("%d requests", x.sent)
				}
			})
		})
	}
}

func TestAttemptsThatDoNotWin(t *testing.T) {
	waits, tries := (*table).lock, (*table).tryLock
	for _, c := range []struct {
		name   string
		lock   func(x *table, t testing.TB, name string) instrument.Acquirer
		before func(x *table)
		limit  time.Duration // of the caller; 0: none
		is     error
		reason string
		after  time.Duration
	}{
		{"try: another holds the lock", tries, func(x *table) { x.steal(expect.Lock) }, 0, pglock.ErrNotAcquired, "contended", 0},
		{"wait: another holds it until the caller gives up", waits, keptAlive, lease * 3 / 2, pglock.ErrNotAcquired, "timeout", lease * 3 / 2},
		{"try: the server refuses the connection", tries, failing(errReset), 0, errReset, "backend_error", 0},
		{"wait: the server refuses the connection", waits, failing(errReset), 0, errReset, "backend_error", 0},
		{"try: the connection breaks", tries, failing(io.ErrUnexpectedEOF), 0, io.ErrUnexpectedEOF, "backend_error", 0},
		{"try: the connection is bad", tries, failing(driver.ErrBadConn), 0, driver.ErrBadConn, "backend_error", 0},
		{"try: too many connections", tries, failing(sqlState("53300")), 0, sqlState("53300"), "backend_error", 0},
		{"wait: the server shuts down", waits, failing(sqlState("57P01")), 0, sqlState("57P01"), "backend_error", 0},
		{"try: statement_timeout", tries, failing(sqlState("57014")), 0, sqlState("57014"), "backend_error", 0},
		{"try: lock_timeout", tries, failing(sqlState("55P03")), 0, sqlState("55P03"), "contended", 0},
		{"try: the table is not there", tries, failing(sqlState("42P01")), 0, sqlState("42P01"), "unknown", 0},
		{"try: the program has closed its pool", tries, func(x *table) { x.closed = true }, 0, instrument.ErrBackend, "backend_error", 0},
		{"wait: the program has closed its pool", waits, func(x *table) { x.closed = true }, 0, instrument.ErrBackend, "backend_error", 0},
		{"try: a silent server, for as long as the library waits", tries, silent, 0, context.DeadlineExceeded, "backend_error", lease},
		{"wait: a silent server, for as long as the library waits", waits, silent, 0, context.DeadlineExceeded, "backend_error", lease},
		{"try: a silent server, for as long as the caller waits", tries, silent, s, context.DeadlineExceeded, "timeout", s},
		{"wait: a silent server, for as long as the caller waits", waits, silent, s, context.DeadlineExceeded, "timeout", s},
	} {
		expect.Bubble(t, c.name, func(t *testing.T) {
			x, m := newTable(), expect.Middleware(t)
			c.before(x)
			ctx := context.WithoutCancel(t.Context())
			if c.limit > 0 {
				limited, cancel := context.WithTimeout(ctx, c.limit)
				defer cancel()
				ctx = limited
			}
			_, err := m.Election(expect.Lock).Acquire(ctx, c.lock(x, t, expect.Lock))
			if !errors.Is(err, c.is) {
				t.Errorf("got %v, want %v", err, c.is)
			}
			expect.Whole(t, m, "after the attempt", expect.Fresh(t).With(expect.NotAcquired(c.reason, c.after)))
			time.Sleep(3 * lease) // for what still runs
		})
	}
}

func silent(x *table) { x.silent = make(chan struct{}) }

func failing(err error) func(*table) { return func(x *table) { x.err = err } }

// keptAlive has another client hold the lock and send heartbeats for a while.
func keptAlive(x *table) {
	x.steal(expect.Lock)
	go func() {
		for range 9 {
			time.Sleep(lease / 3)
			x.steal(expect.Lock)
		}
	}()
}

// TestCallersThatGiveUp has callers give up at each instant of an attempt that
// takes two answers of a second each.
func TestCallersThatGiveUp(t *testing.T) {
	for name, lock := range map[string]func(x *table, t testing.TB, name string) instrument.Acquirer{
		"wait": (*table).lock, "try": (*table).tryLock,
	} {
		for limit := s / 4; limit < 3*s; limit += s / 4 {
			expect.Bubble(t, fmt.Sprint(name, " for ", limit), func(t *testing.T) {
				x, m := newTable(), expect.Middleware(t)
				x.late = s
				ctx, cancel := context.WithTimeout(t.Context(), limit)
				defer cancel()
				term, err := m.Election(expect.Lock).Acquire(ctx, lock(x, t, expect.Lock))
				switch {
				case err == nil:
					if limit <= 2*s {
						t.Error("won before the answer was there")
					}
					if err := term.Release(context.WithoutCancel(ctx)); err != nil {
						t.Error(err)
					}
				default:
					expect.Whole(t, m, "after the attempt", expect.Fresh(t).With(expect.NotAcquired("timeout", limit)))
				}
				asked := time.Now()
				next, err := expect.Middleware(t).Election(expect.Lock).Acquire(context.WithoutCancel(t.Context()), x.lock(t, expect.Lock))
				if err != nil {
					t.Fatal(err)
				}
				if took := time.Since(asked); took > lease+7*s {
					t.Errorf("the next one got the lock after %v", took)
				}
				if err := next.Release(t.Context()); err != nil {
					t.Error(err)
				}
				time.Sleep(2 * lease)
			})
		}
	}
}

func TestATryThatItsCallerGaveUpLeavesNoRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x, m := newTable(), expect.Middleware(t)
		speak := x.mute()
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(s, cancel)
		_, err := m.Election(expect.Lock).Acquire(ctx, x.tryLock(t, expect.Lock))
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		expect.Whole(t, m, "after the attempt", expect.Fresh(t).With(expect.NotAcquired("canceled", s)))
		speak()
		synctest.Wait()
		if len(x.rows) != 0 || x.sent != 3 {
			t.Errorf("%d records, %d requests; want none, after one to win and one to release", len(x.rows), x.sent)
		}
	})
}

func TestTheLockOfAHolderThatDiedIsTakenOver(t *testing.T) {
	for _, c := range []struct {
		name  string
		lock  func(x *table, t testing.TB, name string) instrument.Acquirer
		every time.Duration // between attempts
		from  time.Duration // won at the earliest
		until time.Duration
	}{
		{"by a lock that waits, within a lease", (*table).lock, 0, lease, lease},
		{"by tries, within two leases and the time between two tries", (*table).tryLock, s, 2 * lease, 2*lease + 2*s},
		{"by rare tries", (*table).tryLock, 5 * lease, 6 * lease, 6 * lease},
	} {
		expect.Bubble(t, c.name, func(t *testing.T) {
			x := newTable()
			lock := c.lock(x, t, expect.Lock)
			for range 2 { // the same lock takes over again
				x.steal(expect.Lock) // by one that sends no heartbeat
				began := time.Now()
				for {
					l, err := lock.Acquire(context.WithoutCancel(t.Context()))
					if err == nil {
						if after := time.Since(began); after < c.from || after > c.until {
							t.Errorf("won after %v, want %v to %v", after, c.from, c.until)
						}
						if timeLeft := time.Until(l.(instrument.Expirer).Expiry()); timeLeft != lease {
							t.Errorf("the lease runs for %v, want %v", timeLeft, lease)
						}
						if err := l.Release(t.Context()); err != nil {
							t.Error(err)
						}
						break
					}
					if time.Since(began) > 20*lease {
						t.Fatalf("not taken over: %v", err)
					}
					time.Sleep(c.every)
				}
			}
			synctest.Wait()
		})
	}
}

func TestTriesOnALiveHolderAnswerAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newTable()
		holder, err := x.lock(t, expect.Lock).Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		m := expect.Middleware(t)
		lock := x.tryLock(t, expect.Lock)
		for range 20 {
			if _, err := m.Election(expect.Lock).Acquire(t.Context(), lock); !errors.Is(err, pglock.ErrNotAcquired) {
				t.Error(err)
			}
			time.Sleep(lease - s)
		}
		expect.Whole(t, m, "after 20 tries", expect.Fresh(t).With(electtest.Series{
			"leader_attempts_total": 20, `leader_not_acquired_total{reason="contended"}`: 20,
			"leader_acquire_duration_seconds_count": 20, "leader_acquire_duration_seconds_sum": 0,
		}))
		if err := holder.Release(t.Context()); err != nil {
			t.Error(err)
		}
		synctest.Wait()
	})
}

// TestTokensGrowFromHolderToHolder includes attempts that drew their number long
// before they won: before the holder in front of them did.
func TestTokensGrowFromHolderToHolder(t *testing.T) {
	for kind, lock := range map[string]func(*table, testing.TB, string) instrument.Acquirer{"that wait": (*table).lock, "that try": (*table).tryLock} {
		for name, slow := range map[string]bool{"quick attempts": false, "slow attempts": true} {
			t.Run(name+" "+kind, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					x := newTable()
					last := uint64(0)
					for range 3 {
						x.sequence++
						drawn := x.sequence
						hold(t, lock(x, t, expect.Lock), &last)
						if slow {
							x.drawn = drawn
						}
						hold(t, lock(x, t, expect.Lock), &last)
					}
					synctest.Wait()
				})
			})
		}
	}
}

// hold compares the token of a holder with the last.
func hold(t *testing.T, a instrument.Acquirer, last *uint64) {
	t.Helper()
	l, err := a.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(lease)
	token, ok := l.(instrument.Fencer).FencingToken()
	if !ok || token <= *last {
		t.Errorf("token %d, %v after %d", token, ok, *last)
	}
	*last = token
	if err := l.Release(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestAClientThatSendsHeartbeatsToo has the client's own heartbeats end with
// the lock, not with the attempt that won it.
func TestAClientThatSendsHeartbeatsToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x, m := newTable(), expect.Middleware(t)
		client := x.client(t, pglock.WithHeartbeatFrequency(s))
		ctx, cancel := context.WithCancel(t.Context())
		term, err := m.Election(expect.Lock).Acquire(ctx, pglocklead.NewLock(client, expect.Lock, lease))
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		time.Sleep(5*lease - s)
		expect.Whole(t, m, "while it is held", won(t, 5*s).With(expect.RenewedByThirds(14, 0, "", 0)).With(electtest.Series{"leader_fencing_token": term0(term)}))
		if err := term.Release(t.Context()); err != nil {
			t.Error(err)
		}
		sent := x.sent
		time.Sleep(2 * lease)
		if x.sent != sent {
			t.Errorf("%d requests after the release", x.sent-sent)
		}
	})
}

func term0(term *instrument.Term) float64 {
	token, _ := term.FencingToken()
	return float64(token)
}

func TestArgumentsThatMakeNoSense(t *testing.T) {
	client := newTable().client(t)
	for _, c := range []struct {
		name  string
		lock  instrument.Acquirer
		wants string
	}{
		{"no client", pglocklead.NewLock(nil, "a", lease), "client is nil"},
		{"no lease", pglocklead.NewLock(client, "a", 0), "lease is 0s"},
		{"a negative lease", pglocklead.NewTryLock(client, "a", -s), "lease is -1s"},
		{"another lease than the client's", pglocklead.NewTryLock(client, "a", 2*lease), "lease is 12s and the client's 6s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, err := c.lock.Acquire(t.Context())
			if l != nil || err == nil || !strings.Contains(err.Error(), c.wants) {
				t.Errorf("got %v, %v", l, err)
			}
		})
	}
}
