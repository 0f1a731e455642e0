package rueidislocklead

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/instrument/internal/expect"
)

const (
	name = "report"
	once = 2 * way // a request and its answer
)

func TestAttemptsThatDoNotWin(t *testing.T) {
	for _, c := range []struct {
		name   string
		fault  fault // of a server on which another holds the lock
		make   func(rueidislock.Locker, string) instrument.Acquirer
		caller expect.Caller
		err    error
		want   electtest.Series
	}{
		{"another holds the lock", none, NewTryLock, expect.ForEver, rueidislock.ErrNotLocked, expect.NotAcquired("contended", once)},
		{"another holds the lock until the caller's deadline", none, NewLock, expect.Within(20 * s), context.DeadlineExceeded, expect.NotAcquired("timeout", 20*s)},
		{"another holds the lock until the caller cancels", none, NewLock, expect.Cancels(20 * s), context.Canceled, expect.NotAcquired("canceled", 20*s)},
		{"the server does not answer, which is no contention", deaf, NewTryLock, expect.ForEver, context.DeadlineExceeded, expect.NotAcquired("backend_error", way+validity)},
		{"the server does not answer until the caller's deadline", deaf, NewTryLock, expect.Within(s), context.DeadlineExceeded, expect.NotAcquired("timeout", s)},
		{"the server does not answer one that waits", deaf, NewLock, expect.Within(3 * s), context.DeadlineExceeded, expect.NotAcquired("timeout", 3*s)},
		{"the server does not answer until the caller cancels", deaf, NewLock, expect.Cancels(s), context.Canceled, expect.NotAcquired("canceled", s)},
		{"the library cancels its request, and the caller has not", givesUp, NewTryLock, expect.ForEver, context.Canceled, expect.NotAcquired("unknown", 0)},
		{"the caller has given up before", none, NewLock, expect.Cancels(-1), context.Canceled, expect.NotAcquired("canceled", 0)},
	} {
		expect.Bubble(t, c.name, func(t *testing.T) {
			m, l := expect.Middleware(t), newLocker()
			if _, err := l.take(t.Context(), name); err != nil {
				t.Fatal(err)
			}
			l.breaks(c.fault)
			ctx, cancel := c.caller(t.Context())
			defer cancel()
			time.Sleep(time.Nanosecond) // for one that cancels at once
			term, err := m.Election(expect.Lock).Acquire(ctx, c.make(l, name))
			if term != nil || !errors.Is(err, c.err) {
				t.Errorf("term %v, error %v", term, err)
			}
			expect.Whole(t, m, "after the attempt", expect.Fresh(t).With(c.want))
			time.Sleep(time.Minute)
			if !l.holds(name) {
				t.Error("the lock of another is gone")
			}
			for _, life := range l.lives {
				if life.Err() == nil {
					t.Error("the library would keep a lock that it wins later")
				}
			}
			l.lose(name)
		})
	}
}

func TestErrorsOfTheProgram(t *testing.T) {
	for name, a := range map[string]instrument.Acquirer{"waiting": NewLock(nil, name), "at once": NewTryLock(nil, name)} {
		expect.Bubble(t, name, func(t *testing.T) {
			m := expect.Middleware(t)
			const want = "leaderscope: rueidislocklead: the locker is nil: pass one of rueidislock.NewLocker"
			if _, err := m.Election(expect.Lock).Acquire(t.Context(), a); err == nil || err.Error() != want {
				t.Errorf("got %v", err)
			}
			expect.Whole(t, m, "after the attempt", expect.Fresh(t).With(expect.NotAcquired("unknown", 0)))
		})
	}
}

func TestAnAttemptUnderAnEndedContextAsksNoServer(t *testing.T) {
	for what, make := range map[string]func(rueidislock.Locker, string) instrument.Acquirer{"waiting": NewLock, "at once": NewTryLock} {
		expect.Bubble(t, what, func(t *testing.T) {
			l := newLocker()
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if _, err := make(l, name).Acquire(ctx); err != context.Canceled {
				t.Errorf("got %v", err)
			}
			time.Sleep(time.Minute)
			if asked := len(l.lives); asked != 0 {
				t.Errorf("asked %d times", asked)
			}
		})
	}
}

func TestAClosedLockerIsALostSession(t *testing.T) {
	expect.Bubble(t, "before the attempt", func(t *testing.T) {
		m, l := expect.Middleware(t), newLocker()
		l.close()
		if _, err := m.Election(expect.Lock).Acquire(t.Context(), NewLock(l, name)); err != rueidislock.ErrLockerClosed {
			t.Errorf("got %v", err)
		}
		expect.Whole(t, m, "after the attempt", expect.Fresh(t).With(expect.NotAcquired("session_lost", 0)))
	})
}

