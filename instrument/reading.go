package instrument

import (
	"math"
	"slices"
	"time"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// reading is a copy of a series at one instant, with what time adds.
type reading struct {
	label   string
	created time.Time

	attempts    uint64
	acquired    uint64
	notAcquired [catalog.Reasons]uint64
	active      int
	running     int
	pending     int
	pendingAge  time.Duration

	workAfterLoss time.Duration
	ended         [catalog.EndCauses]uint64
	releases      [catalog.ReleaseResults]uint64
	renewalsSeen  bool
	uncommon

	acquire, execution, usage distribution

	headroom  float64 // NaN when no lease end is known
	expiry    float64 // Unix time
	lease     time.Duration
	leaseSeen bool
	overruns  uint64

	lastTermSec float64 // 0 never
	every       time.Duration
	maxLeaders  int
	token       uint64
	tokenKnown  bool

	uses []use
}

// use is how a handle uses the lock, the labels of leader_elector_info.
type use struct {
	mode            catalog.Mode
	backend, family string
}

// read copies the series; it reports false for one that is gone.
func (s *series) read(m *Middleware, r *reading) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.handles == nil {
		return false
	}
	now, wall := m.now(), m.wall()
	s.settle(now)
	uses := r.uses[:0]
	*r = reading{
		label: s.lockName(), created: time.Unix(0, s.created),
		acquired: s.acquired, notAcquired: s.notAcquired,
		running: int(s.running), workAfterLoss: s.workAfterLoss, ended: s.ended, releases: s.releases,
		acquire: s.acquire.copied(), execution: s.execution.copied(), usage: s.usage.copied(),
		leaseSeen: s.leaseSeen, overruns: s.overruns, lease: s.granted,
		token: s.token, tokenKnown: s.tokenKnown,
		uses: uses,
	}
	if x := s.uncommon; x != nil {
		r.uncommon = *x
		r.renewalDuration = x.renewalDuration.copied()
	}
	s.readAttempts(r, now)
	s.readTerms(r, now, wall)
	s.readHandles(r)
	if s.lastTerm != 0 && s.lastTermSec == 0 {
		s.lastTermSec = unix(wall.Add(s.lastTerm.sub(now)))
	}
	r.lastTermSec = s.lastTermSec
	return true
}

// readAttempts takes what is in flight. An attempt counts from its beginning,
// so those that ended and those in flight are all there were.
func (s *series) readAttempts(r *reading, now instant) {
	oldest := now
	for e := s.handles; e != nil; e = e.next {
		if start := e.flight.since(); start != 0 {
			r.pending++
			oldest = min(oldest, start)
		}
		for at := e.attempts.first; at != nil; at = at.next {
			r.pending++
			oldest = min(oldest, at.start)
		}
	}
	r.pendingAge = now.sub(oldest)
	r.attempts = r.acquired + uint64(r.pending)
	for _, n := range r.notAcquired {
		r.attempts += n
	}
}

// readTerms takes what depends on the open terms; of several the earliest
// lease end counts.
func (s *series) readTerms(r *reading, now instant, wall time.Time) {
	var first instant
	for e := s.handles; e != nil; e = e.next {
		for t := e.terms; t != nil; t = t.next {
			if t.active(now) {
				r.active++
			}
			if t.stoppedAt() == 0 && t.leaseEnd != 0 && (first == 0 || t.leaseEnd < first) {
				first = t.leaseEnd
			}
		}
	}
	r.headroom = math.NaN()
	if first != 0 {
		r.headroom = first.sub(now).Seconds()
		r.expiry = unix(wall.Add(first.sub(now)))
	}
}

// readHandles takes what handles declare; of several the longest lease and
// interval and the most leaders count, which judges the lock least harshly.
func (s *series) readHandles(r *reading) {
	var declared time.Duration
	for e := s.handles; e != nil; e = e.next {
		declared = max(declared, e.set.lease)
		r.every = max(r.every, e.set.every)
		r.maxLeaders = max(r.maxLeaders, e.set.maxLeaders)
		r.renewalsSeen = r.renewalsSeen || !e.set.hidden
		if !slices.Contains(r.uses, e.set.use) {
			r.uses = append(r.uses, e.set.use)
		}
	}
	if declared > 0 {
		r.lease = declared
	}
}

func unix(t time.Time) float64 { return float64(t.UnixNano()) / 1e9 }
