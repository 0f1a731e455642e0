package lock

import "github.com/leaderscope/leaderscope/instrument/catalog"

// guard is the store's side of the lock: what was checked against its tokens.
// It has nothing to do with this process's own terms.
type guard struct {
	checks  [catalog.FencingResults]uint64
	highest uint64
	seen    bool // there was a token
}

// Guarding is the store's side of one lock, or of several under one label.
type Guarding struct {
	// Guards says that a store in this process checks tokens.
	Guards bool
	Checks [catalog.FencingResults]uint64
	// Highest is the highest token that was seen, if Seen.
	Highest uint64
	Seen    bool
}

// Guard notes that a store in this process checks the tokens of the lock.
func (s *State) Guard() { s.guarding() }

// guarding returns the guard, to be added to; nil when nothing is recorded.
func (s *State) guarding() *guard {
	if s.retired {
		return nil
	}
	seen := s.observing()
	if seen.guard == nil {
		seen.guard = &guard{}
	}
	return seen.guard
}

// Check is one check of a write's token.
type Check struct {
	Result catalog.FencingResult
	// Highest is the highest token that the guard has seen, if Seen.
	Highest uint64
	Seen    bool
}

// Checked counts one check.
func (s *State) Checked(c Check) {
	g := s.guarding()
	if g == nil {
		return
	}
	g.checks[c.Result]++
	if c.Seen {
		g.highest, g.seen = max(g.highest, c.Highest), true
	}
}

// AddGuarding adds what the guards of the lock counted, whether or not this
// process campaigns.
func (s *State) AddGuarding(f *Guarding) {
	if s.observation == nil || s.observation.guard == nil {
		return
	}
	g := s.observation.guard
	f.Add(&Guarding{Guards: true, Checks: g.checks, Highest: g.highest, Seen: g.seen})
}

// drainGuard leaves none of what the guards counted.
func (s *State) drainGuard() {
	if s.observation != nil && s.observation.guard != nil {
		s.observation.guard.checks = [catalog.FencingResults]uint64{}
	}
}

// Add adds the store's side of another lock.
func (f *Guarding) Add(o *Guarding) {
	f.Guards, f.Seen = f.Guards || o.Guards, f.Seen || o.Seen
	f.Highest = max(f.Highest, o.Highest)
	add(f.Checks[:], o.Checks[:])
}
