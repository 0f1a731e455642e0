package k8slease

import (
	"bytes"
	"context"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/leaderscope/leaderscope/instrument"
)

// lock sees what an elector asks of its resource lock. An elector is one
// goroutine; the mutex is for its callbacks, which are others.
type lock struct {
	resourcelock.Interface
	election    *instrument.Election
	coordinated bool

	mu      sync.Mutex
	attempt *instrument.Attempt // in flight
	held    *lease
	ending  *lease // its term has ended, and a release of it may follow
	last    *lease // the latest, held or not
	work    *work  // that client-go started last
	round   round

	seen   []byte // the record as it was last
	seenAt time.Time
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
func (l *lock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	switch held, ending, r := l.state(ctx); {
	case held != nil:
		return l.verify(ctx, held, r)
	case ending != nil:
		return l.getAgain(ctx)
	}
	at := l.begin(ctx)
	record, raw, err := l.Interface.Get(ctx)
	switch {
	case err == nil && l.contended(record, raw):
		l.end(at, instrument.ErrContended)
	case err != nil && !apierrors.IsNotFound(err):
		l.end(at, attemptError(err))
	}
	return record, raw, err
}

// Create wins an election without earlier participants, or renews a lease
// whose object was deleted.
func (l *lock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.write(ctx, record, l.Interface.Create)
}

// Update wins, renews or, with an empty holder, releases.
func (l *lock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.write(ctx, record, l.Interface.Update)
}

type writer func(context.Context, resourcelock.LeaderElectionRecord) error

func (l *lock) write(ctx context.Context, record resourcelock.LeaderElectionRecord, write writer) error {
	held, ending, r := l.state(ctx)
	ours := record.HolderIdentity == l.Identity()
	switch {
	case ours && held != nil:
		return l.renew(ctx, held, r, record, write)
	case ours:
		return l.win(ctx, record, write)
	case held != nil:
		return l.release(ctx, held, record, write)
	case ending != nil:
		return l.release(ctx, ending, record, write)
	default:
		return write(ctx, record)
	}
}

// win makes a work that still runs work of the new term: the elector has won
// the lease back within one Run.
func (l *lock) win(ctx context.Context, record resourcelock.LeaderElectionRecord, write writer) error {
	at := l.inFlight(ctx)
	asked := time.Now()
	if err := write(ctx, record); err != nil {
		l.end(at, attemptError(err))
		return err
	}
	won := win(at, asked, record)
	l.mu.Lock()
	l.attempt, l.held, l.ending, l.last, l.round = nil, won, nil, won, round{}
	running := l.work
	l.mu.Unlock()
	if running != nil {
		running.move(won.term)
	}
	return nil
}

func (l *lock) renew(ctx context.Context, held *lease, r round, record resourcelock.LeaderElectionRecord, write writer) error {
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
	case r.got:
		l.decided(held, round{failing: true, end: r.end})
		held.renewalFailed(r.sent, renewalError(err))
	default: // the slow path decides: the two are one renewal
		l.decided(held, round{sent: r.sent, tried: true, failing: r.failing, end: r.end})
	}
	return err
}

// verify is a Get while the lease is held. A release asks without having
// tried an Update: that it failed is no failed renewal.
func (l *lock) verify(ctx context.Context, held *lease, r round) (*resourcelock.LeaderElectionRecord, []byte, error) {
	renewing := r.tried || l.coordinated || !time.Now().Before(held.expiry())
	if !r.tried {
		r.sent = time.Now()
	}
	if !renewing && r.gaveUp() {
		l.ends(held)
		held.lost(errGaveUp)
	}
	record, raw, err := l.Interface.Get(ctx)
	switch {
	case err == nil && record.HolderIdentity != l.Identity():
		l.gone(held)
		if renewing {
			held.renewalFailed(r.sent, errTaken)
		}
		held.lost(errTaken)
		l.contended(record, raw) // remembers when it was seen
	case err == nil, apierrors.IsNotFound(err):
		l.decided(held, round{sent: r.sent, got: true, failing: r.failing, end: r.end})
	case renewing:
		l.decided(held, round{failing: true, end: r.end})
		held.renewalFailed(r.sent, renewalError(err))
	}
	return record, raw, err
}

// getAgain is a Get after a release that met a conflict, or the first of an
// elector that follows one whose stop was not seen.
func (l *lock) getAgain(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	record, raw, err := l.Interface.Get(ctx)
	if err == nil && record.HolderIdentity != l.Identity() {
		l.gone(nil)
		l.contended(record, raw)
	}
	return record, raw, err
}

// release ends the term before the server is told. client-go asks again after
// a conflict.
func (l *lock) release(ctx context.Context, held *lease, record resourcelock.LeaderElectionRecord, write writer) error {
	var err error
	held.giveBack = func(ctx context.Context) error {
		err = write(ctx, record)
		return renewalError(err)
	}
	l.ends(held)
	_ = held.term.Release(ctx)
	if err == nil {
		l.gone(held)
	}
	return err
}

// stop ends what is open when the elector has stopped, led or not.
func (l *lock) stop() {
	l.mu.Lock()
	at, held, r := l.attempt, l.held, l.round
	l.attempt, l.held, l.ending = nil, nil, nil
	l.mu.Unlock()
	if at != nil {
		at.NotAcquired(context.Canceled)
	}
	switch {
	case held == nil:
	case r.gaveUp():
		held.lost(errGaveUp)
	default:
		held.lost(context.Canceled)
	}
}

// state returns what is held, and notes until when the elector tries to renew;
// a release after it gave up has a deadline of its own.
func (l *lock) state(ctx context.Context) (held, ending *lease, r round) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if end, ok := ctx.Deadline(); ok && !l.round.failing {
		l.round.end = end
	}
	return l.held, l.ending, l.round
}

// decided keeps what a request on the held lease has shown.
func (l *lock) decided(held *lease, r round) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held == held {
		l.round = r
	}
}

// ends notes that the term of the lease has ended, and that the elector may
// still give it back.
func (l *lock) ends(held *lease) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held == held {
		l.held, l.ending = nil, held
	}
}

// gone notes that nothing is held; nil is what is ending.
func (l *lock) gone(held *lease) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held == held {
		l.held = nil
	}
	l.ending = nil
}

// begins keeps the body that client-go has started, for the next term of the
// same Run, and returns the term that it belongs to.
func (l *lock) begins(w *work) *instrument.Term {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last == nil {
		return nil
	}
	l.work = w
	return l.last.term
}

// begin starts an attempt. One that is still in flight found the lock held:
// nothing came of it.
func (l *lock) begin(ctx context.Context) *instrument.Attempt {
	at := l.election.Begin(ctx)
	l.mu.Lock()
	before := l.attempt
	l.attempt = at
	l.mu.Unlock()
	if before != nil {
		before.NotAcquired(instrument.ErrContended)
	}
	return at
}

// inFlight is the attempt that Get began, or another.
func (l *lock) inFlight(ctx context.Context) *instrument.Attempt {
	l.mu.Lock()
	at := l.attempt
	l.mu.Unlock()
	if at == nil {
		at = l.begin(ctx)
	}
	return at
}

func (l *lock) end(at *instrument.Attempt, err error) {
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
func (l *lock) contended(record *resourcelock.LeaderElectionRecord, raw []byte) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if !bytes.Equal(raw, l.seen) {
		l.seen, l.seenAt = raw, now
	}
	if record.HolderIdentity == "" || record.HolderIdentity == l.Identity() {
		return false
	}
	return now.Before(l.seenAt.Add(time.Duration(record.LeaseDurationSeconds) * time.Second))
}
