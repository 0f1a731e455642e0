//go:build integration

package faults

import (
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/instrument/raftlead"
	"github.com/leaderscope/leaderscope/redact"
)

// member is one node of a cluster in this process, which is how raft can be
// cut off in memory: what needs processes of its own does not apply.
type member struct {
	id        raft.ServerID
	raft      *raft.Raft
	transport *raft.InmemTransport
	address   raft.ServerAddress
	m         *instrument.Middleware
}

func (n *member) series() electtest.Series { return electtest.Read(n.m, "lock") }

// endsBy waits until one term has ended with that cause and nothing else was
// counted, and returns the next leader.
func (n *member) endsBy(t *testing.T, before electtest.Series, cause catalog.EndCause, rest []*member) *member {
	t.Helper()
	soon(t, "the term has ended", func() bool { return ended(n.series()) > ended(before) })
	want := rareOf(before).With(electtest.Series{endedBy(cause): before[endedBy(cause)] + 1})
	for _, line := range difference("the old leader", rareOf(n.series()), want) {
		t.Error(line)
	}
	if n.series()[of(catalog.Active)] != 0 {
		t.Error("the old leader is active")
	}
	return raftLeader(t, rest)
}

func TestRaft(t *testing.T) {
	t.Parallel()
	r := newRow(len(table), elector{
		name: "hashicorp/raft", module: "instrument/raftlead", style: "observe only", server: "hashicorp/raft",
		note: "tested with nodes in one process that are cut off in memory; leadership has no lease that can be read.",
	}, moduleVersion(t, "github.com/hashicorp/raft"))
	nodes := raftCluster(t, 6)
	stop := watchRaft(t, nodes)
	defer stop()
	var old *member
	r.run(t, "contention by six nodes", func(t *testing.T) {
		old = raftLeader(t, nodes)
		time.Sleep(2 * time.Second)
		s := old.series()
		if s[of(catalog.Active)] != 1 || s[of(catalog.Acquired)] != 1 {
			t.Errorf("leader: %v", s)
		}
		r.learn(s)
	})
	r.run(t, "leader cut off by the network", func(t *testing.T) {
		before := old.series()
		disconnectRaft(nodes, old)
		next := raftLeader(t, others(nodes, old))
		if a, b := next.series()[of(catalog.FencingToken)], before[of(catalog.FencingToken)]; a <= b {
			t.Errorf("token %v after %v", a, b)
		}
		soon(t, "the old leader's term is lost", func() bool {
			return old.series()[of(catalog.TermsEnded, catalog.Lost.String())] == 1 && old.series()[of(catalog.Active)] == 0
		})
		r.lost(before, old.series())
		connectRaft(nodes)
		old = next
	})
	r.run(t, "leader removed from the cluster while it runs", func(t *testing.T) {
		before := old.series()
		if err := old.raft.RemoveServer(old.id, 0, 0).Error(); err != nil {
			t.Fatal(err)
		}
		nodes = others(nodes, old)
		old = old.endsBy(t, before, catalog.Lost, nodes)
	})
	r.run(t, "graceful stop under a cut connection", func(t *testing.T) {
		before := old.series()
		disconnectRaft(nodes, old)
		if err := old.raft.Shutdown().Error(); err != nil {
			t.Fatal(err)
		}
		nodes = others(nodes, old)
		old = old.endsBy(t, before, catalog.CanceledTerm, nodes)
	})
	r.run(t, "leader shut down", func(t *testing.T) {
		before := old.series()
		if err := old.raft.Shutdown().Error(); err != nil {
			t.Fatal(err)
		}
		old.endsBy(t, before, catalog.CanceledTerm, others(nodes, old))
	})
	r.write(t)
}

func raftCluster(t *testing.T, size int) []*member {
	t.Helper()
	var nodes []*member
	var servers []raft.Server
	for i := range size {
		address, transport := raft.NewInmemTransport("")
		id := raft.ServerID(fmt.Sprint(i))
		nodes = append(nodes, &member{id: id, transport: transport, address: address})
		servers = append(servers, raft.Server{ID: id, Address: address})
	}
	connectRaft(nodes)
	for _, n := range nodes {
		cfg := raft.DefaultConfig()
		cfg.LocalID, cfg.Logger, cfg.ShutdownOnRemove = n.id, hclog.NewNullLogger(), false
		store, snapshots := raft.NewInmemStore(), raft.NewInmemSnapshotStore()
		if err := raft.BootstrapCluster(cfg, store, store, snapshots, n.transport, raft.Configuration{Servers: servers}); err != nil {
			t.Fatal(err)
		}
		var err error
		if n.raft, err = raft.NewRaft(cfg, &raft.MockFSM{}, store, store, snapshots, n.transport); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = n.raft.Shutdown().Error() })
		if n.m, err = instrument.New(instrument.WithRedactor(redact.Constant(redact.Exact("lock")))); err != nil {
			t.Fatal(err)
		}
		raftlead.Observe(n.m.Election("lock", instrument.Hold(), instrument.HiddenRenewals(), instrument.Backend("raft")), n.raft)
	}
	return nodes
}

func connectRaft(nodes []*member) {
	for _, a := range nodes {
		for _, b := range nodes {
			if a != b {
				a.transport.Connect(b.address, b.transport)
			}
		}
	}
}

// disconnectRaft cuts one node off from all others.
func disconnectRaft(nodes []*member, node *member) {
	for _, n := range others(nodes, node) {
		n.transport.Disconnect(node.address)
		node.transport.Disconnect(n.address)
	}
}

// watchRaft reads every node ten times a second.
func watchRaft(t *testing.T, nodes []*member) (stop func()) {
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			for _, n := range nodes {
				if s := n.series(); electtest.Broken(s) != "" {
					t.Errorf("invariant broken: %s in %v", electtest.Broken(s), s)
				}
			}
		}
	})
	return func() {
		close(done)
		wg.Wait()
	}
}

func raftLeader(t *testing.T, nodes []*member) *member {
	t.Helper()
	var leader *member
	soon(t, "a leader", func() bool {
		for _, n := range nodes {
			if n.series()[of(catalog.Active)] == 1 {
				leader = n
			}
		}
		return leader != nil
	})
	return leader
}

func others(nodes []*member, but *member) []*member {
	var rest []*member
	for _, n := range nodes {
		if n != but {
			rest = append(rest, n)
		}
	}
	return rest
}

func soon(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}

// moduleVersion is the version of a module that this test is built with.
func moduleVersion(t *testing.T, path string) string {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Version}}", path).Output()
	if err != nil {
		t.Fatalf("version of %s: %v", path, err)
	}
	return strings.TrimPrefix(strings.TrimSpace(string(out)), "v")
}
