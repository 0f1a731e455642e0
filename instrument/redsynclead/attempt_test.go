package redsynclead

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-redsync/redsync/v4"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/instrument/internal/expect"
)

const (
	key   = "report"
	lease = 60 * s
	drift = lease / 100 // that redsync takes off
	valid = lease - drift
	once  = 2 * way // a request and its answer
)

var (
	patient = []redsync.Option{redsync.WithExpiry(lease), redsync.WithTries(1000), redsync.WithRetryDelay(s)}
	thrice  = []redsync.Option{redsync.WithExpiry(lease), redsync.WithTries(3), redsync.WithRetryDelay(s)}
)

func TestAttemptsThatDoNotWin(t *testing.T) {
	const failing = once + once // and what redsync gives back
	taken := &redsync.ErrTaken{}
	broken := &redsync.RedisError{}
	for _, c := range []struct {
		name   string
		nodes  int
		fault  fault // of nodes on which another holds the lock
		opts   []redsync.Option
		waits  bool
		caller expect.Caller
		as     any   // the type of the error
		is     error // or one of its chain
		want   electtest.Series
	}{
		{"another holds the lock", 1, none, patient, false, expect.ForEver, &taken, nil, expect.NotAcquired("contended", failing)},
		{"another holds the lock on three nodes", 3, none, patient, false, expect.ForEver, &taken, nil, expect.NotAcquired("contended", failing)},
		{"another holds the lock for as many tries as the mutex has", 1, none, thrice, true, expect.ForEver, &taken, nil, expect.NotAcquired("contended", 3*failing+2*s)},
		{"another holds the lock until the caller's deadline", 1, none, patient, true, expect.Within(20 * s), nil, nil, expect.NotAcquired("timeout", 20*s)},
		{"another holds the lock until the caller cancels", 3, none, patient, true, expect.Cancels(20 * s), nil, nil, expect.NotAcquired("canceled", 20*s)},
		{"the server does not answer until the caller's deadline", 1, deaf, patient, true, expect.Within(s), nil, context.DeadlineExceeded, expect.NotAcquired("timeout", s)},
		{"the server does not answer until the caller cancels", 3, silent, patient, false, expect.Cancels(s), nil, context.Canceled, expect.NotAcquired("canceled", s)},
		{"the server does not answer, which is no contention", 1, silent, patient, false, expect.ForEver, &broken, context.DeadlineExceeded, expect.NotAcquired("backend_error", 2*(way+readTimeout))},
		{"none of three servers answers", 3, deaf, patient, false, expect.ForEver, &broken, context.DeadlineExceeded, expect.NotAcquired("backend_error", 2*(way+readTimeout))},
		{"the caller has given up before", 1, none, patient, true, expect.Cancels(-1), nil, context.Canceled, expect.NotAcquired("canceled", 0)},
		{"the connection is refused", 1, refused, patient, false, expect.ForEver, &broken, nil, expect.NotAcquired("backend_error", 0)},
		{"the connection ends before the answer", 1, ended, patient, false, expect.ForEver, &broken, nil, expect.NotAcquired("backend_error", 2*way)},
		{"the server refuses to write", 3, readOnly, thrice, true, expect.ForEver, &broken, nil, expect.NotAcquired("backend_error", 2*s)},
		{"a mutex without tries", 1, none, []redsync.Option{redsync.WithTries(0)}, true, expect.ForEver, nil, redsync.ErrFailed, expect.NotAcquired("backend_error", 0)},
	} {
		for _, wraps := range []bool{false, true} {
			name := c.name
			if wraps {
				name += ", with a mutex of the program"
			}
			expect.Bubble(t, name, func(t *testing.T) {
				settles(t)
				m, all := expect.Middleware(t), newNodes(c.nodes)
				all.set(key, "another", time.Hour)
				all.breaks(c.fault)
				ctx, cancel := c.caller(t.Context())
				defer cancel()
				time.Sleep(time.Nanosecond) // for one that cancels at once
				a := kind{wraps: wraps, waits: c.waits}.elector(all.redsync(), key, c.opts...)
				term, err := m.Election(expect.Lock).Acquire(ctx, a)
				if term != nil || err == nil || c.as != nil && !errors.As(err, c.as) || c.is != nil && !errors.Is(err, c.is) {
					t.Errorf("term %v, error %v", term, err)
				}
				expect.Whole(t, m, "after the attempt", expect.Fresh(t).With(c.want))
				time.Sleep(time.Hour / 2)
				if value := all.value(key); value != "another" {
					t.Errorf("the lock of another became %q", value)
				}
			})
		}
	}
}

