package k8slease

import (
	"context"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/leaderscope/leaderscope/instrument"
)

// ResourceLock is an observed resource lock; see Lock. It observes the calls of an
// elector. The methods of the resource lock are for the one goroutine of the
// elector; Work may be called from any goroutine.
type ResourceLock struct {
	inner       resourcelock.Interface
	election    *instrument.Election
	coordinated bool

	mu        sync.Mutex
	attempt   *instrument.Attempt // in flight
	held      *lease
	ending    *lease     // its term has ended, and a release of it may follow
	releasing *releasing // of ending, when its last answer may not have come
	last      *lease     // the latest, held or not
	works     []*work    // that run
	round     round
	seen      sighting
	campaign  campaigning
}

// round is what is known of the renewal in progress and the one before it: an
// optimistic Update and, when that failed, Get and Update.
type round struct {
	sent    time.Time // just before its first request
	tried   bool      // the optimistic Update failed
	got     bool      // Get showed the lease as ours, or as gone
	failing bool      // the latest renewal failed
	end     time.Time // from here on the elector gives up
}

func (r round) gaveUp() bool { return r.failing && !time.Now().Before(r.end) }

// Get is the first request of an attempt, the second of a renewal whose
// optimistic Update failed, and the first of a release.
func (l *ResourceLock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	held, ending, r := l.state(ctx)
	switch {
	case held != nil && l.renewing(held, r):
		return l.verify(ctx, held, r)
	case held != nil:
		l.giveUp(held, r)
		return l.getToRelease(ctx, held)
	case ending != nil:
		return l.getToRelease(ctx, ending)
	}
	at := l.begin(ctx)
	record, raw, err := l.readRecord(ctx)
	switch {
	case err == nil && l.contended(record, raw):
		l.end(at, instrument.ErrContended)
	case err != nil && !apierrors.IsNotFound(err):
		l.end(at, attemptError(err))
	}
	return record, raw, err
}

// renewing tells the Get of a renewal from that of a release, for which no
// Update is tried before. Past the lease end a renewal begins with Get, too.
func (l *ResourceLock) renewing(held *lease, r round) bool {
	return r.tried || l.coordinated || !time.Now().Before(held.expiry())
}

// Create wins an election without earlier participants, or renews a lease
// whose object was deleted.
func (l *ResourceLock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.write(ctx, record, l.inner.Create)
}

// Update wins, renews or, with an empty holder, releases.
func (l *ResourceLock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.write(ctx, record, l.inner.Update)
}

// RecordEvent passes the event on. client-go records one when its elector has
// stopped after it led, released or not.
func (l *ResourceLock) RecordEvent(event string) {
	if event == stoppedLeading {
		l.stop()
	}
	l.inner.RecordEvent(event)
}

// stoppedLeading is client-go's word.
const stoppedLeading = "stopped leading"

// Identity is that of the wrapped lock.
func (l *ResourceLock) Identity() string { return l.inner.Identity() }

// Describe is that of the wrapped lock.
func (l *ResourceLock) Describe() string { return l.inner.Describe() }

type writer func(context.Context, resourcelock.LeaderElectionRecord) error

func (l *ResourceLock) write(ctx context.Context, record resourcelock.LeaderElectionRecord, write writer) error {
	held, ending, r := l.state(ctx)
	ours := record.HolderIdentity == l.Identity()
	switch {
	case ours && held != nil:
		return l.renew(ctx, held, r, record, write)
	case ours:
		return l.win(ctx, record, write)
	case held != nil:
		l.giveUp(held, r)
		return l.release(ctx, held, record, write)
	case ending != nil:
		return l.release(ctx, ending, record, write)
	default:
		return write(ctx, record)
	}
}

// win makes the works that still run work of the new term: the elector has won
// the lease back within one Run.
func (l *ResourceLock) win(ctx context.Context, record resourcelock.LeaderElectionRecord, write writer) error {
	at := l.inFlight(ctx)
	asked := time.Now()
	if err := write(ctx, record); err != nil {
		l.end(at, attemptError(err))
		return err
	}
	won := win(at, asked, record)
	l.wrote(won, record)
	for _, running := range l.holds(won) {
		running.move(won.term)
	}
	return nil
}

func (l *ResourceLock) renew(ctx context.Context, held *lease, r round, record resourcelock.LeaderElectionRecord, write writer) error {
	if !r.got {
		r.sent = time.Now()
	}
	asked := held.asks(record)
	err := write(ctx, record)
	switch {
	case err == nil:
		held.extend(asked, record)
		l.decided(held, round{end: r.end})
		held.renewed(r.sent)
		l.wrote(held, record)
	case r.got:
		l.decided(held, round{failing: true, end: r.end})
		held.renewalFailed(r.sent, renewalError(err))
	default: // the slow path decides: the two are one renewal
		l.decided(held, round{sent: r.sent, tried: true, failing: r.failing, end: r.end})
	}
	return err
}

// verify is the Get of a renewal.
func (l *ResourceLock) verify(ctx context.Context, held *lease, r round) (*resourcelock.LeaderElectionRecord, []byte, error) {
	if !r.tried {
		r.sent = time.Now()
	}
	record, raw, err := l.readRecord(ctx)
	switch {
	case err == nil && record.HolderIdentity != l.Identity():
		l.gone(held)
		held.renewalFailed(r.sent, errTaken)
		held.lost(errTaken)
	case err == nil, apierrors.IsNotFound(err):
		l.decided(held, round{sent: r.sent, got: true, failing: r.failing, end: r.end})
	default:
		l.decided(held, round{failing: true, end: r.end})
		held.renewalFailed(r.sent, renewalError(err))
	}
	return record, raw, err
}

// giveUp ends the term of an elector that releases because it reached its renew
// deadline.
func (l *ResourceLock) giveUp(held *lease, r round) {
	if r.gaveUp() {
		held.lost(errGaveUp)
	}
}

// stop ends what is open when the elector has stopped, led or not.
func (l *ResourceLock) stop() {
	l.mu.Lock()
	at, held, releasing, r := l.attempt, l.held, l.releasing, l.round
	l.attempt, l.held, l.ending, l.releasing = nil, nil, nil, nil
	l.mu.Unlock()
	l.leave()
	if at != nil {
		at.NotAcquired(context.Canceled)
	}
	if releasing != nil {
		releasing.finish(renewalError(releasing.latest))
	}
	switch {
	case held == nil:
	case r.gaveUp():
		held.lost(errGaveUp)
	default:
		held.lost(context.Canceled)
	}
}
