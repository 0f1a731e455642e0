package electtest

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

func (s *campaigning) win() {
	c := s.start()
	c.leads(ruleFree)
	s.looksRenewed(c.contender, nil)
	c.stop()
	c.is(c.stopRule(), s.patience(), c.stopped)
	if s.remaining == nil || s.suite.KeepsLock {
		return
	}
	if timeLeft, held := s.remaining(s.TB, s.lock); held {
		s.stop(ruleGivenBack, "the backend says that it is held, for %v", timeLeft)
	}
}

func (s *campaigning) standby() {
	leader := s.start()
	leader.leads(ruleFree)
	other := s.start()
	limit := s.lease + s.patience()
	if !s.eventually(limit, func() bool {
		r := other.series()
		return r[Of(catalog.Pending)]+r[notAcquired(catalog.Contended)] > 0
	}) {
		s.stop(ruleStandby, "within %v it had no attempt", limit)
	}
	time.Sleep(s.moment())
	if r := other.series(); r[Of(catalog.Active)] != 0 {
		s.stop(ruleExclusion, "the standby leads")
	}
	other.stop()
	other.is(ruleStandby, 0, func() want {
		w := other.attempted(other.fresh)
		w[notAcquired(catalog.CanceledAttempt)], w[notAcquired(catalog.UnknownReason)] = free(), free()
		return w
	})
	leader.is(ruleExclusion, 0, leader.leading)
}

func (s *campaigning) takeover() {
	last := -1.
	leader := s.start()
	for range 3 {
		leader.leads(ruleSuccession)
		last = s.newToken(leader, last)
		next := s.start()
		time.Sleep(s.moment()) // until it stands by
		leader.stop()
		leader = next
	}
	leader.leads(ruleSuccession)
	s.newToken(leader, last)
}

// newToken compares the token of a leader with the last.
func (s *campaigning) newToken(c *campaign, last float64) float64 {
	value, there := c.series()[Of(catalog.FencingToken)]
	if there != s.fenced || there && value <= last {
		s.stop(ruleToken, "token %v, known: %v, after %v; Fenced is %v", value, there, last, s.fenced)
	}
	return value
}

func (s *campaigning) renewals() {
	c := s.start()
	c.leads(ruleFree)
	other := s.start()
	s.staysActive(c.contender, nil)
	if r := other.series(); r[Of(catalog.Acquired)] != 0 {
		s.stop(ruleExclusion, "another campaign has led")
	}
}

// loss looks at a term that is lost, and at the next one of the same campaign.
func (s *campaigning) loss() {
	c := s.start()
	c.leads(ruleFree)
	last := s.newToken(c, -1)
	s.suite.Lose(s.TB, s.lock)
	if !s.eventually(s.lease+s.patience(), func() bool { return c.series()[termsEnded(catalog.Lost)] == 1 }) {
		s.stop(ruleLoss, "within %v no term was lost", s.lease+s.patience())
	}
	if r := c.series(); r[termsEnded(catalog.Released)] != 0 || r[releases(catalog.ReleaseOK)] != 0 {
		s.stop(ruleAfterLoss, "%v terms ended as released, %v releases are ok", r[termsEnded(catalog.Released)], r[releases(catalog.ReleaseOK)])
	}
	if !s.eventually(2*s.lease+s.patience(), func() bool {
		r := c.series()
		return r[Of(catalog.Acquired)] == 2 && r[Of(catalog.Active)] == 1
	}) {
		r := c.series()
		s.stop(ruleComeback, "%v after the loss: %v acquired, %v active", 2*s.lease+s.patience(), r[Of(catalog.Acquired)], r[Of(catalog.Active)])
	}
	s.newToken(c, last)
	c.stop()
	if r := c.series(); r[Of(catalog.Active)] != 0 || r[Of(catalog.Pending)] != 0 {
		s.stop(c.stopRule(), "%v active, %v pending", r[Of(catalog.Active)], r[Of(catalog.Pending)])
	}
}

