package k8slease

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
)

func TestABodyThatContinuesAfterTheLeaseWasWonBackIsWorkOfTheNewTerm(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(*coordinationv1.Lease)
		gap  [2]float64 // bounds of the time without the lease
	}{
		"the holder was cleared": {
			edit: func(l *coordinationv1.Lease) { nobody := ""; l.Spec.HolderIdentity = &nobody },
		},
		"another held it for three seconds": {
			edit: func(l *coordinationv1.Lease) {
				other, length, transitions := "b", int32(3), *l.Spec.LeaseTransitions+1
				l.Spec.HolderIdentity, l.Spec.LeaseDurationSeconds, l.Spec.LeaseTransitions = &other, &length, &transitions
			},
			gap: [2]float64{3, 3 + 2*retryPeriod.Seconds()},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cluster := newCluster()
				r := cluster.replica(t, "a")
				stop := r.run()
				time.Sleep(3 * time.Second)
				cluster.edit(t, c.edit)
				time.Sleep(renewDeadline)
				won := electtest.Series{of(catalog.Active): 1, of(catalog.Acquired): 2, ended(catalog.Lost): 1, of(catalog.Running): 1}
				r.want(won)
				gap := r.value(of(catalog.WorkAfterLoss))
				if gap < c.gap[0] || gap > c.gap[1] {
					t.Errorf("%v s of work after loss, want between %v", gap, c.gap)
				}
				time.Sleep(time.Minute)
				r.want(won.With(electtest.Series{of(catalog.WorkAfterLoss): gap}))
				stop()
				synctest.Wait()
				r.want(electtest.Series{of(catalog.Running): 0, ended(catalog.Released): 1, of(catalog.WorkAfterLoss): gap, catalog.ExecutionDuration.Count(): 2})
			})
		})
	}
}

func TestABodyOfAnEarlierRunStaysWorkOfItsOwnTerm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newCluster().replica(t, "a")
		slow := true
		r.body = func(ctx context.Context) {
			drain := slow
			slow = false
			<-ctx.Done()
			if drain {
				time.Sleep(10 * time.Second)
			}
		}
		config := Instrument(r.config, r.election)
		stop := start(t, config)
		synctest.Wait()
		stop()
		stop = start(t, config)
		time.Sleep(5 * time.Second)
		r.want(electtest.Series{of(catalog.Acquired): 2, of(catalog.Active): 1, of(catalog.Running): 2, of(catalog.WorkAfterLoss): 5})
		time.Sleep(time.Minute)
		r.want(electtest.Series{of(catalog.Running): 1, of(catalog.WorkAfterLoss): 10})
		stop()
		synctest.Wait()
	})
}

func TestABodyThatEndsItsGoroutineHasFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newCluster().replica(t, "a")
		r.body = func(context.Context) { runtime.Goexit() }
		stop := r.run()
		time.Sleep(time.Second)
		r.want(electtest.Series{of(catalog.Running): 0, of(catalog.ExecutionFailures, catalog.FailedWithPanic.String()): 1})
		stop()
		synctest.Wait()
	})
}

func TestTheBodysContextIsClientGosOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newCluster().replica(t, "a")
		var cause error
		r.body = func(ctx context.Context) {
			<-ctx.Done()
			cause = context.Cause(ctx)
		}
		stop := r.run()
		time.Sleep(time.Second)
		stop()
		synctest.Wait()
		if !errors.Is(cause, context.Canceled) {
			t.Errorf("the body's context ended with %v", cause)
		}
	})
}

func TestEveryBodyThatContinuesIsWorkOfTheNewTerm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := lead(t)
		ctx, stop := context.WithCancel(t.Context())
		errs := make(chan error)
		for _, err := range []error{nil, errServer} {
			go func() {
				errs <- h.lock.Work(ctx, func(ctx context.Context) error { <-ctx.Done(); return err })
			}()
		}
		time.Sleep(5 * time.Second)
		h.want(electtest.Series{of(catalog.Running): 2})
		nobody := ""
		h.cluster.edit(t, func(l *coordinationv1.Lease) { l.Spec.HolderIdentity = &nobody })
		h.fails("update", conflict)
		_ = h.lock.Update(t.Context(), record("a")) // a renewal, which fails
		h.get()
		time.Sleep(3 * time.Second)
		h.want(electtest.Series{of(catalog.Active): 0, of(catalog.Running): 2, of(catalog.WorkAfterLoss): 6, ended(catalog.Lost): 1})
		h.fails("update", nil)
		h.get()
		if err := h.lock.Update(t.Context(), record("a")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(4 * time.Second)
		h.want(electtest.Series{of(catalog.Active): 1, of(catalog.Running): 2, of(catalog.WorkAfterLoss): 6, of(catalog.Acquired): 2})
		stop()
		if first, second := <-errs, <-errs; !errors.Is(errors.Join(first, second), errServer) {
			t.Errorf("the bodies returned %v and %v", first, second)
		}
		h.want(electtest.Series{
			of(catalog.Running): 0, catalog.ExecutionDuration.Count(): 4, catalog.ExecutionDuration.Sum(): 2 * (5 + 3 + 4),
			of(catalog.ExecutionFailures, catalog.FailedWithError.String()): 1, of(catalog.ExecutionFailures, catalog.FailedWithPanic.String()): 0,
		})
		if n := len(h.lock.works); n != 0 {
			t.Errorf("%d bodies are kept", n)
		}
		h.get()
		h.give()
		h.lock.RecordEvent("stopped leading")
		h.want(electtest.Series{ended(catalog.Released): 1, of(catalog.WorkAfterLoss): 6})
	})
}

func TestABodyBeforeTheFirstTermRunsAndIsNotCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newCluster().replica(t, "a")
		for _, ctx := range []context.Context{t.Context(), nil} {
			if err := Lock(r.config.Lock, r.election).Work(ctx, func(ctx context.Context) error { return errors.Join(ctx.Err(), errServer) }); !errors.Is(err, errServer) {
				t.Errorf("it returned %v", err)
			}
		}
		r.whole("afterwards")
	})
}

// A body may return in the moment in which the lease is won back.
func TestABodyThatHasReturnedStaysWorkOfItsTerm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := lead(t)
		w := &work{ctx: t.Context()}
		w.begin(h.lock)
		w.finish(h.lock, true, nil)
		w.move(h.lock.last.term)
		h.want(electtest.Series{of(catalog.Running): 0, catalog.ExecutionDuration.Count(): 1})
		h.give()
		h.lock.RecordEvent("stopped leading")
	})
}
