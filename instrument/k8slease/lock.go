package k8slease

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/leaderscope/leaderscope/instrument"
)

var (
	// errConflict stands for a conflict of a renewal or a release. The object
	// has changed, which may be the holder's own request that was given up:
	// only the next Get tells whose the lease is.
	errConflict = errors.New("k8slease: the lease object has changed")
	// errGaveUp ends a term whose elector gave up.
	errGaveUp = errors.New("k8slease: lease was not renewed within the renew deadline")
	// errUndecided is what a request answers to the core while the slow path
	// has yet to decide: the two are one renewal.
	errUndecided = errors.ErrUnsupported
)

// lock sees what an elector asks of its resource lock. An elector is one
// goroutine; the mutex is for its callbacks, which are others.
type lock struct {
	resourcelock.Interface
	election    *instrument.Election
	coordinated bool
	callbacks   bool // tell when the elector stops

	mu      sync.Mutex
	attempt *instrument.Attempt // in flight
	term    *instrument.Term    // held
	lease   *lease              // of term
	open    *stoppable          // lease, with callbacks
	last    *instrument.Term    // the latest, held or not
	round   round

	seen   []byte // the record as it was last
	seenAt time.Time
}

// round is what is known of the renewal in progress and the one before it.
type round struct {
	tried   bool      // the optimistic Update failed
	got     bool      // Get showed the lease as ours, or as gone
	failing bool      // the latest renewal failed
	end     time.Time // from here on the elector gives up
}

// Get is the first request of an attempt, the second of a renewal whose
// optimistic Update failed, and the first of a release.
func (l *lock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	if t, held, r := l.held(ctx); t != nil {
		return l.verify(ctx, t, held, r)
	}
	at := l.begin(ctx)
	record, raw, err := l.Interface.Get(ctx)
	switch {
	case err == nil && l.contended(record, raw):
		l.end(at, instrument.ErrContended)
	case err != nil && !apierrors.IsNotFound(err):
		l.end(at, err)
	}
	return record, raw, err
}

// Create wins an election that nobody took part in before, or renews a lease
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
	t, held, r := l.held(ctx)
	ours := record.HolderIdentity == l.Identity()
	switch {
	case ours && t == nil:
		return l.win(ctx, record, write)
	case ours:
		return l.renew(ctx, t, held, r, record, write)
	case t == nil:
		return write(ctx, record)
	default:
		return l.release(ctx, t, record, write)
	}
}

func (l *lock) win(ctx context.Context, record resourcelock.LeaderElectionRecord, write writer) error {
	at := l.inFlight(ctx)
	asked := time.Now()
	err := write(ctx, record)
	if err != nil {
		l.end(at, attemptError(err))
		return err
	}
	held := newLease(asked, record)
	var won instrument.Lease = held
	var open *stoppable
	if l.callbacks {
		open = newStoppable(held)
		won = open
	}
	t := at.Won(won)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.attempt = nil
	l.term, l.last, l.lease, l.open, l.round = t, t, held, open, round{}
	return nil
}

// attemptError tells the core that a write which met another's is contention.
func attemptError(err error) error {
	if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("%w: %w", instrument.ErrContended, err)
	}
	return err
}

func (l *lock) renew(ctx context.Context, t *instrument.Term, held *lease, r round, record resourcelock.LeaderElectionRecord, write writer) error {
	var err error
	_ = t.Renew(withRequest(ctx, func(ctx context.Context) error {
		asked := held.asks(record)
		err = write(ctx, record)
		switch {
		case err == nil:
			held.extend(asked, record)
		case !r.got:
			return errUndecided
		}
		return renewalError(err)
	}))
	optimistic := !r.got
	l.decided(t, round{tried: err != nil && optimistic, failing: err != nil && (r.failing || !optimistic), end: r.end})
	return err
}

// verify is a Get while the lease is held. A release asks without having
// tried an Update: that it failed is no failed renewal.
func (l *lock) verify(ctx context.Context, t *instrument.Term, held *lease, r round) (record *resourcelock.LeaderElectionRecord, raw []byte, err error) {
	renewing := r.tried || l.coordinated || !time.Now().Before(held.Expiry())
	_ = t.Renew(withRequest(ctx, func(ctx context.Context) error {
		record, raw, err = l.Interface.Get(ctx)
		switch {
		case err == nil && record.HolderIdentity != l.Identity():
			return instrument.ErrSessionLost
		case err == nil, apierrors.IsNotFound(err), !renewing:
			return errUndecided
		}
		return renewalError(err)
	}))
	if err == nil && record.HolderIdentity != l.Identity() {
		l.lost(t)
		l.contended(record, raw) // remembers when it was seen
		return record, raw, err
	}
	got := err == nil || apierrors.IsNotFound(err)
	l.decided(t, round{got: got, failing: r.failing || !got && renewing, end: r.end})
	return record, raw, err
}

func renewalError(err error) error {
	if apierrors.IsConflict(err) {
		return errConflict
	}
	return err
}

// release ends the term before the server is told. client-go asks again after
// a conflict.
func (l *lock) release(ctx context.Context, t *instrument.Term, record resourcelock.LeaderElectionRecord, write writer) error {
	var err error
	_ = t.Release(withRequest(ctx, func(ctx context.Context) error {
		err = write(ctx, record)
		return renewalError(err)
	}))
	if err == nil {
		l.lost(t)
	}
	return err
}

// stop ends what is open when the elector has stopped, led or not.
func (l *lock) stop() {
	l.mu.Lock()
	at, t, open, r := l.attempt, l.term, l.open, l.round
	l.attempt, l.term = nil, nil
	l.mu.Unlock()
	if at != nil {
		at.NotAcquired(context.Canceled)
	}
	switch {
	case t == nil:
	case r.failing && !time.Now().Before(r.end):
		open.stop(errGaveUp)
	default:
		open.stop(context.Canceled)
	}
}

// held returns what is held, and notes until when the elector tries to renew;
// a release after it gave up has a deadline of its own.
func (l *lock) held(ctx context.Context) (*instrument.Term, *lease, round) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if end, ok := ctx.Deadline(); ok && !l.round.failing {
		l.round.end = end
	}
	return l.term, l.lease, l.round
}

// decided keeps what a request on the held term has shown.
func (l *lock) decided(t *instrument.Term, r round) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.term == t {
		l.round = r
	}
}

func (l *lock) lost(t *instrument.Term) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.term == t {
		l.term = nil
	}
}

func (l *lock) lastTerm() *instrument.Term {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last
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
