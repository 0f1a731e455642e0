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

// Outcome is what a look saw. The zero Outcome saw nothing worth recording, and
// changes nothing.
type Outcome struct {
	record func(*instrument.Election)
}

// Leading says that this process leads; see instrument.Election.ObserveLeading.
// Another machine's clock is not ours, so the end of a lease is best told by a
// duration that is left, added to an instant before the look.
func Leading(l instrument.Leadership) Outcome {
	return Outcome{func(e *instrument.Election) { e.ObserveLeading(l) }}
}

// NotLeading says that this process does not lead, and why a term that is open
// ended; see instrument.Election.ObserveNotLeading.
func NotLeading(cause error) Outcome {
	return Outcome{func(e *instrument.Election) { e.ObserveNotLeading(cause) }}
}

// Unknown says that the look failed; the last state stays. See
// instrument.Election.ObserveUnknown. A nil error changes nothing.
func Unknown(err error) Outcome {
	return Outcome{func(e *instrument.Election) { e.ObserveUnknown(err) }}
}

// Poll looks at once and then at that interval, until ctx is done, and records
// what it saw. A look that takes longer than the interval has its context
// cut short.
//
// A nil election has nothing looked at. After Poll the last state stays; Forget
// the election if it is over. Poll
// returns nil when ctx is done, and at once an error for arguments that make
// no sense.
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
