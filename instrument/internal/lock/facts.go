package lock

import "time"

// Facts are what is known of one lock, or of several under one label, at an
// instant.
type Facts struct {
	Totals
	Active, Running, Pending int
	// PendingAge is the age of the oldest attempt in flight; 0 without one.
	PendingAge time.Duration
	// Left is the time to the earliest end of an open term under which work may
	// continue, negative once it has passed, if LeftKnown.
	Left      time.Duration
	LeftKnown bool
	// Expiry is the earliest end of an open term in seconds of Unix time; 0
	// unknown.
	Expiry float64
	// LeaseSeen says that a lease length or end was declared or seen.
	LeaseSeen bool
	// Lease is the length of the lease, granted or declared, the longest of
	// several; 0 unknown.
	Lease time.Duration
	// LastWon and LastEnded are Unix times in seconds; 0 never.
	LastWon, LastEnded float64
	// Token is the last fencing token if Fenced.
	Token  uint64
	Fenced bool
	// Guarding is the store's side.
	Guarding Guarding
}

// Moment is an instant on both clocks.
type Moment struct {
	Now  Instant
	Wall time.Time
}

// Unix is an instant in seconds of Unix time.
func (m Moment) Unix(at Instant) float64 {
	return float64(m.Wall.Add(at.Sub(m.Now)).UnixNano()) / 1e9
}

// AddTo adds what is known of this process's campaign for the lock. Settle comes
// first.
func (s *State) AddTo(f *Facts, m Moment) {
	f.Totals.Add(&s.Totals)
	f.Running += int(s.running)
	s.addAttempts(f, m.Now)
	ended := s.addTerms(f, m)
	f.LeaseSeen = f.LeaseSeen || s.leaseSeen || s.Params.Lease > 0
	f.Lease = max(f.Lease, s.length())
	f.LastWon = max(f.LastWon, s.lastWon.in(m))
	f.LastEnded = max(f.LastEnded, ended, s.lastEnded.in(m))
	if s.fenced {
		f.Token, f.Fenced = s.token, true
	}
}

// length is that of the lease: a granted one is known better than a declared.
func (s *State) length() time.Duration {
	if s.granted > 0 {
		return s.granted
	}
	return s.Params.Lease
}

func (s *State) addAttempts(f *Facts, now Instant) {
	add := func(start Instant) {
		f.Pending++
		f.PendingAge = max(f.PendingAge, now.Sub(start))
	}
	if start := s.Flight.since(); start != 0 {
		add(start)
	}
	for a := s.attempts; a != nil; a = a.next {
		add(a.start)
	}
}

// addTerms returns the latest end of a lease that has passed, 0 without one:
// a term that is still open ended with it as far as others can know.
func (s *State) addTerms(f *Facts, m Moment) (ended float64) {
	for t := s.terms; t != nil; t = t.next {
		if t.ended || t.Stopped() != 0 {
			continue
		}
		end := s.End(t)
		if end != 0 {
			remaining := end.Sub(m.Now)
			if (!f.LeftKnown || remaining < f.Left) && !s.idles(t) {
				f.Left, f.LeftKnown = remaining, true
			}
			if unix := m.Unix(end); f.Expiry == 0 || unix < f.Expiry {
				f.Expiry = unix
			}
		}
		if s.Active(t, m.Now) {
			f.Active++
		} else {
			ended = max(ended, m.Unix(end))
		}
	}
	return ended
}

// idles reports a lock that is left to its lease on purpose, and nothing works
// under it: how near the end is does not matter then.
func (s *State) idles(t *Term) bool { return s.Params.KeepUntilExpiry && t.Bodies() == 0 }

func (s *stamp) in(m Moment) float64 {
	if s.at != 0 && s.unix == 0 {
		s.unix = m.Unix(s.at)
	}
	return s.unix
}

// ActiveEnd reports whether a term of the lock is active, and the earliest end
// of those that are; 0 when unknown.
func (s *State) ActiveEnd(now Instant) (active bool, end Instant) {
	for t := s.terms; t != nil; t = t.next {
		if !s.Active(t, now) {
			continue
		}
		active = true
		if e := s.End(t); e != 0 && (end == 0 || e < end) {
			end = e
		}
	}
	return active, end
}