func TestAnAttemptUnderAnEndedContextAsksNoServer(t *testing.T) {
	for name, k := range map[string]kind{"waiting": {waits: true}, "at once": {}, "a mutex of the program": {wraps: true}} {
		expect.Bubble(t, name, func(t *testing.T) {
			settles(t)
			all := newNodes(1)
			a := k.elector(all.redsync(), key, patient...)
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if _, err := a.Acquire(ctx); err != context.Canceled {
				t.Errorf("got %v", err)
			}
			time.Sleep(lease)
			if asked := all[0].requests(); asked != 0 {
				t.Errorf("%d requests", asked)
			}
		})
	}
}

func TestAttemptsOnNodesThatDiffer(t *testing.T) {
	for _, c := range []struct {
		name   string
		taken  int // nodes on which another holds the lock
		down   int // others that cannot be reached
		of     int
		reason string // empty: it wins
	}{
		{"one of three is taken", 1, 0, 3, ""},
		{"one of three is down", 0, 1, 3, ""},
		{"one of three is taken and one is down", 1, 1, 3, "backend_error"},
		{"one of three is taken and two are down", 1, 2, 3, "backend_error"},
		{"two of three are taken", 2, 0, 3, "contended"},
		{"two of three are taken and one is down", 2, 1, 3, "contended"},
		{"one of two is taken", 1, 0, 2, "contended"},
	} {
		expect.Bubble(t, c.name, func(t *testing.T) {
			settles(t)
			m, all := expect.Middleware(t), newNodes(c.of)
			all[:c.taken].set(key, "another", time.Hour)
			all[c.taken : c.taken+c.down].breaks(refused)
			term, err := m.Election(expect.Lock).Acquire(t.Context(), NewTryMutex(all.redsync(), key, patient...))
			if (err == nil) != (c.reason == "") {
				t.Errorf("error %v", err)
			}
			if err == nil {
				expect.Whole(t, m, "after the win", kind{}.won(t).With(expect.Open(time.Now().Add(valid-once))))
				_ = term.Release(t.Context())
				return
			}
			expect.Whole(t, m, "after the attempt", expect.Fresh(t).With(expect.NotAcquired(c.reason, 2*once)))
		})
	}
}

func TestErrorsOfTheProgram(t *testing.T) {
	const noMutex = "leaderscope: redsynclead: the mutex is nil: pass one of Redsync.NewMutex"
	const noRedsync = "leaderscope: redsynclead: the Redsync is nil: pass one of redsync.New"
	for _, c := range []struct {
		name string
		a    instrument.Acquirer
		want string
	}{
		{"no mutex", Mutex(nil), noMutex},
		{"no mutex, at once", TryMutex(nil), noMutex},
		{"no Redsync", NewMutex(nil, key), noRedsync},
		{"no Redsync, at once", NewTryMutex(nil, key, nil), noRedsync},
		{"no expiry", NewMutex(newNodes(1).redsync(), key, redsync.WithExpiry(0)), "leaderscope: redsynclead: the expiry is 0s: pass 1ms or more to redsync.WithExpiry"},
		{"an expiry before now", NewTryMutex(newNodes(1).redsync(), key, redsync.WithExpiry(-s)), "leaderscope: redsynclead: the expiry is -1s: pass 1ms or more to redsync.WithExpiry"},
		{"less than Redis counts", NewTryMutex(newNodes(1).redsync(), key, redsync.WithExpiry(time.Millisecond-1)), "leaderscope: redsynclead: the expiry is 999.999µs: pass 1ms or more to redsync.WithExpiry"},
	} {
		expect.Bubble(t, c.name, func(t *testing.T) {
			m := expect.Middleware(t)
			if _, err := m.Election(expect.Lock).Acquire(t.Context(), c.a); err == nil || err.Error() != c.want {
				t.Errorf("got %v", err)
			}
			expect.Whole(t, m, "after the attempt", expect.Fresh(t).With(expect.NotAcquired("unknown", 0)))
		})
	}
}

