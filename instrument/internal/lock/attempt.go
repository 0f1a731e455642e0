package lock

import (
	"sync/atomic"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// Flight is a place for one attempt, which is mostly the only one in flight:
// the instant at which it began, 0 while there is none. Enter is atomic, so
// that an attempt begins without the mutex of its lock.
type Flight struct{ start atomic.Int64 }

// closed is the value of a flight that lets no attempt enter.
const closed = -1

// Enter reports whether the attempt has the place.
func (f *Flight) Enter(now Instant) bool { return now > 0 && f.start.CompareAndSwap(0, int64(now)) }

func (f *Flight) leave(start Instant) bool { return f.start.CompareAndSwap(int64(start), 0) }

func (f *Flight) since() Instant { return Instant(max(f.start.Load(), 0)) }

// shut lets no attempt enter any longer if there is none, and reports it.
func (f *Flight) shut() bool {
	return f.start.CompareAndSwap(0, closed) || f.start.Load() == closed
}

func (f *Flight) open() { f.start.CompareAndSwap(closed, 0) }

// Attempt is one attempt beside the Flight.
type Attempt struct {
	start      Instant
	prev, next *Attempt
	recorded   bool
}

// Start is when the attempt began.
func (a *Attempt) Start() Instant { return a.start }

// Begin starts an attempt beside the flight.
func (s *State) Begin(a *Attempt, now Instant) {
	a.start = now
	if a.recorded = !s.retired; !a.recorded {
		return
	}
	a.next = s.attempts
	if a.next != nil {
		a.next.prev = a
	}
	s.attempts = a
}

// finish takes an attempt out of flight and reports whether it was there. A
// nil attempt is the one in the Flight that began at start.
func (s *State) finish(a *Attempt, start, now Instant) bool {
	if a == nil {
		if !s.Flight.leave(start) {
			return false
		}
	} else {
		if !a.recorded {
			return false
		}
		start = a.start
		s.remove(a)
	}
	s.observe(&s.Acquire, catalog.AcquireDuration, now.Seconds(start))
	return true
}

func (s *State) remove(a *Attempt) {
	if a.prev != nil {
		a.prev.next = a.next
	} else {
		s.attempts = a.next
	}
	if a.next != nil {
		a.next.prev = a.prev
	}
	a.prev, a.next, a.recorded = nil, nil, false
}

// Fail ends an attempt that did not win.
func (s *State) Fail(a *Attempt, start, now Instant, reason catalog.Reason) {
	if s.finish(a, start, now) {
		s.countNotAcquired(reason)
	}
}

// Refused counts an attempt that began and failed at once: an observation that
// failed while no term was open.
func (s *State) Refused(reason catalog.Reason) {
	if s.retired {
		return
	}
	s.observe(&s.Acquire, catalog.AcquireDuration, 0)
	s.countNotAcquired(reason)
}
