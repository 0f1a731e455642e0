package redsynclead

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/instrument/electtest/tcpproxy"
	"github.com/leaderscope/leaderscope/instrument/internal/expect"
)

// inMemory starts a server whose keys expire: its own clock stands still until
// it is moved.
func inMemory(t *testing.T) (address string) {
	t.Helper()
	r := miniredis.RunT(t)
	expect.MoveClock(t, r.FastForward)
	return r.Addr()
}

// connect is a client as its defaults make it.
func connect(t testing.TB, address string) *redis.Client {
	t.Helper()
	c := redis.NewClient(&redis.Options{Addr: address})
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestAttacksOnAServerInMemory(t *testing.T) { attack(t, inMemory(t)) }

// attacked is a lock on a server that a test breaks.
type attacked struct {
	*testing.T
	m     *instrument.Middleware
	e     *instrument.Election
	key   string
	proxy *tcpproxy.Proxy // before the client of the lock
	near  *redis.Client   // past the proxy
	rs    *redsync.Redsync
}

func (a *attacked) acquire(acquirer instrument.Acquirer) *instrument.Term {
	a.Helper()
	term, err := a.e.Acquire(a.Context(), acquirer)
	if err != nil {
		a.Fatal(err)
	}
	return term
}

func (a *attacked) try(expiry time.Duration, opts ...redsync.Option) instrument.Acquirer {
	return NewTryMutex(a.rs, a.key, append(opts, redsync.WithExpiry(expiry))...)
}

func (a *attacked) counts(want electtest.Series) {
	a.Helper()
	expect.Counters(a, a.m, want)
}

// freed waits until the key is gone.
func (a *attacked) freed(within time.Duration) {
	a.Helper()
	for deadline := time.Now().Add(within); ; time.Sleep(10 * time.Millisecond) {
		n, err := a.near.Exists(a.Context(), a.key).Result()
		if err != nil {
			a.Fatal(err)
		}
		if n == 0 {
			return
		}
		if time.Now().After(deadline) {
			a.Fatalf("the key is there after %v", within)
		}
	}
}

// soon is far less than the timeouts of a client, patience more than a loaded
// machine needs.
const soon, patience = 300 * time.Millisecond, 30 * time.Second

func (a *attacked) soon() context.Context {
	ctx, cancel := context.WithTimeout(a.Context(), soon)
	a.Cleanup(cancel)
	return ctx
}

// honours fails if a call took much longer than its context, or knows another
// error.
func (a *attacked) honours(call func(context.Context) error) {
	a.Helper()
	begun := time.Now()
	if err := call(a.soon()); !errors.Is(err, context.DeadlineExceeded) {
		a.Errorf("got %v", err)
	}
	if took := time.Since(begun); took > soon+2*time.Second {
		a.Errorf("it took %v under a context of %v", took, soon)
	}
}

func attack(t *testing.T, address string) {
	for name, run := range map[string]func(*attacked){
		"the server is silent when it is asked":                  silentAcquire,
		"the server is silent when it renews":                    silentRenewal,
		"the server is silent when it releases":                  silentRelease,
		"the server is silent before a mutex of the program":     silentMutex,
		"the key is deleted":                                     deleted,
		"the key is another's":                                   taken,
		"the ttl is shortened":                                   shortened,
		"the caller cancels in the instant of winning":           canceled,
		"the lock is used by many":                               crowded,
		"the connection is cut for less than the lease":          cut,
		"a lock that is held is contended, and no typed nil":     held,
		"the caller of a lock that waits gives up, and tries on": patientCaller,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := expect.Middleware(t)
			p := tcpproxy.New(t, address)
			rs := redsync.New(goredis.NewPool(connect(t, p.Address())))
			run(&attacked{t, m, m.Election(expect.Lock), fmt.Sprintf("attack-%d", rand.Uint64()), p, connect(t, address), rs})
		})
	}
}

func silentAcquire(a *attacked) {
	good(a.T, a.acquire(a.try(time.Hour)).Release(a.Context())) // now there is a connection, and a script
	a.proxy.Silence()
	a.honours(func(ctx context.Context) error {
		_, err := a.e.Acquire(ctx, a.try(time.Hour))
		return err
	})
	if n, _ := a.near.Exists(a.Context(), a.key).Result(); n != 1 {
		a.Error("the request did not win")
	}
	a.counts(electtest.Series{
		"leader_acquired_total": 1, "leader_active": 0, `leader_terms_ended_total{cause="released"}`: 1, `leader_releases_total{result="ok"}`: 1,
		`leader_not_acquired_total{reason="timeout"}`: 1,
	})
	a.proxy.Resume()
	a.freed(patience)
}

