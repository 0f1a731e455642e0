package zklock

import (
	"context"
	"path"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/google/go-cmp/cmp"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/instrument/internal/expect"
)

var of = electtest.Of

// standby is a candidate in the queue, and what it sees.
type standby struct {
	*conn
	m    *instrument.Middleware
	stop func()
}

// queue has a candidate wait in /leader; it keeps the lock until it is stopped.
func queue(t *testing.T, server *tree) *standby {
	t.Helper()
	s := &standby{conn: server.connect(), m: expect.Middleware(t)}
	e := s.m.Election(expect.Lock, instrument.Hold(), instrument.Backend("zookeeper"))
	ctx, cancel := context.WithCancel(t.Context())
	done, before := make(chan struct{}), server.count("/leader")
	go func() {
		defer close(done)
		if term, err := e.Acquire(ctx, s.elector("/leader")); err == nil {
			<-ctx.Done()
			_ = term.Release(context.WithoutCancel(ctx))
		}
	}()
	s.stop = func() { cancel(); <-done }
	t.Cleanup(s.stop)
	eventually(t, "the candidate is in the queue", func() bool { return server.count("/leader") == before+1 })
	return s
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within 30 s: %s", what)
		}
	}
}

func (s *standby) views() electtest.Series {
	return electtest.ReadBackend(s.m, expect.Lock).Without(of(catalog.BackendLastEvent, "zookeeper"))
}

func (s *standby) sees(t *testing.T, at string, want electtest.Series) {
	t.Helper()
	want = want.With(electtest.Series{of(catalog.BackendVacant, "zookeeper"): 0})
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(time.Millisecond) {
		diff := cmp.Diff(want, s.views())
		if diff == "" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s (-want +got):\n%s", at, diff)
		}
	}
}

// nodes are those of the queue, the holder first.
func (t *tree) queued() []string {
	var all []string
	names, _, _ := t.connect().Children("/leader")
	for len(all) < len(names) {
		least := ""
		for _, n := range names {
			if (len(all) == 0 || n[len(n)-10:] > all[len(all)-1][len(all[len(all)-1])-10:]) && (least == "" || n[len(n)-10:] < least[len(least)-10:]) {
				least = n
			}
		}
		all = append(all, least)
	}
	return all
}

func (s *standby) view(server *tree, as, holder string, terms float64) electtest.Series {
	_, stat, _ := s.Exists("/leader/" + holder)
	return electtest.Series{
		of(catalog.BackendHeld, "zookeeper"): 1, of(catalog.BackendHolderInfo, "zookeeper", holder): 1, of(catalog.BackendToken, "zookeeper"): float64(stat.Czxid),
		of(catalog.BackendTerms, "zookeeper"): terms, of(catalog.BackendUp, "zookeeper"): 1, of(catalog.IdentityInfo, as): 1,
	}
}

var gap = electtest.Series{
	catalog.BackendHandover.Count() + `{backend="zookeeper"}`: 1, catalog.BackendHandover.Sum() + `{backend="zookeeper"}`: 0,
	catalog.BackendHandover.Bucket() + `{backend="zookeeper",le="0.05"}`: 1,
}

func TestTheSecondInTheQueueSeesTheHolder(t *testing.T) {
	server := newTree()
	first := acquire(t, server.connect().elector("/leader"))
	second, third := queue(t, server), queue(t, server)
	nodes := server.queued()
	second.sees(t, "the second", second.view(server, nodes[1], nodes[0], 0))
	if v := third.views(); !cmp.Equal(v, electtest.Series{of(catalog.IdentityInfo, nodes[2]): 1}) {
		t.Errorf("the third sees %v", v)
	}
	second.session.Event(zk.Event{Type: zk.EventSession, State: zk.StateDisconnected})
	second.sees(t, "while it is disconnected", electtest.Series{
		of(catalog.BackendTerms, "zookeeper"): 0, of(catalog.BackendUp, "zookeeper"): 0, of(catalog.IdentityInfo, nodes[1]): 1,
	})
	third.session.Event(zk.Event{Type: zk.EventSession, State: zk.StateDisconnected})
	for _, state := range []zk.State{zk.StateConnecting, zk.StateConnected, zk.StateHasSession} {
		second.session.Event(zk.Event{Type: zk.EventSession, State: state})
		third.session.Event(zk.Event{Type: zk.EventSession, State: state})
	}
	second.sees(t, "connected again", second.view(server, nodes[1], nodes[0], 0))
	if v := third.views(); !cmp.Equal(v, electtest.Series{of(catalog.IdentityInfo, nodes[2]): 1}) {
		t.Errorf("the third sees %v after a reconnect", v)
	}

	if err := first.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	second.sees(t, "the second as the leader", electtest.Series{of(catalog.BackendTerms, "zookeeper"): 1, of(catalog.IdentityInfo, nodes[1]): 1}.With(gap))
	third.stop()
	second.stop()
	second.sees(t, "the second after its term", electtest.Series{of(catalog.BackendTerms, "zookeeper"): 1}.With(gap))
}

func TestTheThirdBecomesAWitnessWhenItIsSecond(t *testing.T) {
	server := newTree()
	acquire(t, server.connect().elector("/leader"))
	second, third := queue(t, server), queue(t, server)
	nodes := server.queued()
	second.stop()
	third.sees(t, "after the second has left", third.view(server, nodes[2], nodes[0], 0))
	third.stop()
	third.sees(t, "after it has left", electtest.Series{of(catalog.BackendTerms, "zookeeper"): 0})
}

func TestAWitnessWhoseHolderTakesItsPlaceBackTellsNothing(t *testing.T) {
	m := expect.Middleware(t)
	c := &candidate{node: "/leader/n"}
	w := newWitness(m.Election(expect.Lock, instrument.Backend("zookeeper")), &Session{}, c)
	w.waitsFor("/leader/a", &zk.Stat{Czxid: 3}, true)
	w.waitsFor("/leader/b", &zk.Stat{Czxid: 4}, false)
	if v := electtest.ReadBackend(m, expect.Lock); v[of(catalog.BackendUp, "zookeeper")] != 0 || v[of(catalog.IdentityInfo, path.Base(c.node))] != 1 {
		t.Errorf("%v", v)
	}
	w.leaves()
}
