package natskv

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/instrument/electtest/tcpproxy"
	"github.com/leaderscope/leaderscope/instrument/internal/expect"
)

// long is a TTL that does not end during a test.
const long = time.Minute

// prompt is how late a call may return on a loaded machine.
const prompt = cleanUpWait + 2*time.Second

// held is what a term exports that has renewed that often.
func held(term *instrument.Term, length time.Duration, renewals float64) electtest.Series {
	token, _ := term.FencingToken()
	s := electtest.Series{
		"leader_attempts_total": 1, "leader_acquired_total": 1, "leader_acquire_duration_seconds_count": 1, "leader_active": 1,
		`leader_renewals_total{result="ok"}`: renewals, "leader_renewal_duration_seconds_count": renewals, "leader_lease_usage_ratio_count": renewals,
		"leader_fencing_token_regressions_total": 0, "leader_fencing_token": float64(token),
	}
	if length > 0 {
		s = s.With(electtest.Series{"leader_lease_duration_seconds": length.Seconds(), "leader_lease_overruns_total": 0})
	}
	return s
}

// finished is what a term exports that has ended with that cause.
func finished(term *instrument.Term, length time.Duration, renewals float64, cause string) electtest.Series {
	return held(term, length, renewals).With(electtest.Series{
		"leader_active": 0, `leader_terms_ended_total{cause="` + cause + `"}`: 1, "leader_execution_duration_seconds_count": 1,
	})
}

func renewals(m *instrument.Middleware) float64 {
	return electtest.Read(m, expect.Lock)[`leader_renewals_total{result="ok"}`]
}

func TestATermWhoseKeyGoesIsLostAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		ttl  time.Duration
		lose func(context.Context, jetstream.KeyValue) error
	}{
		"deleted": {long, func(ctx context.Context, kv jetstream.KeyValue) error { return kv.Delete(ctx, "leader") }},
		"purged":  {long, func(ctx context.Context, kv jetstream.KeyValue) error { return kv.Purge(ctx, "leader") }},
		"taken": {long, func(ctx context.Context, kv jetstream.KeyValue) error {
			_, err := kv.Put(ctx, "leader", []byte("replica-2 other"))
			return err
		}},
		"deleted from a bucket without a TTL": {0, func(ctx context.Context, kv jetstream.KeyValue) error { return kv.Delete(ctx, "leader") }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := embedded(t).ClientURL()
			near := bucket(t, client(t, url), c.ttl)
			m := expect.Middleware(t)
			term, err := m.Election(expect.Lock).Acquire(t.Context(), NewElection(bucket(t, client(t, url), c.ttl), "leader", "replica-1"))
			if err != nil {
				t.Fatal(err)
			}
			gone := time.Now()
			if err := c.lose(t.Context(), near); err != nil {
				t.Fatal(err)
			}
			ends(t, term)
			if took := time.Since(gone); took > 2*time.Second {
				t.Errorf("told after %v", took)
			}
			expect.Counts(t, m, "after the loss", expect.Fresh(t), finished(term, c.ttl, 0, "lost"))
			if err := term.Release(t.Context()); !errors.Is(err, instrument.ErrSessionLost) {
				t.Errorf("the release returned %v", err)
			}
			expect.Counts(t, m, "after the release", expect.Fresh(t),
				finished(term, c.ttl, 0, "lost").With(electtest.Series{`leader_releases_total{result="not_owner"}`: 1}))
		})
	}
}

func TestAKeyThatGoesWithoutAWordIsLostByTheNextUpdate(t *testing.T) {
	js := client(t, embedded(t).ClientURL())
	m := expect.Middleware(t)
	term, err := m.Election(expect.Lock).Acquire(t.Context(), NewElection(bucket(t, js, ttl), "leader", "replica-1"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := js.Stream(t.Context(), "KV_leases")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Purge(t.Context()); err != nil { // leaves no marker
		t.Fatal(err)
	}
	ends(t, term)
	expect.Counts(t, m, "after the loss", expect.Fresh(t), finished(term, ttl, 0, "lost").With(electtest.Series{
		`leader_renewals_total{result="lost"}`: 1, "leader_renewal_duration_seconds_count": 1,
	}))
}

func TestAClosedConnectionEndsItsTermsAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		ttl   time.Duration
		close func(*nats.Conn)
	}{
		"closed":                              {long, (*nats.Conn).Close},
		"drained":                             {long, func(nc *nats.Conn) { _ = nc.Drain() }},
		"closed, with a bucket without a TTL": {0, (*nats.Conn).Close},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			nc := connection(t, embedded(t).ClientURL())
			js, err := jetstream.New(nc)
			if err != nil {
				t.Fatal(err)
			}
			m := expect.Middleware(t)
			term, err := m.Election(expect.Lock).Acquire(t.Context(), NewElection(bucket(t, js, c.ttl), "leader", "replica-1"))
			if err != nil {
				t.Fatal(err)
			}
			closed := time.Now()
			c.close(nc)
			ends(t, term)
			if took := time.Since(closed); took > 2*time.Second {
				t.Errorf("the term ended after %v", took)
			}
			expect.Counts(t, m, "after the connection was closed", expect.Fresh(t), finished(term, c.ttl, 0, "canceled"))
		})
	}
}

