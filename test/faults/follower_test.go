//go:build integration

package faults

import (
	"errors"
	"io"
	"log"
	"os"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/go-zookeeper/zk"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/instrument/zklock"
	"github.com/leaderscope/leaderscope/test/electors"
	"github.com/leaderscope/leaderscope/test/server"
)

// A follower that is cut off from its leader answers from its own copy, where
// the node of an expired session is still there.
func TestALeaderBehindAFollowerThatIsCutOffIsOverBeforeTheNextLeads(t *testing.T) {
	t.Parallel()
	var ways []*toxiproxy.Proxy
	ensemble, err := server.StartZooKeeperEnsemble(func(address string) (string, error) {
		p, err := electors.NewProxy(address)
		if err == nil {
			ways = append(ways, p)
			t.Cleanup(p.Stop)
		}
		return p.Listen, err
	})
	if errors.Is(err, server.ErrMissing) && os.Getenv("LEADERSCOPE_ALL_SERVERS") == "" {
		t.Skipf("SKIPPED: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(ensemble.Close)

	const queue = "/leaderscope/follower"
	m, err := instrument.New()
	if err != nil {
		t.Fatal(err)
	}
	addresses := ensemble.Addresses()
	_, a := behind(t, addresses[0], queue)
	reader, _ := behind(t, addresses[0], queue)
	e := m.Election("lock", instrument.Hold())
	term, err := e.Acquire(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	_, other := behind(t, addresses[1], queue)
	children, _, err := reader.Children(queue)
	if err != nil || len(children) != 1 {
		t.Fatalf("%d nodes: %v", len(children), err)
	}
	node := path.Join(queue, children[0])

	for _, p := range ways {
		for _, stream := range []string{"upstream", "downstream"} {
			silence := `{"name":"` + stream + `","type":"timeout","stream":"` + stream + `","toxicity":1,"attributes":{"timeout":0}}`
			if _, err := p.Toxics.AddToxicJson(strings.NewReader(silence)); err != nil {
				t.Fatal(err)
			}
		}
	}
	cut := time.Now()
	next, err := other.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	won := time.Now()
	s := electtest.Read(m, "lock")
	there, _, err := reader.Exists(node)
	t.Logf("the next won %.1f s after the cut; the follower says that the node is there: %v, %v", won.Sub(cut).Seconds(), there, err)
	if !there || err != nil {
		t.Error("the follower did not answer from its copy, so that nothing was shown")
	}
	if s[of(catalog.Active)] != 0 || term.Leading() {
		t.Errorf("the first leads while the next does: %v", s)
	}
	if err := next.Release(t.Context()); err != nil {
		t.Error(err)
	}
}

// behind is an elector whose client knows one server.
func behind(t *testing.T, address, queue string) (*zk.Conn, instrument.Acquirer) {
	t.Helper()
	session := new(zklock.Session)
	conn, events, err := zk.Connect([]string{address}, lease, zk.WithLogInfo(false), zk.WithLogger(log.New(io.Discard, "", 0)),
		zk.WithEventCallback(session.Event), zk.WithDialer(session.Dialer(nil)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	for event := range events {
		if event.State == zk.StateHasSession {
			break
		}
	}
	return conn, zklock.NewElection(conn, session, queue, address, zk.WorldACL(zk.PermAll))
}
