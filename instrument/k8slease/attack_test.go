package k8slease

import (
	"context"
	"fmt"
	"net"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/instrument/internal/expect"
)

var verbs = []string{"get", "create", "update", "release"}

func (c *cluster) failAll(fault func(context.Context) error) {
	for _, verb := range verbs {
		c.fail(verb, fault)
	}
}

func answers(err error) func(context.Context) error {
	return func(context.Context) error { return err }
}

// No answer of a server takes the lease away: only its deadline does.
func TestALeaderWhoseServerFailsLeadsUntilItGivesUp(t *testing.T) {
	for name, c := range map[string]struct {
		fault  func(context.Context) error
		failed catalog.RenewalResult
	}{
		"it is silent":                  {hangs, catalog.RenewalTimeout},
		"it refuses connections":        {answers(&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}), catalog.RenewalError},
		"it answers 429":                {answers(apierrors.NewTooManyRequests("later", 1)), catalog.RenewalError},
		"it answers 409":                {answers(conflict), catalog.RenewalError},
		"it answers 500":                {answers(apierrors.NewInternalError(errServer)), catalog.RenewalError},
		"it answers that nothing is ok": {answers(apierrors.NewForbidden(leases, "lock", errServer)), catalog.RenewalError},
	} {
		expect.Bubble(t, name, func(t *testing.T) {
			cluster := newCluster()
			r := cluster.replica(t, "a")
			r.config.ReleaseOnCancel = false
			stop := r.run()
			time.Sleep(time.Second)
			cluster.failAll(c.fault)
			time.Sleep(renewDeadline)
			r.want(electtest.Series{of(catalog.Active): 1, ended(catalog.GaveUp): 0, ended(catalog.Lost): 0, of(catalog.LeaseHeadroom): 4})
			time.Sleep(retryPeriod)
			r.want(electtest.Series{of(catalog.Active): 0, ended(catalog.GaveUp): 1, ended(catalog.Lost): 0, of(catalog.WorkAfterLoss): 0})
			if n := r.value(renewals(c.failed)); n == 0 {
				t.Errorf("no renewal failed as %v", c.failed)
			}
			stop()
			synctest.Wait()
		})
	}
}

func TestAnAttemptThatMeetsAnothersWriteIsContended(t *testing.T) {
	for name, c := range map[string]struct {
		verb string
		err  error
	}{
		"another has created the object": {"create", apierrors.NewAlreadyExists(leases, "lock")},
		"another has updated it":         {"update", conflict},
	} {
		expect.Bubble(t, name, func(t *testing.T) {
			cluster := newCluster()
			if c.verb == "update" {
				stop := cluster.replica(t, "z").run()
				time.Sleep(time.Second)
				stop()
			}
			r := cluster.replica(t, "a")
			cluster.fail(c.verb, answers(c.err))
			stop := r.run()
			synctest.Wait()
			r.want(electtest.Series{of(catalog.Attempts): 1, missed(catalog.Contended): 1, of(catalog.Pending): 0})
			stop()
		})
	}
}

func TestAStopWhileARenewalIsOutEndsTheTermOnce(t *testing.T) {
	stopped := electtest.Series{
		of(catalog.Active): 0, of(catalog.Running): 0, of(catalog.Pending): 0, of(catalog.WorkAfterLoss): 0,
		renewals(catalog.RenewalOK): 2, renewals(catalog.RenewalCanceled): 1, renewals(catalog.RenewalError): 0, ended(catalog.Lost): 0,
	}
	for name, c := range map[string]struct {
		release bool
		silent  bool // for good
		want    electtest.Series
	}{
		"with a release": {true, false, electtest.Series{ended(catalog.Released): 1, releases(catalog.ReleaseOK): 1}},
		"with a release, and the server stays silent": {true, true, electtest.Series{ended(catalog.ReleaseFailed): 1, releases(catalog.ReleaseError): 1}},
		"without a release":                           {false, false, electtest.Series{ended(catalog.CanceledTerm): 1}},
		"without a release, and the server is silent": {false, true, electtest.Series{ended(catalog.CanceledTerm): 1}},
	} {
		for wrap, instrumented := range wraps {
			expect.Bubble(t, name+", "+wrap, func(t *testing.T) {
				cluster := newCluster()
				r := cluster.replica(t, "a")
				r.config.ReleaseOnCancel = c.release
				stop := start(t, instrumented(r.config, r.election))
				time.Sleep(3 * time.Second)
				cluster.failAll(hangs)
				time.Sleep(2 * time.Second) // the renewal is out
				if !c.silent {
					cluster.fail("get", func(ctx context.Context) error { return ctx.Err() })
					cluster.fail("release", nil)
				}
				stop()
				synctest.Wait()
				want := stopped.With(c.want)
				r.want(want)
				time.Sleep(time.Minute)
				r.want(want.With(electtest.Series{of(catalog.LeaseOverruns): 0}))
			})
		}
	}
}

