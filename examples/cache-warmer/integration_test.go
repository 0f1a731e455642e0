//go:build integration

package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/leaderscope/leaderscope/examples/internal/stage"
	"github.com/leaderscope/leaderscope/examples/internal/stage/stagetest"
	"github.com/leaderscope/leaderscope/instrument/catalog"
)

func TestMain(m *testing.M) { stagetest.Main(m, main) }

// setting is a Redis of the test's own, with the sources of all partitions in
// it.
type setting struct {
	*testing.T
	server *stage.Server
	cfg    config
	store  store
}

func newSetting(t *testing.T, lease time.Duration) *setting {
	t.Helper()
	server := stagetest.Server(t, stage.Redis)
	cfg := config{redis: server.Address(), prefix: "test:", lease: lease, chunk: 10 * time.Millisecond, fresh: 100 * time.Millisecond, every: 50 * time.Millisecond}
	client := redis.NewClient(&redis.Options{Addr: cfg.redis})
	t.Cleanup(func() { client.Close() })
	s := &setting{t, server, cfg, store{client: client, prefix: cfg.prefix}}
	for _, partition := range partitions {
		s.fill(partition, false)
	}
	return s
}

func (s *setting) fill(partition string, broken bool) {
	s.Helper()
	if err := s.store.fill(s.Context(), partition, broken); err != nil {
		s.Fatal(err)
	}
}

// node starts a node whose chunks take that long.
func (s *setting) node(name string, chunk time.Duration) *stage.Node {
	s.Helper()
	cfg := s.cfg
	cfg.chunk = chunk
	return stagetest.Node(s.T, name, cfg.args(name)...)
}

// reach waits until these partitions have been loaded n times more.
func (s *setting) reach(n int, partitions ...string) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), time.Minute)
	defer cancel()
	if err := s.store.reach(ctx, n, partitions...); err != nil {
		s.Fatal(err)
	}
}

// settle drains the nodes, holds their metrics to what they counted, and looks
// for partitions that were loaded by two at once.
func (s *setting) settle(nodes ...*stage.Node) (all []stage.Metrics) {
	s.Helper()
	for _, n := range nodes {
		var counts map[string]stage.Count
		m := stagetest.Drain(s.T, n, &counts)
		stagetest.Agrees(s.T, n, m, counts)
		all = append(all, m)
	}
	for _, partition := range partitions {
		if _, violations, err := s.store.loads(s.Context(), partition); err != nil || violations != 0 {
			s.Errorf("partition %s: %d violations, error %v", partition, violations, err)
		}
	}
	return all
}

func TestTheShow(t *testing.T) {
	printed := stagetest.Show(t, "--chunk", "120ms", "--fresh", "1s")
	stagetest.LikeItsREADME(t, printed)
	if !strings.Contains(printed, "What the remaining node exported is what it counted itself.") {
		t.Errorf("printed:\n%s", printed)
	}
}

func TestTheShowIsInterrupted(t *testing.T) { stagetest.Interrupt(t, "Two nodes") }

func TestOnePartitionFailsAndComesBack(t *testing.T) {
	s := newSetting(t, time.Second)
	s.fill(broken, true)
	a, b := s.node("a", s.cfg.chunk), s.node("b", s.cfg.chunk)
	s.reach(3, "0", "1", "2", "3", "5")
	s.fill(broken, false)
	s.reach(3, broken)
	var failures, others float64
	for _, m := range s.settle(a, b) {
		failures += m.Of(catalog.ExecutionFailures.Name(), "lock_name", lockName(broken))
		others += m.Of(catalog.ExecutionFailures.Name())
	}
	if failures < 1 || others != failures {
		t.Errorf("%v loads of the broken partition failed, and %v of all", failures, others)
	}
}

func TestAKilledNodesPartitionsAreTakenOver(t *testing.T) {
	s := newSetting(t, 5*time.Second)
	a := s.node("a", time.Hour)
	stagetest.Shows(t, a, "loads all partitions", func(m stage.Metrics) bool { return m.Of(catalog.Running.Name()) == float64(len(partitions)) })
	b := s.node("b", s.cfg.chunk)
	stagetest.Shows(t, b, "met all locks", func(m stage.Metrics) bool {
		for _, p := range partitions {
			if m.Of(catalog.NotAcquired.Name(), "lock_name", lockName(p), "reason", "contended") == 0 {
				return false
			}
		}
		return true
	})
	a.Kill()
	s.reach(2, partitions...)
	s.settle(b)
}

func TestASuspendedNodeDoesNoHarmWhenItGoesOn(t *testing.T) {
	s := newSetting(t, 2*time.Second)
	a := s.node("a", 500*time.Millisecond)
	stagetest.Shows(t, a, "loads all partitions", func(m stage.Metrics) bool { return m.Of(catalog.Running.Name()) == float64(len(partitions)) })
	a.Suspend()
	b := s.node("b", s.cfg.chunk)
	s.reach(1, partitions...) // so a's leases are over
	a.Continue()
	stagetest.Shows(t, a, "gave up what it loaded", func(m stage.Metrics) bool {
		return m.Of(catalog.ExecutionFailures.Name()) >= float64(len(partitions))
	})
	s.reach(2, partitions...)
	all := s.settle(a, b)
	for _, want := range []struct {
		metric *catalog.Metric
		labels []string
	}{
		{catalog.LeaseOverruns, nil},
		{catalog.Renewals, []string{"result", "lost"}},
		{catalog.TermsEnded, []string{"cause", "lost"}},
		{catalog.Releases, []string{"result", "not_owner"}},
	} {
		if got := all[0].Of(want.metric.Name(), want.labels...); got < float64(len(partitions)) {
			t.Errorf("%s%v is %v, want one for each of %d partitions", want.metric.Name(), want.labels, got, len(partitions))
		}
	}
	if got := all[0].Of(catalog.WorkAfterLoss.Name()); got <= 0 {
		t.Errorf("%s is %v, want the time that it was suspended past its leases", catalog.WorkAfterLoss.Name(), got)
	}
	if got := all[1].Of(catalog.LeaseOverruns.Name()); got != 0 {
		t.Errorf("the node that took over shows %v overruns", got)
	}
}

func TestRedisIsRestarted(t *testing.T) {
	s := newSetting(t, 2*time.Second)
	a, b := s.node("a", s.cfg.chunk), s.node("b", s.cfg.chunk)
	s.reach(2, partitions...)
	s.server.Down()
	for _, n := range []*stage.Node{a, b} {
		stagetest.Shows(t, n, "met the outage", func(m stage.Metrics) bool {
			return m.Of(catalog.NotAcquired.Name(), "reason", "backend_error") > 0
		})
	}
	if err := s.server.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.reach(3, partitions...)
	s.settle(a, b)
}
