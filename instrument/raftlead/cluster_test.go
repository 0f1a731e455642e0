package raftlead

import (
	"fmt"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	"go.uber.org/goleak"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// node is one process: a member and its middleware.
type node struct {
	id        raft.ServerID
	raft      *raft.Raft
	transport *raft.InmemTransport
	address   raft.ServerAddress
	m         *instrument.Middleware
	stop      func()
}

// cluster starts that many members in memory, without their observers. Several
// have no leader before they are connected.
func cluster(t *testing.T, members int) []*node {
	t.Helper()
	return clusterOf(t, members, func(*raft.Config) {})
}

func clusterOf(t *testing.T, members int, configure func(*raft.Config)) []*node {
	t.Helper()
	nodes := make([]*node, members)
	var servers []raft.Server
	for i := range nodes {
		address, transport := raft.NewInmemTransport("")
		nodes[i] = &node{id: raft.ServerID(fmt.Sprint(i)), transport: transport, address: address}
		servers = append(servers, raft.Server{ID: nodes[i].id, Address: address})
	}
	for _, n := range nodes {
		cfg := raft.DefaultConfig()
		configure(cfg)
		cfg.LocalID = n.id
		cfg.Logger = hclog.NewNullLogger()
		cfg.HeartbeatTimeout, cfg.ElectionTimeout = 200*time.Millisecond, 200*time.Millisecond
		cfg.LeaderLeaseTimeout, cfg.CommitTimeout = 150*time.Millisecond, 10*time.Millisecond
		store := raft.NewInmemStore()
		snapshots := raft.NewInmemSnapshotStore()
		if err := raft.BootstrapCluster(cfg, store, store, snapshots, n.transport, raft.Configuration{Servers: servers}); err != nil {
			t.Fatal(err)
		}
		var err error
		if n.raft, err = raft.NewRaft(cfg, &raft.MockFSM{}, store, store, snapshots, n.transport); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = n.raft.Shutdown().Error() })
	}
	return nodes
}

func connect(nodes []*node) {
	for _, a := range nodes {
		for _, b := range nodes {
			if a != b {
				a.transport.Connect(b.address, b.transport)
			}
		}
	}
}

// cut takes n from the others.
func cut(n *node, nodes []*node) {
	n.transport.DisconnectAll()
	for _, other := range nodes {
		other.transport.Disconnect(n.address)
	}
}

func observe(t *testing.T, n *node) {
	t.Helper()
	var err error
	n.m, err = instrument.New()
	if err != nil {
		t.Fatal(err)
	}
	n.stop = Observe(n.m.Election("lock", instrument.Hold(), instrument.HiddenRenewals(), instrument.Backend("raft")), n.raft)
}

func (n *node) series(t testing.TB) electtest.Series {
	t.Helper()
	r := electtest.Read(n.m, "lock")
	if why := electtest.Broken(r); why != "" {
		t.Errorf("invariant broken: %s in %v", why, r)
	}
	return r
}

// leader is the one of these that leads, once there is one.
func leader(t *testing.T, nodes ...*node) *node {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		for _, n := range nodes {
			if n.raft.State() == raft.Leader {
				return n
			}
		}
	}
	t.Fatal("no leader within 30 s")
	return nil
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within 30 s: %s", what)
		}
	}
}
