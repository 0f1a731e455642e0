package k8slease

import (
	"context"
	"slices"
	"time"

	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/leaderscope/leaderscope/instrument"
)

// state returns what is held, and notes until when the elector tries to renew;
// a release after it gave up has a deadline of its own.
func (l *ResourceLock) state(ctx context.Context) (held, ending *lease, r round) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if end, ok := ctx.Deadline(); ok && !l.round.failing {
		l.round.end = end
	}
	return l.held, l.ending, l.round
}

// holds keeps a lease that was won, and returns the works that run.
func (l *ResourceLock) holds(won *lease) []*work {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.attempt, l.held, l.ending, l.last, l.round = nil, won, nil, won, round{}
	return slices.Clone(l.works)
}

// decided keeps what a request on the held lease has shown.
func (l *ResourceLock) decided(held *lease, r round) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held == held {
		l.round = r
	}
}

// ends notes that the term of the lease has ended, and that the elector may
// still release it.
func (l *ResourceLock) ends(held *lease) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held == held {
		l.held, l.ending = nil, held
	}
}

// gone notes that nothing is held.
func (l *ResourceLock) gone(held *lease) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held == held {
		l.held = nil
	}
	l.ending = nil
}

// begin starts an attempt. One that is still in flight found the lock held:
// nothing came of it.
func (l *ResourceLock) begin(ctx context.Context) *instrument.Attempt {
	at := l.election.Begin(ctx)
	l.mu.Lock()
	before := l.attempt
	l.attempt = at
	l.mu.Unlock()
	l.join(ctx)
	if before != nil {
		before.NotAcquired(instrument.ErrContended)
	}
	return at
}

// inFlight is the attempt that Get began, or another.
func (l *ResourceLock) inFlight(ctx context.Context) *instrument.Attempt {
	l.mu.Lock()
	at := l.attempt
	l.mu.Unlock()
	if at == nil {
		at = l.begin(ctx)
	}
	return at
}

func (l *ResourceLock) end(at *instrument.Attempt, err error) {
	at.NotAcquired(err)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.attempt == at {
		l.attempt = nil
	}
}

// contended reports whether the elector will leave the lock alone: another
// holds it, and has changed the record within the lease. That is client-go's
// own rule, which looks at no clock but its own.
func (l *ResourceLock) contended(record *resourcelock.LeaderElectionRecord, raw []byte) bool {
	if record.HolderIdentity == "" || record.HolderIdentity == l.Identity() {
		return false
	}
	return time.Now().Before(l.sighted(raw).Add(lengthOf(record)))
}
