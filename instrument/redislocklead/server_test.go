package redislocklead

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
	"github.com/bsm/redislock"
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
	far   *redis.Client
}

func (a *attacked) acquire(ctx context.Context, acquirer instrument.Acquirer) *instrument.Term {
	a.Helper()
	term, err := a.e.Acquire(ctx, acquirer)
	if err != nil {
		a.Fatal(err)
	}
	return term
}

func (a *attacked) try(ttl time.Duration, opts ...Option) instrument.Acquirer {
	return NewTryLock(redislock.New(a.far), a.key, ttl, opts...)
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

// honours fails if a call took much longer than its context.
func (a *attacked) honours(call func()) {
	a.Helper()
	begun := time.Now()
	call()
	if took := time.Since(begun); took > soon+2*time.Second {
		a.Errorf("it took %v under a context of %v", took, soon)
	}
}

func attack(t *testing.T, address string) {
	for name, run := range map[string]func(*attacked){
		"the server is silent when it is asked":                       silentAcquire,
		"the server is silent when it renews":                         silentRenewal,
		"the server is silent when it releases":                       silentRelease,
		"the key is deleted":                                          deleted,
		"the key is another's":                                        taken,
		"the ttl is shortened":                                        shortened,
		"the caller cancels in the instant of winning":                canceled,
		"the lock is used by many":                                    crowded,
		"the client is closed":                                        closedClient,
		"the connection is cut for less than the lease":               cut,
		"the lock that was not won is a nil pointer, and is no lease": nilLock,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := expect.Middleware(t)
			p := tcpproxy.New(t, address)
			run(&attacked{t, m, m.Election(expect.Lock), fmt.Sprintf("attack-%d", rand.Uint64()), p, connect(t, address), connect(t, p.Address())})
		})
	}
}

func silentAcquire(a *attacked) {
	if err := a.acquire(a.Context(), a.try(time.Hour)).Release(a.Context()); err != nil { // now there is a connection, and a script
		a.Fatal(err)
	}
	a.proxy.Silence()
	a.honours(func() {
		if _, err := a.e.Acquire(a.soon(), a.try(time.Hour)); !errors.Is(err, context.DeadlineExceeded) {
			a.Errorf("with a deadline: %v", err)
		}
	})
	if _, err := a.e.Acquire(a.Context(), a.try(soon)); !errors.Is(err, context.DeadlineExceeded) {
		a.Errorf("without: %v", err)
	}
	if n, _ := a.near.Exists(a.Context(), a.key).Result(); n != 1 {
		a.Error("the first request did not win")
	}
	a.counts(electtest.Series{
		"leader_acquired_total": 1, "leader_active": 0, `leader_terms_ended_total{cause="released"}`: 1, `leader_releases_total{result="ok"}`: 1,
		`leader_not_acquired_total{reason="timeout"}`: 1, `leader_not_acquired_total{reason="backend_error"}`: 1,
	})
	a.proxy.Resume()
	a.freed(patience)
}

func silentRenewal(a *attacked) {
	term := a.acquire(a.Context(), a.try(time.Minute))
	a.proxy.Block()
	a.honours(func() {
		if err := term.Renew(a.soon()); !errors.Is(err, context.DeadlineExceeded) {
			a.Errorf("renew: %v", err)
		}
	})
	held := electtest.Series{"leader_acquired_total": 1, "leader_active": 1, `leader_renewals_total{result="timeout"}`: 1}
	a.counts(held)
	if err := term.Context().Err(); err != nil {
		a.Errorf("the term's context: %v", err)
	}
	a.proxy.Resume()
	if err := term.Renew(a.Context()); err != nil {
		a.Error(err)
	}
	a.counts(held.With(electtest.Series{`leader_renewals_total{result="ok"}`: 1}))
	if err := term.Release(a.Context()); err != nil {
		a.Error(err)
	}
}

