package raftlead

import (
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
)

var of = electtest.Of

func TestTermOfALeader(t *testing.T) {
	nodes := cluster(t, 1)
	observe(t, nodes[0])
	n := leader(t, nodes...)
	eventually(t, "the leader is active", func() bool { return n.series(t)[of(catalog.Active)] == 1 })
	r := n.series(t)
	if r[of(catalog.FencingToken)] != float64(n.raft.CurrentTerm()) || r[of(catalog.Acquired)] != 1 {
		t.Errorf("term %d, but %v", n.raft.CurrentTerm(), r)
	}
	for _, absent := range []*catalog.Metric{catalog.LeaseHeadroom, catalog.LeaseDuration} {
		if _, there := r[of(absent)]; there {
			t.Errorf("raft has no lease, but there is %s", absent.Name())
		}
	}
	if _, there := r[of(catalog.Renewals, catalog.RenewalOK.String())]; there {
		t.Error("renewals that are not seen are shown")
	}
}

func TestLeaderThatLedBeforeItWasObserved(t *testing.T) {
	n := leader(t, cluster(t, 1)...)
	observe(t, n)
	if r := n.series(t); r[of(catalog.Active)] != 1 {
		t.Errorf("active %v at once", r)
	}
	n.stop()
}

func TestShutdownIsCanceledNotLost(t *testing.T) {
	n := leader(t, cluster(t, 1)...)
	observe(t, n)
	if err := n.raft.Shutdown().Error(); err != nil {
		t.Fatal(err)
	}
	r := n.series(t)
	if r[of(catalog.Active)] != 0 || r[of(catalog.TermsEnded, catalog.CanceledTerm.String())] != 1 {
		t.Errorf("after the shutdown: %v", r)
	}
}

func TestAfterStopTheLastStateStays(t *testing.T) {
	n := leader(t, cluster(t, 1)...)
	observe(t, n)
	before := n.series(t)
	n.stop()
	if err := n.raft.Shutdown().Error(); err != nil {
		t.Fatal(err)
	}
	if after := n.series(t); before[of(catalog.Active)] != 1 || !maps.Equal(after, before) {
		t.Errorf("%v, before the stop %v", after, before)
	}
}

// What deleting a record is to others is removing the member that leads: its
// process lives on.
func TestALeaderThatIsRemovedFromTheClusterIsOver(t *testing.T) {
	for name, c := range map[string]struct {
		shutdown bool
		cause    catalog.EndCause
	}{
		"and waits to be added again": {false, catalog.Lost},
		"and shuts down":              {true, catalog.CanceledTerm},
	} {
		t.Run(name, func(t *testing.T) {
			nodes := clusterOf(t, 3, func(cfg *raft.Config) { cfg.ShutdownOnRemove = c.shutdown })
			for _, n := range nodes {
				observe(t, n)
			}
			connect(nodes)
			first := leader(t, nodes...)
			before := first.series(t)
			if err := first.raft.RemoveServer(first.id, 0, 0).Error(); err != nil {
				t.Fatal(err)
			}
			eventually(t, "the term has ended", func() bool { return first.series(t)[of(catalog.Active)] == 0 })
			want := before.With(electtest.Series{of(catalog.Active): 0, of(catalog.TermsEnded, c.cause.String()): 1, catalog.ExecutionDuration.Count(): 1})
			got := first.series(t)
			for name, value := range got {
				if _, measured := want[name]; measured && value != want[name] {
					t.Errorf("%s is %v, want %v", name, value, want[name])
				}
			}
			next := leader(t, slices.DeleteFunc(slices.Clone(nodes), func(n *node) bool { return n == first })...)
			eventually(t, "the next leader is active", func() bool { return next.series(t)[of(catalog.Active)] == 1 })
		})
	}
}

func TestTheApplicationsChannelsAreLeftAlone(t *testing.T) {
	nodes := cluster(t, 1)
	observe(t, nodes[0])
	select {
	case leads := <-nodes[0].raft.LeaderCh():
		if !leads {
			t.Error("the application was told of a loss")
		}
	case <-time.After(30 * time.Second):
		t.Error("the application's signal was taken")
	}
}

