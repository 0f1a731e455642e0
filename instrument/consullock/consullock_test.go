package consullock

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
)

const (
	ttl     = 2 * time.Second
	seconds = "2s"
	wait    = 100 * time.Millisecond // how late the client notices that it is told to stop
)

func TestConformance(t *testing.T) {
	s := newServer(t)
	for name, suite := range map[string]electtest.Suite{
		"lock": {Waits: true, Fenced: true, New: func(t testing.TB, lock string) instrument.Acquirer {
			c, sessions := s.client(t)
			return NewLock(c, sessions, &api.LockOptions{Key: lock, SessionTTL: seconds, LockWaitTime: wait})
		}},
		"lock that tries once": {Fenced: true, New: func(t testing.TB, lock string) instrument.Acquirer {
			c, sessions := s.client(t)
			return NewLock(c, sessions, &api.LockOptions{Key: lock, SessionTTL: seconds, LockWaitTime: wait, LockTryOnce: true})
		}},
		"lock of the program": {Waits: true, Fenced: true, New: func(t testing.TB, lock string) instrument.Acquirer {
			c, sessions := s.client(t)
			l, err := c.LockOpts(&api.LockOptions{Key: lock, SessionTTL: seconds, LockWaitTime: wait})
			if err != nil {
				t.Fatal(err)
			}
			return Lock(c, sessions, l, lock)
		}},
		"semaphore": {Waits: true, New: func(t testing.TB, lock string) instrument.Acquirer {
			c, sessions := s.client(t)
			return NewSemaphore(c, sessions, &api.SemaphoreOptions{Prefix: lock, Limit: 1, SessionTTL: seconds, SemaphoreWaitTime: wait})
		}},
	} {
		suite.Lease, suite.RenewsItself = ttl, true
		suite.Options = []instrument.ElectionOption{instrument.Backend("consul")}
		suite.Lose = func(_ testing.TB, lock string) { s.drop(lock) }
		if name == "semaphore" {
			suite.Lose = func(_ testing.TB, lock string) { s.expire(s.holderOfSlot(lock)) }
			suite.ReleaseIgnoresLoss = true
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			electtest.Conformance(t, suite)
		})
	}
}

// holderOfSlot is the session that has the one slot of a semaphore.
func (s *server) holderOfSlot(prefix string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var lock struct{ Holders map[string]bool }
	if pair := s.keys[path.Join(prefix, api.DefaultSemaphoreKey)]; pair != nil {
		_ = json.Unmarshal(pair.Value, &lock)
	}
	for id := range lock.Holders {
		return id
	}
	return ""
}

// election is a lock of one process, with what it shows.
func election(t *testing.T) (*instrument.Election, func() electtest.Series) {
	t.Helper()
	m, err := instrument.New()
	if err != nil {
		t.Fatal(err)
	}
	return m.Election("lock"), func() electtest.Series { return electtest.Read(m, "lock") }
}

var of = electtest.Of

func reason(r instrument.Reason) string { return of(catalog.NotAcquired, r.String()) }

func TestNeitherChannelNorErrorIsNoWin(t *testing.T) {
	s := newServer(t)
	holder, sessions := s.client(t)
	lease := acquire(t, NewLock(holder, sessions, &api.LockOptions{Key: "leader", SessionTTL: seconds}))
	defer lease.Release(context.WithoutCancel(t.Context()))
	for _, c := range []struct {
		name string
		once bool
		give time.Duration
		want string
	}{
		{"tried once", true, time.Minute, reason(instrument.Contended)},
		{"the caller's deadline passed", false, 20 * time.Millisecond, reason(catalog.TimedOut)},
	} {
		t.Run(c.name, func(t *testing.T) {
			other, sessions := s.client(t)
			e, series := election(t)
			ctx, cancel := context.WithTimeout(t.Context(), c.give)
			defer cancel()
			_, err := e.Acquire(ctx, NewLock(other, sessions, &api.LockOptions{
				Key: "leader", SessionTTL: seconds, LockWaitTime: wait, LockTryOnce: c.once,
			}))
			if r := series(); err == nil || r[c.want] != 1 || r[of(catalog.Active)] != 0 {
				t.Errorf("%v: %v", err, r)
			}
		})
	}
	waitFor(t, func() bool { return s.sessionCount() == 1 }) // the attempts' own are gone
}