func silentRenewal(a *attacked) {
	term := a.acquire(a.try(time.Minute))
	a.proxy.Block()
	a.honours(term.Renew)
	counts := electtest.Series{"leader_acquired_total": 1, "leader_active": 1, `leader_renewals_total{result="timeout"}`: 1}
	a.counts(counts)
	good(a.T, term.Context().Err())
	a.proxy.Resume()
	good(a.T, term.Renew(a.Context()))
	a.counts(counts.With(electtest.Series{`leader_renewals_total{result="ok"}`: 1}))
	good(a.T, term.Release(a.Context()))
}

func silentRelease(a *attacked) {
	term := a.acquire(a.try(time.Minute))
	a.proxy.Block()
	a.honours(term.Release)
	a.counts(electtest.Series{
		"leader_acquired_total": 1, "leader_active": 0, `leader_terms_ended_total{cause="release_failed"}`: 1, `leader_releases_total{result="error"}`: 1,
	})
	if n, _ := a.near.Exists(a.Context(), a.key).Result(); n != 1 {
		a.Error("the key is gone although the release did not arrive")
	}
	a.proxy.Resume()
	_ = term.Release(a.Context()) // the first may arrive before
	a.freed(patience)
}

func silentMutex(a *attacked) {
	mutex := TryMutex(a.rs.NewMutex(a.key, redsync.WithExpiry(time.Minute)))
	good(a.T, a.acquire(mutex).Release(a.Context()))
	a.proxy.Silence()
	a.honours(func(ctx context.Context) error {
		_, err := a.e.Acquire(ctx, mutex)
		return err
	})
	a.proxy.Resume()
	a.freed(patience)
	term := a.acquire(mutex)
	good(a.T, term.Release(a.Context()))
	a.counts(electtest.Series{
		"leader_acquired_total": 2, "leader_active": 0, `leader_terms_ended_total{cause="released"}`: 2, `leader_releases_total{result="ok"}`: 2,
		`leader_not_acquired_total{reason="timeout"}`: 1,
	})
}

func deleted(a *attacked) {
	term := a.acquire(a.try(3*time.Second, WithAutoRenew()))
	good(a.T, a.near.Del(a.Context(), a.key).Err())
	ctx := term.Context()
	select {
	case <-ctx.Done():
	case <-time.After(patience):
		a.Fatal("the term's context has not ended")
	}
	bad(a.T, context.Cause(ctx), instrument.ErrLost)
	bad(a.T, term.Release(a.Context()), redsync.ErrLockAlreadyExpired)
	a.counts(electtest.Series{
		"leader_acquired_total": 1, "leader_active": 0, `leader_renewals_total{result="lost"}`: 1,
		`leader_terms_ended_total{cause="lost"}`: 1, `leader_releases_total{result="not_owner"}`: 1,
	})
}

func taken(a *attacked) {
	term := a.acquire(a.try(time.Minute))
	good(a.T, a.near.Set(a.Context(), a.key, "another", time.Minute).Err())
	isTaken(a.T, term.Renew(a.Context()))
	isTaken(a.T, term.Release(a.Context()))
	a.counts(electtest.Series{
		"leader_acquired_total": 1, "leader_active": 0, `leader_renewals_total{result="lost"}`: 1,
		`leader_terms_ended_total{cause="lost"}`: 1, `leader_releases_total{result="not_owner"}`: 1,
	})
	if v, err := a.near.Get(a.Context(), a.key).Result(); v != "another" {
		a.Errorf("the other's key is %q: %v", v, err)
	}
}

func shortened(a *attacked) {
	term := a.acquire(a.try(time.Minute))
	good(a.T, a.near.PExpire(a.Context(), a.key, 10*time.Second).Err())
	good(a.T, term.Renew(a.Context()))
	end, known := term.Expiry()
	timeLeft, err := a.near.PTTL(a.Context(), a.key).Result()
	if ends := time.Until(end); !known || err != nil || timeLeft < 50*time.Second || ends > timeLeft {
		a.Errorf("%v left there, %v here, known: %v; %v", timeLeft, ends, known, err)
	}
	good(a.T, a.near.PExpire(a.Context(), a.key, time.Millisecond).Err())
	a.freed(patience)
	isTaken(a.T, term.Renew(a.Context()))
	a.counts(electtest.Series{
		"leader_acquired_total": 1, "leader_active": 0, `leader_renewals_total{result="ok"}`: 1, `leader_renewals_total{result="lost"}`: 1,
		`leader_terms_ended_total{cause="lost"}`: 1,
	})
}