func TestALockThatIsWonWhenTheCallerHasGivenUpIsGivenBack(t *testing.T) {
	for _, c := range []struct {
		name   string
		caller expect.Caller
		after  time.Duration
	}{
		{"while the answer is on its way", expect.Cancels(3 * way / 2), 3 * way / 2},
		{"in the instant of winning", expect.Cancels(once), once},
	} {
		expect.Bubble(t, c.name, func(t *testing.T) {
			m, l := expect.Middleware(t), newLocker()
			ctx, cancel := c.caller(t.Context())
			defer cancel()
			term, err := m.Election(expect.Lock).Acquire(ctx, NewTryLock(l, name))
			if err == nil { // in the instant the answer may come first
				expect.Whole(t, m, "after the attempt", won(t).With(electtest.Series{"leader_active": 1}))
				if err := term.Release(t.Context()); err != nil {
					t.Error(err)
				}
			} else {
				expect.Whole(t, m, "after the attempt", expect.Fresh(t).With(expect.NotAcquired("canceled", c.after)))
			}
			time.Sleep(s)
			synctest.Wait()
			if l.holds(name) {
				t.Error("no replica holds the lock, and it is taken")
			}
		})
	}
}

// The context of a caller may live as long as the program, and would keep what
// every attempt leaves there.
func TestAnAttemptLeavesNothingOnTheContextOfItsCaller(t *testing.T) {
	for name, f := range map[string]fault{"that won": none, "that did not": deaf} {
		expect.Bubble(t, name, func(t *testing.T) {
			ctx, l := &patient{Context: t.Context(), done: make(chan struct{})}, newLocker()
			l.breaks(f)
			lease, err := NewTryLock(l, "free").Acquire(ctx)
			if remaining := ctx.waiting.Load(); remaining != 0 || (err == nil) != (f == none) {
				t.Errorf("%d functions wait for the end of the context; error %v", remaining, err)
			}
			if err == nil {
				_ = lease.Release(t.Context())
			}
		})
	}
}

// patient is a context that does not end, and counts what waits for its end.
type patient struct {
	context.Context
	done    chan struct{} // its own, so that package context asks AfterFunc
	waiting atomic.Int32
}

func (p *patient) Done() <-chan struct{} { return p.done }

func (p *patient) AfterFunc(func()) (stop func() bool) {
	p.waiting.Add(1)
	return sync.OnceValue(func() bool { p.waiting.Add(-1); return true })
}

// won is what an election shows that has won a free lock: there are no renewal
// series any longer.
func won(t *testing.T, opts ...instrument.ElectionOption) electtest.Series {
	return expect.Fresh(t, opts...).With(expect.Acquired(once)).Without(
		`leader_renewals_total{result="ok"}`, `leader_renewals_total{result="error"}`, `leader_renewals_total{result="timeout"}`,
		`leader_renewals_total{result="canceled"}`, `leader_renewals_total{result="lost"}`,
	)
}

