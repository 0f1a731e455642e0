package raftlead

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/redact"
)

// observeRaw observes with labels that are the names.
func observeRaw(t *testing.T, n *node) {
	t.Helper()
	var err error
	if n.m, err = instrument.New(instrument.WithRedactor(redact.Raw())); err != nil {
		t.Fatal(err)
	}
	n.stop = Observe(n.m.Election("lock", instrument.Hold(), instrument.HiddenRenewals(), instrument.Backend("raft")), n.raft)
}

// view is what a node witnesses, without counters and times.
func (n *node) view() electtest.Series {
	seen := electtest.ReadBackend(n.m, "lock")
	for name := range seen {
		if strings.Contains(name, "_total") || strings.Contains(name, "_seconds") {
			delete(seen, name)
		}
	}
	return seen
}

// held is the view of a node that knows the leader.
func held(leader *node, term uint64) electtest.Series {
	return electtest.Series{
		`leader_backend_held{backend="raft"}`:                                           1,
		`leader_backend_holder_info{backend="raft",holder="` + string(leader.id) + `"}`: 1,
		`leader_backend_token{backend="raft"}`:                                          float64(term),
		`leader_backend_up{backend="raft"}`:                                             1,
	}
}

func identified(n *node) electtest.Series {
	return electtest.Series{`leader_identity_info{holder="` + string(n.id) + `"}`: 1}
}

// unseen is the view of a node that knows no leader.
var unseen = electtest.Series{`leader_backend_up{backend="raft"}`: 0}

func eventuallyViews(t *testing.T, what string, n *node, want func() electtest.Series) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		expected, got := want(), n.view()
		if maps.Equal(got, expected) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: after 30 s %v, want %v", what, got, expected)
		}
	}
}

func TestEveryNodeWitnessesTheLeader(t *testing.T) {
	nodes := cluster(t, 3)
	for _, n := range nodes {
		observeRaw(t, n)
		if got := n.view(); !maps.Equal(got, unseen) {
			t.Errorf("before there is a leader: %v, want %v", got, unseen)
		}
	}
	connect(nodes)
	for _, n := range nodes {
		eventuallyViews(t, "node "+string(n.id)+" knows the leader", n, func() electtest.Series {
			first := leader(t, nodes...)
			want := held(first, first.raft.CurrentTerm())
			if n == first {
				return want.With(identified(n))
			}
			return want
		})
	}
}

func TestALeaderThatIsCutOffKnowsNoLeaderAndTheOthersKnowTheNext(t *testing.T) {
	nodes := cluster(t, 3)
	connect(nodes)
	first := leader(t, nodes...)
	for _, n := range nodes {
		observeRaw(t, n)
	}
	cut(first, nodes)
	others := slices.DeleteFunc(slices.Clone(nodes), func(n *node) bool { return n == first })
	eventuallyViews(t, "the one that was cut off", first, func() electtest.Series { return unseen.With(identified(first)) })
	for _, n := range others {
		eventuallyViews(t, "node "+string(n.id)+" knows the next leader", n, func() electtest.Series {
			second := leader(t, others...)
			want := held(second, second.raft.CurrentTerm())
			if n == second {
				return want.With(identified(n))
			}
			return want
		})
	}
	connect(nodes)
	eventuallyViews(t, "the one that was cut off follows", first, func() electtest.Series {
		now := leader(t, nodes...)
		return held(now, now.raft.CurrentTerm()).With(identified(first))
	})
}

func TestWithoutAQuorumTheStateIsUnknownNotVacant(t *testing.T) {
	nodes := cluster(t, 2)
	connect(nodes)
	first := leader(t, nodes...)
	other := nodes[0]
	if other == first {
		other = nodes[1]
	}
	observeRaw(t, other)
	eventuallyViews(t, "the follower knows the leader", other, func() electtest.Series { return held(first, first.raft.CurrentTerm()) })
	cut(first, nodes)
	eventuallyViews(t, "the follower is alone", other, func() electtest.Series { return unseen })
	vacant := electtest.ReadBackend(other.m, "lock")[`leader_backend_vacant_seconds_total{backend="raft"}`]
	if vacant != 0 {
		t.Errorf("vacant for %v s, which a node that is alone cannot know", vacant)
	}
}

func TestTheEndOfAWitness(t *testing.T) {
	for _, c := range []struct {
		name string
		ends func(t *testing.T, n *node)
	}{
		{"it is not observed any longer", func(_ *testing.T, n *node) { n.stop() }},
		{"the observer is stopped twice", func(_ *testing.T, n *node) { n.stop(); n.stop() }},
		{"the node shuts down", func(t *testing.T, n *node) {
			if err := n.raft.Shutdown().Error(); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := leader(t, cluster(t, 1)...)
			observeRaw(t, n)
			eventuallyViews(t, "before", n, func() electtest.Series { return held(n, n.raft.CurrentTerm()).With(identified(n)) })
			c.ends(t, n)
			if got := n.view(); len(got) != 0 {
				t.Errorf("afterwards %v", got)
			}
			if n.raft.State() != raft.Shutdown && n.series(t)["leader_active"] != 1 {
				t.Error("the last leadership does not remain")
			}
		})
	}
}