func TestAPanicOfOnStoppedLeadingPassesAndTheTermHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newCluster().replica(t, "a")
		r.stopped = func() { panic("of the program") }
		elector, err := leaderelection.NewLeaderElector(Instrument(r.config, r.election))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		func() {
			defer func() {
				if v := recover(); v != "of the program" {
					t.Errorf("recovered %v", v)
				}
			}()
			elector.Run(ctx)
		}()
		synctest.Wait()
		r.want(electtest.Series{of(catalog.Active): 0, of(catalog.Running): 0, ended(catalog.Released): 1, releases(catalog.ReleaseOK): 1})
	})
}

func TestTwoElectorsOfOneProcessAreOneLeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		r := c.replica(t, "a")
		other := r.config
		other.Lock = c.lock("b")
		stopFirst := r.run()
		synctest.Wait()
		stopSecond := start(t, Instrument(other, r.election))
		for range 10 {
			time.Sleep(time.Second)
			r.want(electtest.Series{of(catalog.Active): 1, of(catalog.Running): 1, of(catalog.Acquired): 1})
		}
		stopFirst()
		time.Sleep(5 * time.Second)
		r.want(electtest.Series{
			of(catalog.Active): 1, of(catalog.Running): 1, of(catalog.Acquired): 2, ended(catalog.Released): 1,
			of(catalog.FencingToken): 1, of(catalog.FencingTokenRegressions): 0,
		})
		stopSecond()
		synctest.Wait()
		r.want(electtest.Series{of(catalog.Active): 0, of(catalog.Running): 0, ended(catalog.Released): 2})
	})
}

func TestALeaseThatAnotherMakesAgainIsLostAtTheNextRenewal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		r, next := c.replica(t, "a"), c.replica(t, "b")
		stop := r.run()
		time.Sleep(3 * time.Second)
		c.remove(t)
		stopNext := next.run()
		time.Sleep(retryPeriod)
		r.want(electtest.Series{of(catalog.Active): 0, ended(catalog.Lost): 1, renewals(catalog.RenewalLost): 1, renewals(catalog.RenewalOK): 2})
		next.want(electtest.Series{of(catalog.Active): 1, of(catalog.FencingToken): 0, of(catalog.FencingTokenRegressions): 0})
		stop()
		r.want(electtest.Series{ended(catalog.Lost): 1, releases(catalog.ReleaseOK): 0, releases(catalog.ReleaseError): 0})
		next.want(electtest.Series{of(catalog.Active): 1})
		stopNext()
		synctest.Wait()
	})
}

func TestALossIsOneWhateverAClassifierSays(t *testing.T) {
	expect.Bubble(t, "to another holder", func(t *testing.T) {
		c := newCluster()
		r := c.replica(t, "a")
		r.m = expect.Middleware(t)
		r.election = r.m.Election(expect.Lock, append(options[:len(options):len(options)], instrument.Classify(instrument.ClassifierFunc(
			func(error) (instrument.Reason, bool) { return instrument.Unknown, true })))...)
		stop := r.run()
		time.Sleep(3 * time.Second)
		c.edit(t, toNobodyKnown)
		time.Sleep(retryPeriod)
		r.want(electtest.Series{of(catalog.Active): 0, ended(catalog.Lost): 1})
		stop()
		synctest.Wait()
	})
}

func TestAStandbyWinsALeaseWhoseHolderWasCleared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		stop := c.replica(t, "a").run()
		time.Sleep(time.Second)
		c.failAll(down) // the leader is cut off; the standby is not
		standby := c.replica(t, "b")
		standby.config.Lock = c.lock("b").(faulty).Interface
		stopStandby := standby.run()
		time.Sleep(time.Second)
		c.edit(t, func(l *coordinationv1.Lease) { nobody := ""; l.Spec.HolderIdentity = &nobody })
		time.Sleep(5 * time.Second)
		standby.want(electtest.Series{of(catalog.Active): 1, of(catalog.Acquired): 1, missed(catalog.BackendError): 0, missed(catalog.UnknownReason): 0})
		stop()
		stopStandby()
		synctest.Wait()
	})
}

