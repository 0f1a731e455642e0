package rueidislocklead

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
	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"

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

const (
	prefix = "rueidislock:0:" // of the one key of a lock
	valid  = 3 * time.Second
	every  = valid / 4
)

// server is a Redis and what it can do.
type server struct {
	address string
	caches  bool // it knows the client-side cache, which the server in memory does not
}

func (v server) options(address string) rueidis.ClientOption {
	// The server in memory takes itself for a cluster and names its own address.
	return rueidis.ClientOption{InitAddress: []string{address}, DisableCache: !v.caches, ForceSingleClient: true}
}

// locker has one key for each lock, and is more patient than its default of
// 20 ms, which is too short for a busy machine.
func (v server) locker(t testing.TB, address string) rueidislock.Locker {
	t.Helper()
	l, err := rueidislock.NewLocker(rueidislock.LockerOption{
		ClientOption: v.options(address),
		KeyMajority:  1, KeyValidity: valid, ExtendInterval: every, TryNextAfter: time.Second,
		NoLoopTracking: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

func (v server) client(t testing.TB) rueidis.Client {
	t.Helper()
	c, err := rueidis.NewClient(v.options(v.address))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestConformanceOfTheLibrary(t *testing.T) { server{inMemory(t), false}.conform(t) }

func (v server) conform(t *testing.T) {
	admin := v.client(t)
	for name, suite := range suites(func(t testing.TB) rueidislock.Locker { return v.locker(t, v.address) }) {
		suite.LossWithin = valid
		suite.Lose = func(t testing.TB, lock string) {
			if n, err := admin.Do(t.Context(), admin.B().Del().Key(prefix+lock).Build()).AsInt64(); err != nil || n != 1 {
				t.Fatalf("%d keys dropped: %v", n, err)
			}
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			electtest.Conformance(t, suite)
		})
	}
}

func TestAttacksOnAServerInMemory(t *testing.T) { server{inMemory(t), false}.attack(t) }

// attacked is a lock on a server that a test breaks.
type attacked struct {
	*testing.T
	server
	m      *instrument.Middleware
	e      *instrument.Election
	name   string
	proxy  *tcpproxy.Proxy // before the locker
	near   rueidis.Client  // past the proxy
	locker rueidislock.Locker
}

func (v server) attack(t *testing.T) {
	for name, run := range map[string]func(*attacked){
		"the server is silent when it is asked":               silentAcquire,
		"the server is silent when the lock is given back":    silentRelease,
		"the connection is cut when the lock is given back":   cutRelease,
		"the key is deleted":                                  deleted,
		"the key is another's":                                taken,
		"the lock is stolen":                                  stolen,
		"the ttl is shortened":                                shortened,
		"the caller cancels in the instant of winning":        canceled,
		"the lock is used by many":                            crowded,
		"the locker is closed":                                closedLocker,
		"the connection is cut for longer than the validity":  cut,
		"a lock that is held is contended, also for a locker": held,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := expect.Middleware(t)
			p := tcpproxy.New(t, v.address)
			run(&attacked{t, v, m, m.Election(expect.Lock), fmt.Sprintf("attack-%d", rand.Uint64()), p, v.client(t), v.locker(t, p.Address())})
		})
	}
}

func (a *attacked) acquire(acquirer instrument.Acquirer) *instrument.Term {
	a.Helper()
	term, err := a.e.Acquire(a.Context(), acquirer)
	if err != nil {
		a.Fatal(err)
	}
	return term
}

func (a *attacked) try() instrument.Acquirer { return NewTryLock(a.locker, a.name) }

// counts compares the counters of the lock, and that no end of the lease is known.
func (a *attacked) counts(want electtest.Series) {
	a.Helper()
	expect.Counters(a, a.m, want, "leader_lease_headroom_")
}

func (a *attacked) do(cmd rueidis.Completed) int64 {
	a.Helper()
	n, err := a.near.Do(a.Context(), cmd).AsInt64()
	if err != nil {
		a.Fatal(err)
	}
	return n
}

func (a *attacked) exists() bool {
	a.Helper()
	return a.do(a.near.B().Exists().Key(prefix+a.name).Build()) == 1
}

// freed waits until the key is gone.
func (a *attacked) freed() {
	a.Helper()
	for deadline := time.Now().Add(patience); a.exists(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			a.Fatalf("the key is there after %v", patience)
		}
	}
}

