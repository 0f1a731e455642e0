package k8slease

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/instrument/internal/expect"
)

// polls is how long a standby takes at most to its next reading.
const polls = 2 * retryPeriod * 11 / 10

// views is the backend's view of a replica, without its instants.
func (r *replica) views() electtest.Series {
	v := electtest.ReadBackend(r.m, expect.Lock)
	return v.Without(
		of(catalog.BackendLastEvent, "kubernetes"), of(catalog.BackendLeaseExpiry, "kubernetes"), of(catalog.BackendVacant, "kubernetes"),
	)
}

// known is the view of a replica that sees a holder.
func known(as, holder string, token, terms float64) electtest.Series {
	return electtest.Series{
		of(catalog.IdentityInfo, as): 1, of(catalog.BackendUp, "kubernetes"): 1, of(catalog.BackendPollInterval, "kubernetes"): 4.4,
		of(catalog.BackendHeld, "kubernetes"): 1, of(catalog.BackendHolderInfo, "kubernetes", holder): 1,
		of(catalog.BackendLeaseDuration, "kubernetes"): 15, of(catalog.BackendToken, "kubernetes"): token, of(catalog.BackendTerms, "kubernetes"): terms,
	}
}

// blind is a view of which nothing can be believed any longer.
func blind(v electtest.Series) electtest.Series {
	kept := electtest.Series{}
	for _, key := range []string{of(catalog.BackendTerms, "kubernetes"), of(catalog.BackendPollInterval, "kubernetes"), of(catalog.IdentityInfo, "b")} {
		if value, ok := v[key]; ok {
			kept[key] = value
		}
	}
	return kept.With(electtest.Series{of(catalog.BackendUp, "kubernetes"): 0})
}

func (r *replica) sees(t *testing.T, at string, want electtest.Series) {
	t.Helper()
	if diff := cmp.Diff(want, r.views()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", at, diff)
	}
}

func (r *replica) vacant() float64 {
	return electtest.ReadBackend(r.m, expect.Lock)[of(catalog.BackendVacant, "kubernetes")]
}

func TestEveryReplicaIsAWitnessOfTheLease(t *testing.T) {
	for name, wrap := range wraps {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster()
				leader, standby := c.replica(t, "a"), c.replica(t, "b")
				stopLeader := start(t, wrap(leader.config, leader.election))
				synctest.Wait()
				leader.sees(t, "the leader", known("a", "a", 0, 1))
				stopStandby := start(t, wrap(standby.config, standby.election))
				time.Sleep(20 * time.Second)
				leader.sees(t, "the leader later", known("a", "a", 0, 1))
				standby.sees(t, "the standby", known("b", "a", 0, 0))
				stopLeader()
				synctest.Wait()
				leader.sees(t, "the leader that stopped", electtest.Series{of(catalog.BackendTerms, "kubernetes"): 1})
				time.Sleep(polls)
				standby.sees(t, "the standby that took over", known("b", "b", 1, 1).With(gap(0)))
				stopStandby()
				synctest.Wait()
				if _, up := standby.views()[of(catalog.BackendUp, "kubernetes")]; up {
					t.Errorf("the standby stopped and still looks: %v", standby.views())
				}
			})
		})
	}
}

// gap is one gap, which lasted for less than the first bucket.
func gap(seconds float64) electtest.Series {
	return electtest.Series{
		of2(catalog.BackendHandover.Count()): 1, of2(catalog.BackendHandover.Sum()): seconds,
		catalog.BackendHandover.Bucket() + `{backend="kubernetes",le="0.05"}`: 1,
	}
}

func of2(name string) string { return name + `{backend="kubernetes"}` }

func TestAStandbySeesThatNobodyRenews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		leader, standby := c.replica(t, "a"), c.replica(t, "b")
		leader.config.ReleaseOnCancel = false
		stopLeader := leader.run()
		synctest.Wait()
		c.fail("update", func(context.Context) error { return errServer }) // no replica takes over
		stopStandby := standby.run()
		time.Sleep(14 * time.Second)
		standby.sees(t, "before the lease ends", known("b", "a", 0, 0))
		stopLeader()
		time.Sleep(30 * time.Second)
		standby.sees(t, "afterwards", known("b", "a", 0, 0).Without(of(catalog.BackendHolderInfo, "kubernetes", "a")).With(electtest.Series{of(catalog.BackendHeld, "kubernetes"): 0}))
		if v := standby.vacant(); v != 29 { // first seen at the start of the bubble, 15 s of lease
			t.Errorf("vacant for %v s, want 29", v)
		}
		c.fail("update", nil)
		time.Sleep(polls)
		r := electtest.ReadBackend(standby.m, expect.Lock)
		if held, gaps := r[of(catalog.BackendHeld, "kubernetes")], r[of2(catalog.BackendHandover.Count())]; held != 1 || gaps != 1 || r[of2(catalog.BackendHandover.Sum())] < 29 {
			t.Errorf("after the takeover: %v", r)
		}
		stopStandby()
		synctest.Wait()
	})
}

