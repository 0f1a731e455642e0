package k8slease

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/klog/v2"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
)

var of = electtest.Of

// wraps are the two ways to instrument an election; the second is a framework's.
var wraps = map[string]func(leaderelection.LeaderElectionConfig, *instrument.Election) leaderelection.LeaderElectionConfig{
	"the whole configuration": Instrument,
	"the lock alone": func(cfg leaderelection.LeaderElectionConfig, e *instrument.Election) leaderelection.LeaderElectionConfig {
		lock, started := Lock(cfg.Lock, e), cfg.Callbacks.OnStartedLeading
		cfg.Lock = lock
		cfg.Callbacks.OnStartedLeading = func(ctx context.Context) {
			_ = lock.Work(ctx, func(ctx context.Context) error { started(ctx); return nil })
		}
		return cfg
	},
}

func TestMain(m *testing.M) {
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	os.Exit(m.Run())
}

var errServer = errors.New("server is away")

func down(context.Context) error { return errServer }

// hangs answers when the caller gives up.
func hangs(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

func renewals(result catalog.RenewalResult) string { return of(catalog.Renewals, result.String()) }
func ended(cause catalog.EndCause) string          { return of(catalog.TermsEnded, cause.String()) }
func missed(reason catalog.Reason) string          { return of(catalog.NotAcquired, reason.String()) }
func releases(result catalog.ReleaseResult) string { return of(catalog.Releases, result.String()) }

func TestALeaderShowsItsTermHeadroomRenewalsAndWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newCluster().replica(t, "a")
		stop := r.run()
		synctest.Wait()
		r.want(electtest.Series{
			of(catalog.Attempts): 1, of(catalog.Acquired): 1, of(catalog.Pending): 0, of(catalog.Active): 1, of(catalog.Running): 1,
			of(catalog.LeaseHeadroom): 15, of(catalog.LeaseDuration): 15, of(catalog.FencingToken): 0,
		})
		time.Sleep(5 * time.Second)
		r.want(electtest.Series{of(catalog.LeaseHeadroom): 14, renewals(catalog.RenewalOK): 3, catalog.LeaseUsageRatio.Count(): 3})
		stop()
		synctest.Wait()
	})
}

func TestASecondRenewalInASecondDoesNotMoveTheLeaseEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newCluster().replica(t, "a")
		r.config.RetryPeriod = 400 * time.Millisecond
		stop := r.run()
		time.Sleep(900 * time.Millisecond) // renewed at 0.0, 0.4 and 0.8 s
		r.want(electtest.Series{renewals(catalog.RenewalOK): 3, of(catalog.LeaseHeadroom): 14.1})
		time.Sleep(400 * time.Millisecond) // and at 1.2 s
		r.want(electtest.Series{renewals(catalog.RenewalOK): 4, of(catalog.LeaseHeadroom): 14.9})
		stop()
		synctest.Wait()
	})
}

func TestRightAfterAGracefulStopNobodyLeads(t *testing.T) {
	for name, release := range map[string]bool{"with a release": true, "without a release": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newCluster().replica(t, "a")
				r.config.ReleaseOnCancel = release
				var atStop electtest.Series
				r.stopped = func() { atStop = r.series() }
				stop := r.run()
				time.Sleep(5 * time.Second)
				stop()
				cause, released := catalog.CanceledTerm, 0.
				if release {
					cause, released = catalog.Released, 1
				}
				want := electtest.Series{of(catalog.Active): 0, ended(cause): 1, releases(catalog.ReleaseOK): released, ended(catalog.Lost): 0}
				for k, v := range want {
					if atStop[k] != v {
						t.Errorf("in OnStoppedLeading %s is %v, want %v", k, atStop[k], v)
					}
				}
				if _, there := atStop[of(catalog.LeaseHeadroom)]; there {
					t.Error("headroom is there after the stop")
				}
				synctest.Wait()
				r.want(want)
			})
		})
	}
}

func TestStandbyPollsAreContendedAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		leader, standby := c.replica(t, "a"), c.replica(t, "b")
		stopLeader := leader.run()
		synctest.Wait()
		stopStandby := standby.run()
		time.Sleep(20 * time.Second)
		s := standby.series()
		if n := s[missed(catalog.Contended)]; n < 4 || n > 11 {
			t.Errorf("%v contended attempts in 20 s, want one for each jittered poll", n)
		}
		if s[of(catalog.Attempts)] != s[missed(catalog.Contended)] || s[of(catalog.Pending)] != 0 {
			t.Errorf("standby: %v", s)
		}
		stopLeader()
		time.Sleep(5 * time.Second) // a poll comes within 2.2 retry periods
		standby.want(electtest.Series{of(catalog.Acquired): 1, of(catalog.Active): 1, of(catalog.FencingToken): 1})
		stopStandby()
		synctest.Wait()
	})
}