func TestTerms(t *testing.T) {
	release := func(t *testing.T, term *instrument.Term, within time.Duration, want error) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), within)
		defer cancel()
		begun := time.Now()
		if err := term.Release(ctx); !errors.Is(err, want) || time.Since(begun) > within {
			t.Errorf("release: %v after %v, want %v", err, time.Since(begun), want)
		}
	}
	for _, c := range []struct {
		name    string
		opts    []instrument.ElectionOption
		happens func(t *testing.T, l *locker, term *instrument.Term, cancel context.CancelFunc) // 10 s after the win
		cause   error                                                                           // of the end of the term's context
		want    []electtest.Series
		held    bool // afterwards
	}{
		{
			"a lock that is renewed unseen has no end, whatever is declared", []instrument.ElectionOption{instrument.LeaseDuration(validity)},
			func(*testing.T, *locker, *instrument.Term, context.CancelFunc) { time.Sleep(time.Hour) }, nil,
			[]electtest.Series{{"leader_active": 1}}, true,
		},
		{
			"a leadership that is held has no end either", []instrument.ElectionOption{instrument.LeaseDuration(validity), instrument.Hold()},
			func(*testing.T, *locker, *instrument.Term, context.CancelFunc) { time.Sleep(time.Hour) }, nil,
			[]electtest.Series{{"leader_active": 1}}, true,
		},
		{
			"the context of the acquisition does not end the lock", nil,
			func(_ *testing.T, _ *locker, _ *instrument.Term, cancel context.CancelFunc) { cancel() }, nil,
			[]electtest.Series{{"leader_active": 1}}, true,
		},
		{
			"a lock is given back", nil,
			func(t *testing.T, _ *locker, term *instrument.Term, _ context.CancelFunc) { release(t, term, s, nil) }, instrument.ErrReleased,
			[]electtest.Series{expect.Ended("released", 10*s), expect.Released("ok")}, false,
		},
		{
			"a lock is given back under a context that is nil", nil,
			func(t *testing.T, _ *locker, term *instrument.Term, _ context.CancelFunc) {
				var none context.Context
				if err := term.Release(none); err != nil {
					t.Error(err)
				}
			}, instrument.ErrReleased,
			[]electtest.Series{expect.Ended("released", 10*s), expect.Released("ok")}, false,
		},
		{
			"a lock is given back twice", nil,
			func(t *testing.T, _ *locker, term *instrument.Term, _ context.CancelFunc) {
				release(t, term, s, nil)
				release(t, term, s, nil)
			}, instrument.ErrReleased,
			[]electtest.Series{expect.Ended("released", 10*s), expect.Released("ok")}, false,
		},
		{
			"a lock is lost", nil,
			func(_ *testing.T, l *locker, _ *instrument.Term, _ context.CancelFunc) { l.lose(name) }, instrument.ErrLost,
			[]electtest.Series{expect.Ended("lost", 10*s)}, false,
		},
		{
			"a lock that was lost is given back", nil,
			func(t *testing.T, l *locker, term *instrument.Term, _ context.CancelFunc) {
				l.lose(name)
				synctest.Wait()
				release(t, term, s, instrument.ErrSessionLost)
				release(t, term, s, instrument.ErrSessionLost)
			}, instrument.ErrLost,
			[]electtest.Series{expect.Ended("lost", 10*s), expect.Released("not_owner")}, false,
		},
		{
			"another takes a lock that was lost, and keeps it", nil,
			func(t *testing.T, l *locker, term *instrument.Term, _ context.CancelFunc) {
				l.lose(name)
				synctest.Wait()
				if _, err := l.take(context.Background(), name); err != nil {
					t.Error(err)
				}
				release(t, term, s, instrument.ErrSessionLost)
			}, instrument.ErrLost,
			[]electtest.Series{expect.Ended("lost", 10*s), expect.Released("not_owner")}, true,
		},
		{
			"the locker is closed", nil,
			func(_ *testing.T, l *locker, _ *instrument.Term, _ context.CancelFunc) { l.close() }, instrument.ErrLost,
			[]electtest.Series{expect.Ended("lost", 10*s)}, false,
		},
		{
			"a release that is not answered has not released", nil,
			func(t *testing.T, l *locker, term *instrument.Term, _ context.CancelFunc) {
				l.breaks(deaf)
				release(t, term, s, context.DeadlineExceeded)
				l.breaks(none)
			}, instrument.ErrReleased,
			[]electtest.Series{expect.Ended("release_failed", 10*s), expect.Released("error")}, false,
		},
	} {
		expect.Bubble(t, c.name, func(t *testing.T) {
			m, l := expect.Middleware(t), newLocker()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			term, err := m.Election(expect.Lock, c.opts...).Acquire(ctx, NewLock(l, name))
			if err != nil {
				t.Fatal(err)
			}
			life := term.Context()
			time.Sleep(10 * s)
			c.happens(t, l, term, cancel)
			synctest.Wait()
			want := won(t, c.opts...)
			for _, w := range c.want {
				want = want.With(w)
			}
			expect.Whole(t, m, "afterwards", want)
			if cause := context.Cause(life); !errors.Is(cause, c.cause) {
				t.Errorf("the term's context ended with %v", cause)
			}
			if held := l.holds(name); held != c.held {
				t.Errorf("held: %v", held)
			}
			l.lose(name)
			_ = term.Release(t.Context())
			time.Sleep(time.Minute)
		})
	}
}

func TestClassification(t *testing.T) {
	for _, c := range []struct {
		name  string
		err   error
		want  instrument.Reason
		knows bool
	}{
		{"not locked", rueidislock.ErrNotLocked, instrument.ContendedUnlessDone, true},
		{"the locker was closed", rueidislock.ErrLockerClosed, instrument.SessionLost, true},
		{"the client was closed, or has no connection", rueidis.ErrClosing, instrument.BackendError, true},
		{"an answer", &rueidis.RedisError{}, instrument.BackendError, true},
		{"a request that had too little time", context.DeadlineExceeded, instrument.BackendError, true},
		{"a connection that ended", io.EOF, instrument.BackendError, true},
		{"the caller", context.Canceled, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, knows := NewLock(nil, name).(instrument.Classifier).Classify(c.err)
			if got != c.want || knows != c.knows {
				t.Errorf("got %v, %v", got, knows)
			}
		})
	}
}
