package k8slease

import (
	"context"
	"time"

	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/leaderscope/leaderscope/instrument"
)

// Instrument returns cfg with its lock and its callbacks wrapped, so that e
// reports the election; cfg itself is not changed, and its other fields are kept.
// It does not validate cfg: leaderelection.NewLeaderElector does. Use the result
// for one LeaderElector at a time. A nil e records nothing.
//
// The context of OnStartedLeading remains client-go's own. client-go continues
// to lead for up to RenewDeadline after it has read a record with another holder;
// work in that time is work after loss. If it wins the lease back before that, the
// same body is the work of the new term.
func Instrument(cfg leaderelection.LeaderElectionConfig, e *instrument.Election) leaderelection.LeaderElectionConfig {
	if cfg.Lock == nil {
		return cfg
	}
	l := Lock(cfg.Lock, e, RetryPeriod(cfg.RetryPeriod))
	l.coordinated = cfg.Coordinated
	cfg.Lock = l
	if started := cfg.Callbacks.OnStartedLeading; started != nil {
		cfg.Callbacks.OnStartedLeading = func(ctx context.Context) {
			_ = l.Work(ctx, func(ctx context.Context) error { started(ctx); return nil })
		}
	}
	if stopped := cfg.Callbacks.OnStoppedLeading; stopped != nil {
		cfg.Callbacks.OnStoppedLeading = func() {
			l.stop()
			stopped()
		}
	}
	return cfg
}

// Lock wraps a resource lock, which must not be nil, so that e reports the
// election of an elector with inaccessible callbacks: in a framework that creates
// the elector itself and accepts a resource lock. Use it for one LeaderElector at a
// time. A nil e records nothing.
//
// For controller-runtime use package ctrllease, which keeps the lock that the
// manager would have made.
func Lock(l resourcelock.Interface, e *instrument.Election, opts ...Option) *ResourceLock {
	wrapped := &ResourceLock{inner: l, election: e}
	RetryPeriod(defaultRetryPeriod)(wrapped)
	for _, o := range opts {
		if o != nil {
			o(wrapped)
		}
	}
	return wrapped
}

// Option configures a ResourceLock. Nil options are ignored.
type Option func(*ResourceLock)

// defaultRetryPeriod is that of Kubernetes components and of controller-runtime.
const defaultRetryPeriod = 2 * time.Second

// RetryPeriod is the elector's retry period, 2 s by default; 0 and less change
// nothing. A standby reads the lease once per period including jitter, which is
// the resolution of leader_backend_*.
func RetryPeriod(d time.Duration) Option {
	return func(l *ResourceLock) {
		if d > 0 {
			l.campaign.every = time.Duration(float64(d) * (1 + leaderelection.JitterFactor))
		}
	}
}

// Work runs body as work of the term that the elector holds or held last, and
// returns its error. Call it where the framework starts the work of the leader;
// Instrument does this itself. The body gets ctx, which does not end with the
// term, with the span of the work if there is one. If the elector wins the lease
// back while the body runs, the body is work of the new term from then on.
// Panics and runtime.Goexit pass through.
func (l *ResourceLock) Work(ctx context.Context, body func(context.Context) error) (err error) {
	if ctx == nil {
		ctx = context.Background()
	}
	w := &work{ctx: ctx}
	ctx = w.begin(l)
	returned := false
	defer func() { w.finish(l, returned, err) }()
	err = body(ctx)
	returned = true
	return err
}
