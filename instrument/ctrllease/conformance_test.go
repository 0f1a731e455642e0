package ctrllease

import (
	"context"
	"sync"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
)

func TestConformance(t *testing.T) {
	var servers sync.Map // by lock
	server := func(lock string) *apiServer {
		found, _ := servers.LoadOrStore(lock, newAPIServer())
		return found.(*apiServer)
	}
	electtest.CampaignConformance(t, electtest.CampaignSuite{
		Run: func(ctx context.Context, _ testing.TB, lock string, e *instrument.Election, work func(context.Context)) error {
			return campaign(ctx, server(lock), e, work)
		},
		Options: elections, Lease: shortLease, VirtualTime: true, Fenced: true, Works: true, GivesUp: true,
		Lose: func(t testing.TB, lock string) { server(lock).edit(t, name, toNobodyKnown) },
		Break: func(_ testing.TB, lock string) func() {
			server(lock).fail(silent)
			return func() { server(lock).fail(nil) }
		},
		Remaining: func(_ testing.TB, lock string) (time.Duration, bool) { return server(lock).remaining() },
	})
}

const shortLease = 4 * time.Second

// campaign starts another manager whenever one has ended, as a container does
// that is restarted.
func campaign(ctx context.Context, server *apiServer, e *instrument.Election, work func(context.Context)) error {
	for ctx.Err() == nil {
		o := options()
		o.LeaseDuration, o.RenewDeadline, o.RetryPeriod = d(shortLease), d(shortLease*3/4), d(shortLease/8)
		m, err := NewManager(server.config(), o, e)
		if err != nil {
			return err
		}
		if err := m.Add(manager.RunnableFunc(func(ctx context.Context) error { work(ctx); return nil })); err != nil {
			return err
		}
		lost := startUntil(ctx, m, e)
		if ctx.Err() == nil && lost != nil {
			time.Sleep(shortLease / 8)
		}
	}
	return nil
}

// startUntil starts the manager and stops it when ctx is done, but not between
// a loss and the end of the manager: in controller-runtime a stop and a loss
// are a data race.
func startUntil(ctx context.Context, m manager.Manager, e *instrument.Election) error {
	stoppable, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	defer context.AfterFunc(ctx, func() {
		for stoppable.Err() == nil && elected(m) && !e.Leading() {
			time.Sleep(shortLease / 100)
		}
		stop()
	})()
	return m.Start(stoppable)
}

func elected(m manager.Manager) bool {
	select {
	case <-m.Elected():
		return true
	default:
		return false
	}
}

// toNobodyKnown gives the lease to a holder that does not renew it.
func toNobodyKnown(l *coordinationv1.Lease) {
	holder, transitions := "nobody-known", *l.Spec.LeaseTransitions+1
	l.Spec.HolderIdentity, l.Spec.LeaseTransitions = &holder, &transitions
}

// remaining is how long the Lease keeps others out, and whether it does.
func (s *apiServer) remaining() (timeLeft time.Duration, held bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l, there := s.leases[name]
	if !there || *l.Spec.HolderIdentity == "" {
		return 0, false
	}
	timeLeft = time.Until(l.Spec.RenewTime.Add(time.Duration(*l.Spec.LeaseDurationSeconds) * time.Second))
	return timeLeft, timeLeft > 0
}
