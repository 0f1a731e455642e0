package instrument

import "context"

// LeaderRunnable is what a controller-runtime manager starts when it leads.
type LeaderRunnable struct {
	e     *Election
	start func(context.Context) error
}

// Runnable makes a manager's leadership observable from within: mgr.Add starts
// it when this process leads, and its context ends when the process stops
// leading. start is the guarded work; nil is none. Declare Hold and
// HiddenRenewals.
//
// It is coarse: no attempts that did not win, no lease end, no renewals, and
// lost and stopped look the same, as canceled. A manager without leader
// election starts it too. Package k8slease sees the rest.
func Runnable(e *Election, start func(context.Context) error) *LeaderRunnable {
	return &LeaderRunnable{e, start}
}

// NeedLeaderElection says that the work is the leader's.
func (*LeaderRunnable) NeedLeaderElection() bool { return true }

// Start runs the work and returns its error. The term lasts until ctx ends,
// also when the work is done before.
func (r *LeaderRunnable) Start(ctx context.Context) error {
	t := r.e.Begin(ctx).Won(NewLease(nil))
	ended := context.AfterFunc(ctx, func() { t.lost(context.Canceled) })
	if r.start == nil {
		<-ctx.Done()
		return nil
	}
	err := t.Work(ctx, func(ctx context.Context, _ *Term) error { return r.start(ctx) })
	if err != nil && ended() {
		t.lost(context.Canceled) // the manager stops on it
	}
	return err
}
