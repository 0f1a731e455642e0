package k8slease

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/leaderelection"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
)

// The record counts whole seconds.
const shortLease = 2 * time.Second

func TestConformance(t *testing.T) {
	for name, wrap := range wraps {
		t.Run(name, func(t *testing.T) {
			all := clusters{}
			electtest.CampaignConformance(t, electtest.CampaignSuite{
				Run: func(ctx context.Context, _ testing.TB, lock string, e *instrument.Election, work func(context.Context)) error {
					return campaign(ctx, all.of(lock), work, func(cfg leaderelection.LeaderElectionConfig) leaderelection.LeaderElectionConfig {
						return wrap(cfg, e)
					})
				},
				Options: options,
				Lease:   shortLease, VirtualTime: true, Fenced: true, Works: true, GivesUp: true,
				Lose: func(t testing.TB, lock string) { all.of(lock).edit(t, toNobodyKnown) },
				Break: func(_ testing.TB, lock string) func() {
					all.of(lock).failAll(down)
					return func() { all.of(lock).failAll(nil) }
				},
				Remaining: func(t testing.TB, lock string) (time.Duration, bool) { return all.of(lock).remaining(t) },
			})
		})
	}
}

// toNobodyKnown gives the lease to a holder that does not renew it.
func toNobodyKnown(l *coordinationv1.Lease) {
	holder, transitions := "nobody-known", *l.Spec.LeaseTransitions+1
	l.Spec.HolderIdentity, l.Spec.LeaseTransitions = &holder, &transitions
}

// remaining is how long the Lease keeps others out, and whether it does.
func (c *cluster) remaining(t testing.TB) (timeLeft time.Duration, held bool) {
	t.Helper()
	l, err := c.clients.Tracker().Get(coordinationv1.SchemeGroupVersion.WithResource("leases"), "ns", "lock")
	if apierrors.IsNotFound(err) {
		return 0, false
	}
	if err != nil {
		t.Fatal(err)
	}
	spec := l.(*coordinationv1.Lease).Spec
	if *spec.HolderIdentity == "" {
		return 0, false
	}
	timeLeft = time.Until(spec.RenewTime.Add(time.Duration(*spec.LeaseDurationSeconds) * time.Second))
	return timeLeft, timeLeft > 0
}

// clusters has one for each lock of the suite.
type clusters struct{ m sync.Map }

func (c *clusters) of(lock string) *cluster {
	found, ok := c.m.Load(lock)
	if !ok {
		found, _ = c.m.LoadOrStore(lock, newCluster())
	}
	return found.(*cluster)
}

var identities atomic.Int64

// campaign starts another elector whenever one has stopped.
func campaign(ctx context.Context, c *cluster, work func(context.Context), wrap func(leaderelection.LeaderElectionConfig) leaderelection.LeaderElectionConfig) error {
	lock := c.lock(fmt.Sprint("replica-", identities.Add(1)))
	for ctx.Err() == nil {
		elector, err := leaderelection.NewLeaderElector(wrap(leaderelection.LeaderElectionConfig{
			Lock: lock, ReleaseOnCancel: true,
			LeaseDuration: shortLease, RenewDeadline: shortLease * 3 / 4, RetryPeriod: shortLease / 8,
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: work,
				OnStoppedLeading: func() {},
			},
		}))
		if err != nil {
			return err
		}
		elector.Run(ctx)
	}
	return nil
}