func TestAStoppedStandbyHasNoTerm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		leader, standby := c.replica(t, "a"), c.replica(t, "b")
		stopLeader := leader.run()
		synctest.Wait()
		calls := 0
		standby.stopped = func() { calls++ }
		stopStandby := standby.run()
		time.Sleep(5 * time.Second)
		stopStandby()
		s := standby.series()
		if calls != 1 || s[of(catalog.Acquired)] != 0 || s[of(catalog.Pending)] != 0 {
			t.Errorf("%d calls of OnStoppedLeading, %v", calls, s)
		}
		for k, v := range s {
			if v != 0 && len(k) > len(catalog.TermsEnded.Name()) && k[:len(catalog.TermsEnded.Name())] == catalog.TermsEnded.Name() {
				t.Errorf("%s is %v", k, v)
			}
		}
		stopLeader()
		synctest.Wait()
	})
}

func TestAnAttemptThatIsCutShortIsCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		r := c.replica(t, "a")
		c.fail("get", hangs)
		stop := r.run()
		synctest.Wait()
		r.want(electtest.Series{of(catalog.Pending): 1})
		stop()
		r.want(electtest.Series{of(catalog.Pending): 0, of(catalog.Attempts): 1, missed(catalog.CanceledAttempt): 1})
	})
}

func TestARenewalThatTakesTheSlowPathIsOneOK(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		r := c.replica(t, "a")
		stop := r.run()
		time.Sleep(3 * time.Second)
		before := r.series()[renewals(catalog.RenewalOK)]
		c.edit(t, func(l *coordinationv1.Lease) { l.Labels = map[string]string{"edited": "yes"} })
		time.Sleep(retryPeriod)
		r.want(electtest.Series{
			renewals(catalog.RenewalOK): before + 1, renewals(catalog.RenewalError): 0, renewals(catalog.RenewalLost): 0,
			of(catalog.Active): 1,
		})
		stop()
		synctest.Wait()
	})
}

func TestARenewalTakesFromItsFirstRequestToItsLastAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		r := c.replica(t, "a")
		stop := r.run()
		time.Sleep(time.Second)
		before := r.value(catalog.RenewalDuration.Sum())
		optimistic := true
		c.fail("update", func(context.Context) error {
			if optimistic {
				optimistic = false
				time.Sleep(5 * time.Second)
				return apierrors.NewConflict(leases, "lock", errServer)
			}
			time.Sleep(time.Second)
			return nil
		})
		time.Sleep(7*time.Second + 500*time.Millisecond)
		if took := r.value(catalog.RenewalDuration.Sum()) - before; took != 6 {
			t.Errorf("the renewal took %v s, want 6", took)
		}
		c.fail("update", nil)
		r.want(electtest.Series{of(catalog.LeaseDuration): 15, of(catalog.LeaseHeadroom): 15 - 6.5})
		stop()
		synctest.Wait()
	})
}

func TestTheLengthOfTheLeaseIsThatOfTheRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		r := c.replica(t, "a")
		slow := func(context.Context) error { time.Sleep(2700 * time.Nanosecond); return nil }
		for _, verb := range []string{"get", "create", "update"} {
			c.fail(verb, slow)
		}
		stop := r.run()
		for range 10 {
			time.Sleep(time.Second)
			r.want(electtest.Series{of(catalog.LeaseDuration): 15})
		}
		stop()
		synctest.Wait()
	})
}

func TestAnAttemptThatFailsSaysWhetherTheServerDid(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want catalog.Reason
	}{
		"the server fails":                  {apierrors.NewInternalError(errServer), catalog.BackendError},
		"the server refuses":                {apierrors.NewForbidden(leases, "lock", errServer), catalog.BackendError},
		"the server is too busy":            {apierrors.NewTooManyRequests("later", 1), catalog.BackendError},
		"the connection is refused":         {&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, catalog.BackendError},
		"an error that is not the server's": {errServer, catalog.UnknownReason},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cluster := newCluster()
				r := cluster.replica(t, "a")
				cluster.fail("get", func(context.Context) error { return c.err })
				stop := r.run()
				synctest.Wait()
				r.want(electtest.Series{missed(c.want): 1, of(catalog.Attempts): 1})
				stop()
				synctest.Wait()
			})
		})
	}
}