func TestNoChangeIsMissedAndNoMomentShowsTwoLeadersOfATerm(t *testing.T) {
	nodes := cluster(t, 3)
	var mu sync.Mutex
	elected, lost := 0, 0 // as a channel that is never full would have told
	for _, n := range nodes {
		observe(t, n)
		was := raft.Follower
		count := func(seen *raft.Observation) bool {
			state, ok := seen.Data.(raft.RaftState)
			if !ok {
				return false
			}
			mu.Lock()
			defer mu.Unlock()
			if state == raft.Leader {
				elected++
			} else if was == raft.Leader {
				lost++
			}
			was = state
			return false
		}
		n.raft.RegisterObserver(raft.NewObserver(nil, false, count))
	}
	scraped := scrape(t, nodes)
	connect(nodes)

	first := leader(t, nodes...)
	cut(first, nodes)
	others := slices.DeleteFunc(slices.Clone(nodes), func(n *node) bool { return n == first })
	second := leader(t, others...)
	eventually(t, "the one that was cut off is not active", func() bool { return first.series(t)[of(catalog.Active)] == 0 })
	if a, b := first.series(t)[of(catalog.FencingToken)], second.series(t)[of(catalog.FencingToken)]; a >= b {
		t.Errorf("token %v after %v", b, a)
	}
	connect(nodes)
	for range 5 {
		n := leader(t, nodes...)
		_ = n.raft.LeadershipTransfer().Error() // whether or not a server was ready to take it
		leader(t, nodes...)
	}
	scraped()
	for _, n := range nodes {
		if err := n.raft.Shutdown().Error(); err != nil {
			t.Fatal(err)
		}
	}
	total := electtest.Series{}
	for _, n := range nodes {
		r := n.series(t)
		total[of(catalog.Acquired)] += r[of(catalog.Acquired)]
		total[of(catalog.Active)] += r[of(catalog.Active)]
		for _, cause := range []string{catalog.Lost.String(), catalog.CanceledTerm.String()} {
			total["ended"] += r[of(catalog.TermsEnded, cause)]
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if total[of(catalog.Acquired)] != float64(elected) || total["ended"] != float64(lost) || total[of(catalog.Active)] != 0 {
		t.Errorf("%d elected and %d ended, but %v", elected, lost, total)
	}
	if elected < 2 {
		t.Errorf("%d elected, want the second leader at least", elected)
	}
}

// scrape reads all nodes until the returned function is called. Two may lead
// for as long as the older has not noticed, never under one term.
func scrape(t *testing.T, nodes []*node) (stop func()) {
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			seen := map[float64]int{}
			for i, n := range nodes {
				r := n.series(t)
				if r[of(catalog.Active)] == 0 {
					continue
				}
				token := r[of(catalog.FencingToken)]
				if other, twice := seen[token]; twice {
					t.Errorf("members %d and %d lead in term %v", other, i, token)
				}
				seen[token] = i
			}
			select {
			case <-done:
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	}()
	return func() { close(done); <-stopped }
}

func TestCandidacyThatAnotherWonIsContended(t *testing.T) {
	nodes := cluster(t, 3)
	connect(nodes)
	first := leader(t, nodes...)
	var cutOff *node
	for _, n := range nodes {
		if n != first {
			cutOff = n
		}
	}
	observe(t, cutOff)
	cut(cutOff, nodes)
	eventually(t, "the member without a leader is a candidate", func() bool { return cutOff.raft.State() == raft.Candidate })
	connect(nodes)
	eventually(t, "the candidacy is over", func() bool { return cutOff.series(t)[of(catalog.Attempts)] > 0 })
	r := cutOff.series(t)
	won := r[of(catalog.Acquired)]
	if r[of(catalog.NotAcquired, catalog.Contended.String())]+won != r[of(catalog.Attempts)] {
		t.Errorf("after a candidacy: %v", r)
	}
}

func TestWithoutANodeOrAnElectionNothingIsObserved(t *testing.T) {
	m, err := instrument.New()
	if err != nil {
		t.Fatal(err)
	}
	e := m.Election("store")
	before := electtest.Read(m, "store")
	Observe(e, nil)()
	Observe(nil, nil)()
	if after := electtest.Read(m, "store"); !maps.Equal(after, before) {
		t.Errorf("%v, before %v", after, before)
	}
}
