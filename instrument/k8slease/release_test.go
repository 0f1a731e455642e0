package k8slease

import (
	"context"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/instrument/internal/expect"
)

// hand makes the requests of an elector one by one, so that a test does not
// depend on the version of client-go.
type hand struct {
	*replica
	cluster *cluster
	lock    *ResourceLock
}

// lead wins the lease.
func lead(t *testing.T) *hand {
	c := newCluster()
	r := c.replica(t, "a")
	h := &hand{r, c, Lock(r.config.Lock, r.election)}
	h.get()
	if err := h.lock.Create(t.Context(), record("a")); err != nil {
		t.Fatal(err)
	}
	return h
}

func record(holder string) resourcelock.LeaderElectionRecord {
	now := metav1.Now()
	return resourcelock.LeaderElectionRecord{HolderIdentity: holder, LeaseDurationSeconds: 15, AcquireTime: now, RenewTime: now}
}

func (h *hand) get() { _, _, _ = h.lock.Get(h.t.Context()) }

// give is the request that releases.
func (h *hand) give() { _ = h.lock.Update(h.t.Context(), record("")) }

// fails makes the next requests of that verb fail.
func (h *hand) fails(verb string, err error) {
	h.cluster.fail(verb, func(context.Context) error { return err })
}

// won is what a win adds.
var won = electtest.Series{
	of(catalog.Attempts): 1, of(catalog.Acquired): 1,
	catalog.AcquireDuration.Count(): 1, catalog.AcquireDuration.Sum(): 0,
	of(catalog.LeaseDuration): 15, of(catalog.LeaseOverruns): 0,
	of(catalog.FencingToken): 0, of(catalog.FencingTokenRegressions): 0,
}

// finished is a term of five seconds without a renewal or a body.
var finished = won.With(electtest.Series{catalog.ExecutionDuration.Count(): 1, catalog.ExecutionDuration.Sum(): 5})

var (
	conflict = apierrors.NewConflict(leases, "lock", errServer)
	// a release asks for the lease that is left
	used = electtest.Series{catalog.LeaseUsageRatio.Count(): 1, catalog.LeaseUsageRatio.Sum(): 5. / 15}

	givenBack = finished.With(used).With(electtest.Series{ended(catalog.Released): 1, releases(catalog.ReleaseOK): 1})
	failed    = finished.With(used).With(electtest.Series{ended(catalog.ReleaseFailed): 1, releases(catalog.ReleaseError): 1})
	notOwner  = finished.With(used).With(electtest.Series{ended(catalog.Lost): 1, releases(catalog.ReleaseNotOwner): 1})
	lost      = finished.With(electtest.Series{ended(catalog.Lost): 1})
)

func TestAReleaseCountsOnceByItsLastAnswer(t *testing.T) {
	toB := func(l *coordinationv1.Lease) { b := "b"; l.Spec.HolderIdentity = &b }
	for name, c := range map[string]struct {
		requests func(h *hand)
		want     electtest.Series
	}{
		"it succeeds":                           {func(h *hand) { h.get(); h.give() }, givenBack},
		"without a Get, as up to v0.33":         {func(h *hand) { h.give() }, givenBack},
		"it fails":                              {func(h *hand) { h.get(); h.fails("release", errServer); h.give() }, failed},
		"it times out":                          {func(h *hand) { h.get(); h.fails("release", context.DeadlineExceeded); h.give() }, failed},
		"the server refuses":                    {func(h *hand) { h.get(); h.fails("release", apierrors.NewTooManyRequests("later", 1)); h.give() }, failed},
		"the Get of it fails":                   {func(h *hand) { h.fails("get", errServer); h.get() }, failed},
		"the Get of it times out":               {func(h *hand) { h.fails("get", context.DeadlineExceeded); h.get() }, failed},
		"the Get of it shows another holder":    {func(h *hand) { h.cluster.edit(h.t, toB); h.get(); h.give() }, lost},
		"the Get of it finds no object":         {func(h *hand) { h.cluster.remove(h.t); h.get() }, lost},
		"a conflict, not repeated, as in v0.36": {func(h *hand) { h.get(); h.fails("release", conflict); h.give() }, failed},
		"a conflict, repeated": {func(h *hand) {
			h.get()
			h.fails("release", conflict)
			h.give()
			h.fails("release", nil)
			h.get()
			h.give()
		}, givenBack},
		"two conflicts": {func(h *hand) {
			h.get()
			h.fails("release", conflict)
			h.give()
			h.get()
			h.give()
			h.fails("release", nil)
			h.get()
			h.give()
		}, givenBack},
		"a conflict, and then it fails": {func(h *hand) {
			h.get()
			h.fails("release", conflict)
			h.give()
			h.get()
			h.fails("release", errServer)
			h.give()
		}, failed},
		"a conflict, and then the Get fails": {func(h *hand) {
			h.get()
			h.fails("release", conflict)
			h.give()
			h.fails("get", errServer)
			h.get()
		}, failed},
		"a conflict with another holder": {func(h *hand) {
			h.get()
			h.fails("release", conflict)
			h.give()
			h.cluster.edit(h.t, toB)
			h.get()
			h.fails("release", nil)
			h.give() // client-go gives the other's lease away
		}, notOwner},
		"a conflict with the deletion of the object": {func(h *hand) {
			h.get()
			h.fails("release", conflict)
			h.give()
			h.cluster.remove(h.t)
			h.get()
		}, notOwner},
	} {
		expect.Bubble(t, name, func(t *testing.T) {
			h := lead(t)
			time.Sleep(5 * time.Second)
			c.requests(h)
			h.lock.RecordEvent("stopped leading")
			h.whole("after the stop", c.want)
			time.Sleep(time.Minute)
			h.whole("a minute later", c.want)
		})
	}
}