// workAfterLoss has the first work continue for a lease and a quarter after
// its context has ended, so that it outlives the lease in any case.
func (s *campaigning) workAfterLoss() {
	var first atomic.Bool
	c := s.startWith(func(ctx context.Context) {
		<-ctx.Done()
		if first.CompareAndSwap(false, true) {
			time.Sleep(s.lease * 5 / 4)
		}
	})
	c.leads(ruleFree)
	if late := c.series()[Of(catalog.WorkAfterLoss)]; late != 0 {
		s.stop(ruleWork, "%v s of work after loss while it leads", late)
	}
	s.suite.Lose(s.TB, s.lock)
	if !s.eventually(3*s.lease+s.patience(), func() bool { return c.series()[Of(catalog.WorkAfterLoss)] > 0 }) {
		s.stop(ruleWork, "the work continued for %v after its context had ended, and no work after loss was counted", s.lease*5/4)
	}
	c.stop()
	if !s.eventually(2*s.lease+s.patience(), func() bool { return c.works.Load() == 0 && c.series()[Of(catalog.Running)] == 0 }) {
		s.stop(ruleWork, "%d works run after the campaign has stopped, and leader_running is %v", c.works.Load(), c.series()[Of(catalog.Running)])
	}
}

// outage keeps the backend away for longer than the lease.
func (s *campaigning) outage() {
	c := s.start()
	c.leads(ruleFree)
	repair := sync.OnceFunc(s.suite.Break(s.TB, s.lock))
	s.later(repair)
	if !s.eventually(s.lease+s.patience(), func() bool { return c.series()[Of(catalog.Active)] == 0 }) {
		s.stop(ruleLeaseEnd, "it is active %v after the backend failed", s.lease+s.patience())
	}
	if !s.eventually(s.lease+s.patience(), func() bool { return c.outageEnded() }) {
		r := c.series()
		s.stop(ruleGaveUp, "GivesUp is %v; terms ended: %v gave up, %v lost, %v expired, %v canceled, %v released", s.suite.GivesUp,
			r[termsEnded(catalog.GaveUp)], r[termsEnded(catalog.Lost)], r[termsEnded(catalog.Expired)], r[termsEnded(catalog.CanceledTerm)], r[termsEnded(catalog.Released)])
	}
	repair()
	if !s.eventually(2*s.lease+s.patience(), func() bool { return c.series()[Of(catalog.Active)] == 1 }) {
		s.stop(ruleComeback, "it does not lead %v after the backend answers again", 2*s.lease+s.patience())
	}
}

func (c *campaign) outageEnded() bool {
	r := c.series()
	if c.suite.GivesUp {
		return r[termsEnded(catalog.GaveUp)] == 1
	}
	return r[termsEnded(catalog.Lost)]+r[termsEnded(catalog.Expired)] == 1 && r[termsEnded(catalog.GaveUp)] == 0
}

func (s *campaigning) exclusion() {
	all := make([]*campaign, 3)
	for i := range all {
		all[i] = s.start()
	}
	for range 3 {
		leader := -1
		if !s.eventually(2*s.lease+s.patience(), func() bool {
			leader = s.leader(all)
			return leader >= 0
		}) {
			s.stop(ruleSuccession, "within %v none leads", 2*s.lease+s.patience())
		}
		all[leader].stop()
		all[leader] = s.start()
	}
}

// leader finds the one that leads. One that leads before and after another was
// read leads while the other was.
func (s *campaigning) leader(all []*campaign) int {
	leader := -1
	for i, c := range all {
		before := c.series()
		if before[Of(catalog.Active)] != 1 {
			continue
		}
		leader = i
		for j, other := range all {
			if i == j || other.series()[Of(catalog.Active)] != 1 {
				continue
			}
			if after := c.series(); after[Of(catalog.Active)] == 1 && after[Of(catalog.Acquired)] == before[Of(catalog.Acquired)] {
				s.broke(ruleExclusion, "two campaigns lead at once")
			}
		}
	}
	return leader
}