func canceled(a *attacked) {
	took := time.Now()
	good(a.T, a.acquire(a.try(time.Hour)).Release(a.Context()))
	about := time.Since(took)
	var won, gaveUp float64
	for range 50 {
		a.key += "'" // what is withdrawn may be in the way of the next for a moment
		ctx, cancel := context.WithCancel(a.Context())
		time.AfterFunc(rand.N(about), cancel)
		term, err := a.e.Acquire(ctx, a.try(time.Hour))
		switch {
		case err == nil:
			won++
			good(a.T, term.Release(a.Context()))
		default:
			gaveUp++
		}
		a.freed(patience)
		cancel()
	}
	a.counts(electtest.Series{
		"leader_acquired_total": won + 1, "leader_active": 0, `leader_not_acquired_total{reason="canceled"}`: gaveUp,
		`leader_terms_ended_total{cause="released"}`: won + 1, `leader_releases_total{result="ok"}`: won + 1,
	})
}

func crowded(a *attacked) {
	lock := NewMutex(a.rs, a.key, redsync.WithExpiry(3*time.Second), redsync.WithTries(1<<30), redsync.WithRetryDelay(time.Millisecond), WithAutoRenew())
	var inside, violations atomic.Int32
	var all sync.WaitGroup
	const many = 20
	for range many {
		all.Go(func() {
			err := a.e.Run(a.Context(), lock, func(context.Context, *instrument.Term) error {
				if inside.Add(1) > 1 {
					violations.Add(1)
				}
				time.Sleep(time.Millisecond)
				inside.Add(-1)
				return nil
			})
			good(a.T, err)
		})
	}
	all.Wait()
	if n := violations.Load(); n != 0 {
		a.Errorf("%d times two were inside", n)
	}
	a.counts(electtest.Series{
		"leader_acquired_total": many, "leader_active": 0, `leader_terms_ended_total{cause="released"}`: many, `leader_releases_total{result="ok"}`: many,
	})
}

func cut(a *attacked) {
	const expiry = 6 * time.Second
	term := a.acquire(a.try(expiry, WithAutoRenew()))
	a.proxy.Cut()
	time.Sleep(expiry / 2) // the first renewal fails
	a.proxy.Resume()
	time.Sleep(expiry)
	r := electtest.Read(a.m, expect.Lock)
	failed := r[`leader_renewals_total{result="error"}`] + r[`leader_renewals_total{result="timeout"}`]
	if r["leader_active"] != 1 || failed == 0 || r[`leader_renewals_total{result="ok"}`] == 0 {
		a.Errorf("after a cut of %v: %v", expiry/2, r)
	}
	good(a.T, term.Release(a.Context()))
}

func held(a *attacked) {
	good(a.T, a.near.Set(a.Context(), a.key, "another", time.Minute).Err())
	lease, err := a.try(time.Minute).Acquire(a.Context())
	if lease != nil {
		a.Errorf("lease %v", lease)
	}
	isTaken(a.T, err)
	_, err = a.e.Acquire(a.Context(), a.try(time.Minute))
	isTaken(a.T, err)
	a.counts(electtest.Series{`leader_not_acquired_total{reason="contended"}`: 1, "leader_active": 0})
}

func patientCaller(a *attacked) {
	good(a.T, a.near.Set(a.Context(), a.key, "another", time.Minute).Err())
	lock := NewMutex(a.rs, a.key, redsync.WithTries(1<<30))
	if _, err := a.e.Acquire(a.soon(), lock); err == nil {
		a.Fatal("won")
	}
	good(a.T, a.near.Del(a.Context(), a.key).Err())
	good(a.T, a.acquire(lock).Release(a.Context()))
	a.counts(electtest.Series{
		"leader_acquired_total": 1, "leader_active": 0, `leader_not_acquired_total{reason="timeout"}`: 1,
		`leader_terms_ended_total{cause="released"}`: 1, `leader_releases_total{result="ok"}`: 1,
	})
}
