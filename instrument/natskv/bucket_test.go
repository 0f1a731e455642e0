package natskv

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/instrument/internal/expect"
)

// A bucket may be changed while a replica leads.
func TestTheLengthOfTheLeaseFollowsTheBucket(t *testing.T) {
	for _, c := range []struct {
		name          string
		before, after time.Duration
	}{
		{"the TTL is shortened", 3 * ttl, 2 * ttl},
		{"the TTL is raised", ttl, long},
		{"the TTL is removed", ttl, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			js := client(t, embedded(t).ClientURL())
			m := expect.Middleware(t)
			e := m.Election(expect.Lock, instrument.Hold(), instrument.LeaseDuration(long))
			term, err := e.Acquire(t.Context(), NewElection(bucket(t, js, c.before), "leader", "replica-1"))
			if err != nil {
				t.Fatal(err)
			}
			bucket(t, js, c.after)
			want := c.after
			if want == 0 {
				want = c.before // the last that was known; there is no end any longer
			}
			if !becomes(t, func() bool {
				end, known := term.Expiry()
				s := electtest.Read(m, expect.Lock)
				if c.after == 0 {
					return !known && term.Leading() && s[`leader_renewals_total{result="ok"}`] > 0
				}
				return known && time.Until(end) <= c.after && s["leader_lease_duration_seconds"] == c.after.Seconds()
			}) {
				end, known := term.Expiry()
				t.Fatalf("the end is %v away, known: %v; %v", time.Until(end), known, electtest.Read(m, expect.Lock))
			}
			time.Sleep(ttl * 3 / 2) // in which a lease of that length would end
			if !term.Leading() {
				t.Error("the term has ended")
			}
			n := renewals(m)
			changed := held(term, want, n)
			if c.after == 0 { // a renewal without an end tells no share of the lease
				changed["leader_lease_usage_ratio_count"] = electtest.Read(m, expect.Lock)["leader_lease_usage_ratio_count"]
			}
			expect.Counts(t, m, "under the new TTL", expect.Fresh(t, instrument.Hold(), instrument.LeaseDuration(long)), changed)
			if err := term.Release(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestABucketThatIsGivenATTLHasItsKeyUpdated(t *testing.T) {
	t.Parallel()
	js := client(t, embedded(t).ClientURL())
	lease := acquire(t, NewElection(bucket(t, js, 0), "leader", "replica-1"))
	s := watch(t, lease)
	kv := bucket(t, js, 2*lookEvery)
	if got := receive(t, s.renewed); got.Granted != 2*lookEvery || got.Expiry.Sub(got.Sent) != 2*lookEvery {
		t.Errorf("renewed with %+v", got)
	}
	if entry, err := kv.Get(t.Context(), "leader"); err != nil || time.Since(entry.Created()) > lookEvery {
		t.Errorf("the key was not written: %v", err)
	}
	if err := lease.Release(t.Context()); err != nil {
		t.Error(err)
	}
}

// A bucket with replicas answers those that come late in a race by an error of
// its own.
func TestStandbysThatRaceInAReplicatedBucketWaitOn(t *testing.T) {
	const replicas, handovers = 9, 12
	urls := cluster(t, 4*ttl)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	all := make([]*instrument.Middleware, replicas)
	won := make(chan *instrument.Term)
	done := make(chan error)
	for i := range all {
		all[i] = expect.Middleware(t)
		e := all[i].Election(expect.Lock, instrument.Hold())
		a := NewElection(replica(t, urls[i%len(urls)]), "leader", fmt.Sprint("replica-", i))
		go func() {
			for {
				term, err := e.Acquire(ctx, a)
				if err != nil {
					done <- err
					return
				}
				won <- term
			}
		}()
	}
	for range handovers {
		time.Sleep(50 * time.Millisecond) // for all to wait
		if err := receive(t, won).Release(t.Context()); err != nil {
			t.Error(err)
		}
	}
	last := receive(t, won)
	acquired := 0.
	for i, m := range all {
		s := electtest.Read(m, expect.Lock)
		n := s["leader_acquired_total"]
		acquired += n
		expect.Counts(t, m, fmt.Sprint("replica ", i), s, electtest.Series{
			"leader_attempts_total":                         n + s["leader_pending"],
			`leader_not_acquired_total{reason="contended"}`: 0, `leader_not_acquired_total{reason="backend_error"}`: 0,
			`leader_not_acquired_total{reason="session_lost"}`: 0, `leader_not_acquired_total{reason="unknown"}`: 0,
		})
	}
	if acquired != handovers+1 {
		t.Errorf("%v wins, want %d", acquired, handovers+1)
	}
	cancel()
	if err := last.Release(t.Context()); err != nil {
		t.Error(err)
	}
	for range all {
		select {
		case <-done:
		case term := <-won: // in the instant of the cancellation
			_ = term.Release(t.Context())
			<-done
		}
	}
}

func TestOneOfThoseThatTryInAReplicatedBucketWinsAndTheOthersAreContended(t *testing.T) {
	const replicas, rounds = 9, 12
	urls := cluster(t, 4*ttl)
	type outcome struct {
		lease  instrument.Lease
		reason instrument.Reason
		err    error
	}
	var all []instrument.Acquirer
	for i := range replicas {
		all = append(all, NewTryElection(replica(t, urls[i%len(urls)]), "leader", fmt.Sprint("replica-", i)))
	}
	for range rounds {
		outcomes := make(chan outcome, replicas)
		for _, a := range all {
			go func() {
				l, err := a.Acquire(t.Context())
				reason, _ := classify(a, err)
				outcomes <- outcome{l, reason, err}
			}()
		}
		var winner instrument.Lease
		for range all {
			o := receive(t, outcomes)
			switch {
			case o.err == nil && winner == nil:
				winner = o.lease
			case o.err == nil:
				t.Fatal("two have won")
			case o.reason != instrument.Contended:
				t.Errorf("%v is classified as %v", o.err, o.reason)
			}
		}
		if winner == nil {
			t.Fatal("none has won")
		}
		if err := winner.Release(t.Context()); err != nil {
			t.Error(err)
		}
	}
}
