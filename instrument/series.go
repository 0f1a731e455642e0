package instrument

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// series is everything that one label counts, for all handles that share it.
// One mutex guards all of it: a reader sees attempts, outcomes and attempts
// in flight of one instant, and a cycle costs a few uncontended locks. No
// foreign code runs under it.
type series struct {
	label   string // of the policy; lockName is what is shown
	name    digest // of the name that came first
	shown   atomic.Pointer[string]
	created time.Time
	m       *Middleware

	mu        sync.Mutex
	handles   []*Election
	observers []Observer
	outbox    *outbox // what observers are to be told; nil until there is something

	attempts    uint64
	acquired    uint64
	notAcquired [catalog.Reasons]uint64
	pending     attemptList
	spare       *Attempt // attempts to use again, linked by next
	acquire     distribution

	running       int
	execution     distribution
	failures      [catalog.FailureCauses]uint64
	workAfterLoss time.Duration

	terms    termList
	ended    [catalog.EndCauses]uint64
	releases [catalog.ReleaseResults]uint64

	renewals        [catalog.RenewalResults]uint64
	renewalDuration distribution

	leaseSeen   bool
	granted     time.Duration // length of the last lease seen; 0 unknown
	usage       distribution
	overruns    uint64
	lastTerm    instant // when the last term was gained; 0 never
	lastTermSec float64 // its Unix time, fixed when it is first collected

	token       uint64
	tokenKnown  bool
	regressions uint64
}

// observe adds to one of the series' distributions and leaves the value for
// the observers. The caller holds mu.
func (s *series) observe(d *distribution, metric *catalog.Metric, v float64) {
	d.observe(metric, v)
	if s.observers != nil {
		s.outbox = s.outbox.with(metric, v)
	}
}

// unlock ends a critical section and hands what it measured to the observers,
// which are foreign code, with the context of the operation.
func (s *series) unlock(ctx context.Context) {
	if s.outbox == nil || s.outbox.n == 0 {
		s.mu.Unlock()
		return
	}
	box, observers := *s.outbox, s.observers
	*s.outbox = outbox{}
	s.mu.Unlock()
	box.deliver(ctx, s.m, observers)
}

// instant is a reading of the monotonic clock: nanoseconds since the
// middleware was made, plus one, so that zero means unknown.
type instant int64

func (i instant) sub(j instant) time.Duration { return time.Duration(i - j) }

// seconds is the time since j.
func (i instant) seconds(j instant) float64 { return float64(i-j) / 1e9 }

func (i instant) add(d time.Duration) instant { return i + instant(d) }

// attemptList holds attempts in flight, the oldest first.
type attemptList struct {
	first, last *Attempt
	len         int
}

func (l *attemptList) push(a *Attempt) {
	a.prev, a.next = l.last, nil
	if l.last != nil {
		l.last.next = a
	} else {
		l.first = a
	}
	l.last = a
	l.len++
}

func (l *attemptList) remove(a *Attempt) {
	if a.prev != nil {
		a.prev.next = a.next
	} else {
		l.first = a.next
	}
	if a.next != nil {
		a.next.prev = a.prev
	} else {
		l.last = a.prev
	}
	a.prev, a.next = nil, nil
	l.len--
}

// termList holds terms that are open or whose bodies still run.
type termList struct{ first *Term }

func (l *termList) push(t *Term) {
	t.prev, t.next, t.linked = nil, l.first, true
	if l.first != nil {
		l.first.prev = t
	}
	l.first = t
}

func (l *termList) remove(t *Term) {
	if !t.linked {
		return
	}
	if t.prev != nil {
		t.prev.next = t.next
	} else {
		l.first = t.next
	}
	if t.next != nil {
		t.next.prev = t.prev
	}
	t.prev, t.next, t.linked = nil, nil, false
}

// settle brings what grows by itself up to now: work after loss, overruns.
// The caller holds mu.
func (s *series) settle(now instant) {
	for t := s.terms.first; t != nil; t = t.next {
		t.settle(now)
	}
}
