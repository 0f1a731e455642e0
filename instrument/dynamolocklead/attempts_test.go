package dynamolocklead_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cirello.io/dynamolock/v2"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/dynamolocklead"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/instrument/internal/expect"
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
	impatient := func(x *table, t testing.TB, key string) instrument.Acquirer {
		return dynamolocklead.NewLock(x.client(t), key, lease, dynamolock.WithAdditionalTimeToWaitForLock(s))
	}
	canceled := &smithy.CanceledError{Err: context.Canceled}
	for _, c := range []struct {
		name   string
		lock   func(x *table, t testing.TB, key string) instrument.Acquirer
		before func(x *table)
		limit  time.Duration // of the caller; 0: none
		is     func(error) bool
		reason string
		after  time.Duration
	}{
		{"try: another holds the lock", tries, func(x *table) { x.steal(expect.Lock) }, 0, isRefused, "contended", 0},
		{"wait: another holds it until the caller gives up", waits, keptAlive, 5 * s / 2, is(context.DeadlineExceeded), "timeout", 5 * s / 2},
		{"wait: another holds it for as long as the library was told to wait", impatient, keptAlive, 0, isRefused, "contended", lease + 2*s},
		{"try: the server refuses the connection", tries, failing(errReset), 0, is(errReset), "backend_error", 0},
		{"wait: the connection breaks", waits, failing(io.ErrUnexpectedEOF), 0, is(io.ErrUnexpectedEOF), "backend_error", 0},
		{"try: too many requests", tries, failing(&types.ProvisionedThroughputExceededException{}), 0, isA[*types.ProvisionedThroughputExceededException], "backend_error", 0},
		{"wait: the server fails", waits, failing(&types.InternalServerError{}), 0, isA[*types.InternalServerError], "backend_error", 0},
		{"try: another answer of the server", tries, failing(&smithy.GenericAPIError{Code: "ServiceUnavailable", Fault: smithy.FaultServer}), 0, isA[*smithy.GenericAPIError], "backend_error", 0},
		{"try: the table is not there", tries, failing(&types.ResourceNotFoundException{}), 0, isA[*types.ResourceNotFoundException], "unknown", 0},
		{"try: a request that was canceled, by nobody known", tries, failing(canceled), 0, is(canceled), "unknown", 0},
		{"try: a silent server, for a lease", tries, silent, 0, is(context.DeadlineExceeded), "backend_error", lease},
		{"try: a silent server, for as long as the caller waits", tries, silent, s, is(context.DeadlineExceeded), "timeout", s},
		{"wait: a silent server, for as long as the caller waits", waits, silent, s, is(context.DeadlineExceeded), "timeout", s},
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
			if !c.is(err) {
				t.Errorf("got %v", err)
			}
			expect.Whole(t, m, "after the attempt", expect.Fresh(t).With(expect.NotAcquired(c.reason, c.after)))
			time.Sleep(3 * lease) // for what still runs
		})
	}
}

func TestAClosedClientIsALostSession(t *testing.T) {
	m := expect.Middleware(t)
	client := newTable().client(t)
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Election(expect.Lock).Acquire(t.Context(), dynamolocklead.NewTryLock(client, expect.Lock, lease)); !errors.Is(err, dynamolock.ErrClientClosed) {
		t.Error(err)
	}
	if got := electtest.Read(m, expect.Lock)[`leader_not_acquired_total{reason="session_lost"}`]; got != 1 {
		t.Errorf("session_lost is %v", got)
	}
}

func is(target error) func(error) bool {
	return func(err error) bool { return errors.Is(err, target) }
}