// The others distinguish records by the second of RenewTime, and count the lease
// on clocks of their own. A jump of the wall clock moves nothing but that.
func TestAJumpOfTheWallClockMovesNoLeaseEnd(t *testing.T) {
	for name, c := range map[string]struct {
		jump     time.Duration
		headroom float64 // right after a renewal, two seconds after the win
	}{
		"none":                       {0, 15},
		"an hour ahead":              {time.Hour, 15},
		"an hour back":               {-time.Hour, 15},
		"back to the last renewal's": {-2 * time.Second, 13},
	} {
		expect.Bubble(t, name, func(t *testing.T) {
			h := lead(t)
			time.Sleep(2 * time.Second)
			renewal := record("a")
			renewal.RenewTime.Time = renewal.RenewTime.Add(c.jump)
			if err := h.lock.Update(t.Context(), renewal); err != nil {
				t.Fatal(err)
			}
			h.want(electtest.Series{of(catalog.LeaseHeadroom): c.headroom, of(catalog.LeaseDuration): 15, of(catalog.Active): 1})
			time.Sleep(time.Duration(c.headroom)*time.Second - time.Millisecond)
			h.want(electtest.Series{of(catalog.Active): 1})
			time.Sleep(time.Millisecond)
			h.want(electtest.Series{of(catalog.Active): 0})
			h.lock.RecordEvent("stopped leading")
		})
	}
}

func TestAForgottenElectionIsCarriedOutAsBefore(t *testing.T) {
	for name, after := range map[string]time.Duration{
		"while the attempt is in flight": 0,
		"while it leads":                 5 * time.Second,
	} {
		for wrap, instrumented := range wraps {
			expect.Bubble(t, name+", "+wrap, func(t *testing.T) {
				c := newCluster()
				r := c.replica(t, "a")
				worked := false
				r.body = func(ctx context.Context) { <-ctx.Done(); worked = true }
				c.fail("get", func(context.Context) error { time.Sleep(time.Second); return nil })
				stop := start(t, instrumented(r.config, r.election))
				time.Sleep(after)
				r.election.Forget()
				time.Sleep(10 * time.Second)
				if len(r.series()) > 0 {
					t.Errorf("it still has series: %v", r.series())
				}
				stop()
				synctest.Wait()
				got, _, err := c.lock("b").Get(t.Context())
				if err != nil || !worked || got.HolderIdentity != "" {
					t.Errorf("worked: %v; held by %q, %v", worked, got.HolderIdentity, err)
				}
			})
		}
	}
}

func TestWithoutAnElectionTheElectorIsAsBefore(t *testing.T) {
	for name, instrumented := range wraps {
		expect.Bubble(t, name, func(t *testing.T) {
			c := newCluster()
			r := c.replica(t, "a")
			led, stopped := 0, 0
			r.body = func(ctx context.Context) { led++; <-ctx.Done() }
			r.stopped = func() { stopped++ }
			stop := start(t, instrumented(r.config, nil))
			time.Sleep(5 * time.Second)
			stop()
			synctest.Wait()
			got, _, err := c.lock("b").Get(t.Context())
			if err != nil || led != 1 || stopped != 1 || got.HolderIdentity != "" {
				t.Errorf("led %d times, stopped %d times, held by %q, %v", led, stopped, got.HolderIdentity, err)
			}
		})
	}
}

func TestALockThatIsNoLockPanicsAsBefore(t *testing.T) {
	r := newCluster().replica(t, "a")
	r.config.Lock = (*resourcelock.LeaseLock)(nil)
	panics := func(config leaderelection.LeaderElectionConfig) (v any) {
		defer func() { v = recover() }()
		_, err := leaderelection.NewLeaderElector(config)
		return err
	}
	plain, instrumented := panics(r.config), panics(Instrument(r.config, r.election))
	if plain == nil || fmt.Sprint(instrumented) != fmt.Sprint(plain) {
		t.Errorf("plain: %v; instrumented: %v", plain, instrumented)
	}
}
