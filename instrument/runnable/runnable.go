// Package runnable makes the leadership of a controller-runtime manager
// observable from within, by what the manager starts when it leads. It imports
// no controller-runtime: a Runnable fits by its methods.
//
// It is coarse: no attempts that did not win, no lease end, no renewals, and a
// lost leadership looks like a stopped one. Package k8slease sees the rest.
package runnable

import (
	"context"
	"sync"

	"github.com/leaderscope/leaderscope/instrument"
)

// Leadership is that of one manager, shown by the work that it starts. It is
// safe for concurrent use.
type Leadership struct {
	e *instrument.Election

	mu       sync.Mutex
	term     *instrument.Term // nil while nothing has shown that the manager leads
	running  int
	stopping bool // the manager stops
}

// New observes the leadership of a manager. Declare instrument.Hold and
// instrument.HiddenRenewals. One election shows the leadership once: where
// another adapter does so already, such as k8slease.Lock, the work is started
// and not observed.
func New(e *instrument.Election) *Leadership { return &Leadership{e: e} }

// Runnable is what a controller-runtime manager starts when it leads.
type Runnable struct {
	leadership *Leadership
	start      func(context.Context) error
}

// Runnable makes work of the leader, for mgr.Add; nil is none. All of one
// Leadership belong to the same term.
//
// The manager ends the contexts of its work first and gives its lease up when
// the work has returned, so the term lasts until then: a drain is no work
// after loss. A manager without leader election starts the work as well.
func (l *Leadership) Runnable(start func(context.Context) error) *Runnable {
	return &Runnable{l, start}
}

// NeedLeaderElection says that the work is the leader's.
func (*Runnable) NeedLeaderElection() bool { return true }

// Start runs the work and returns its error. Work that is done early does not
// end the term: the manager leads on.
func (r *Runnable) Start(ctx context.Context) (err error) {
	l := r.leadership
	term := l.enter(ctx)
	failed := true // unless it returns
	defer func() { l.leave(failed || ctx.Err() != nil) }()
	switch {
	case r.start == nil:
		<-ctx.Done()
	case term == nil:
		err = r.start(ctx)
	default:
		err = term.Work(ctx, func(ctx context.Context, _ *instrument.Term) error { return r.start(ctx) })
	}
	failed = err != nil
	return err
}

// enter counts work in and returns the term, nil where another adapter shows
// the leadership.
func (l *Leadership) enter(ctx context.Context) *instrument.Term {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running++
	if l.term == nil && !l.e.Leading() {
		term := l.e.Begin(ctx).Won(instrument.NewLease(nil))
		l.term, l.stopping = term, false
		context.AfterFunc(ctx, func() { l.stop(term) })
	}
	return l.term
}

// leave counts work out. A manager stops on work that failed.
func (l *Leadership) leave(stopping bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running--
	l.stopping = l.stopping || stopping
	l.end()
}

// stop notes that the manager of that term stops.
func (l *Leadership) stop(term *instrument.Term) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.term == term {
		l.stopping = true
		l.end()
	}
}

// end ends the term once the manager stops and all work has returned. Whether
// the lease was given back is not known. The caller holds mu.
func (l *Leadership) end() {
	if l.term != nil && l.stopping && l.running == 0 {
		l.term.Sink().Lost(context.Canceled)
		l.term = nil
	}
}
