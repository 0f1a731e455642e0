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
	created int64 // Unix time in nanoseconds
	m       *Middleware

	mu      sync.Mutex
	handles *Election // linked by next
	watched *watched  // nil without observers

	acquired    uint64
	notAcquired [catalog.Reasons]uint64
	acquire     distribution

	running       int32
	leaseSeen     bool
	tokenKnown    bool
	execution     distribution
	workAfterLoss time.Duration

	ended    [catalog.EndCauses]uint64
	releases [catalog.ReleaseResults]uint64

	granted     time.Duration // length of the last lease seen; 0 unknown
	usage       distribution
	overruns    uint64
	lastTerm    instant // when the last term was gained; 0 never
	lastTermSec float64 // its Unix time, fixed when it is first collected

	token    uint64
	uncommon *uncommon // nil until needed
}

// uncommon is what most labels never count; apart, it keeps them small.
type uncommon struct {
	renewals        [catalog.RenewalResults]uint64
	renewalDuration distribution
	failures        [catalog.FailureCauses]uint64
	regressions     uint64
}

// seldom returns what is uncommon, to be added to. The caller holds mu.
func (s *series) seldom() *uncommon {
	if s.uncommon == nil {
		s.uncommon = &uncommon{}
	}
	return s.uncommon
}

// drop removes a handle. The caller holds mu.
func (s *series) drop(e *Election) {
	at := &s.handles
	for *at != e {
		at = &(*at).next
	}
	*at, e.next = e.next, nil
}

// observe adds to one of the series' distributions and leaves the value for
// the observers. The caller holds mu.
func (s *series) observe(d *distribution, metric *catalog.Metric, v float64) {
	d.observe(metric, v)
	if s.watched != nil {
		s.watched.add(metric, v)
	}
}

// unlock ends a critical section and hands what it measured to the observers,
// which are foreign code, with the context of the operation.
func (s *series) unlock(ctx context.Context) {
	if s.watched == nil || s.watched.n == 0 {
		s.mu.Unlock()
		return
	}
	box := s.watched.take()
	s.mu.Unlock()
	box.deliver(ctx, s.m)
}

// instant is a reading of the monotonic clock: nanoseconds since the
// middleware was made, plus one, so that zero means unknown.
type instant int64

func (i instant) sub(j instant) time.Duration { return time.Duration(i - j) }

// seconds is the time since j.
func (i instant) seconds(j instant) float64 { return float64(i-j) / 1e9 }

func (i instant) add(d time.Duration) instant { return i + instant(d) }

// attemptList holds attempts.
type attemptList struct{ first *Attempt }

func (l *attemptList) push(a *Attempt) {
	a.next = l.first
	if l.first != nil {
		l.first.prev = a
	}
	l.first = a
}

func (l *attemptList) remove(a *Attempt) {
	if a.prev != nil {
		a.prev.next = a.next
	} else {
		l.first = a.next
	}
	if a.next != nil {
		a.next.prev = a.prev
	}
	a.prev, a.next = nil, nil
}

// settle brings what grows by itself up to now: work after loss, overruns.
// The caller holds mu.
func (s *series) settle(now instant) {
	for e := s.handles; e != nil; e = e.next {
		for t := e.terms; t != nil; t = t.next {
			t.settle(now)
		}
	}
}
