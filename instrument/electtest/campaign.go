package electtest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// CampaignSuite describes to CampaignConformance an elector that campaigns by
// itself and calls back.
type CampaignSuite struct {
	// Run campaigns for the lock of that name under a session of its own, leads
	// whenever it wins, and is seen by e. When ctx is done it gives the lock
	// back and returns nil.
	Run func(ctx context.Context, t testing.TB, lock string, e *instrument.Election) error
	// Options are those that a user of the elector sets.
	Options []instrument.ElectionOption
	// Lease is the length of the lease, which the elector renews. It bounds
	// headroom, and how long the suite waits for what takes a lease.
	Lease time.Duration
	// Fenced says that terms carry a fencing token.
	Fenced bool
	// Works says that what the leader does is work of the term.
	Works bool
	// Lose makes the backend give the lock to nobody, or to somebody who never
	// was, while it is held.
	Lose func(t testing.TB, lock string)
}

// CampaignConformance runs an elector with callbacks through what Conformance
// asks of one that acquires: wins, contention, cancellation, takeover, tokens,
// headroom, loss, and that campaigns exclude each other.
func CampaignConformance(t *testing.T, s CampaignSuite) {
	t.Run("a win is a term until the campaign stops", s.win)
	t.Run("somebody else leads, and the standby gives up", s.standby)
	t.Run("a leader that stops is followed, with a higher token", s.takeover)
	t.Run("a held lease keeps its headroom", s.headroom)
	t.Run("the backend drops the lock", s.loss)
	t.Run("campaigns exclude each other and the books balance", s.exclusion)
}

// campaign is a contender whose elector runs.
type campaign struct {
	*contender
	stop func() // and waits; again does nothing
}

func (s CampaignSuite) start(t *testing.T, lock string) *campaign {
	t.Helper()
	c := newContender(t, s.Lease, s.Options)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx, t, lock, c.e) }()
	stop := sync.OnceFunc(func() {
		cancel()
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("the campaign ended with %v", err)
			}
		case <-time.After(s.Lease + patience):
			t.Error("the campaign does not stop")
		}
	})
	t.Cleanup(stop)
	return &campaign{c, stop}
}

// stopped stops the campaign. The work may end a moment after it.
func (c *campaign) stopped() {
	c.t.Helper()
	c.stop()
	c.want(0, Series{Of(catalog.Active): 0, Of(catalog.Pending): 0})
	c.want(patience, Series{Of(catalog.Running): 0})
}

// leading are the series of a leader.
func (s CampaignSuite) leading() Series {
	leads := Series{Of(catalog.Active): 1, Of(catalog.Acquired): 1, Of(catalog.Pending): 0}
	if s.Works {
		leads[Of(catalog.Running)] = 1
	}
	return leads
}

func (s CampaignSuite) win(t *testing.T) {
	c := s.start(t, newLock())
	c.want(s.Lease+patience, s.leading())
	s.headroomIsRight(c)
	c.stopped()
	c.want(0, Series{Of(catalog.TermsEnded, catalog.Released.String()): 1, Of(catalog.Releases, catalog.ReleaseOK.String()): 1})
	if _, there := c.series()[Of(catalog.LeaseHeadroom)]; there {
		t.Error("headroom is there although nothing is held")
	}
}

func (s CampaignSuite) headroomIsRight(c *campaign) {
	c.t.Helper()
	r := c.series()
	headroom, there := r[Of(catalog.LeaseHeadroom)]
	if !there || headroom <= 0 || headroom > r[Of(catalog.LeaseDuration)]+0.001 {
		c.t.Errorf("headroom %v, known %v, under a lease of %v", headroom, there, r[Of(catalog.LeaseDuration)])
	}
}

func (s CampaignSuite) standby(t *testing.T) {
	lock := newLock()
	leader := s.start(t, lock)
	leader.want(s.Lease+patience, s.leading())
	other := s.start(t, lock)
	ok := eventually(s.Lease+patience, func() bool {
		r := other.series()
		return r[Of(catalog.Pending)]+r[Of(catalog.NotAcquired, catalog.Contended.String())] > 0
	})
	if !ok {
		t.Errorf("the standby neither waits nor was refused: %v", other.series())
	}
	other.stop()
	r := other.series()
	if r[Of(catalog.Pending)] != 0 || r[Of(catalog.Acquired)] != 0 || r[Of(catalog.Active)] != 0 {
		t.Errorf("a standby that has stopped: %v", r)
	}
	leader.want(0, s.leading())
}

func (s CampaignSuite) takeover(t *testing.T) {
	lock := newLock()
	last := -1.
	leader := s.start(t, lock)
	for range 3 {
		leader.want(s.Lease+patience, s.leading())
		token, there := leader.series()[Of(catalog.FencingToken)]
		if there != s.Fenced || there && token <= last {
			t.Errorf("token %v, known %v, after %v", token, there, last)
		}
		last = token
		next := s.start(t, lock)
		leader.stop()
		leader = next
	}
}

func (s CampaignSuite) headroom(t *testing.T) {
	c := s.start(t, newLock())
	c.want(s.Lease+patience, s.leading())
	for deadline := time.Now().Add(2 * s.Lease); time.Now().Before(deadline); time.Sleep(s.Lease / 20) {
		if r := c.series(); r[Of(catalog.Active)] != 1 {
			t.Fatalf("a renewed lease is not active: %v", r)
		}
		s.headroomIsRight(c)
	}
	if r := c.series(); r[Of(catalog.Renewals, catalog.RenewalOK.String())] == 0 || r[catalog.LeaseUsageRatio.Count()] == 0 {
		t.Errorf("no renewal was seen: %v", r)
	}
}

// loss leaves open whether the elector wins again.
func (s CampaignSuite) loss(t *testing.T) {
	lock := newLock()
	c := s.start(t, lock)
	c.want(s.Lease+patience, s.leading())
	s.Lose(t, lock)
	c.want(s.Lease+patience, Series{Of(catalog.TermsEnded, catalog.Lost.String()): 1})
	c.stopped()
	next := s.start(t, lock)
	next.want(2*s.Lease+patience, s.leading())
}

func (s CampaignSuite) exclusion(t *testing.T) {
	lock := newLock()
	all := make([]*campaign, 3)
	for i := range all {
		all[i] = s.start(t, lock)
	}
	for range 3 {
		leader := -1
		ok := eventually(s.Lease+patience, func() bool {
			leader = s.leader(t, all)
			return leader >= 0
		})
		if !ok {
			t.Fatal("nobody leads")
		}
		all[leader].stopped()
		all[leader] = s.start(t, lock)
	}
}

// leader finds who leads. One that leads before and after another was read
// leads while the other was.
func (s CampaignSuite) leader(t *testing.T, all []*campaign) int {
	t.Helper()
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
				t.Errorf("two lead at once: %v", after)
			}
		}
	}
	return leader
}