func TestLossThenLockIsAlreadyHeldUntilUnlock(t *testing.T) {
	s := newServer(t)
	c, sessions := s.client(t)
	l, err := c.LockOpts(&api.LockOptions{Key: "leader", SessionTTL: seconds})
	if err != nil {
		t.Fatal(err)
	}
	a := Lock(c, sessions, l, "leader")
	e, series := election(t)
	term, err := e.Acquire(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	s.drop("leader")
	<-term.Context().Done()
	if _, err := e.Acquire(t.Context(), a); err != api.ErrLockHeld {
		t.Errorf("after the loss: %v", err)
	}
	if err := term.Release(t.Context()); !errors.Is(err, instrument.ErrSessionLost) { // the client says that all is well
		t.Errorf("the release returned %v", err)
	}
	again, err := e.Acquire(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Release(t.Context()); err != nil {
		t.Error(err)
	}
	r := series()
	if r[reason(instrument.AlreadyHeld)] != 1 || r[of(catalog.TermsEnded, catalog.Lost.String())] != 1 || r[of(catalog.TermsEnded, catalog.Released.String())] != 1 {
		t.Errorf("%v", r)
	}
}

func TestRenewalsThatFailAreSeenAlthoughTheClientDropsThem(t *testing.T) {
	s := newServer(t)
	c, sessions := s.client(t)
	// The watch of the lock keeps retrying, as it does for minutes in production.
	a := NewLock(c, sessions, &api.LockOptions{Key: "leader", SessionTTL: seconds, MonitorRetries: 100, MonitorRetryTime: wait})
	e, series := election(t)
	term, err := e.Acquire(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { return series()[of(catalog.Renewals, catalog.RenewalOK.String())] > 0 })
	s.setDown(true)
	waitFor(t, func() bool { return series()[of(catalog.Renewals, catalog.RenewalError.String())] > 0 })
	waitFor(t, func() bool { return series()[of(catalog.Active)] == 0 })
	<-term.Context().Done() // the client stops after the TTL, and does not say so
	if r := series(); r[of(catalog.TermsEnded, catalog.Lost.String())] != 1 || r[of(catalog.LeaseOverruns)] != 1 {
		t.Errorf("%v", r)
	}
	s.setDown(false)
	_ = term.Release(t.Context())
	time.Sleep(3 * wait) // the watch of the lock sees it when it tries next
}

func TestRenewalsSayWhenTheyWereSentAndHowLongTheSessionIs(t *testing.T) {
	s := newServer(t)
	c, sessions := s.client(t)
	e, series := election(t)
	term, err := e.Acquire(t.Context(), NewLock(c, sessions, &api.LockOptions{Key: "leader", SessionTTL: seconds}))
	if err != nil {
		t.Fatal(err)
	}
	for {
		r := series()
		if r[of(catalog.LeaseDuration)] != ttl.Seconds() {
			t.Fatalf("session of %v s, want %v", r[of(catalog.LeaseDuration)], ttl)
		}
		if ok := r[of(catalog.Renewals, catalog.RenewalOK.String())]; ok == 2 {
			if timed := r[catalog.RenewalDuration.Count()]; timed != ok {
				t.Errorf("%v renewals of %v were timed", timed, ok)
			}
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err := term.Release(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestTheCauseOfALossIsWhatConsulHasShown(t *testing.T) {
	for name, c := range map[string]struct {
		lose func(*server)
		want error
	}{
		"the key was taken from its holder": {func(s *server) { s.drop("leader") }, instrument.ErrSessionLost},
		"the key was deleted":               {func(s *server) { s.remove("leader") }, instrument.ErrSessionLost},
		"another session has the key":       {func(s *server) { s.give("leader", "another") }, instrument.ErrContended},
		"the key cannot be read":            {func(s *server) { s.setDown(true) }, errUnwatched},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			client, sessions := s.client(t)
			lease := acquire(t, NewLock(client, sessions, &api.LockOptions{Key: "leader", SessionTTL: "10s"}))
			lost := make(chan error, 1)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			go lease.(instrument.Watcher).Watch(ctx, electtest.NewSink(electtest.Reports{Lost: func(cause error) { lost <- cause }}))
			c.lose(s)
			if cause := <-lost; !errors.Is(cause, c.want) {
				t.Errorf("cause %v, want %v", cause, c.want)
			}
			s.setDown(false)
			_ = lease.Release(t.Context())
		})
	}
}

func TestErrorsHaveReasons(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want instrument.Reason
		ok   bool
	}{
		"the lock is locked":              {api.ErrLockHeld, instrument.AlreadyHeld, true},
		"the lock is not locked":          {api.ErrLockNotHeld, instrument.SessionLost, true},
		"a request failed":                {requestError{errors.New("failed to read lock")}, instrument.BackendError, true},
		"the key is no lock":              {api.ErrLockConflict, 0, false},
		"an error that is not known here": {errors.New("other"), 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			reason, ok := (reasons{}).Classify(fmt.Errorf("consullock: %w", c.err))
			if reason != c.want || ok != c.ok {
				t.Errorf("classified as %v, %v; want %v, %v", reason, ok, c.want, c.ok)
			}
		})
	}
}

func TestSessionThatTheServerForgotIsALoss(t *testing.T) {
	s := newServer(t)
	c, sessions := s.client(t)
	e, series := election(t)
	term, err := e.Acquire(t.Context(), NewLock(c, sessions, &api.LockOptions{Key: "leader", SessionTTL: seconds}))
	if err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	for id, k := range s.sessions { // the session alone: the key still names it
		k.timer.Stop()
		delete(s.sessions, id)
	}
	s.mu.Unlock()
	<-term.Context().Done()
	if r := series(); r[of(catalog.Renewals, catalog.RenewalLost.String())] != 1 || r[of(catalog.TermsEnded, catalog.Lost.String())] != 1 {
		t.Errorf("%v", r)
	}
	_ = term.Release(t.Context())
}

func TestSessionOfTheCallerIsLeftOpen(t *testing.T) {
	s := newServer(t)
	c, sessions := s.client(t)
	id, _, err := c.Session().Create(&api.SessionEntry{TTL: seconds}, nil)
	if err != nil {
		t.Fatal(err)
	}
	lease := acquire(t, NewLock(c, sessions, &api.LockOptions{Key: "leader", Session: id}))
	if s.holder("leader") != id || time.Until(lease.(instrument.Expirer).Expiry()) <= 0 {
		t.Errorf("held by %q until %v", s.holder("leader"), lease.(instrument.Expirer).Expiry())
	}
	if err := lease.Release(t.Context()); err != nil {
		t.Error(err)
	}
	if s.sessionCount() != 1 {
		t.Error("the caller's session is gone")
	}
	if _, err := c.Session().Destroy(id, nil); err != nil {
		t.Error(err)
	}
}

func TestTokenGrowsWithEachHolder(t *testing.T) {
	s := newServer(t)
	c, sessions := s.client(t)
	a := NewLock(c, sessions, &api.LockOptions{Key: "leader", SessionTTL: seconds})
	for want := uint64(1); want <= 3; want++ {
		lease := acquire(t, a)
		if token, ok := lease.(instrument.Fencer).FencingToken(); !ok || token != want {
			t.Errorf("token %d, %v; want %d", token, ok, want)
		}
		if err := lease.Release(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func TestConfigurationIsNotChanged(t *testing.T) {
	config := api.DefaultConfig()
	if _, _, err := NewClient(config); err != nil {
		t.Fatal(err)
	}
	if config.HttpClient != nil {
		t.Error("the caller's configuration got a client")
	}
}

func TestErrorOfTheServerComesBackUntouched(t *testing.T) {
	s := newServer(t)
	c, sessions := s.client(t)
	l, err := c.LockKey("leader")
	if err != nil {
		t.Fatal(err)
	}
	s.setDown(true)
	_, plain := l.Lock(nil)
	e, series := election(t)
	_, err = e.Acquire(t.Context(), Lock(c, sessions, l, "leader"))
	if plain == nil || err == nil || err.Error() != plain.Error() || errors.Is(err, instrument.ErrContended) {
		t.Errorf("%v, without the wrapper %v", err, plain)
	}
	if r := series(); r[reason(instrument.BackendError)] != 1 {
		t.Errorf("%v", r)
	}
}

func TestAnAttemptThatPanicsLeavesNoSession(t *testing.T) {
	s := newServer(t)
	c, sessions := s.client(t)
	a := NewLock(c, sessions, &api.LockOptions{Key: "leader", SessionTTL: "10s"}).(*fresh)
	a.make = func(string) (locker, error) { return panicking{}, nil }
	func() {
		defer func() {
			if got := recover(); got != "the client's" {
				t.Errorf("recovered %v, want the client's panic", got)
			}
		}()
		_, _ = a.Acquire(t.Context())
	}()
	waitFor(t, func() bool { return s.sessionCount() == 0 })
}

type panicking struct{ locker }

func (panicking) take(<-chan struct{}) (<-chan struct{}, error) { panic("the client's") }

func acquire(t *testing.T, a instrument.Acquirer) instrument.Lease {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	lease, err := a.Acquire(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return lease
}

func waitFor(t *testing.T, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("not within 30 s")
		}
	}
}
