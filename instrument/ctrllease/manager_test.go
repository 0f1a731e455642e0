package ctrllease

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/instrument/internal/expect"
)

const lateness = 300 * time.Millisecond // between two renewals

// led is what a manager shows that has won and renewed so often.
func led(renewed float64) electtest.Series {
	return electtest.Series{
		of(catalog.Attempts): 1, of(catalog.Acquired): 1,
		catalog.AcquireDuration.Count(): 1, catalog.AcquireDuration.Sum(): 0,
		renewals(catalog.RenewalOK): renewed, catalog.RenewalDuration.Count(): renewed, catalog.RenewalDuration.Sum(): 0,
		catalog.LeaseUsageRatio.Count(): renewed, catalog.LeaseUsageRatio.Sum(): (renewed - 1) * 2 / 15, // the first comes at once
		of(catalog.LeaseDuration): 15, of(catalog.LeaseOverruns): 0,
		of(catalog.FencingToken): 0, of(catalog.FencingTokenRegressions): 0,
	}
}

// leads is that while the lease is held.
func leads(renewed, headroom float64) electtest.Series {
	return led(renewed).With(electtest.Series{active: 1, of(catalog.LeaseHeadroom): headroom})
}

func executed(bodies, sum float64) electtest.Series {
	return electtest.Series{catalog.ExecutionDuration.Count(): bodies, catalog.ExecutionDuration.Sum(): sum}
}

func TestADrainIsWorkUnderALeaseThatIsHeld(t *testing.T) {
	for name, c := range map[string]struct {
		release bool
		stopped electtest.Series
	}{
		"with a release": {true, electtest.Series{
			ended(catalog.Released): 1, releases(catalog.ReleaseOK): 1,
			catalog.LeaseUsageRatio.Count(): 8, catalog.LeaseUsageRatio.Sum(): (6*2 + 1.3) / 15,
		}},
		"without a release": {false, electtest.Series{ended(catalog.CanceledTerm): 1}},
	} {
		expect.Bubble(t, name, func(t *testing.T) {
			r := newReplica(t, newAPIServer(), func(o *manager.Options) { o.LeaderElectionReleaseOnCancel = c.release })
			r.add(drains(2 * s))
			r.add(drains(6 * s))
			r.whole("before it starts")
			stop := run(t, r)
			time.Sleep(7*s + lateness)
			r.whole("at 7 s", leads(4, 13.7), electtest.Series{running: 2})
			stopped := make(chan error)
			go func() { stopped <- stop() }()
			time.Sleep(4 * s)
			r.whole("while it drains, at 11 s", leads(6, 13.7), electtest.Series{running: 1}, executed(1, 9.3))
			if err := <-stopped; err != nil {
				t.Error(err)
			}
			r.whole("after the stop", led(7), c.stopped, executed(2, 9.3+13.3))
			time.Sleep(time.Minute)
			r.whole("a minute later", led(7), c.stopped, executed(2, 9.3+13.3))
		})
	}
}

func TestWorkBeyondTheGracePeriodIsWorkAfterLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReplica(t, newAPIServer(), func(o *manager.Options) { o.GracefulShutdownTimeout = d(5 * s) })
		r.add(drains(8 * s))
		stop := run(t, r)
		time.Sleep(s)
		if err := stop(); err == nil {
			t.Error("the manager has waited")
		}
		r.want("as it stops", electtest.Series{active: 0, running: 1, ended(catalog.Released): 1, of(catalog.WorkAfterLoss): 0})
		time.Sleep(10 * s)
		r.want("afterwards", electtest.Series{running: 0, of(catalog.WorkAfterLoss): 3})
	})
}

func TestAManagerWhoseLeaseGoesEndsItsTerm(t *testing.T) {
	for name, c := range map[string]struct {
		fault func(*apiServer, *testing.T)
		want  electtest.Series // 13 s later
	}{
		"to another holder": {
			func(s *apiServer, t *testing.T) {
				s.edit(t, name, func(l *coordinationv1.Lease) { b := "b"; l.Spec.HolderIdentity = &b })
			},
			electtest.Series{ended(catalog.Lost): 1, renewals(catalog.RenewalLost): 1, releases(catalog.ReleaseOK): 0, of(catalog.WorkAfterLoss): 10},
		},
		"because the server is silent": {
			func(s *apiServer, _ *testing.T) { s.fail(silent) },
			electtest.Series{ended(catalog.GaveUp): 1, ended(catalog.Lost): 0, of(catalog.WorkAfterLoss): 0},
		},
		"because the server answers 429": {
			func(s *apiServer, _ *testing.T) { s.fail(answers(apierrors.NewTooManyRequests("later", 1))) },
			electtest.Series{ended(catalog.GaveUp): 1, ended(catalog.Lost): 0, of(catalog.WorkAfterLoss): 0},
		},
		"because the server refuses": {
			func(s *apiServer, _ *testing.T) { s.fail(answers(apierrors.NewForbidden(leases, name, nil))) },
			electtest.Series{ended(catalog.GaveUp): 1, ended(catalog.Lost): 0, of(catalog.WorkAfterLoss): 0},
		},
	} {
		expect.Bubble(t, name, func(t *testing.T) {
			server := newAPIServer()
			r := newReplica(t, server, func(o *manager.Options) { o.LeaderElectionReleaseOnCancel = false })
			r.add(drains(0))
			failed := make(chan error, 1)
			go func() { failed <- r.Start(t.Context()) }()
			time.Sleep(3 * s)
			c.fault(server, t)
			time.Sleep(13 * s)
			r.want("when the manager has ended", c.want.With(electtest.Series{active: 0, running: 0}))
			if err := <-failed; err == nil || !strings.Contains(err.Error(), "leader election lost") {
				t.Errorf("Start returned %v", err)
			}
			synctest.Wait()
		})
	}
}

