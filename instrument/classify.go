package instrument

import (
	"context"
	"errors"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// Reason says why an attempt did not win; see the catalogue.
type Reason = catalog.Reason

// The reasons that a classifier may give.
const (
	Contended    = catalog.Contended
	AlreadyHeld  = catalog.AlreadyHeld
	SessionLost  = catalog.SessionLost
	BackendError = catalog.BackendError
	Unknown      = catalog.UnknownReason
)

// Sentinels that an adapter may return or wrap, so that no classifier is
// needed.
var (
	// ErrContended: somebody else holds the lock. From Renew it means that
	// the lock is lost, from Release that it was not ours any more.
	ErrContended = errors.New("leaderscope: lock is held by another")
	// ErrAlreadyHeld: this caller holds the lock already.
	ErrAlreadyHeld = errors.New("leaderscope: lock is already held by this caller")
	// ErrSessionLost: the session behind the attempt or the lease has ended.
	ErrSessionLost = errors.New("leaderscope: session has ended")
	// ErrUnknown: the elector cannot tell why it did not win.
	ErrUnknown = errors.New("leaderscope: elector did not win and cannot say why")
)

// Errors of this package.
var (
	// ErrNoLease: the acquirer returned neither a lease nor an error.
	ErrNoLease = errors.New("leaderscope: acquirer returned neither a lease nor an error")
	// ErrLost is the cause of a term's context when the lock was lost.
	ErrLost = errors.New("leaderscope: term lost")
	// ErrReleased is the cause of a term's context when it was given back.
	ErrReleased = errors.New("leaderscope: term released")
)

// Classifier names the reason of a library's error; ok is false when it has
// no opinion. Contended and SessionLost are believed ahead of the caller's
// context, the others after it: libraries that report a cancelled caller as a
// failed backend are common, libraries that invent a competitor are not.
// Given the error of a renewal or a release, Contended and SessionLost mean
// that the lock is not ours any more.
type Classifier func(error) (reason Reason, ok bool)

// ContendedIs takes these errors, wrapped or not, for contention.
func ContendedIs(targets ...error) Classifier { return reasonIs(Contended, targets) }

// AlreadyHeldIs takes these errors, wrapped or not, for a lock that the
// caller holds already.
func AlreadyHeldIs(targets ...error) Classifier { return reasonIs(AlreadyHeld, targets) }

// SessionLostIs takes these errors, wrapped or not, for an ended session.
func SessionLostIs(targets ...error) Classifier { return reasonIs(SessionLost, targets) }

// ContendedAs takes every error of type E, wrapped or not, for contention:
// ContendedAs[*redsync.ErrTaken]().
func ContendedAs[E error]() Classifier {
	return func(err error) (Reason, bool) {
		_, ok := errors.AsType[E](err)
		return Contended, ok
	}
}

// afterContext marks a reason that is believed only while the caller's context
// is alive. It is no value of the closed set and never leaves this file.
const afterContext Reason = 1 << 7

// AfterContext lets the caller's context decide ahead of c's contention, for
// libraries that answer a cancelled caller with their error for a held lock.
func AfterContext(c Classifier) Classifier {
	return func(err error) (Reason, bool) {
		reason, ok := c(err)
		return reason | afterContext, ok
	}
}

func reasonIs(reason Reason, targets []error) Classifier {
	return func(err error) (Reason, bool) {
		for _, target := range targets {
			if errors.Is(err, target) {
				return reason, true
			}
		}
		return 0, false
	}
}

// sentinelReason is the last classifier of every election.
func sentinelReason(err error) (Reason, bool) {
	switch {
	case errors.Is(err, ErrContended):
		return Contended, true
	case errors.Is(err, ErrSessionLost):
		return SessionLost, true
	case errors.Is(err, ErrAlreadyHeld):
		return AlreadyHeld, true
	case errors.Is(err, ErrUnknown), errors.Is(err, ErrNoLease):
		return Unknown, true
	default:
		return 0, false
	}
}

// errorClassifier is an acquirer that tells its own errors apart.
type errorClassifier interface {
	Classify(error) (Reason, bool)
}

// opinion asks the acquirer, the election's classifiers and the sentinels. A
// classifier that panics has no opinion.
func (e *Election) opinion(c errorClassifier, err error) (reason Reason, ok bool) {
	defer e.m.contain(func() { reason, ok = 0, false })
	if c != nil {
		if reason, ok = c.Classify(err); ok && valid(reason) {
			return reason, true
		}
	}
	for _, classify := range e.set.classifiers {
		if reason, ok = classify(err); ok && valid(reason) {
			return reason, true
		}
	}
	return sentinelReason(err)
}

func valid(r Reason) bool { return int(r&^afterContext) < catalog.Reasons }

// reasonFor classifies a failed attempt: contention, then the caller's
// context, then what else the library said, else the backend. An error that
// is itself a context error tells nothing once the caller's context is done.
func (e *Election) reasonFor(ctx context.Context, a Acquirer, err error) Reason {
	own, _ := a.(errorClassifier)
	reason, ok := e.opinion(own, err)
	done := ctx.Err()
	if ok && (reason == Contended || reason == SessionLost) && (done == nil || e.contextError(err) == nil) {
		return reason
	}
	switch done {
	case nil:
	case context.DeadlineExceeded:
		return catalog.TimedOut
	default:
		return catalog.CanceledAttempt
	}
	if ok {
		return reason &^ afterContext
	}
	return BackendError
}

// gone reports whether an error of a renewal or release says that the lock is
// not ours any more.
func (e *Election) gone(own errorClassifier, err error) bool {
	reason, ok := e.opinion(own, err)
	reason &^= afterContext
	return ok && (reason == Contended || reason == SessionLost)
}

// renewalResult classifies a renewal. canceled is what the caller's context
// says; where the library renews by itself, what its own error says of one.
func (e *Election) renewalResult(own errorClassifier, err, canceled error) catalog.RenewalResult {
	if err == nil {
		return catalog.RenewalOK
	}
	if e.gone(own, err) {
		return catalog.RenewalLost
	}
	switch canceled {
	case nil:
		return catalog.RenewalError
	case context.DeadlineExceeded:
		return catalog.RenewalTimeout
	default:
		return catalog.RenewalCanceled
	}
}

func (e *Election) contextError(err error) (cause error) {
	defer e.m.contain(func() { cause = nil })
	for _, c := range []error{context.DeadlineExceeded, context.Canceled} {
		if errors.Is(err, c) {
			return c
		}
	}
	return nil
}
