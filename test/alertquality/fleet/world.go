package fleet

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// Epoch is the instant at which every world begins.
var Epoch = time.Unix(1_700_000_000, 0).UTC()

// World says what is simulated: one service with one lock. The same World
// gives the same History.
type World struct {
	// Seed decides everything that is left to chance.
	Seed uint64
	// Length is how long the world exists; nothing happens in its first half
	// hour and in its last hour.
	Length time.Duration
	// Replicas is how many the service should have.
	Replicas int
	// Lease is the length of the lease. Hidden: the library renews it unseen,
	// so that its end is not known.
	Lease  time.Duration
	Hidden bool
	// Waiting standbys campaign in one attempt until they win; others ask
	// again and again.
	Waiting bool
	// Every makes the lock one of a periodic job, which is taken for one run;
	// 0: it is campaigned for and held.
	Every time.Duration
	// Scrape is the time between samples of a target, each with a phase of its
	// own.
	Scrape time.Duration
	// Evaluation is the time between evaluations of rules; 0: that of the
	// scrapes. It changes nothing about the world.
	Evaluation time.Duration
	// Push: processes send their metrics to a collector, which hands out what
	// it has heard last for five minutes more. There is no up.
	Push bool
	// Witness: replicas export what they see of the backend's record.
	Witness bool
	// Pair: two servers scrape everything, each at its own time.
	Pair bool
	// ClockOffset is the most by which the clock of a replica is wrong.
	ClockOffset time.Duration
	// Stranger: a replica of the same job that knows no lock and crashes all
	// the time. Canary: a replica under another job that never leads.
	Stranger, Canary bool
	// Mix is what goes wrong, and how often.
	Mix Mix
}

func (w World) String() string {
	kind := "held"
	if w.Every > 0 {
		kind = "run every " + w.Every.String()
	}
	text := fmt.Sprintf("%d replicas, lease %s, %s, scrape %s, seed %d", w.Replicas, w.Lease, kind, w.Scrape, w.Seed)
	for _, is := range []struct {
		it   bool
		name string
	}{{w.Waiting, "waiting"}, {w.Hidden, "hidden ends"}, {w.Push, "pushed"}, {w.Witness, "witnesses"}, {w.Pair, "a pair of servers"}, {w.Stranger, "a stranger"}, {w.Canary, "a canary"}} {
		if is.it {
			text += ", " + is.name
		}
	}
	return text
}

// Labels that every series of a world has.
const (
	Job       = "a"
	CanaryJob = "a-canary"
	Lock      = "x"
)

// sim is a world while it runs.
type sim struct {
	World
	now       time.Duration
	queue     queue
	rand      *rand.Rand
	backend   *backend
	elsewhere *backend // of those that were cut off with a second one
	processes []*process
	started   int // names given
	targets   []*target
	servers   []*server
	keep      func(metric string) bool
	history   History
}

// Run simulates the world. Only series of metrics that keep accepts are
// stored; nil keeps all.
func (w World) Run(keep func(metric string) bool) (*History, error) {
	s := &sim{World: w, rand: rand.New(rand.NewPCG(w.Seed, 0x1eade2)), keep: keep}
	if keep == nil {
		s.keep = func(string) bool { return true }
	}
	s.backend, s.elsewhere = newBackend(s), newBackend(s)
	s.servers = []*server{{sim: s}}
	if w.Pair {
		s.servers = []*server{{sim: s, name: "p0"}, {sim: s, name: "p1"}}
	}
	for range w.Replicas {
		if _, err := s.start(""); err != nil {
			return nil, err
		}
	}
	if w.Canary {
		if err := s.startCanary(); err != nil {
			return nil, err
		}
	}
	if w.Stranger {
		s.startStranger()
	}
	s.observeBackend()
	s.plan()
	for {
		e, ok := s.queue.pop()
		if !ok || e.at > w.Length {
			break
		}
		s.now = e.at
		e.run()
	}
	s.now = w.Length
	for _, p := range s.processes {
		p.closeTruth(s.now)
	}
	s.history.finish(s)
	return &s.history, nil
}

// at has something done then.
func (s *sim) at(t time.Duration, run func()) { s.queue.push(event{at: t, run: run}) }

func (s *sim) after(d time.Duration, run func()) { s.at(s.now+d, run) }

// between is a duration from a range, all alike likely.
func (s *sim) between(from, to time.Duration) time.Duration {
	if to <= from {
		return from
	}
	return from + time.Duration(s.rand.Int64N(int64(to-from)))
}