func answers(err error) func(*http.Request) error { return func(*http.Request) error { return err } }

func TestALeaseThatIsWonBackContinuesAllWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newAPIServer()
		r := newReplica(t, server, nil)
		r.add(drains(0))
		r.add(drains(0))
		stop := run(t, r)
		time.Sleep(3 * s)
		server.edit(t, name, func(l *coordinationv1.Lease) { // another leads for three seconds
			b, length := "b", int32(3)
			l.Spec.HolderIdentity, l.Spec.LeaseDurationSeconds = &b, &length
		})
		time.Sleep(2 * s)
		r.want("while another leads", electtest.Series{active: 0, running: 2, of(catalog.Acquired): 1, ended(catalog.Lost): 1})
		time.Sleep(5 * s)
		gap := r.value(of(catalog.WorkAfterLoss))
		if gap < 2*3 || gap > 2*6 {
			t.Errorf("%v s of work after loss of two runnables", gap)
		}
		back := electtest.Series{active: 1, running: 2, of(catalog.Acquired): 2, ended(catalog.Lost): 1, of(catalog.WorkAfterLoss): gap}
		r.want("when it has it back", back)
		time.Sleep(time.Minute)
		r.want("a minute later", back)
		if err := stop(); err != nil {
			t.Error(err)
		}
		r.want("after the stop", electtest.Series{active: 0, running: 0, ended(catalog.Released): 1, of(catalog.WorkAfterLoss): gap})
	})
}

func TestADeletedLeaseIsMadeAgainInTheSameTerm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newAPIServer()
		r := newReplica(t, server, nil)
		stop := run(t, r)
		time.Sleep(3 * s)
		server.remove(name)
		time.Sleep(2 * s)
		r.whole("at 5 s", leads(3, 14))
		if server.holder(name) == "" {
			t.Error("it was not made again")
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

func TestAStopUnderAServerThatIsAwayHasNotReleased(t *testing.T) {
	for name, c := range map[string]struct {
		fault func(*http.Request) error
		took  time.Duration
	}{
		"it is silent":               {silent, 5 * s}, // the client's timeout
		"connections are cut":        {answers(errors.New("connection refused")), 0},
		"it answers that it may not": {answers(apierrors.NewForbidden(leases, name, nil)), 0},
	} {
		expect.Bubble(t, name, func(t *testing.T) {
			server := newAPIServer()
			r := newReplica(t, server, nil)
			r.add(drains(0))
			stop := run(t, r)
			time.Sleep(3 * s)
			server.fail(c.fault)
			begun := time.Now()
			if err := stop(); err != nil {
				t.Error(err)
			}
			if took := time.Since(begun); took != c.took {
				t.Errorf("the stop took %v", took)
			}
			r.want("after the stop", electtest.Series{
				active: 0, running: 0, ended(catalog.ReleaseFailed): 1, ended(catalog.Released): 0,
				releases(catalog.ReleaseError): 1, releases(catalog.ReleaseOK): 0, of(catalog.WorkAfterLoss): 0,
			})
		})
	}
}

func TestTwoManagersOfOneProcessAreOneLeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newAPIServer()
		r := newReplica(t, server, nil)
		other := r.another(server, nil)
		if err := other.Add(manager.RunnableFunc(drains(0))); err != nil {
			t.Fatal(err)
		}
		r.add(drains(0))
		stopFirst := run(t, r)
		time.Sleep(s)
		stopSecond := run(t, other)
		for range 10 {
			time.Sleep(s)
			r.want("while the first leads", electtest.Series{active: 1, running: 1, of(catalog.Acquired): 1})
		}
		if err := stopFirst(); err != nil {
			t.Error(err)
		}
		time.Sleep(5 * s)
		r.want("when the second leads", electtest.Series{active: 1, running: 1, of(catalog.Acquired): 2, ended(catalog.Released): 1, of(catalog.FencingToken): 1})
		if err := stopSecond(); err != nil {
			t.Error(err)
		}
		r.want("in the end", electtest.Series{active: 0, running: 0, ended(catalog.Released): 2, of(catalog.WorkAfterLoss): 0})
	})
}

func TestAStandbyShowsItsPolls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newAPIServer()
		leader, standby := newReplica(t, server, nil), newReplica(t, server, nil)
		standby.add(drains(0))
		stopLeader := run(t, leader)
		time.Sleep(s)
		stopStandby := run(t, standby)
		time.Sleep(20 * s)
		contended := standby.value(of(catalog.NotAcquired, catalog.Contended.String()))
		standby.want("while another leads", electtest.Series{active: 0, running: 0, of(catalog.Pending): 0, of(catalog.Attempts): contended})
		if contended < 4 {
			t.Errorf("%v polls in 20 s", contended)
		}
		for _, stop := range []func() error{stopStandby, stopLeader} {
			if err := stop(); err != nil {
				t.Error(err)
			}
		}
		standby.want("after the stop", electtest.Series{active: 0, running: 0, of(catalog.Pending): 0, of(catalog.Acquired): 0})
	})
}

func TestWithoutAnElectionTheManagerIsThePlainOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newAPIServer()
		r := newReplica(t, server, func(o *manager.Options) { o.LeaderElection = false })
		r.add(drains(0))
		stop := run(t, r)
		time.Sleep(5 * s)
		r.whole("while it works")
		if err := stop(); err != nil {
			t.Error(err)
		}
		m, err := NewManager(server.config(), options(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, wrapped := m.(observed); wrapped {
			t.Error("it is observed without an election")
		}
		o, err := Instrument(server.config(), options(), nil)
		if err != nil || o.LeaderElectionResourceLockInterface != nil {
			t.Errorf("a lock, %v", err)
		}
	})
}
