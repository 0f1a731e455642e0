package electtest

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// CampaignSuite describes to CampaignConformance an elector that campaigns by
// itself and calls callbacks. If a function is nil, the checks that need it are
// left out.
type CampaignSuite struct {
	// Run campaigns for the lock of that name with its own session, is observed by
	// e, and campaigns again after a loss of the lock. While it leads
	// it calls work, under a context that ends with the term. When ctx is done
	// it releases the lock and returns nil. It is required.
	Run func(ctx context.Context, t testing.TB, lock string, e *instrument.Election, work func(context.Context)) error
	// Options are those that a user of the elector sets. The suite adds
	// LeaseDuration(Lease).
	Options []instrument.ElectionOption
	// Lease is the length of the lease, which the elector renews. It is
	// required, and at least one second on the wall clock.
	Lease time.Duration
	// VirtualTime is that of Suite.
	VirtualTime bool
	// HidesSendTimes is that of Suite.
	HidesSendTimes bool
	// Fenced says that terms carry a fencing token.
	Fenced bool
	// Works says that work is counted as work of the term.
	Works bool
	// KeepsLock says that a campaign that stops keeps the lock until the lease
	// ends.
	KeepsLock bool
	// GivesUp says that the elector stops trying to renew, and reports this, before
	// its lease ends.
	GivesUp bool

	// Lose makes the backend record no holder, or a holder that does not exist,
	// while the lock is held.
	Lose func(t testing.TB, lock string)
	// Remaining is that of Suite.
	Remaining func(t testing.TB, lock string) (timeLeft time.Duration, held bool)
	// Break is that of Suite.
	Break func(t testing.TB, lock string) (repair func())
}

// CampaignConformance is Conformance for an elector with callbacks. It reports as
// Conformance does.
func CampaignConformance(t *testing.T, s CampaignSuite) {
	if why := s.invalid(); why != "" {
		t.Fatal(why)
	}
	for _, c := range campaignChecks {
		t.Run(c.name, func(t *testing.T) { c.runFor(t, s) })
	}
}

func (s CampaignSuite) invalid() string {
	switch {
	case s.Run == nil:
		return "electtest: CampaignSuite.Run is nil"
	case s.Lease == 0:
		return "electtest: CampaignSuite.Lease is 0"
	case s.GivesUp && s.Break == nil:
		return "electtest: CampaignSuite.GivesUp needs CampaignSuite.Break"
	default:
		return invalidLease(s.Lease, s.VirtualTime)
	}
}

// campaignCheck is one subtest of CampaignConformance.
type campaignCheck struct {
	name  string
	needs func(CampaignSuite) (missing string)
	run   func(*campaigning)
}

var campaignChecks = []campaignCheck{
	{"a win is a term until the campaign stops", nil, (*campaigning).win},
	{"another campaign leads, and the standby stops", nil, (*campaigning).standby},
	{"a leader that stops is followed by the next", nil, (*campaigning).takeover},
	{"the elector renews the lease", nil, (*campaigning).renewals},
	{"the backend drops the lock", needsLostCampaign, (*campaigning).loss},
	{"the work continues after the loss", needsWork, (*campaigning).workAfterLoss},
	{"the backend fails for longer than the lease", needsBrokenCampaign, (*campaigning).outage},
	{"campaigns run concurrently", nil, (*campaigning).exclusion},
}

func needsLostCampaign(s CampaignSuite) string {
	return unless(s.Lose != nil, "CampaignSuite.Lose is not set")
}

func needsWork(s CampaignSuite) string {
	return unless(s.Lose != nil && s.Works, "CampaignSuite.Lose or CampaignSuite.Works is not set")
}

func needsBrokenCampaign(s CampaignSuite) string {
	return unless(s.Break != nil, "CampaignSuite.Break is not set")
}

func (c campaignCheck) runFor(t *testing.T, s CampaignSuite) {
	if c.needs != nil {
		if why := c.needs(s); why != "" {
			t.Skip(why)
		}
	}
	s.promises().try(t, func(tr *checkRun) { c.run(&campaigning{tr, s}) })
}

func (s CampaignSuite) promises() promises {
	return promises{
		options: s.Options, lease: s.Lease, virtual: s.VirtualTime, fenced: s.Fenced,
		renewsItself: true, hidesSendTimes: s.HidesSendTimes, remaining: s.Remaining,
	}
}

// campaigning is a check run of an elector that campaigns.
type campaigning struct {
	*checkRun
	suite CampaignSuite
}

// campaign is a contender whose elector runs.
type campaign struct {
	*contender
	suite CampaignSuite
	stop  func() // and waits; again does nothing
	works atomic.Int64
}

// start begins a campaign, whose work ends with its context.
func (s *campaigning) start() *campaign {
	s.Helper()
	return s.startWith(func(ctx context.Context) { <-ctx.Done() })
}

func (s *campaigning) startWith(work func(context.Context)) *campaign {
	s.Helper()
	c := &campaign{contender: s.newContender(), suite: s.suite}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- s.suite.Run(ctx, s.TB, s.lock, c.e, func(ctx context.Context) {
			c.works.Add(1)
			defer c.works.Add(-1)
			work(ctx)
		})
	}()
	c.stop = sync.OnceFunc(func() {
		cancel()
		select {
		case err := <-ended:
			if err != nil {
				s.broke(ruleStop, "it returned %v", err)
			}
		case <-time.After(s.lease + s.patience()):
			s.broke(ruleStop, "it runs %v after that", s.lease+s.patience())
		}
	})
	s.later(c.stop)
	return c
}

// leading is what a campaign shows that has won once and leads. How many
// attempts it took depends on the elector.
func (c *campaign) leading() want {
	w := c.attempted(c.holding())
	if c.suite.Works {
		w[Of(catalog.Running)] = between(0, 1) // ruleWork is about it
	}
	return w
}

// attempted leaves the number of attempts open.
func (c *campaign) attempted(w want) want {
	return w.with(want{
		Of(catalog.Attempts): atLeast(1), notAcquired(catalog.Contended): free(),
		catalog.AcquireDuration.Count(): free(), catalog.AcquireDuration.Sum(): free(),
	})
}

// leads waits until the campaign leads.
func (c *campaign) leads(r rule) {
	c.t.Helper()
	within := c.t.lease + c.t.patience()
	if !c.t.eventually(within, func() bool { return c.series()[Of(catalog.Active)] > 0 }) {
		c.t.stop(r, "the campaign does not lead within %v", within)
	}
	c.t.lengthStays(c.series())
	c.is(ruleWin, 0, c.leading)
	if !c.t.eventually(c.t.patience(), func() bool {
		running := c.series()[Of(catalog.Running)]
		return c.works.Load() == 1 && (running == 1 || !c.suite.Works)
	}) {
		c.t.stop(ruleWork, "%d works run, and leader_running is %v", c.works.Load(), c.series()[Of(catalog.Running)])
	}
}

// stopped is what a campaign shows that led once, and has stopped.
func (c *campaign) stopped() want {
	w := c.attempted(c.gaveBack(catalog.Released, catalog.ReleaseOK, 0))
	if c.suite.KeepsLock {
		w = c.attempted(c.ended(catalog.CanceledTerm))
	}
	// A run that was cut short before it won is an attempt of its own, and the
	// work may need a moment to end.
	w[notAcquired(catalog.CanceledAttempt)], w[Of(catalog.WorkAfterLoss)] = free(), c.elapsed()
	return w
}

func (c *campaign) stopRule() rule {
	if c.suite.KeepsLock {
		return ruleKept
	}
	return ruleGivenBack
}
