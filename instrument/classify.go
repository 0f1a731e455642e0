package instrument

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/internal/lock"
)

// Reason is why an attempt did not win; see the catalogue.
type Reason = catalog.Reason

// The reasons that a classifier may give.
const (
	Contended    = catalog.Contended
	AlreadyHeld  = catalog.AlreadyHeld
	SessionLost  = catalog.SessionLost
	BackendError = catalog.BackendError
	Unknown      = catalog.UnknownReason
	// ContendedUnlessDone is Contended while the caller's context is open, and the
	// end of that context otherwise. It is for libraries that return their error
	// for a held lock also to a caller whose context has ended.
	ContendedUnlessDone Reason = 1<<7 | catalog.Contended
)

// Classifier returns the reason of a library's error; ok is false if it does not
// know the error. Contended and SessionLost have precedence over the caller's
// context, and the other reasons do not: libraries often report a cancelled
// caller as a failed backend, and never as a competitor.
//
// For the error of a renewal or a release, Contended and SessionLost mean that
// the lock is no longer held by this process. An error that is or wraps the end
// of a context never has that meaning: a deadline is not a loss.
//
// It must be safe for concurrent use. A Classifier that panics counts as one that
// returns ok false.
type Classifier interface {
	Classify(err error) (reason Reason, ok bool)
}

// ClassifierFunc is a function that is a Classifier.
type ClassifierFunc func(err error) (reason Reason, ok bool)

// Classify calls f.
func (f ClassifierFunc) Classify(err error) (reason Reason, ok bool) { return f(err) }

// opinion asks the acquirer, the election's classifiers and the sentinels.
func (e *Election) opinion(own Classifier, err error) (reason Reason, ok bool) {
	if own != nil {
		if reason, ok = e.ask(own, err); ok {
			return reason, true
		}
	}
	for _, c := range e.set.classifiers {
		if reason, ok = e.ask(c, err); ok {
			return reason, true
		}
	}
	defer e.m.contain(func() { reason, ok = 0, false })
	return sentinelReason(err)
}

// ask asks one classifier; an answer outside of the closed set is none.
func (e *Election) ask(c Classifier, err error) (reason Reason, ok bool) {
	defer e.m.contain(func() { reason, ok = 0, false })
	reason, ok = c.Classify(err)
	return reason, ok && (int(reason) < catalog.Reasons || reason == ContendedUnlessDone)
}

// reasonFor classifies a failed attempt: contention, then the caller's
// context, then what else the library said, else a failed backend for a plain
// network error, and unknown for every undeclared error. An error that is
// itself a context error tells nothing once the caller's context is done.
func (e *Election) reasonFor(ctx context.Context, a Acquirer, err error) Reason {
	own, _ := a.(Classifier)
	reason, ok := e.opinion(own, err)
	done := contextErr(ctx)
	if ok && (reason == Contended || reason == SessionLost) && (done == nil || e.contextError(err) == nil) {
		return reason
	}
	switch {
	case done == context.DeadlineExceeded:
		return catalog.TimedOut
	case done != nil:
		return catalog.CanceledAttempt
	case ok:
		return reason &^ (ContendedUnlessDone &^ Contended)
	case e.isNetwork(err):
		return BackendError
	}
	e.noticeUnknown(err)
	return Unknown
}

// gone reports whether an error of a renewal or release says that the lock is
// no longer ours. A deadline is no evidence of that, even if a classifier
// says so. done is the end of the caller's context.
func (e *Election) gone(own Classifier, err, done error) bool {
	if e.contextError(err) != nil {
		return e.isSentinel(err)
	}
	reason, ok := e.opinion(own, err)
	return ok && (reason == Contended || reason == SessionLost || reason == ContendedUnlessDone && done == nil)
}

// isSentinel reports errors that say by a sentinel of this package that the
// lock is gone.
func (e *Election) isSentinel(err error) bool {
	return e.is(err, ErrContended) || e.is(err, ErrSessionLost) || e.is(err, ErrLost)
}

// lossBy says what the cause of a loss shows.
func (e *Election) lossBy(own Classifier, cause error) lock.Loss {
	switch {
	case cause == nil:
		return lock.Reported
	case e.is(cause, ErrGaveUp):
		return lock.GaveUp
	case e.contextError(cause) == context.Canceled && e.isSentinel(cause):
		return lock.StoppedAndGone
	case e.contextError(cause) == context.Canceled:
		return lock.Stopped
	case e.gone(own, cause, nil):
		return lock.Gone
	default:
		return lock.Reported
	}
}

// renewalResult classifies a renewal. canceled is what the caller's context
// says; where the library renews by itself, what its own error says of one.
func (e *Election) renewalResult(own Classifier, err, canceled error) catalog.RenewalResult {
	if err == nil {
		return catalog.RenewalOK
	}
	if e.gone(own, err, canceled) {
		return catalog.RenewalLost
	}
	if canceled == nil {
		canceled = e.contextError(err)
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

// contextErr is the end of the caller's context, which may be nil. A connection
// that was given the deadline of the context can notice it first.
func contextErr(ctx context.Context) error {
	if ctx == nil {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if end, ok := ctx.Deadline(); ok && !time.Now().Before(end) {
		return context.DeadlineExceeded
	}
	return nil
}

// contextError is the end of a context that the error is or wraps.
func (e *Election) contextError(err error) error {
	for _, c := range []error{context.DeadlineExceeded, context.Canceled} {
		if e.is(err, c) {
			return c
		}
	}
	return nil
}

// sentinelReason is the last classifier of every election.
func sentinelReason(err error) (Reason, bool) {
	switch {
	case errors.Is(err, ErrContended):
		return Contended, true
	case errors.Is(err, ErrSessionLost), errors.Is(err, ErrLost):
		return SessionLost, true
	case errors.Is(err, ErrAlreadyHeld):
		return AlreadyHeld, true
	case errors.Is(err, ErrBackend):
		return BackendError, true
	case errors.Is(err, ErrUnknown), errors.Is(err, ErrNoLease):
		return Unknown, true
	default:
		return 0, false
	}
}

// noticeUnknown logs, once for each election, that an error is not declared.
// Its text stays out, since it may carry the name of the lock.
func (e *Election) noticeUnknown(err error) {
	if !e.say(saidUnknown) {
		return
	}
	e.m.notice("an attempt failed with an error that no classifier recognises, so its reason is unknown; classify it with instrument.Classify, or wrap one of the sentinels such as instrument.ErrContended or instrument.ErrBackend",
		e.labelAttr(), typeAttr(err))
}

// innermost is the error at the bottom of a chain of single wraps.
func innermost(err error) error {
	for {
		next := errors.Unwrap(err)
		if next == nil {
			return err
		}
		err = next
	}
}

func typeName(err error) (name string) {
	defer func() {
		if recover() != nil {
			name = fmt.Sprintf("%T", err)
		}
	}()
	return fmt.Sprintf("%T", innermost(err))
}
