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

// setting is a Redis of the test's own, with tenants in it.
type setting struct {
	*testing.T
	server *stage.Server
	cfg    nodeConfig
	store  store
	label  func(tenant string) string
}

func newSetting(t *testing.T, lease time.Duration, tenants ...string) *setting {
	server := stagetest.Server(t, stage.Redis)
	cfg := nodeConfig{redis: server.Address(), prefix: "test:", lease: lease, every: 50 * time.Millisecond, work: 20 * time.Millisecond}
	client := redis.NewClient(&redis.Options{Addr: cfg.redis})
	t.Cleanup(func() { client.Close() })
	t.Setenv(keyVariable, "") // put back afterwards
	label, err := makeKey()
	if err != nil {
		t.Fatal(err)
	}
	s := &setting{t, server, cfg, store{client, cfg.prefix}, label}
	for _, tenant := range tenants {
		s.add(tenant, tenant == "hooli")
	}
	return s
}

func (s *setting) add(tenant string, broken bool) {
	s.Helper()
	if err := s.store.add(s.Context(), tenant, broken); err != nil {
		s.Fatal(err)
	}
}

// node starts a node whose runs take that long.
func (s *setting) node(name string, work time.Duration) *stage.Node {
	s.Helper()
	cfg := s.cfg
	cfg.work = work
	return stagetest.Node(s.T, name, cfg.args(name)...)
}

// reach waits until these tenants have been aggregated n times more.
func (s *setting) reach(n int, tenants ...string) {
	s.Helper()
	for _, tenant := range tenants {
		before, _, err := s.store.runs(s.Context(), tenant)
		if err != nil {
			s.Fatal(err)
		}
		stagetest.Until(s.T, "runs of "+tenant, func(ctx context.Context) (bool, error) {
			runs, _, err := s.store.runs(ctx, tenant)
			return runs >= before+n, err
		})
	}
}

// settle drains the nodes, holds their metrics to what they counted, and
// returns them, added up, by what Redis says of violations.
func (s *setting) settle(nodes ...*stage.Node) (all []stage.Metrics) {
	s.Helper()
	for _, n := range nodes {
		var counts map[string]stage.Count
		m := stagetest.Drain(s.T, n, &counts)
		stagetest.Agrees(s.T, n, m, counts)
		all = append(all, m)
	}
	tenants, err := s.store.tenants(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	for _, tenant := range tenants {
		if _, violations, err := s.store.runs(s.Context(), tenant); err != nil || violations != 0 {
			s.Errorf("%s: %d violations, error %v", tenant, violations, err)
		}
	}
	return all
}

func TestTheShow(t *testing.T) {
	printed := stagetest.Show(t)
	stagetest.LikeItsREADME(t, printed)
	if !strings.Contains(printed, "What the nodes exported is what they counted themselves.") {
		t.Errorf("printed:\n%s", printed)
	}
}

func TestTheShowIsInterrupted(t *testing.T) { stagetest.Interrupt(t, "Three nodes") }

func TestTenantsComeAndGoUnderThreeNodes(t *testing.T) {
	s := newSetting(t, 2*time.Second, "acme", "globex", "umbrella", "hooli")
	nodes := []*stage.Node{s.node("a", s.cfg.work), s.node("b", s.cfg.work), s.node("c", s.cfg.work)}
	s.reach(5, "acme", "globex", "umbrella")
	if err := s.store.remove(t.Context(), "umbrella"); err != nil {
		t.Fatal(err)
	}
	s.add("stark", false)
	s.reach(5, "acme", "globex", "stark")
	for _, n := range nodes {
		stagetest.Shows(t, n, "has series of the tenants that there are", func(m stage.Metrics) bool {
			return len(m.Select(catalog.Attempts.Name())) == 4 && len(m.Select(catalog.Attempts.Name(), "lock_name", s.label("stark"))) == 1
		})
	}
	var failures, others float64
	for _, m := range s.settle(nodes...) {
		failures += m.Of(catalog.ExecutionFailures.Name(), "lock_name", s.label("hooli"))
		others += m.Of(catalog.ExecutionFailures.Name())
	}
	if failures < 3 || others != failures {
		t.Errorf("%v runs of hooli failed, and %v of all", failures, others)
	}
}

func TestAKilledNodesTenantsAreTakenOver(t *testing.T) {
	s := newSetting(t, 5*time.Second, "acme", "globex")
	a := s.node("a", time.Hour)
	stagetest.Shows(t, a, "holds both tenants", func(m stage.Metrics) bool { return m.Of(catalog.Active.Name()) == 2 })
	b := s.node("b", s.cfg.work)
	stagetest.Shows(t, b, "met the locks", func(m stage.Metrics) bool {
		return m.Of(catalog.NotAcquired.Name(), "lock_name", s.label("acme"), "reason", "contended") > 0 &&
			m.Of(catalog.NotAcquired.Name(), "lock_name", s.label("globex"), "reason", "contended") > 0
	})
	a.Kill()
	s.reach(3, "acme", "globex")
	s.settle(b)
}

func TestASuspendedNodeDoesNoHarmWhenItGoesOn(t *testing.T) {
	s := newSetting(t, 3*time.Second, "acme")
	a := s.node("a", time.Hour)
	stagetest.Shows(t, a, "holds the tenant", func(m stage.Metrics) bool { return m.Of(catalog.Running.Name()) == 1 })
	a.Suspend()
	b := s.node("b", s.cfg.work)
	s.reach(1, "acme") // so a's lease is over
	a.Continue()
	stagetest.Shows(t, a, "gave up what it ran", func(m stage.Metrics) bool { return m.Of(catalog.ExecutionFailures.Name()) > 0 })
	s.reach(3, "acme")

	all := s.settle(a, b)
	for _, want := range []struct {
		metric *catalog.Metric
		node   int
		labels []string
		more   float64
	}{
		{catalog.LeaseOverruns, 0, nil, 1},
		{catalog.TermsEnded, 0, []string{"cause", "expired"}, 1},
		{catalog.Releases, 0, []string{"result", "not_owner"}, 1},
	} {
		if got := all[want.node].Of(want.metric.Name(), want.labels...); got < want.more {
			t.Errorf("%s%v is %v, want at least %v", want.metric.Name(), want.labels, got, want.more)
		}
	}
	if got := all[0].Of(catalog.WorkAfterLoss.Name()); got <= 0 {
		t.Errorf("%s is %v, want the time that it was suspended past its lease", catalog.WorkAfterLoss.Name(), got)
	}
	if got := all[1].Of(catalog.LeaseOverruns.Name()); got != 0 {
		t.Errorf("the node that took over shows %v overruns", got)
	}
}

func TestRedisIsRestarted(t *testing.T) {
	s := newSetting(t, 2*time.Second, "acme", "globex", "initech")
	nodes := []*stage.Node{s.node("a", s.cfg.work), s.node("b", s.cfg.work), s.node("c", s.cfg.work)}
	s.reach(5, "acme", "globex", "initech")
	s.server.Down()
	for _, n := range nodes {
		stagetest.Shows(t, n, "met the outage", func(m stage.Metrics) bool {
			return m.Of(catalog.NotAcquired.Name(), "reason", "backend_error") >= 3
		})
	}
	if err := s.server.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.reach(5, "acme", "globex", "initech")
	s.settle(nodes...)
}