func TestATermHasEndedBeforeTheServerIsToldOfTheRelease(t *testing.T) {
	expect.Bubble(t, "while the requests are made", func(t *testing.T) {
		h := lead(t)
		time.Sleep(5 * time.Second)
		h.get()
		told := 0
		h.cluster.fail("release", func(context.Context) error {
			told++
			h.whole("while the server is told", won)
			if told == 1 {
				return conflict
			}
			return nil
		})
		h.give()
		h.whole("before it is repeated", won)
		h.get()
		h.give()
		h.lock.RecordEvent("stopped leading")
		h.whole("afterwards", givenBack)
		if told != 2 {
			t.Errorf("told %d times", told)
		}
	})
}

func TestALockThatPanicsInAReleaseHasNotReleased(t *testing.T) {
	expect.Bubble(t, "and the panic passes", func(t *testing.T) {
		h := lead(t)
		time.Sleep(5 * time.Second)
		h.get()
		h.cluster.fail("release", func(context.Context) error { panic("of the lock") })
		func() {
			defer func() {
				if v := recover(); v != "of the lock" {
					t.Errorf("recovered %v", v)
				}
			}()
			h.give()
		}()
		h.whole("afterwards", failed)
	})
}

// A classifier of the program takes the conflict for a loss.
func TestAConflictIsNoLossWhateverAClassifierSays(t *testing.T) {
	contention := instrument.Classify(instrument.ClassifierFunc(
		func(err error) (instrument.Reason, bool) { return instrument.Contended, apierrors.IsConflict(err) }))
	expect.Bubble(t, "of a release and of a renewal", func(t *testing.T) {
		c := newCluster()
		r := c.replica(t, "a")
		r.m = expect.Middleware(t)
		r.election = r.m.Election(expect.Lock, append(options[:len(options):len(options)], contention)...)
		stop := r.run()
		time.Sleep(time.Second)
		c.fail("update", func(context.Context) error { return conflict })
		time.Sleep(retryPeriod)
		c.fail("update", nil)
		time.Sleep(retryPeriod)
		answers := 0
		c.fail("release", func(context.Context) error {
			if answers++; answers == 1 {
				return conflict
			}
			return nil
		})
		stop()
		ok := float64(answers - 1) // client-go up to v0.36 does not repeat it
		r.want(electtest.Series{
			renewals(catalog.RenewalError): 1, renewals(catalog.RenewalLost): 0, of(catalog.Active): 0, ended(catalog.Lost): 0,
			releases(catalog.ReleaseOK): ok, releases(catalog.ReleaseError): 1 - ok, releases(catalog.ReleaseNotOwner): 0,
			ended(catalog.Released): ok, ended(catalog.ReleaseFailed): 1 - ok,
		})
	})
}
