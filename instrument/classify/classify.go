// Package classify maps the errors of a library to reasons, for
// instrument.Classify:
//
//	instrument.Classify(classify.First(classify.ContendedIs(lockd.ErrLocked), classify.SessionLostIs(lockd.ErrNotHeld)))
//
// A function for a known library takes the library's own sentinels and error
// types, so that this package imports none of them. The others build a classifier
// for any other library.
//
// How the caller's context changes a reason is decided in package instrument: see
// instrument.Classifier.
package classify

import (
	"errors"

	"github.com/leaderscope/leaderscope/instrument"
)

// Is returns that reason for errors that are or wrap one of the targets, by
// errors.Is.
func Is(reason instrument.Reason, targets ...error) instrument.Classifier {
	return instrument.ClassifierFunc(func(err error) (instrument.Reason, bool) {
		for _, target := range targets {
			if target != nil && errors.Is(err, target) {
				return reason, true
			}
		}
		return 0, false
	})
}

// As returns that reason for errors that are or wrap an E, by errors.As. If a
// library returns a pointer, E is the pointer type.
func As[E error](reason instrument.Reason) instrument.Classifier {
	return instrument.ClassifierFunc(func(err error) (instrument.Reason, bool) {
		_, is := errors.AsType[E](err)
		return reason, is
	})
}

// ContendedIs is for errors of a lock that another holder has.
func ContendedIs(targets ...error) instrument.Classifier { return Is(instrument.Contended, targets...) }

// ContendedAs is for an error type of a lock that another holder has.
func ContendedAs[E error]() instrument.Classifier { return As[E](instrument.Contended) }

// AlreadyHeldIs is for errors of a lock that this caller already holds.
func AlreadyHeldIs(targets ...error) instrument.Classifier {
	return Is(instrument.AlreadyHeld, targets...)
}

// SessionLostIs is for errors of a lock that is no longer held, or of a session
// that has ended.
func SessionLostIs(targets ...error) instrument.Classifier {
	return Is(instrument.SessionLost, targets...)
}

// BackendErrorIs is for errors of a backend that failed. Plain network errors
// need no classifier.
func BackendErrorIs(targets ...error) instrument.Classifier {
	return Is(instrument.BackendError, targets...)
}

// First calls the classifiers in turn; the first that returns ok decides. Nil
// classifiers are ignored.
func First(classifiers ...instrument.Classifier) instrument.Classifier {
	return instrument.ClassifierFunc(func(err error) (instrument.Reason, bool) {
		for _, c := range classifiers {
			if c == nil {
				continue
			}
			if reason, ok := c.Classify(err); ok {
				return reason, true
			}
		}
		return 0, false
	})
}
