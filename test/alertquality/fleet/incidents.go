package fleet

import (
	"math"
	"time"
)

// Kind is a kind of incident.
type Kind string

// The kinds of incidents.
const (
	Outage        Kind = "the backend is down"
	OutageOfOne   Kind = "one replica cannot reach the backend"
	SlowBackend   Kind = "the backend is slow"
	Crash         Kind = "the leader crashes and restarts in place"
	DeathKept     Kind = "the leader's node dies, its target stays"
	DeathDropped  Kind = "the leader's node dies, its target goes"
	StuckKept     Kind = "the leader's node dies, no replica can take over, its target stays"
	StuckDropped  Kind = "the leader's node dies, no replica can take over, its target goes"
	Rollout       Kind = "rolling restart under new names"
	Scale         Kind = "a replica is added and taken away"
	Drain         Kind = "the leader is drained"
	Pause         Kind = "the leader is stopped and continued"
	Hang          Kind = "a renewal of the leader hangs"
	SecondBackend Kind = "a standby leads on a second backend"
	LostKey       Kind = "the record is lost and the leader does not notice"
	LoseStandby   Kind = "a standby is not scraped"
	LoseLeader    Kind = "the leader is not scraped"
	Restart       Kind = "Prometheus restarts"
)

// Mix is how many incidents of each kind a week has on average.
type Mix map[Kind]float64

// Calm is a week in which nothing is wrong: a rollout a day, one failover,
// scrapes that fail.
func Calm() Mix {
	return Mix{Rollout: 7, Crash: 0.5, DeathDropped: 0.5, LoseStandby: 3, LoseLeader: 3, Restart: 1, Drain: 1, Scale: 1}
}

// Stress has about eight incidents a day.
func Stress() Mix {
	return Mix{
		Outage: 8, OutageOfOne: 3, SlowBackend: 2, Crash: 4, DeathKept: 2, DeathDropped: 2, StuckKept: 3, StuckDropped: 3,
		Rollout: 5, Scale: 2, Drain: 3, Pause: 3, Hang: 2, SecondBackend: 7, LostKey: 4, LoseStandby: 2, LoseLeader: 2, Restart: 2,
	}
}

// length draws how long an incident lasts.
func (s *sim) length(k Kind) time.Duration {
	switch k {
	case Outage:
		return s.skewed(30*time.Second, time.Hour)
	case OutageOfOne:
		return s.skewed(30*time.Second, 30*time.Minute)
	case SlowBackend:
		return s.between(time.Minute, 20*time.Minute)
	case Crash:
		return s.between(5*time.Second, time.Minute)
	case DeathKept, DeathDropped:
		return s.between(time.Minute, 5*time.Minute)
	case StuckKept, StuckDropped:
		return s.Lease + s.skewed(30*time.Second, time.Hour)
	case Scale:
		return s.between(10*time.Minute, time.Hour)
	case Drain:
		return s.between(5*time.Second, time.Minute)
	case Pause:
		return s.between(20*time.Second, 90*time.Second)
	case Hang:
		return s.between(s.Lease*3/2, s.Lease*6)
	case SecondBackend:
		return s.skewed(2*time.Second, time.Hour)
	case LostKey:
		return s.skewed(2*time.Second, 10*time.Minute)
	case LoseStandby, LoseLeader:
		return s.between(time.Minute, 15*time.Minute)
	case Restart:
		return s.between(time.Minute, 4*time.Minute)
	default:
		return 0
	}
}

// skewed draws so that all orders of magnitude are alike likely.
func (s *sim) skewed(from, to time.Duration) time.Duration {
	return time.Duration(float64(from) * math.Pow(float64(to)/float64(from), s.rand.Float64()))
}

const (
	quiet    = 15 * time.Minute // between the end of an incident and the next
	warmUp   = 30 * time.Minute
	coolDown = time.Hour
	week     = 7 * 24 * time.Hour
)

// plan draws the incidents one after another, so that a page belongs to one.
func (s *sim) plan() { s.planAfter(warmUp) }

func (s *sim) planAfter(from time.Duration) {
	var perWeek float64
	kinds := s.possible()
	for _, k := range kinds {
		perWeek += s.Mix[k]
	}
	if perWeek == 0 {
		return
	}
	mean := float64(week) / perWeek
	at := from + quiet + time.Duration(s.rand.ExpFloat64()*max(mean-float64(quiet), 0))
	if at > s.Length-coolDown {
		return
	}
	x := s.rand.Float64() * perWeek
	kind := kinds[0]
	for _, k := range kinds {
		kind = k
		if x -= s.Mix[k]; x < 0 {
			break
		}
	}
	s.at(at, func() {
		d := s.length(kind)
		if s.now+d > s.Length-coolDown {
			return
		}
		i := len(s.history.Incidents)
		s.history.Incidents = append(s.history.Incidents, Incident{kind, Span{s.now, s.now + d}})
		if end := s.cause(kind, d); end > s.now+d {
			s.history.Incidents[i].To = end
		}
		s.planAfter(s.history.Incidents[i].To)
	})
}

// possible are the kinds of the mix that make sense in this world, in a fixed
// order.
func (s *sim) possible() []Kind {
	all := []Kind{
		Outage, OutageOfOne, SlowBackend, Crash, DeathKept, DeathDropped, StuckKept, StuckDropped, Rollout, Scale, Drain,
		LoseStandby, LoseLeader, Restart, Pause, Hang, SecondBackend, LostKey,
	}
	var out []Kind
	for _, k := range all {
		switch {
		case s.Mix[k] == 0:
		case s.Every > 0 && (k == Pause || k == Hang || k == SecondBackend || k == LostKey): // of a lock that is held
		case s.Hidden && (k == Pause || k == Hang): // what a stopped process believes is not known
		case s.Replicas < 2 && (k == SecondBackend || k == LostKey || k == LoseStandby):
		default:
			out = append(out, k)
		}
	}
	return out
}