func TestWhatAnswersTellOfTheLease(t *testing.T) {
	holder := known("b", "a", 0, 0)
	none := holder.Without(of(catalog.BackendHolderInfo, "kubernetes", "a"), of(catalog.BackendLeaseDuration, "kubernetes")).With(electtest.Series{of(catalog.BackendHeld, "kubernetes"): 0})
	for name, c := range map[string]struct {
		change func(*testing.T, *cluster)
		want   electtest.Series
	}{
		"the server cannot be asked":         {func(_ *testing.T, c *cluster) { c.fail("get", down) }, blind(holder)},
		"the server hangs for a whole lease": {func(_ *testing.T, c *cluster) { c.fail("get", hangs) }, blind(holder)},
		"the lease is deleted": {func(t *testing.T, c *cluster) {
			c.fail("create", down)
			c.remove(t)
		}, none.Without(of(catalog.BackendToken, "kubernetes"))},
		"the holder is cleared": {func(t *testing.T, c *cluster) {
			c.fail("update", down)
			c.edit(t, func(l *coordinationv1.Lease) { l.Spec.HolderIdentity = new(string) })
		}, none},
		"another took it": {func(t *testing.T, c *cluster) {
			c.fail("update", down)
			c.edit(t, func(l *coordinationv1.Lease) {
				holder, transitions, length := "c", int32(7), int32(40)
				l.Spec.HolderIdentity, l.Spec.LeaseTransitions, l.Spec.LeaseDurationSeconds = &holder, &transitions, &length
			})
		}, known("b", "c", 7, 1).With(electtest.Series{of(catalog.BackendLeaseDuration, "kubernetes"): 40})},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cluster := newCluster()
				leader, standby := cluster.replica(t, "a"), cluster.replica(t, "b")
				leader.config.ReleaseOnCancel = false
				stopLeader := leader.run()
				synctest.Wait()
				stopStandby := standby.run()
				time.Sleep(5 * time.Second)
				stopLeader()
				synctest.Wait()
				c.change(t, cluster)
				time.Sleep(4 * polls)
				standby.sees(t, "later", c.want)
				cluster.fail("get", nil)
				stopStandby()
				synctest.Wait()
			})
		})
	}
}

func TestAFrameworkSaysHowOftenItLooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newCluster().replica(t, "a")
		r.config.Lock = Lock(r.config.Lock, r.election, RetryPeriod(5*time.Second), nil, RetryPeriod(0))
		stop := start(t, r.config)
		synctest.Wait()
		if every := r.views()[of(catalog.BackendPollInterval, "kubernetes")]; every != 11 {
			t.Errorf("looks every %v s, want 11", every)
		}
		stop()
		synctest.Wait()
	})
}

// A standby whose server does not answer believes what it saw for a lease.
func TestAStandbyThatHangsBelievesWhatItSawForALease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		leader, standby := c.replica(t, "a"), c.replica(t, "b")
		stopLeader := leader.run()
		synctest.Wait()
		stopStandby := standby.run()
		synctest.Wait()
		saw := known("b", "a", 0, 0)
		c.fail("get", hangs)
		time.Sleep(leaseDuration - time.Millisecond)
		standby.sees(t, "within a lease", saw)
		time.Sleep(2 * time.Millisecond)
		standby.sees(t, "after it", blind(saw))
		stopStandby()
		stopLeader()
		synctest.Wait()
	})
}

func TestAnElectorThatIsStoppedWhileItAsksLooksNoMore(t *testing.T) {
	for name, wrap := range wraps {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster()
				r := c.replica(t, "b")
				c.fail("get", hangs)
				stop := start(t, wrap(r.config, r.election))
				time.Sleep(time.Second)
				stop()
				synctest.Wait()
				r.sees(t, "afterwards", electtest.Series{})
			})
		})
	}
}

func TestTheLeadersOwnLeaseRunsFromItsLastRenewal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		r := c.replica(t, "a")
		start, stop := time.Now(), r.run()
		time.Sleep(time.Second)
		c.fail("update", func(context.Context) error { return errServer })
		time.Sleep(2 * time.Second) // an update that failed, and a Get that shows the record of the start
		end := electtest.ReadBackend(r.m, expect.Lock)[of(catalog.BackendLeaseExpiry, "kubernetes")]
		if want := float64(start.Add(leaseDuration).Unix()); end != want {
			t.Errorf("the lease ends at %v, want %v", end, want)
		}
		c.fail("update", nil)
		stop()
		synctest.Wait()
	})
}