// lost waits for the end of the term's context.
func (a *attacked) lost(term *instrument.Term) {
	a.Helper()
	ctx := term.Context()
	select {
	case <-ctx.Done():
	case <-time.After(patience):
		a.Fatal("the term's context has not ended")
	}
	if cause := context.Cause(ctx); !errors.Is(cause, instrument.ErrLost) {
		a.Errorf("it ended with %v", cause)
	}
}

// soon is far less than the validity, patience more than a loaded machine needs.
const soon, patience = 300 * time.Millisecond, 30 * time.Second

// honours fails if a call took much longer than its context.
func (a *attacked) honours(call func(context.Context) error) {
	a.Helper()
	ctx, cancel := context.WithTimeout(a.Context(), soon)
	defer cancel()
	begun := time.Now()
	if err := call(ctx); !errors.Is(err, context.DeadlineExceeded) {
		a.Errorf("got %v", err)
	}
	if took := time.Since(begun); took > soon+2*time.Second {
		a.Errorf("it took %v under a context of %v", took, soon)
	}
}

func good(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

func isLost(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, instrument.ErrSessionLost) {
		t.Errorf("got %v", err)
	}
}

func silentAcquire(a *attacked) {
	a.proxy.Silence()
	a.honours(func(ctx context.Context) error {
		_, err := a.e.Acquire(ctx, NewLock(a.locker, a.name))
		return err
	})
	if _, err := a.e.Acquire(a.Context(), a.try()); !errors.Is(err, context.DeadlineExceeded) {
		a.Errorf("got %v", err)
	}
	a.counts(electtest.Series{"leader_active": 0, `leader_not_acquired_total{reason="timeout"}`: 1, `leader_not_acquired_total{reason="backend_error"}`: 1})
	a.proxy.Resume()
	a.freed()
	good(a.T, a.acquire(NewLock(a.locker, a.name)).Release(a.Context()))
}

func silentRelease(a *attacked) {
	term := a.acquire(a.try())
	a.proxy.Block()
	a.honours(term.Release)
	a.counts(electtest.Series{
		"leader_acquired_total": 1, "leader_active": 0, `leader_terms_ended_total{cause="release_failed"}`: 1, `leader_releases_total{result="error"}`: 1,
	})
	a.proxy.Resume()
	a.freed()
}

func cutRelease(a *attacked) {
	term := a.acquire(a.try())
	a.proxy.Cut()
	a.honours(term.Release)
	a.counts(electtest.Series{
		"leader_acquired_total": 1, "leader_active": 0, `leader_terms_ended_total{cause="release_failed"}`: 1, `leader_releases_total{result="error"}`: 1,
	})
	if !a.exists() {
		a.Error("the key is gone although nothing could be sent")
	}
	a.proxy.Resume()
	a.freed()
}

func deleted(a *attacked) {
	term := a.acquire(a.try())
	if n := a.do(a.near.B().Del().Key(prefix + a.name).Build()); n != 1 {
		a.Fatalf("%d keys", n)
	}
	a.lost(term)
	isLost(a.T, term.Release(a.Context()))
	a.counts(electtest.Series{
		"leader_acquired_total": 1, "leader_active": 0, `leader_terms_ended_total{cause="lost"}`: 1, `leader_releases_total{result="not_owner"}`: 1,
	})
}

func taken(a *attacked) {
	term := a.acquire(a.try())
	good(a.T, a.near.Do(a.Context(), a.near.B().Set().Key(prefix+a.name).Value("another").Ex(time.Minute).Build()).Error())
	a.lost(term)
	isLost(a.T, term.Release(a.Context()))
	a.counts(electtest.Series{
		"leader_acquired_total": 1, "leader_active": 0, `leader_terms_ended_total{cause="lost"}`: 1, `leader_releases_total{result="not_owner"}`: 1,
	})
	if v, err := a.near.Do(a.Context(), a.near.B().Get().Key(prefix+a.name).Build()).ToString(); v != "another" {
		a.Errorf("the other's key is %q: %v", v, err)
	}
}