func TestARenewalOfWhichBothRequestsFailIsOneFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		r := c.replica(t, "a")
		stop := r.run()
		time.Sleep(3 * time.Second)
		c.fail("update", down)
		c.fail("get", down)
		time.Sleep(2 * retryPeriod)
		r.want(electtest.Series{renewals(catalog.RenewalError): 2, of(catalog.Active): 1, of(catalog.LeaseHeadroom): 10})
		c.fail("update", nil)
		c.fail("get", nil)
		time.Sleep(retryPeriod)
		r.want(electtest.Series{renewals(catalog.RenewalError): 2, renewals(catalog.RenewalOK): 3, ended(catalog.Lost): 0})
		stop()
		synctest.Wait()
	})
}

func TestAnotherHolderIsALossBeforeTheElectorGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		r := c.replica(t, "a")
		stop := r.run()
		time.Sleep(3 * time.Second)
		c.edit(t, func(l *coordinationv1.Lease) {
			other, transitions := "b", *l.Spec.LeaseTransitions+1
			l.Spec.HolderIdentity, l.Spec.LeaseTransitions = &other, &transitions
		})
		time.Sleep(retryPeriod)
		r.want(electtest.Series{
			of(catalog.Active): 0, ended(catalog.Lost): 1, renewals(catalog.RenewalLost): 1,
			of(catalog.Running): 1, // client-go has not told the work yet
		})
		time.Sleep(renewDeadline)
		s := r.series()
		if after := s[of(catalog.WorkAfterLoss)]; s[of(catalog.Running)] != 0 || after < 9 || after > 10 {
			t.Errorf("%v running, %v s of work after loss; want it up to the renew deadline", s[of(catalog.Running)], after)
		}
		stop()
		synctest.Wait()
	})
}

func TestTheTokenOutlivesADeletedLeaseOnlyWithItsHolder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		r := c.replica(t, "a")
		for range 3 {
			stop := r.run()
			time.Sleep(time.Second)
			stop()
		}
		stop := r.run()
		time.Sleep(time.Second)
		r.want(electtest.Series{of(catalog.FencingToken): 3, of(catalog.Acquired): 4})
		renewed := r.series()[renewals(catalog.RenewalOK)]
		c.remove(t)
		time.Sleep(retryPeriod)
		r.want(electtest.Series{of(catalog.Active): 1, renewals(catalog.RenewalError): 0, renewals(catalog.RenewalOK): renewed + 1, of(catalog.Acquired): 4})
		stop()
		c.remove(t)
		stop = r.run()
		time.Sleep(time.Second)
		r.want(electtest.Series{of(catalog.Acquired): 5, of(catalog.FencingToken): 0, of(catalog.FencingTokenRegressions): 1})
		stop()
		synctest.Wait()
	})
}

func TestOfTwoThatUpdateAtOnceOneIsContended(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		first := c.replica(t, "z")
		stop := first.run()
		time.Sleep(time.Second)
		stop()
		all := []*replica{c.replica(t, "a"), c.replica(t, "b"), c.replica(t, "c")}
		barrier := make(chan struct{})
		c.fail("update", func(context.Context) error { <-barrier; return nil })
		var stops []func()
		for _, r := range all {
			stops = append(stops, r.run())
		}
		synctest.Wait()
		c.fail("update", nil)
		close(barrier)
		synctest.Wait()
		active, contended := 0., 0.
		for _, r := range all {
			s := r.series()
			active += s[of(catalog.Active)]
			contended += s[missed(catalog.Contended)]
		}
		if active != 1 || contended != 2 {
			t.Errorf("%v active and %v contended of three that read a free lease at once", active, contended)
		}
		for _, stop := range stops {
			stop()
		}
		synctest.Wait()
	})
}

func TestWhatIsMissingFromTheConfigurationStaysMissing(t *testing.T) {
	r := newCluster().replica(t, "a")
	for name, change := range map[string]func(*leaderelection.LeaderElectionConfig){
		"no lock":             func(c *leaderelection.LeaderElectionConfig) { c.Lock = nil },
		"no OnStartedLeading": func(c *leaderelection.LeaderElectionConfig) { c.Callbacks.OnStartedLeading = nil },
		"no OnStoppedLeading": func(c *leaderelection.LeaderElectionConfig) { c.Callbacks.OnStoppedLeading = nil },
	} {
		t.Run(name, func(t *testing.T) {
			config := r.config
			change(&config)
			_, plain := leaderelection.NewLeaderElector(config)
			_, instrumented := leaderelection.NewLeaderElector(Instrument(config, r.election))
			if plain == nil || instrumented == nil || plain.Error() != instrumented.Error() {
				t.Errorf("plain: %v; instrumented: %v", plain, instrumented)
			}
		})
	}
}
