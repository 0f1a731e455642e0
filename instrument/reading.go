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

	failures      [catalog.FailureCauses]uint64
	workAfterLoss time.Duration
	ended         [catalog.EndCauses]uint64
	releases      [catalog.ReleaseResults]uint64
	renewalsSeen  bool
	renewals      [catalog.RenewalResults]uint64

	acquire, execution, renewalDuration, usage distribution

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
	regressions uint64

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
	if len(s.handles) == 0 {
		return false
	}
	now, wall := m.now(), m.wall()
	s.settle(now)
	uses := r.uses[:0]
	*r = reading{
		label: s.lockName(), created: s.created,
		attempts: s.attempts, acquired: s.acquired, notAcquired: s.notAcquired,
		running: s.running, pending: s.pending.len,
		failures: s.failures, workAfterLoss: s.workAfterLoss,
		ended: s.ended, releases: s.releases, renewals: s.renewals,
		acquire: s.acquire.copied(), execution: s.execution.copied(), renewalDuration: s.renewalDuration.copied(), usage: s.usage.copied(),
		leaseSeen: s.leaseSeen, overruns: s.overruns, lease: s.granted,
		token: s.token, tokenKnown: s.tokenKnown, regressions: s.regressions,
		uses: uses,
	}
	if oldest := s.pending.first; oldest != nil {
		r.pendingAge = now.sub(oldest.start)
	}
	s.readTerms(r, now, wall)
	s.readHandles(r)
	if s.lastTerm != 0 && s.lastTermSec == 0 {
		s.lastTermSec = unix(wall.Add(s.lastTerm.sub(now)))
	}
	r.lastTermSec = s.lastTermSec
	return true
}

// readTerms takes what depends on the open terms; of several the earliest
// lease end counts.
func (s *series) readTerms(r *reading, now instant, wall time.Time) {
	var first instant
	for t := s.terms.first; t != nil; t = t.next {
		if t.active(now) {
			r.active++
		}
		if t.stoppedAt() != 0 || t.leaseEnd == 0 {
			continue
		}
		if first == 0 || t.leaseEnd < first {
			first = t.leaseEnd
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
	for _, e := range s.handles {
		declared = max(declared, e.lease)
		r.every = max(r.every, e.every)
		r.maxLeaders = max(r.maxLeaders, e.maxLeaders)
		r.renewalsSeen = r.renewalsSeen || !e.hidden
		if u := (use{e.mode, e.backend, e.family}); !slices.Contains(r.uses, u) {
			r.uses = append(r.uses, u)
		}
	}
	if declared > 0 {
		r.lease = declared
	}
}

func unix(t time.Time) float64 { return float64(t.UnixNano()) / 1e9 }
