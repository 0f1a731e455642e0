package k8slease

import (
	"context"

	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/leaderscope/leaderscope/instrument"
)

// Instrument returns cfg with its lock and its callbacks wrapped, so that e
// shows the election; cfg itself is not changed. What is missing from cfg
// stays missing: leaderelection.NewLeaderElector says so. Use the result for
// one LeaderElector at a time.
//
// The context of OnStartedLeading stays client-go's own. client-go goes on
// leading for up to RenewDeadline after it has seen another holder; the work
// done in that time is work after loss. When it wins the lease back by then,
// the same body is the work of the new term.
func Instrument(cfg leaderelection.LeaderElectionConfig, e *instrument.Election) leaderelection.LeaderElectionConfig {
	if cfg.Lock == nil {
		return cfg
	}
	l := &lock{Interface: cfg.Lock, election: e, coordinated: cfg.Coordinated}
	cfg.Lock = l
	if started := cfg.Callbacks.OnStartedLeading; started != nil {
		cfg.Callbacks.OnStartedLeading = l.started(started)
	}
	if stopped := cfg.Callbacks.OnStoppedLeading; stopped != nil {
		cfg.Callbacks.OnStoppedLeading = func() {
			l.stop()
			stopped()
		}
	}
	return cfg
}

// Lock wraps a resource lock alone, so that e shows the election of which the
// callbacks are out of reach. A term then ends when the lock is released or
// seen in another's hands. That the elector stopped shows when it releases
// (ReleaseOnCancel), and otherwise as a lease that runs out. Use it for one
// LeaderElector at a time.
func Lock(l resourcelock.Interface, e *instrument.Election) resourcelock.Interface {
	return &lock{Interface: l, election: e}
}

// started runs the callback as work of the term. client-go starts it in a
// goroutine, so the term may have ended before.
func (l *lock) started(body func(context.Context)) func(context.Context) {
	return func(ctx context.Context) {
		(&work{ctx: ctx}).do(l, body)
	}
}