func isA[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
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
// takes two answers of two seconds each.
func TestCallersThatGiveUp(t *testing.T) {
	for name, lock := range map[string]func(x *table, t testing.TB, key string) instrument.Acquirer{
		"wait": (*table).lock, "try": (*table).tryLock,
	} {
		for limit := s / 2; limit < 6*s; limit += s / 2 {
			expect.Bubble(t, fmt.Sprint(name, " for ", limit), func(t *testing.T) {
				x, m := newTable(), expect.Middleware(t)
				x.late = 2 * s
				ctx, cancel := context.WithTimeout(t.Context(), limit)
				defer cancel()
				term, err := m.Election(expect.Lock).Acquire(ctx, lock(x, t, expect.Lock))
				switch {
				case err == nil:
					if limit <= 4*s {
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
				if took := time.Since(asked); took > lease+8*2*s {
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
		if _, held := x.remaining(expect.Lock); held || x.sent != 3 {
			t.Errorf("held: %v, after %d requests; want a look, a win and a release", held, x.sent)
		}
		x.checkLimits(t, 3)
	})
}

func TestTheLockOfAHolderThatDiedIsTakenOver(t *testing.T) {
	for _, c := range []struct {
		name  string
		lock  func(x *table, t testing.TB, key string) instrument.Acquirer
		every time.Duration // between attempts
		from  time.Duration // won at the earliest
		until time.Duration
	}{
		{"by a lock that waits, within a lease", (*table).lock, 0, lease, lease + 2*s},
		{"by tries, within two leases and the time between two tries", (*table).tryLock, s, 2 * lease, 2*lease + 3*s},
		{"by tries that are seldom", (*table).tryLock, 5 * lease, 6 * lease, 6*lease + 2*s},
	} {
		expect.Bubble(t, c.name, func(t *testing.T) {
			x := newTable()
			x.steal(expect.Lock) // by one that sends no heartbeat
			began := time.Now()
			lock := c.lock(x, t, expect.Lock)
			for {
				l, err := lock.Acquire(context.WithoutCancel(t.Context()))
				if err == nil {
					if after := time.Since(began); after < c.from || after > c.until {
						t.Errorf("won after %v, want %v to %v", after, c.from, c.until)
					}
					if timeLeft := time.Until(l.(instrument.Expirer).Expiry()); timeLeft != lease {
						t.Errorf("the lease runs for %v, want %v", timeLeft, lease)
					}
					x.checkLimits(t, 0)
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
			synctest.Wait()
		})
	}
}

func TestAWinBeginsTheTimeOfRefusalsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newTable()
		lock := x.tryLock(t, expect.Lock)
		refused := func() {
			t.Helper()
			asked := time.Now()
			if _, err := lock.Acquire(t.Context()); !isRefused(err) || time.Since(asked) != 0 {
				t.Errorf("%v after %v", err, time.Since(asked))
			}
		}
		x.steal(expect.Lock)
		refused()
		x.remove(expect.Lock)
		l, err := lock.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Release(t.Context()); err != nil {
			t.Error(err)
		}
		time.Sleep(2 * lease)
		x.steal(expect.Lock)
		refused()
	})
}

func TestAServerThatFallsSilentWhileATryWatches(t *testing.T) {
	for _, c := range []struct {
		name   string
		caller expect.Caller
		is     func(error) bool
		after  time.Duration
		want   string
	}{
		{"the try is refused after two leases", expect.ForEver, isRefused, 2 * lease, "contended"},
		{"the caller's deadline comes first", expect.Within(lease), is(context.DeadlineExceeded), lease, "timeout"},
		{"the caller cancels", expect.Cancels(lease), is(context.Canceled), lease, "canceled"},
	} {
		expect.Bubble(t, c.name, func(t *testing.T) {
			x, m := newTable(), expect.Middleware(t)
			lock := x.tryLock(t, expect.Lock)
			x.steal(expect.Lock)
			if _, err := lock.Acquire(t.Context()); !isRefused(err) {
				t.Fatal(err)
			}
			time.Sleep(lease + 1)
			asked := time.Now()
			time.AfterFunc(s/2, func() { x.mute() })
			ctx, cancel := c.caller(t.Context())
			defer cancel()
			if _, err := m.Election(expect.Lock).Acquire(ctx, lock); !c.is(err) || time.Since(asked) != c.after {
				t.Errorf("%v after %v", err, time.Since(asked))
			}
			expect.Whole(t, m, "afterwards", expect.Fresh(t).With(expect.NotAcquired(c.want, c.after)))
		})
	}
}

func TestALockIsGivenBackWhenTheHeartbeatAfterASlowWinFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x, m := newTable(), expect.Middleware(t)
		x.late = s
		time.AfterFunc(3*s/2, func() { time.AfterFunc(5*s, x.mute()) }) // after the request that wins
		ctx, cancel := context.WithTimeout(t.Context(), 5*s)
		defer cancel()
		if _, err := m.Election(expect.Lock).Acquire(ctx, x.lock(t, expect.Lock)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		expect.Whole(t, m, "after the attempt", expect.Fresh(t).With(expect.NotAcquired("timeout", 5*s)))
		time.Sleep(5 * s)
		if timeLeft, held := x.remaining(expect.Lock); held {
			t.Errorf("no replica holds the lock, and it is taken for another %v", timeLeft)
		}
	})
}

// TestTriesOnALiveHolder counts the attempts that take long: they come less and
// less often, and are refused.
func TestTriesOnALiveHolder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newTable()
		holder, err := x.lock(t, expect.Lock).Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		lock := x.tryLock(t, expect.Lock)
		began := time.Now()
		var slow []int // leases since the beginning
		for time.Since(began) < 60*lease {
			asked := time.Now()
			if _, err := lock.Acquire(t.Context()); !isRefused(err) {
				t.Error(err)
			}
			switch took := time.Since(asked); {
			case took == 0:
			case took <= lease+2*s:
				slow = append(slow, int(asked.Sub(began)/lease))
			default:
				t.Errorf("an attempt took %v", took)
			}
			time.Sleep(s)
		}
		if want := []int{1, 4, 9, 18, 36, 53}; fmt.Sprint(slow) != fmt.Sprint(want) {
			t.Errorf("attempts that watched began after %v leases, want %v", slow, want)
		}
		if err := holder.Release(t.Context()); err != nil {
			t.Error(err)
		}
		synctest.Wait()
	})
}

