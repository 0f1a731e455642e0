package ctrllease

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/instrument/k8slease"
)

var errFailed = errors.New("cannot reach the API")

// everywhere runs on every replica.
type everywhere struct{ manager.RunnableFunc }

func (everywhere) NeedLeaderElection() bool { return false }

// warm has work to do before it leads, and says nothing about leader election.
type warm struct {
	manager.RunnableFunc
	warmed *bool
}

func (w warm) Warmup(context.Context) error { *w.warmed = true; return nil }

// warmLeader says that it needs one.
type warmLeader struct{ warm }

func (warmLeader) NeedLeaderElection() bool { return true }

// warmEverywhere says that it needs none.
type warmEverywhere struct{ warm }

func (warmEverywhere) NeedLeaderElection() bool { return false }

func TestWhatOnlyTheLeaderRunsIsWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newAPIServer()
		r := newReplica(t, server, nil)
		c, err := cluster.New(server.config())
		if err != nil {
			t.Fatal(err)
		}
		var warmed [3]bool
		for _, other := range []manager.Runnable{
			&everywhere{drains(0)}, c, webhook.NewServer(webhook.Options{Port: -1}),
			&warmEverywhere{warm{drains(0), &warmed[0]}},
			&manager.Server{Server: &http.Server{}, OnlyServeWhenLeader: false},
		} {
			if got := r.Manager.(observed).asWork(other); got != other {
				t.Errorf("%T is wrapped as %T", other, got)
			}
		}
		if got := r.Manager.(observed).asWork(nil); got != nil {
			t.Errorf("nothing is wrapped as %T", got)
		}
		for _, work := range []manager.Runnable{
			manager.RunnableFunc(drains(0)), warm{drains(0), &warmed[1]}, warmLeader{warm{drains(0), &warmed[2]}},
			&everywhere{drains(0)}, &warmEverywhere{warm{drains(0), &warmed[0]}}, c,
		} {
			if err := r.Add(work); err != nil {
				t.Fatal(err)
			}
		}
		reconciler, err := controller.New("reconciler", r, controller.Options{
			SkipNameValidation: new(true),
			Reconciler:         reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) { return reconcile.Result{}, nil }),
		})
		if err != nil || reconciler == nil {
			t.Fatal(err)
		}
		stop := run(t, r)
		time.Sleep(5 * s)
		r.want("while it leads", electtest.Series{active: 1, running: 4})
		if warmed != [3]bool{true, true, true} {
			t.Errorf("warmed up: %v", warmed)
		}
		r.add(drains(0))
		time.Sleep(s)
		r.want("with one that was added later", electtest.Series{running: 5})
		if err := stop(); err != nil {
			t.Error(err)
		}
		r.want("after the stop", electtest.Series{active: 0, running: 0, catalog.ExecutionDuration.Count(): 5, of(catalog.WorkAfterLoss): 0})
		time.Sleep(time.Minute) // until the controller's queue has noticed
	})
}

func TestAServerOfTheLeaderIsWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReplica(t, newAPIServer(), nil)
		work := r.Manager.(observed).asWork(&manager.Server{Server: &http.Server{}, OnlyServeWhenLeader: true})
		if leader, ok := work.(manager.LeaderElectionRunnable); !ok || !leader.NeedLeaderElection() {
			t.Errorf("%T does not need leader election", work)
		}
		if _, warms := work.(warmupRunnable); warms {
			t.Error("it claims to warm up")
		}
	})
}

func TestWorkThatFailsStopsTheManagerAndIsAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReplica(t, newAPIServer(), nil)
		r.add(func(context.Context) error { time.Sleep(3 * s); return errFailed })
		r.add(drains(2 * s))
		if err := r.Start(t.Context()); !errors.Is(err, errFailed) {
			t.Errorf("Start returned %v", err)
		}
		r.want("afterwards", electtest.Series{
			active: 0, running: 0, ended(catalog.Released): 1, of(catalog.WorkAfterLoss): 0,
			of(catalog.ExecutionFailures, catalog.FailedWithError.String()): 1, catalog.ExecutionDuration.Count(): 2, catalog.ExecutionDuration.Sum(): 3 + 5,
		})
	})
}

func TestWorkThatIsDoneEarlyDoesNotEndTheTerm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReplica(t, newAPIServer(), nil)
		r.add(func(context.Context) error { time.Sleep(s); return nil })
		stop := run(t, r)
		time.Sleep(5 * s)
		r.want("while it leads", electtest.Series{active: 1, running: 0, catalog.ExecutionDuration.Count(): 1, of(catalog.ExecutionFailures, catalog.FailedWithError.String()): 0})
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

func TestAPanicOfWorkPasses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReplica(t, newAPIServer(), nil)
		stop := run(t, r)
		time.Sleep(s)
		work := r.Manager.(observed).asWork(manager.RunnableFunc(func(context.Context) error { panic("of the work") }))
		func() {
			defer func() {
				if v := recover(); v != "of the work" {
					t.Errorf("recovered %v", v)
				}
			}()
			_ = work.Start(t.Context())
		}()
		r.want("afterwards", electtest.Series{active: 1, running: 0, of(catalog.ExecutionFailures, catalog.FailedWithPanic.String()): 1})
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

func TestTheContextOfWorkIsTheManagersOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type key struct{}
		base := context.WithValue(t.Context(), key{}, "of the manager")
		r := newReplica(t, newAPIServer(), func(o *manager.Options) { o.BaseContext = func() context.Context { return base } })
		var value any
		var cause error
		r.add(func(ctx context.Context) error {
			value = ctx.Value(key{})
			<-ctx.Done()
			cause = context.Cause(ctx)
			return nil
		})
		stop := run(t, r)
		time.Sleep(s)
		if err := stop(); err != nil {
			t.Error(err)
		}
		if value != "of the manager" || cause != context.Canceled {
			t.Errorf("value %v, cause %v", value, cause)
		}
	})
}

func TestALockOfTheProgramsOwnIsWrappedOnce(t *testing.T) {
	server := newAPIServer()
	r := newReplica(t, server, nil)
	o, err := Instrument(server.config(), options(), r.e)
	if err != nil {
		t.Fatal(err)
	}
	once := o.LeaderElectionResourceLockInterface.(*k8slease.ResourceLock)
	again, err := Instrument(server.config(), o, r.e)
	if err != nil || again.LeaderElectionResourceLockInterface != once {
		t.Errorf("it is wrapped again, %v", err)
	}
	own := options()
	own.LeaderElectionResourceLockInterface = given{id: "mine"}
	wrapped, err := Instrument((*rest.Config)(nil), own, r.e)
	if lock, ok := wrapped.LeaderElectionResourceLockInterface.(*k8slease.ResourceLock); err != nil || !ok || lock.Identity() != "mine" {
		t.Errorf("it is not that of the program, or not wrapped, %v", err)
	}
	if _, err := Instrument(nil, options(), r.e); err == nil {
		t.Error("there is a lock without a configuration")
	}
}
