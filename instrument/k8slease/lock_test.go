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

func TestALockAloneShowsTheElection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		r := c.replica(t, "a")
		r.config.Lock = Lock(r.config.Lock, r.election)
		stop := start(t, r.config)
		time.Sleep(5 * time.Second)
		r.want(electtest.Series{of(catalog.Active): 1, of(catalog.Acquired): 1, renewals(catalog.RenewalOK): 3, of(catalog.LeaseHeadroom): 14})
		stop()
		r.want(electtest.Series{of(catalog.Active): 0, ended(catalog.Released): 1})

		r.config.ReleaseOnCancel = false
		stop = start(t, r.config)
		time.Sleep(5 * time.Second)
		stop()
		r.want(electtest.Series{of(catalog.Active): 0, ended(catalog.CanceledTerm): 1})
		time.Sleep(2 * leaseDuration)
		r.want(electtest.Series{of(catalog.LeaseOverruns): 0, ended(catalog.CanceledTerm): 1})

		stop = start(t, r.config)
		time.Sleep(5 * time.Second)
		r.want(electtest.Series{of(catalog.Active): 1, of(catalog.Acquired): 3, of(catalog.Attempts): 3})
		stop()
	})
}

func TestALockAloneShowsTheNextElectorAfterAReleaseThatFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		r := c.replica(t, "a")
		r.config.Lock = Lock(r.config.Lock, r.election)
		stop := start(t, r.config)
		time.Sleep(time.Second)
		c.fail("release", down)
		stop()
		r.want(electtest.Series{of(catalog.Active): 0, ended(catalog.ReleaseFailed): 1, releases(catalog.ReleaseError): 1})

		c.fail("release", nil)
		stop = start(t, r.config)
		time.Sleep(5 * time.Second)
		r.want(electtest.Series{of(catalog.Active): 1, of(catalog.Acquired): 2, of(catalog.Pending): 0})
		stop()
		r.want(electtest.Series{of(catalog.Active): 0, ended(catalog.Released): 1})
	})
}

func TestAnElectorThatRecordsNoEventsShowsItsNextTerm(t *testing.T) {
	for name, c := range map[string]struct {
		release error
		want    electtest.Series
	}{
		"after a release":             {nil, electtest.Series{ended(catalog.Released): 1}},
		"after a release that failed": {errServer, electtest.Series{ended(catalog.ReleaseFailed): 1}},
	} {
		expect.Bubble(t, name, func(t *testing.T) {
			h := lead(t)
			h.get()
			h.fails("release", c.release)
			h.give()
			h.get()
			if err := h.lock.Update(t.Context(), record("a")); err != nil {
				t.Fatal(err)
			}
			h.want(c.want.With(electtest.Series{of(catalog.Active): 1, of(catalog.Acquired): 2, of(catalog.Attempts): 2, of(catalog.Pending): 0}))
			h.fails("release", nil)
			h.give()
			h.cluster.edit(t, toNobodyKnown)
			h.get()
			h.want(electtest.Series{of(catalog.Active): 0, missed(catalog.Contended): 1, of(catalog.Attempts): 3})
		})
	}
}

// client-go counts the lease from when it saw the record, which is later than
// the request for it.
func TestAnAttemptOfWhichNothingCameIsContended(t *testing.T) {
	expect.Bubble(t, "at the next one", func(t *testing.T) {
		r := newCluster().replica(t, "a")
		config := Instrument(r.config, r.election)
		ctx, stop := context.WithCancel(t.Context())
		for range 2 {
			_, _, _ = config.Lock.Get(ctx)
		}
		r.want(electtest.Series{of(catalog.Attempts): 2, missed(catalog.Contended): 1, of(catalog.Pending): 1})
		stop()
		config.Callbacks.OnStoppedLeading()
		r.want(electtest.Series{of(catalog.Attempts): 2, missed(catalog.CanceledAttempt): 1, of(catalog.Pending): 0})
	})
}

func TestTheLockIsCalledAsBefore(t *testing.T) {
	r := newCluster().replica(t, "a")
	l := Lock(r.config.Lock, r.election)
	if l.Describe() != r.config.Lock.Describe() || l.Identity() != "a" {
		t.Errorf("it is %q of %q", l.Describe(), l.Identity())
	}
}