// A request that is not answered may have won: no term holds what it won.
func TestWhatAnUnansweredRequestWonIsGivenBack(t *testing.T) {
	long := []redsync.Option{redsync.WithExpiry(time.Hour)}
	for _, c := range []struct {
		name   string
		kind   kind
		fault  fault
		caller expect.Caller
		repair time.Duration // after which the server answers again
		free   time.Duration // from the attempt until the lock must be free
		want   electtest.Series
	}{
		{"the answer is lost", kind{}, silent, expect.Within(5 * s), 7 * s, readTimeout + 2*s, expect.NotAcquired("timeout", 5*s)},
		{"the answer is lost while it waits", kind{waits: true}, silent, expect.Within(5 * s), 7 * s, readTimeout + 2*s, expect.NotAcquired("timeout", 5*s)},
		{"the connection ends", kind{}, ended, expect.ForEver, 1, 2 * s, expect.NotAcquired("backend_error", 3*way)},
		{"the caller cancels while the answer is on its way", kind{}, none, expect.Cancels(3 * way / 2), 1, 2 * s, expect.NotAcquired("canceled", 3*way/2)},
		{"the caller cancels while the answer is on its way to a mutex of the program", kind{wraps: true}, none, expect.Cancels(3 * way / 2), 1, 2 * s, expect.NotAcquired("canceled", 3*way/2)},
	} {
		for _, count := range []int{1, 3} {
			expect.Bubble(t, c.name, func(t *testing.T) {
				settles(t)
				m, all := expect.Middleware(t), newNodes(count)
				all.breaks(c.fault)
				time.AfterFunc(c.repair, func() { all.breaks(none) })
				ctx, cancel := c.caller(t.Context())
				defer cancel()
				_, _ = m.Election(expect.Lock).Acquire(ctx, c.kind.elector(all.redsync(), key, long...))
				expect.Whole(t, m, "after the attempt", expect.Fresh(t).With(c.want))
				if value := all.value(key); value == "" && c.fault != ended {
					t.Error("the request did not win")
				}
				time.Sleep(c.free)
				for _, n := range all {
					if timeLeft, there := (nodes{n}).remaining(key); there {
						t.Errorf("no replica holds the lock, and it lives for %v more", timeLeft)
					}
				}
			})
		}
	}
}

