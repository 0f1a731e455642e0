package fleet

import (
	"slices"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
)

// cause makes an incident happen and returns when it will be over, where that
// is later than its length says.
func (s *sim) cause(k Kind, d time.Duration) (end time.Duration) {
	until := s.now + d
	leader := s.leader()
	switch k {
	case Outage:
		s.backend.down = until
	case OutageOfOne:
		s.anyone().cut = until
	case SlowBackend:
		s.backend.slow = until
	case Scale:
		return s.scale(d)
	case Rollout:
		return s.rollout()
	case LoseStandby:
		if p := s.standby(); p != nil {
			s.loseScrapes(p.name, d)
		}
	case Restart:
		s.restart(d)
	}
	if leader == nil {
		return 0
	}
	switch k {
	case Crash:
		leader.crash()
		s.startAfter(d, leader.name)
	case DeathDropped:
		s.die(leader, d, s.between(5*time.Second, 30*time.Second))
	case DeathKept:
		return s.die(leader, d, s.between(5*time.Minute, 30*time.Minute))
	case StuckDropped:
		s.backend.refusing = until
		s.die(leader, d, s.between(5*time.Second, 30*time.Second))
	case StuckKept:
		s.backend.refusing = until
		s.die(leader, d, d)
	case Drain:
		leader.shutdown()
		s.after(s.between(0, 10*time.Second), func() { s.drop(leader.name) })
		s.startAfter(d, "")
	case Pause:
		leader.stop()
		s.at(until, leader.resume)
	case Hang:
		leader.hung = until
	case LoseLeader:
		s.loseScrapes(leader.name, d)
	case SecondBackend:
		s.split(d)
	case LostKey:
		leader.blind = until
		s.backend.drop()
	}
	return 0
}

// leader is a replica that holds the lock; nil when none does.
func (s *sim) leader() *process {
	for _, p := range s.processes {
		if p.awake() && p.naive == 1 {
			return p
		}
	}
	if s.Every > 0 {
		return s.anyone() // no replica holds it most of the time
	}
	return nil
}

func (s *sim) standby() *process {
	for _, p := range s.processes {
		if p.awake() && p.naive == 0 {
			return p
		}
	}
	return nil
}

func (s *sim) anyone() *process { return s.processes[s.rand.IntN(len(s.processes))] }

// remove takes a process that is gone off the list.
func (s *sim) remove(p *process) {
	s.processes = slices.DeleteFunc(s.processes, func(o *process) bool { return o == p })
}

// startAfter starts a replica after a while; an empty name is a new one.
func (s *sim) startAfter(d time.Duration, name string) {
	s.after(d, func() {
		s.processes = slices.DeleteFunc(s.processes, func(p *process) bool { return p.gone })
		_, _ = s.start(name) // the same options worked at the beginning
	})
}

// die ends a process with its node: another takes its place under a new name
// after a while, and the old target leaves discovery some time later.
func (s *sim) die(p *process, replaced, dropped time.Duration) (end time.Duration) {
	p.crash()
	s.startAfter(replaced, "")
	s.after(dropped, func() { s.drop(p.name) })
	return s.now + max(replaced, dropped)
}

// scale adds a replica and takes one away later.
func (s *sim) scale(d time.Duration) (end time.Duration) {
	s.startAfter(0, "")
	s.after(d, func() {
		if p := s.standby(); p != nil && len(s.processes) > 1 {
			s.retire(p)
		}
	})
	return s.now + d + 30*time.Second
}

// retire stops a process in order and takes its target away.
func (s *sim) retire(p *process) {
	p.shutdown()
	s.remove(p)
	s.after(s.between(0, 10*time.Second), func() { s.drop(p.name) })
}

// rollout replaces one replica after another: the new one starts, then the old
// one stops.
func (s *sim) rollout() (end time.Duration) {
	at := time.Duration(0)
	for _, p := range slices.Clone(s.processes) {
		s.startAfter(at, "")
		at += s.between(10*time.Second, 40*time.Second)
		s.after(at, func() {
			if p.awake() {
				s.retire(p)
			}
		})
		at += s.between(time.Second, 10*time.Second)
	}
	return s.now + at
}

// restart has one server store nothing for a while.
func (s *sim) restart(d time.Duration) {
	server := s.servers[s.rand.IntN(len(s.servers))]
	server.down = s.now + d
	if server == s.servers[0] {
		s.history.Restarts = append(s.history.Restarts, Span{s.now, s.now + d})
	}
}

// split has a standby win on a second backend until it is led back.
func (s *sim) split(d time.Duration) {
	p := s.standby()
	if p == nil {
		return
	}
	p.turn++
	s.backend.leaveQueue(p)
	if p.attempt != nil {
		p.attempt.NotAcquired(instrument.ErrSessionLost)
	}
	s.elsewhere.drop()
	p.side = s.elsewhere
	p.campaign()
	s.after(d, func() {
		p.side = nil
		s.elsewhere.leaveQueue(p)
		if p.term != nil && p.awake() {
			p.turn++
			p.lose(instrument.ErrLost) // its session is not known there
		}
	})
}
