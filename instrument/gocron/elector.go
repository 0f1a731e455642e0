package gocron

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/leaderscope/leaderscope/instrument"
)

// Elector passes the question for leadership through and observes the answer.
// It is a gocron.Elector.
type Elector struct {
	e           *instrument.Election
	isLeader    func(context.Context) error
	classifiers []instrument.Classifier
}

// NewElector observes the answers of next. By gocron's contract an error means
// that this instance does not run the job, so it means that this process does
// not lead, with three exceptions that leave the last state, because nothing
// could be seen: a caller that gave up, a plain network error, and an error
// that one of the classifiers calls a failed backend or unknown. Give the same
// classifiers to e by instrument.Classify.
//
// Nothing asks between jobs, so the state may be old; see
// instrument.Election.ObservedAge. There is no lease and no renewal: declare
// instrument.Hold and instrument.HiddenRenewals.
func NewElector(e *instrument.Election, next interface{ IsLeader(context.Context) error }, classifiers ...instrument.Classifier) *Elector {
	return &Elector{e, next.IsLeader, classifiers}
}

// IsLeader asks the wrapped elector and returns its answer untouched.
func (l *Elector) IsLeader(ctx context.Context) error {
	err := l.isLeader(ctx)
	switch {
	case err == nil:
		l.e.ObserveLeading(instrument.Leadership{})
	case l.saysNothing(ctx, err):
		l.e.ObserveUnknown(err)
	default:
		l.e.ObserveNotLeading(nil)
	}
	return err
}

func (l *Elector) saysNothing(ctx context.Context, err error) bool {
	if ctx != nil && ctx.Err() != nil {
		return true
	}
	if reason, ok := l.opinion(err); ok {
		return reason == instrument.BackendError || reason == instrument.Unknown
	}
	_, network := errors.AsType[net.Error](err)
	return network || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed)
}

// opinion is that of the first classifier that has one; one that panics has
// none.
func (l *Elector) opinion(err error) (reason instrument.Reason, ok bool) {
	defer func() {
		if recover() != nil {
			reason, ok = 0, false
		}
	}()
	for _, c := range l.classifiers {
		if c == nil {
			continue
		}
		if reason, ok = c.Classify(err); ok {
			return reason, true
		}
	}
	return 0, false
}

// Format writes the label of the lock for every verb.
func (l *Elector) Format(f fmt.State, verb rune) { l.e.Format(f, verb) }