// A give-back that found nothing to give back is done; any other is made again.
func TestALockThatIsGoneNeedsNoGiveBack(t *testing.T) {
	unknown := errors.New("unknown")
	failed := &redsync.RedisError{Err: unknown}
	for name, c := range map[string]struct{ err, want error }{
		"it was given back":          {nil, nil},
		"another holds it":           {fmt.Errorf("release: %w", &redsync.ErrTaken{}), nil},
		"another holds it on a node": {&redsync.ErrNodeTaken{}, nil},
		"it had expired":             {redsync.ErrLockAlreadyExpired, nil},
		"it is over":                 {fmt.Errorf("release: %w", errOver), nil},
		"a node failed":              {failed, failed},
		"nothing is known":           {unknown, unknown},
	} {
		t.Run(name, func(t *testing.T) {
			if got := unlessGone(c.err); got != c.want {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}

func TestTheExpiryOfOptions(t *testing.T) {
	unwilling := redsync.WithGenValueFunc(func() (string, error) { return "", errors.New("no value") })
	for _, c := range []struct {
		name string
		opts []redsync.Option
		want time.Duration
	}{
		{"of redsync", nil, 8 * s},
		{"of the program", []redsync.Option{redsync.WithShufflePools(true), redsync.WithExpiry(time.Hour), redsync.WithFailFast(true)}, time.Hour},
		{"without a value", []redsync.Option{unwilling}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, known := expiryOf(key, c.opts); got != c.want || known != (c.want != 0) {
				t.Errorf("got %v, %v, want %v", got, known, c.want)
			}
		})
	}
}

func TestAServerThatIsOutOfReachIsAskedAgainForAsLongAsTheLockMayLive(t *testing.T) {
	for _, c := range []struct {
		name string
		opts []redsync.Option
		away time.Duration
		gone bool
	}{
		{"within twice the expiry", []redsync.Option{redsync.WithExpiry(time.Hour)}, 100 * time.Minute, true},
		{"beyond it", []redsync.Option{redsync.WithExpiry(time.Hour)}, 130 * time.Minute, false},
	} {
		expect.Bubble(t, c.name, func(t *testing.T) {
			t.Cleanup(func() { time.Sleep(3 * time.Hour) })
			all := newNodes(1)
			all.breaks(refused)
			_, err := NewTryMutex(all.redsync(), key, c.opts...).Acquire(t.Context())
			if err == nil {
				t.Fatal("won")
			}
			time.Sleep(c.away)
			all.breaks(none)
			asked := all[0].requests()
			time.Sleep(time.Minute)
			if asks := all[0].requests() > asked; asks != c.gone {
				t.Errorf("it asks again: %v", asks)
			}
		})
	}
}

func TestAClientThatIsClosedIsNotAskedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"closed":                  {&redsync.RedisError{Err: errors.New("redis: client is closed")}, true},
		"no connection":           {&redsync.RedisError{Err: &net.OpError{Op: "dial", Err: errors.New("refused")}}, false},
		"no answer":               {&redsync.RedisError{Err: context.DeadlineExceeded}, false},
		"a connection that ended": {&redsync.RedisError{Err: io.EOF}, false},
		"one node of two":         {errors.Join(&redsync.RedisError{Err: errors.New("NOPERM")}, &redsync.RedisError{Err: io.ErrUnexpectedEOF}), false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := isHopeless(c.err); got != c.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestAValueOfTheProgramIsUsed(t *testing.T) {
	expect.Bubble(t, "a function that generates it", func(t *testing.T) {
		all := newNodes(1)
		own := redsync.WithGenValueFunc(func() (string, error) { return "mine", nil })
		lease, err := NewTryMutex(all.redsync(), key, own, WithAutoRenew()).Acquire(t.Context())
		if err != nil || all.value(key) != "mine" {
			t.Fatalf("the value is %q; %v", all.value(key), err)
		}
		if err := lease.Release(t.Context()); err != nil || all.value(key) != "" {
			t.Errorf("the value is %q; %v", all.value(key), err)
		}
	})
}

func TestAnAttemptWaitsForTheOneBeforeOnTheSameMutexWithinItsContext(t *testing.T) {
	expect.Bubble(t, "and takes no turn of its own", func(t *testing.T) {
		settles(t)
		m, all := expect.Middleware(t), newNodes(1)
		a := kind{wraps: true}.elector(all.redsync(), key, patient...)
		all.breaks(silent)
		first := make(chan error)
		ctx, cancel := context.WithTimeout(t.Context(), 3*s)
		defer cancel()
		go func() { _, err := a.Acquire(ctx); first <- err }()
		synctest.Wait()
		brief, cancel := context.WithTimeout(t.Context(), s)
		defer cancel()
		if _, err := m.Election(expect.Lock).Acquire(brief, a); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the second: %v", err)
		}
		expect.Whole(t, m, "after the second", expect.Fresh(t).With(expect.NotAcquired("timeout", s)))
		if err := <-first; !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the first: %v", err)
		}
		all.breaks(none)
		time.Sleep(time.Hour)
		l, err := a.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Release(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestTheCallerCancelsInTheInstantOfWinning(t *testing.T) {
	for name, k := range map[string]kind{"a mutex of its own": {}, "a mutex of the program": {wraps: true}} {
		expect.Bubble(t, name, func(t *testing.T) {
			settles(t)
			m, all := expect.Middleware(t), newNodes(1)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			time.AfterFunc(once, cancel)
			term, err := m.Election(expect.Lock).Acquire(ctx, k.elector(all.redsync(), key, patient...))
			if err != nil { // the answer counts, or the lock is released
				expect.Whole(t, m, "after the attempt", expect.Fresh(t).With(expect.NotAcquired("canceled", once)))
				time.Sleep(2 * s)
			} else {
				expect.Whole(t, m, "after the attempt", k.won(t).With(expect.Open(time.Now().Add(valid-once))))
				if err := term.Release(t.Context()); err != nil {
					t.Error(err)
				}
			}
			if timeLeft, there := all.remaining(key); there {
				t.Errorf("no replica holds the lock, and it lives for %v more", timeLeft)
			}
		})
	}
}