func stolen(a *attacked) {
	term := a.acquire(a.try())
	thief, unlock, err := a.server.locker(a, a.address).ForceWithContext(a.Context(), a.name)
	if err != nil {
		a.Fatal(err)
	}
	defer unlock()
	a.lost(term)
	isLost(a.T, term.Release(a.Context()))
	good(a.T, thief.Err())
	a.counts(electtest.Series{
		"leader_acquired_total": 1, "leader_active": 0, `leader_terms_ended_total{cause="lost"}`: 1, `leader_releases_total{result="not_owner"}`: 1,
	})
}

func shortened(a *attacked) {
	term := a.acquire(a.try())
	a.do(a.near.B().Pexpire().Key(prefix + a.name).Milliseconds(every.Milliseconds() + 2000).Build()) // until after the next renewal
	time.Sleep(2 * valid)
	a.counts(electtest.Series{"leader_acquired_total": 1, "leader_active": 1})
	a.do(a.near.B().Pexpire().Key(prefix + a.name).Milliseconds(0).Build()) // a millisecond may be too slow
	a.lost(term)
	isLost(a.T, term.Release(a.Context()))
	a.counts(electtest.Series{
		"leader_acquired_total": 1, "leader_active": 0, `leader_terms_ended_total{cause="lost"}`: 1, `leader_releases_total{result="not_owner"}`: 1,
	})
}

func canceled(a *attacked) {
	took := time.Now()
	good(a.T, a.acquire(a.try()).Release(a.Context()))
	about := time.Since(took)
	var won, gaveUp float64
	for range 50 {
		a.name += "'"
		ctx, cancel := context.WithCancel(a.Context())
		time.AfterFunc(rand.N(about), cancel)
		term, err := a.e.Acquire(ctx, a.try())
		if err == nil {
			won++
			good(a.T, term.Release(a.Context()))
		} else {
			gaveUp++
		}
		a.freed()
		cancel()
	}
	a.counts(electtest.Series{
		"leader_acquired_total": won + 1, "leader_active": 0, `leader_not_acquired_total{reason="canceled"}`: gaveUp,
		`leader_terms_ended_total{cause="released"}`: won + 1, `leader_releases_total{result="ok"}`: won + 1,
	})
}

func crowded(a *attacked) {
	lock := NewLock(a.locker, a.name)
	var inside, violations atomic.Int32
	var all sync.WaitGroup
	const many = 10
	for range many {
		all.Go(func() {
			good(a.T, a.e.Run(a.Context(), lock, func(context.Context, *instrument.Term) error {
				if inside.Add(1) > 1 {
					violations.Add(1)
				}
				time.Sleep(time.Millisecond)
				inside.Add(-1)
				return nil
			}))
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

func closedLocker(a *attacked) {
	l := a.server.locker(a, a.address)
	term := a.acquire(NewLock(l, a.name))
	l.Close()
	a.lost(term)
	if _, err := a.e.Acquire(a.Context(), NewLock(l, a.name)); !errors.Is(err, rueidislock.ErrLockerClosed) {
		a.Errorf("got %v", err)
	}
	a.counts(electtest.Series{
		"leader_acquired_total": 1, "leader_active": 0, `leader_terms_ended_total{cause="lost"}`: 1, `leader_not_acquired_total{reason="session_lost"}`: 1,
	})
}

func cut(a *attacked) {
	term := a.acquire(a.try())
	a.proxy.Cut()
	a.lost(term)
	a.counts(electtest.Series{"leader_acquired_total": 1, "leader_active": 0, `leader_terms_ended_total{cause="lost"}`: 1})
	a.proxy.Resume()
	isLost(a.T, term.Release(a.Context()))
	good(a.T, a.acquire(NewLock(a.locker, a.name)).Release(a.Context()))
}

func held(a *attacked) {
	term := a.acquire(a.try())
	for _, other := range []instrument.Acquirer{a.try(), NewTryLock(a.server.locker(a, a.address), a.name)} {
		lease, err := other.Acquire(a.Context())
		if lease != nil || !errors.Is(err, rueidislock.ErrNotLocked) {
			a.Errorf("lease %v, error %v", lease, err)
		}
		if _, err := a.e.Acquire(a.Context(), other); err == nil {
			a.Error("won")
		}
	}
	a.counts(electtest.Series{"leader_acquired_total": 1, "leader_active": 1, `leader_not_acquired_total{reason="contended"}`: 2})
	good(a.T, term.Release(a.Context()))
}
