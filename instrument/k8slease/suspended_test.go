package k8slease

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
)

// suspended is the lock of a process that can be suspended in a request.
type suspended struct {
	resourcelock.Interface
	turn chan struct{} // holds one when the process is awake
}

func (s *suspended) wait() (done func()) {
	<-s.turn
	return func() { s.turn <- struct{}{} }
}

func (s *suspended) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	defer s.wait()()
	return s.Interface.Get(ctx)
}

func (s *suspended) Update(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	defer s.wait()()
	return s.Interface.Update(ctx, r)
}

// client-go releases without a look at whose the lease is by then. That is not
// ours to prevent; that nobody takes it for a release of our own is.
func TestALeaderThatWakesUpLateGivesTheNextOnesLeaseAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		old, next := c.replica(t, "a"), c.replica(t, "b")
		lock := &suspended{Interface: old.config.Lock, turn: make(chan struct{}, 1)}
		lock.turn <- struct{}{}
		old.config.Lock = lock
		stopOld := old.run()
		synctest.Wait()
		stopNext := next.run()
		time.Sleep(5 * time.Second)
		<-lock.turn
		time.Sleep(2 * leaseDuration)
		old.want(electtest.Series{of(catalog.Active): 0, of(catalog.LeaseOverruns): 1})
		next.want(electtest.Series{of(catalog.Active): 1, of(catalog.FencingToken): 1})

		lock.turn <- struct{}{}
		synctest.Wait()
		if record, _, err := c.lock("c").Get(t.Context()); err != nil || record.HolderIdentity != "" {
			t.Errorf("the lease is that of %q, %v", record.HolderIdentity, err)
		}
		old.want(electtest.Series{ended(catalog.Lost): 1, ended(catalog.Released): 0, releases(catalog.ReleaseOK): 0})
		next.want(electtest.Series{of(catalog.Active): 1})
		time.Sleep(2 * retryPeriod)
		next.want(electtest.Series{ended(catalog.Lost): 1, of(catalog.Active): 1, of(catalog.Acquired): 2})
		stopOld()
		stopNext()
		synctest.Wait()
	})
}
