package k8slease

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/client-go/tools/leaderelection"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
)

// The record counts whole seconds.
const shortLease = 2 * time.Second

func TestConformance(t *testing.T) {
	for name, wrap := range wraps {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := clusters{}
			electtest.CampaignConformance(t, electtest.CampaignSuite{
				Run: func(ctx context.Context, _ testing.TB, lock string, e *instrument.Election, work func(context.Context)) error {
					return campaign(ctx, all.of(lock), work, func(cfg leaderelection.LeaderElectionConfig) leaderelection.LeaderElectionConfig {
						return wrap(cfg, e)
					})
				},
				Options: []instrument.ElectionOption{instrument.Hold(), instrument.Backend("kubernetes")},
				Lease:   shortLease, Fenced: true, Works: name == "the whole configuration",
				Lose: func(t testing.TB, lock string) { all.of(lock).edit(t, toNobodyKnown) },
			})
		})
	}
}

// toNobodyKnown gives the lease to a holder that does not renew it.
func toNobodyKnown(l *coordinationv1.Lease) {
	holder, transitions := "nobody-known", *l.Spec.LeaseTransitions+1
	l.Spec.HolderIdentity, l.Spec.LeaseTransitions = &holder, &transitions
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
