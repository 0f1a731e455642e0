// Package poll makes an elector observable that cannot be wrapped, by polling it.
//
//	err := poll.Poll(ctx, election, 2*time.Second, read)
//
// How the elector is polled does not belong here: package riverlead does it for
// River.
package poll

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
)

// Outcome is the result of a poll. The zero Outcome changes nothing.
type Outcome struct {
	record func(*instrument.Election)
}

// Leading reports that this process leads; see instrument.Election.ObserveLeading.
// Clocks of machines differ: compute the end of a lease from the remaining
// duration, added to an instant before the poll.
func Leading(l instrument.Leadership) Outcome {
	return Outcome{func(e *instrument.Election) { e.ObserveLeading(l) }}
}

// NotLeading reports that this process does not lead, and the cause of the end of
// an open term; see instrument.Election.ObserveNotLeading.
func NotLeading(cause error) Outcome {
	return Outcome{func(e *instrument.Election) { e.ObserveNotLeading(cause) }}
}

// Unknown reports that the poll failed; the last state remains. See
// instrument.Election.ObserveUnknown. A nil error changes nothing.
func Unknown(err error) Outcome {
	return Outcome{func(e *instrument.Election) { e.ObserveUnknown(err) }}
}

// Poll calls read at once and then at that interval, until ctx is done, and
// records the outcome. The interval is also the timeout of read's context.
//
// With a nil election read is not called. After Poll the last state remains; call
// Forget on the election if it has ended. Poll returns nil when ctx is done, and
// an error at once for invalid arguments.
func Poll(ctx context.Context, e *instrument.Election, every time.Duration, read func(context.Context) Outcome) error {
	switch {
	case every <= 0:
		return fmt.Errorf("leaderscope: poll: the interval is %v: pass more than 0", every)
	case read == nil:
		return errors.New("leaderscope: poll: the poll function is nil: pass one that returns an Outcome")
	}
	if ctx == nil {
		ctx = context.Background()
	}
	if e == nil { // nothing would be recorded
		<-ctx.Done()
	}
	tick := time.Tick(every)
	for ctx.Err() == nil {
		lookOnce(ctx, e, every, read)
		select {
		case <-ctx.Done():
		case <-tick:
		}
	}
	return nil
}

func lookOnce(ctx context.Context, e *instrument.Election, within time.Duration, read func(context.Context) Outcome) {
	looking, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	seen := read(looking)
	if seen.record != nil && ctx.Err() == nil { // an outcome of a stop is none
		seen.record(e)
	}
}