// far is a client whose connection a test can cut, and its bucket.
func far(t *testing.T, ttl time.Duration) (kv jetstream.KeyValue, way *tcpproxy.Proxy, near jetstream.KeyValue) {
	t.Helper()
	s := embedded(t)
	way = tcpproxy.New(t, s.Addr().String())
	return bucket(t, client(t, "nats://"+way.Address()), ttl), way, bucket(t, client(t, s.ClientURL()), ttl)
}

// silencing lets no answer through once a key is to be created.
type silencing struct {
	store
	way *tcpproxy.Proxy
}

func (s *silencing) create(ctx context.Context, key string, value []byte) (uint64, error) {
	s.way.Block()
	return s.store.create(ctx, key, value)
}

func TestAnAttemptWithoutAnAnswerEndsWithItsContextAndLeavesNothing(t *testing.T) {
	for name, waits := range map[string]bool{"a key that is waited for": true, "a key that is tried": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kv, way, near := far(t, 0)
			a := newElector(&silencing{newStore(kv), way}, "leader", "replica-1", waits)
			endsWithItsContext(t, a, 100*time.Millisecond)
			endsWithItsContext(t, a, 100*time.Millisecond) // in which nothing is answered
			way.Resume()                                   // and the key is created
			w := a.withdrawals
			if !becomes(t, func() bool { w.mu.Lock(); defer w.mu.Unlock(); return !w.running }) {
				t.Error("the clean-up has not ended")
			}
			s, err := near.History(t.Context(), "leader")
			if err != nil || len(s) == 0 || s[len(s)-1].Operation() != jetstream.KeyValueDelete {
				t.Errorf("the key was not created and deleted: %v, %v", s, err)
			}
		})
	}
}

func TestAStandbyWithoutAnAnswerEndsWithItsContext(t *testing.T) {
	kv, way, near := far(t, long)
	holder := acquire(t, NewElection(near, "leader", "replica-2"))
	defer holder.Release(context.WithoutCancel(t.Context()))
	time.AfterFunc(100*time.Millisecond, way.Silence)
	endsWithItsContext(t, NewElection(kv, "leader", "replica-1"), 300*time.Millisecond)
}

func endsWithItsContext(t *testing.T, a instrument.Acquirer, after time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), after)
	defer cancel()
	asked := time.Now()
	if _, err := a.Acquire(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the caller's deadline", err)
	}
	if took := time.Since(asked); took > after+prompt {
		t.Errorf("Acquire returned after %v, its context had ended after %v", took, after)
	}
}

// ends waits for the end of a term.
func ends(t *testing.T, term *instrument.Term) {
	t.Helper()
	receive(t, term.Context().Done())
}

func TestAReleaseWithoutAnAnswerFailsAndIsMadeInTheBackground(t *testing.T) {
	for name, ttl := range map[string]time.Duration{"a bucket with a TTL": long, "a bucket without": 0} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kv, way, near := far(t, ttl)
			m := expect.Middleware(t)
			term, err := m.Election(expect.Lock).Acquire(t.Context(), NewElection(kv, "leader", "replica-1"))
			if err != nil {
				t.Fatal(err)
			}
			way.Block()
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			asked := time.Now()
			if err := term.Release(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("the release returned %v", err)
			}
			if took := time.Since(asked); took > prompt {
				t.Errorf("the release returned after %v", took)
			}
			failed := finished(term, ttl, 0, "release_failed").With(electtest.Series{`leader_releases_total{result="error"}`: 1})
			if ttl > 0 {
				failed["leader_lease_usage_ratio_count"] = 1
			}
			expect.Counts(t, m, "after the release", expect.Fresh(t), failed)
			way.Cut() // what was sent is lost
			way.Resume()
			if !becomes(t, func() bool {
				_, err := near.Get(t.Context(), "leader")
				return errors.Is(err, jetstream.ErrKeyNotFound)
			}) {
				t.Error("the key stayed")
			}
			if err := term.Release(t.Context()); err != nil {
				t.Errorf("the second release returned %v", err)
			}
			expect.Counts(t, m, "after the second release", expect.Fresh(t), failed.With(electtest.Series{`leader_releases_total{result="ok"}`: 1}))
		})
	}
}

func TestUpdatesWithoutAnAnswerAreNoLoss(t *testing.T) {
	t.Parallel()
	kv, way, _ := far(t, ttl)
	m := expect.Middleware(t)
	term, err := m.Election(expect.Lock, instrument.Hold()).Acquire(t.Context(), NewElection(kv, "leader", "replica-1"))
	if err != nil {
		t.Fatal(err)
	}
	way.Block()
	ends(t, term)
	ok, late := renewals(m), electtest.Read(m, expect.Lock)[`leader_renewals_total{result="timeout"}`]
	if late < 1 {
		t.Errorf("%v updates timed out", late)
	}
	expect.Counts(t, m, "after the elector gave up", expect.Fresh(t, instrument.Hold()), finished(term, ttl, ok, "gave_up").With(electtest.Series{
		`leader_renewals_total{result="timeout"}`: late, "leader_renewal_duration_seconds_count": ok + late,
	}))
}
