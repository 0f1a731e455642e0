package k8slease

import (
	"context"
	"errors"
	"sync"
	"time"

	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/leaderscope/leaderscope/instrument"
)

// lease is one won term of an elector that renews and releases by itself: the
// core's Renew and Release carry out the request that the elector is making.
type lease struct {
	token uint64

	mu     sync.Mutex
	end    time.Time
	second int64     // of the RenewTime written last
	first  time.Time // when the first write of that second was sent
}

func newLease(asked time.Time, record resourcelock.LeaderElectionRecord) *lease {
	l := &lease{token: uint64(max(record.LeaderTransitions, 0))}
	l.second, l.first = record.RenewTime.Unix(), asked
	l.extend(asked, record)
	return l
}

// asks is the instant from which the others may count the lease once this
// record is written. They tell records apart by the whole second of their
// RenewTime, so a second renewal within a second, or one whose answer was
// lost, does not make them wait longer.
func (l *lease) asks(record resourcelock.LeaderElectionRecord) time.Time {
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if second := record.RenewTime.Unix(); second != l.second {
		l.second, l.first = second, now
	}
	return l.first
}

func (l *lease) extend(asked time.Time, record resourcelock.LeaderElectionRecord) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.end = asked.Add(time.Duration(record.LeaseDurationSeconds) * time.Second)
}

// Expiry is the instant just before the last good request, or before the first
// of its second, plus the length that the record tells the others.
func (l *lease) Expiry() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.end
}

func (l *lease) FencingToken() (uint64, bool) { return l.token, true }

func (l *lease) Renew(ctx context.Context) error { return requested(ctx) }

func (l *lease) Release(ctx context.Context) error { return requested(ctx) }

// stoppable is a lease of an elector whose stop is known.
type stoppable struct {
	*lease
	stopped chan error    // why the elector stopped
	watched chan struct{} // closed when nobody listens any more
}

func newStoppable(l *lease) *stoppable {
	return &stoppable{lease: l, stopped: make(chan error), watched: make(chan struct{})}
}

// Watch waits for the elector's stop.
func (l *stoppable) Watch(ctx context.Context, s instrument.Sink) {
	defer close(l.watched)
	select {
	case cause := <-l.stopped:
		s.Lost(cause)
	case <-ctx.Done():
	}
}

// stop ends the term and returns when it has ended.
func (l *stoppable) stop(cause error) {
	select {
	case l.stopped <- cause:
		<-l.watched
	case <-l.watched:
	}
}

// request is what an elector asks of the server, on its way through the core.
type request func(context.Context) error

type requestKey struct{}

func withRequest(ctx context.Context, r request) context.Context {
	return context.WithValue(ctx, requestKey{}, r)
}

func requested(ctx context.Context) error {
	r, ok := ctx.Value(requestKey{}).(request)
	if !ok {
		return errors.ErrUnsupported
	}
	return r(ctx)
}