func silentRelease(a *attacked) {
	term := a.acquire(a.Context(), a.try(time.Minute))
	a.proxy.Block()
	a.honours(func() {
		if err := term.Release(a.soon()); !errors.Is(err, context.DeadlineExceeded) {
			a.Errorf("release: %v", err)
		}
	})
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

// endsWithLoss waits for the end of the term's context.
func (a *attacked) endsWithLoss(ctx context.Context) {
	a.Helper()
	select {
	case <-ctx.Done():
	case <-time.After(patience):
		a.Fatal("the term's context has not ended")
	}
	if cause := context.Cause(ctx); !errors.Is(cause, instrument.ErrLost) {
		a.Errorf("it ended with %v", cause)
	}
}

func deleted(a *attacked) {
	term := a.acquire(a.Context(), a.try(3*time.Second, WithAutoRenew()))
	if err := a.near.Del(a.Context(), a.key).Err(); err != nil {
		a.Fatal(err)
	}
	a.endsWithLoss(term.Context())
	if err := term.Release(a.Context()); !errors.Is(err, redislock.ErrLockNotHeld) {
		a.Errorf("release: %v", err)
	}
	a.counts(electtest.Series{
		"leader_acquired_total": 1, "leader_active": 0, `leader_renewals_total{result="lost"}`: 1,
		`leader_terms_ended_total{cause="lost"}`: 1, `leader_releases_total{result="not_owner"}`: 1,
	})
}

func taken(a *attacked) {
	term := a.acquire(a.Context(), a.try(time.Minute))
	if err := a.near.Set(a.Context(), a.key, "another", time.Minute).Err(); err != nil {
		a.Fatal(err)
	}
	if err := term.Renew(a.Context()); !errors.Is(err, redislock.ErrNotObtained) {
		a.Errorf("renew: %v", err)
	}
	if err := term.Release(a.Context()); !errors.Is(err, redislock.ErrLockNotHeld) {
		a.Errorf("release: %v", err)
	}
	a.counts(electtest.Series{
		"leader_acquired_total": 1, "leader_active": 0, `leader_renewals_total{result="lost"}`: 1,
		`leader_terms_ended_total{cause="lost"}`: 1, `leader_releases_total{result="not_owner"}`: 1,
	})
	if v, err := a.near.Get(a.Context(), a.key).Result(); v != "another" {
		a.Errorf("the other's key is %q: %v", v, err)
	}
}

func shortened(a *attacked) {
	term := a.acquire(a.Context(), a.try(time.Minute))
	if err := a.near.PExpire(a.Context(), a.key, 10*time.Second).Err(); err != nil {
		a.Fatal(err)
	}
	if err := term.Renew(a.Context()); err != nil {
		a.Errorf("renew: %v", err)
	}
	end, known := term.Expiry()
	timeLeft, err := a.near.PTTL(a.Context(), a.key).Result()
	if ends := time.Until(end); !known || err != nil || timeLeft < 50*time.Second || ends > timeLeft+50*time.Millisecond {
		a.Errorf("%v left there, %v here, known: %v; %v", timeLeft, ends, known, err)
	}
	if err := a.near.PExpire(a.Context(), a.key, time.Millisecond).Err(); err != nil {
		a.Fatal(err)
	}
	a.freed(patience)
	if err := term.Renew(a.Context()); !errors.Is(err, redislock.ErrNotObtained) {
		a.Errorf("renew: %v", err)
	}
	a.counts(electtest.Series{
		"leader_acquired_total": 1, "leader_active": 0, `leader_renewals_total{result="ok"}`: 1, `leader_renewals_total{result="lost"}`: 1,
		`leader_terms_ended_total{cause="lost"}`: 1,
	})
}

func canceled(a *attacked) {
	took := time.Now()
	_ = a.acquire(a.Context(), a.try(time.Hour)).Release(a.Context())
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
			if err := term.Release(a.Context()); err != nil {
				a.Error(err)
			}
		case errors.Is(err, context.Canceled):
			gaveUp++
		default:
			a.Error(err)
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
	lock := NewLock(redislock.New(a.far), a.key, 3*time.Second, WithAutoRenew(),
		WithRetry(func() redislock.RetryStrategy { return redislock.LinearBackoff(time.Millisecond) }))
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
			if err != nil {
				a.Error(err)
			}
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

func closedClient(a *attacked) {
	term := a.acquire(a.Context(), a.try(3*time.Second, WithAutoRenew()))
	ctx := term.Context()
	_ = a.far.Close()
	a.endsWithLoss(ctx)
	a.counts(electtest.Series{
		"leader_acquired_total": 1, "leader_active": 0, `leader_renewals_total{result="error"}`: 1, `leader_terms_ended_total{cause="canceled"}`: 1,
	})
	if err := term.Release(a.Context()); !errors.Is(err, redis.ErrClosed) {
		a.Errorf("release: %v", err)
	}
}

func cut(a *attacked) {
	const ttl = 6 * time.Second
	term := a.acquire(a.Context(), a.try(ttl, WithAutoRenew()))
	begun := time.Now()
	a.proxy.Cut()
	time.Sleep(ttl / 2) // the first renewal fails
	a.proxy.Resume()
	time.Sleep(ttl)
	r := electtest.Read(a.m, expect.Lock)
	failed := r[`leader_renewals_total{result="error"}`] + r[`leader_renewals_total{result="timeout"}`]
	if r["leader_active"] != 1 || failed == 0 || r[`leader_renewals_total{result="ok"}`] == 0 {
		a.Errorf("after %v: %v", time.Since(begun), r)
	}
	if err := term.Release(a.Context()); err != nil {
		a.Error(err)
	}
}

func nilLock(a *attacked) {
	if err := a.near.Set(a.Context(), a.key, "another", time.Minute).Err(); err != nil {
		a.Fatal(err)
	}
	lease, err := a.try(time.Minute).Acquire(a.Context())
	if lease != nil || !errors.Is(err, redislock.ErrNotObtained) {
		a.Errorf("lease %v, error %v", lease, err)
	}
	if _, err := a.e.Acquire(a.Context(), a.try(time.Minute)); err == nil {
		a.Error("won")
	}
	a.counts(electtest.Series{`leader_not_acquired_total{reason="contended"}`: 1, "leader_active": 0})
}
