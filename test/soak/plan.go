package main

import (
	"math/rand/v2"
	"strings"
	"time"
)

// kind is a way to break something.
type kind string

const (
	suspend   kind = "suspended (SIGSTOP)"
	kill      kind = "killed and restarted (SIGKILL)"
	stop      kind = "stopped gracefully and restarted"
	blackhole kind = "connection silent both ways"
	oneWay    kind = "answers lost, requests arrive"
	reset     kind = "connections reset and refused"
	delay     kind = "connection delayed"
	restart   kind = "backend restarted"
	remove    kind = "record deleted by an operator"
	// none is time that no fault explains.
	none kind = "no fault"
)

// kinds is every way to break something.
var kinds = []kind{suspend, kill, stop, blackhole, oneWay, reset, delay, restart, remove}

// shared reports whether a fault concerns the backend and not one candidate.
func (k kind) shared() bool { return k == restart || k == remove }

// unanswered reports whether a fault keeps answers from the candidate, so that
// it cannot know that its lease was renewed.
func (k kind) unanswered() bool {
	switch k {
	case suspend, blackhole, oneWay, reset, delay, restart:
		return true
	}
	return false
}

// fault is one thing that breaks.
type fault struct {
	Kind kind
	// After is the time since the end of the fault before.
	After time.Duration
	// For is how long it lasts; of a kill or a stop, how long until the restart.
	For time.Duration
	// Leader says that it hits who leads then, if anyone does; else Candidate.
	Leader    bool
	Candidate int
}

// some are the kinds whose names contain a word.
func some(word string) (all []kind) {
	for _, k := range kinds {
		if strings.Contains(string(k), word) {
			all = append(all, k)
		}
	}
	return all
}

// plan makes the faults of a run: every kind of those once, in an order by
// chance, then every kind again. The same seed makes the same plan. The kinds
// are at least one.
func plan(seed uint64, length, lease time.Duration, candidates int, of []kind) (all []fault) {
	r := rand.New(rand.NewPCG(seed, 21))
	between := func(from, to time.Duration) time.Duration { return from + time.Duration(r.Int64N(int64(to-from))) }
	at := time.Duration(0)
	for {
		for _, i := range r.Perm(len(of)) {
			f := fault{Kind: of[i], After: between(lease/4, lease), Leader: r.IntN(10) < 8, Candidate: r.IntN(candidates)}
			switch f.Kind {
			case suspend:
				f.For = between(lease/5, 3*lease)
			case remove:
			case kill, stop:
				f.For = between(lease/10, lease)
			case restart:
				f.For = between(lease/10, lease/2)
			default:
				f.For = between(lease/5, 2*lease)
			}
			// What a fault does may show for a lease after it.
			if at += f.After + f.For; at > length-2*lease {
				return all
			}
			all = append(all, f)
		}
	}
}
