package k8slease

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
)

// From v0.34 on client-go releases without a look at whose the lease is by
// then. That is not ours to prevent; that it counts as no release of our own
// is.
func TestALeaderThatWakesUpLateGivesTheNextOnesLeaseAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := lead(t)
		next := h.cluster.replica(t, "b")
		stopNext := next.run()
		time.Sleep(2 * leaseDuration)
		h.want(electtest.Series{of(catalog.Active): 0, of(catalog.LeaseOverruns): 1, ended(catalog.Lost): 0})
		next.want(electtest.Series{of(catalog.Active): 1, of(catalog.FencingToken): 1})

		h.get() // a renewal begins so when the lease has run out
		finished := electtest.Series{ended(catalog.Lost): 1, renewals(catalog.RenewalLost): 1, ended(catalog.Released): 0, releases(catalog.ReleaseOK): 0}
		h.want(finished)
		h.get()
		h.give()
		h.lock.RecordEvent("stopped leading")
		if got, _, err := h.cluster.lock("c").Get(t.Context()); err != nil || got.HolderIdentity != "" {
			t.Errorf("the lease is that of %q, %v", got.HolderIdentity, err)
		}
		h.want(finished)
		next.want(electtest.Series{of(catalog.Active): 1})
		time.Sleep(2 * retryPeriod)
		next.want(electtest.Series{ended(catalog.Lost): 1, of(catalog.Active): 1, of(catalog.Acquired): 2})
		stopNext()
		synctest.Wait()
	})
}