// TestATryThatWatchesTakesNothingFromALiveHolder has a job that the same
// replica wins each time, and another replica that is always late: it must not
// run the job again when the first has done it.
func TestATryThatWatchesTakesNothingFromALiveHolder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newTable()
		first, second := x.tryLock(t, expect.Lock), x.tryLock(t, expect.Lock)
		m := expect.Middleware(t)
		for range 10 {
			l, err := first.Acquire(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			released := time.AfterFunc(5*s, func() { _ = l.Release(context.WithoutCancel(t.Context())) })
			if _, err := m.Election(expect.Lock).Acquire(t.Context(), second); !isRefused(err) {
				t.Error(err)
			}
			time.Sleep(5 * lease)
			released.Stop()
		}
		r := electtest.Read(m, expect.Lock)
		if r[`leader_not_acquired_total{reason="contended"}`] != 10 || r["leader_acquired_total"] != 0 {
			t.Errorf("%v", r)
		}
	})
}

// TestAClientThatSendsHeartbeatsToo has both keep the lock.
func TestAClientThatSendsHeartbeatsToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x, m := newTable(), expect.Middleware(t)
		client := x.client(t, dynamolock.WithHeartbeatPeriod(5*s))
		ctx, cancel := context.WithCancel(t.Context())
		term, err := m.Election(expect.Lock).Acquire(ctx, dynamolocklead.NewLock(client, expect.Lock, lease))
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		time.Sleep(5*lease - s)
		expect.Whole(t, m, "while it is held", won(t, lease-3*s).With(expect.RenewedByThirds(14, 0, "", 0)))
		if err := term.Release(t.Context()); err != nil {
			t.Error(err)
		}
		if err := client.Close(); err != nil {
			t.Error(err)
		}
		synctest.Wait()
	})
}

func TestArgumentsThatMakeNoSense(t *testing.T) {
	client := newTable().client(t)
	for _, c := range []struct {
		name  string
		lock  instrument.Acquirer
		wants string
	}{
		{"no client", dynamolocklead.NewLock(nil, "a", lease), "client is nil"},
		{"no lease", dynamolocklead.NewLock(client, "a", 0), "lease is 0s"},
		{"a negative lease", dynamolocklead.NewTryLock(client, "a", -s), "lease is -1s"},
		{"another lease than the client's", dynamolocklead.NewTryLock(client, "a", 2*lease), "lease is 24s and the client's 12s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, err := c.lock.Acquire(t.Context())
			if l != nil || err == nil || !strings.Contains(err.Error(), c.wants) {
				t.Errorf("got %v, %v", l, err)
			}
		})
	}
}
