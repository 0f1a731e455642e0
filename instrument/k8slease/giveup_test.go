package k8slease

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/instrument/internal/expect"
)

// A renewal is due every two seconds, so the elector gives up that long after
// the deadline counted from the last good one, which is when the lease began.
func TestALeaderThatGivesUpKeepsOthersOutUntilTheLeaseEnd(t *testing.T) {
	for name, c := range map[string]struct {
		lease, deadline, drain time.Duration
		overruns, late         float64
	}{
		"the work stops 5 s before the lease end": {lease: 60 * time.Second, deadline: 38 * time.Second, drain: 15 * time.Second},
		"the work stops 3 s after the lease end":  {lease: 15 * time.Second, deadline: 8 * time.Second, drain: 8 * time.Second, overruns: 1, late: 3},
	} {
		for release, onCancel := range map[string]bool{"no release": false, "the release fails": true} {
			t.Run(name+", "+release, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					cluster := newCluster()
					r := cluster.replica(t, "a")
					r.config.LeaseDuration, r.config.RenewDeadline, r.config.ReleaseOnCancel = c.lease, c.deadline, onCancel
					r.body = func(ctx context.Context) {
						<-ctx.Done()
						time.Sleep(c.drain)
					}
					stop := r.run()
					time.Sleep(time.Second)
					for _, verb := range []string{"get", "update", "release"} {
						cluster.fail(verb, down)
					}
					time.Sleep(retryPeriod + c.deadline - time.Second - time.Millisecond)
					r.want(electtest.Series{of(catalog.Active): 1, ended(catalog.GaveUp): 0})
					time.Sleep(2 * time.Millisecond)
					r.want(electtest.Series{of(catalog.Active): 0, ended(catalog.GaveUp): 1, of(catalog.Running): 1})
					time.Sleep(c.drain)
					r.want(electtest.Series{
						of(catalog.Running): 0, of(catalog.WorkAfterLoss): c.late, of(catalog.LeaseOverruns): c.overruns,
						ended(catalog.GaveUp): 1, ended(catalog.Lost): 0, ended(catalog.Released): 0,
					})
					stop()
					synctest.Wait()
				})
			})
		}
	}
}

func TestALeaderWhoseRequestsHangGivesUpAtTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		r := c.replica(t, "a")
		stop := r.run()
		time.Sleep(time.Second)
		for _, verb := range []string{"get", "update", "release"} {
			c.fail(verb, hangs)
		}
		time.Sleep(retryPeriod + renewDeadline - time.Second + time.Millisecond)
		r.want(electtest.Series{of(catalog.Active): 0, ended(catalog.GaveUp): 1, renewals(catalog.RenewalTimeout): 1})
		time.Sleep(renewDeadline) // client-go stops the work when its release has failed
		r.want(electtest.Series{ended(catalog.GaveUp): 1, of(catalog.Running): 0, of(catalog.WorkAfterLoss): 22 - 15})
		stop()
		synctest.Wait()
	})
}

func TestALeaderThatGivesUpAndReleasesHasGivenUp(t *testing.T) {
	for name, wrap := range wraps {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster()
				r := c.replica(t, "a")
				stop := start(t, wrap(r.config, r.election))
				time.Sleep(time.Second)
				c.fail("update", down)
				time.Sleep(retryPeriod + renewDeadline)
				r.want(electtest.Series{
					of(catalog.Active): 0, ended(catalog.GaveUp): 1, ended(catalog.Released): 0, ended(catalog.ReleaseFailed): 0,
					releases(catalog.ReleaseOK): 1, releases(catalog.ReleaseError): 0,
				})
				stop()
				synctest.Wait()
			})
		})
	}
}

// Versions of client-go release with one Update, or with a Get before it; what
// counts is whether the last renewal failed and its deadline is over.
func TestAReleaseAfterTheDeadlineOfAFailedRenewalIsNone(t *testing.T) {
	for name, c := range map[string]struct {
		good, get bool
		after     time.Duration // of the deadline
		want      electtest.Series
	}{
		"Update":                               {after: time.Millisecond, want: electtest.Series{ended(catalog.GaveUp): 1, ended(catalog.Released): 0}},
		"Get and Update":                       {get: true, after: time.Millisecond, want: electtest.Series{ended(catalog.GaveUp): 1, ended(catalog.Released): 0}},
		"Update, before the deadline":          {after: -time.Millisecond, want: electtest.Series{ended(catalog.GaveUp): 0, ended(catalog.Released): 1}},
		"Update, after a good renewal":         {good: true, after: time.Millisecond, want: electtest.Series{ended(catalog.GaveUp): 0, ended(catalog.Released): 1}},
		"Get and Update, after a good renewal": {good: true, get: true, after: time.Millisecond, want: electtest.Series{ended(catalog.GaveUp): 0, ended(catalog.Released): 1}},
		"Update, at the end of the deadline":   {want: electtest.Series{ended(catalog.GaveUp): 1, ended(catalog.Released): 0}},
		"Get and Update, before the deadline":  {get: true, after: -time.Millisecond, want: electtest.Series{ended(catalog.GaveUp): 0, ended(catalog.Released): 1}},
	} {
		expect.Bubble(t, name, func(t *testing.T) {
			h := lead(t)
			time.Sleep(retryPeriod)
			ctx, cancel := context.WithTimeout(t.Context(), renewDeadline)
			defer cancel()
			renew := func() error {
				err := h.lock.Update(ctx, record("a"))
				if err != nil {
					_, _, _ = h.lock.Get(ctx)
					err = h.lock.Update(ctx, record("a"))
				}
				return err
			}
			h.fails("update", errServer)
			if err := renew(); err == nil {
				t.Fatal("a renewal whose requests fail has succeeded")
			}
			h.fails("update", nil)
			if c.good {
				if err := renew(); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(renewDeadline + c.after)
			if c.get {
				h.get()
			}
			h.give()
			h.want(c.want)
		})
	}
}
