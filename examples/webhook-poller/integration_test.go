//go:build integration

package main

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/leaderscope/leaderscope/examples/internal/stage"
	"github.com/leaderscope/leaderscope/examples/internal/stage/stagetest"
	"github.com/leaderscope/leaderscope/instrument/catalog"
)

func TestMain(m *testing.M) { stagetest.Main(m, main) }

// setting is a PostgreSQL of the test's own, with the table in it, and a
// receiver.
type setting struct {
	*testing.T
	server *stage.Server
	*director
}

func newSetting(t *testing.T) *setting {
	t.Helper()
	server := stagetest.Server(t, stage.Postgres)
	cfg := config{postgres: server.DSN(), schema: "app", claim: 2 * time.Second, every: 50 * time.Millisecond, limit: 4}
	db, err := prepare(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	db.SetMaxIdleConns(-1) // no connection of the test outlives a restart
	r, err := newReceiver()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.close)
	return &setting{t, server, &director{cfg: cfg, db: db, receiver: r}}
}

func (s *setting) node(name string) *stage.Node {
	s.Helper()
	return stagetest.Node(s.T, name, s.cfg.args(name)...)
}

// leaderAndStandby starts two nodes, one after the other.
func (s *setting) leaderAndStandby() (a, b *stage.Node) {
	s.Helper()
	a = s.node("a")
	stagetest.Shows(s.T, a, "leads", leads)
	b = s.node("b")
	stagetest.Shows(s.T, b, "waits", func(m stage.Metrics) bool { return m.Of(catalog.Pending.Name()) == 1 })
	return a, b
}

func leads(m stage.Metrics) bool { return m.Of(catalog.Active.Name()) == 1 }

// adds puts a webhook into the table.
func (s *setting) adds(path string) string {
	s.Helper()
	key, err := s.add(s.Context(), path)
	if err != nil {
		s.Fatal(err)
	}
	return key
}

// allSettled waits until nothing is PENDING.
func (s *setting) allSettled() {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), time.Minute)
	defer cancel()
	if err := s.settled(ctx); err != nil {
		s.Fatal(err)
	}
}

// arrives waits until a webhook has arrived and is not answered yet.
func (s *setting) arrives(key string) {
	s.Helper()
	stagetest.Until(s.T, "a webhook to arrive", func(context.Context) (bool, error) { return s.receiver.holds(key), nil })
}

// is holds a webhook's row to a state, and returns how often it arrived.
func (s *setting) is(key, state string, attempts int) int {
	s.Helper()
	var gotState string
	var gotAttempts int
	err := s.db.QueryRowContext(s.Context(), "SELECT state, attempts FROM webhooks WHERE id::text = $1", key).Scan(&gotState, &gotAttempts)
	if err != nil || gotState != state || gotAttempts != attempts {
		s.Errorf("webhook %s: %s after %d attempts, error %v; want %s after %d", key, gotState, gotAttempts, err, state, attempts)
	}
	return s.receiver.times(key)
}

// drained ends a node's work and holds its metrics to what it counted.
func (s *setting) drained(n *stage.Node) (noted, stage.Metrics) {
	s.Helper()
	var r report
	m := stagetest.Drain(s.T, n, &r)
	stagetest.Agrees(s.T, n, m, r.Counts)
	return r.Noted, m
}

func shown(t *testing.T, m stage.Metrics, want float64, metric *catalog.Metric, labels ...string) {
	t.Helper()
	if got := m.Of(metric.Name(), labels...); got != want {
		t.Errorf("%s%v is %v, want %v", metric.Name(), labels, got, want)
	}
}

func TestTheShow(t *testing.T) {
	printed := stagetest.Show(t)
	stagetest.LikeItsREADME(t, printed)
	for _, want := range []string{"FAILED", "delivered it again", "is what it counted itself"} {
		if !strings.Contains(printed, want) {
			t.Errorf("%q is missing in\n%s", want, printed)
		}
	}
}

func TestTheShowIsInterrupted(t *testing.T) { stagetest.Interrupt(t, "Two nodes") }

func TestRowsAreClaimedByOneAtATime(t *testing.T) {
	s := newSetting(t)
	const rows, pollers = 500, 8
	if _, err := s.db.ExecContext(t.Context(), "INSERT INTO webhooks (url, payload) SELECT '', '' FROM generate_series(1, $1)", rows); err != nil {
		t.Fatal(err)
	}
	o := &sqlOutbox{s.db, time.Minute, s.cfg.limit}
	taken := make([][]webhook, pollers)
	var all sync.WaitGroup
	for i := range pollers {
		all.Go(func() {
			for {
				batch, err := o.take(t.Context(), 7)
				if err != nil {
					t.Error(err)
				}
				// A batch may be short, or empty, because others hold rows.
				if taken[i] = append(taken[i], batch...); len(batch) == 0 {
					return
				}
			}
		})
	}
	all.Wait()
	var ids []int64
	for _, t := range taken {
		for _, w := range t {
			ids = append(ids, w.id)
		}
	}
	slices.Sort(ids)
	if different := len(slices.Compact(slices.Clone(ids))); len(ids) != rows || different != rows {
		t.Errorf("%d rows were taken, %d different ones; want each of %d once", len(ids), different, rows)
	}
}

func TestAClaimIsALease(t *testing.T) {
	s := newSetting(t)
	key := s.adds("/fine")
	short, ctx := &sqlOutbox{s.db, time.Millisecond, 2}, t.Context()
	taken := func() webhook {
		t.Helper()
		var got []webhook
		stagetest.Until(t, "the claim to run out", func(ctx context.Context) (bool, error) {
			var err error
			got, err = short.take(ctx, 1)
			return len(got) == 1, err
		})
		return got[0]
	}
	first, second := taken(), taken()
	if first.attempts != 1 || second.attempts != 2 {
		t.Errorf("attempts are %d and %d", first.attempts, second.attempts)
	}
	for what, note := range map[string]func() (bool, error){
		"delivered": func() (bool, error) { return short.delivered(ctx, first) },
		"refused":   func() (bool, error) { return short.refused(ctx, first, 0) },
	} {
		if ours, err := note(); ours || err != nil {
			t.Errorf("%s under a claim that another has: %v, error %v", what, ours, err)
		}
	}
	s.is(key, "PENDING", 2)
	// Its last attempt is not heard of again.
	stagetest.Until(t, "the row to be given up", func(ctx context.Context) (bool, error) {
		n, err := short.giveUp(ctx)
		return n == 1, err
	})
	s.is(key, "FAILED", 2)
	if ours, err := short.delivered(ctx, second); ours || err != nil {
		t.Errorf("delivered after it was given up: %v, error %v", ours, err)
	}
}

func TestWebhooksAreRetriedAndFailAtTheLimit(t *testing.T) {
	s := newSetting(t)
	a, b := s.leaderAndStandby()
	fine, moody, broken := s.adds("/fine"), s.adds("/moody"), s.adds("/broken")
	s.allSettled()
	got := []int{s.is(fine, "DELIVERED", 1), s.is(moody, "DELIVERED", 3), s.is(broken, "FAILED", 4)}
	if want := []int{1, 3, 4}; !slices.Equal(got, want) {
		t.Errorf("received %v times, want %v", got, want)
	}
	_, m := s.drained(b) // it waited all the time
	shown(t, m, 0, catalog.Acquired)
	shown(t, m, 1, catalog.NotAcquired, "reason", "canceled")
	count, m := s.drained(a)
	shown(t, m, 1, catalog.Acquired)
	if want := (noted{Delivered: 2, Refused: 6}); count != want {
		t.Errorf("noted %+v, want %+v", count, want)
	}
}

func TestALeaderIsKilledBetweenTheEffectAndItsNote(t *testing.T) {
	s := newSetting(t)
	a, b := s.leaderAndStandby()
	key := s.adds("/silent")
	s.arrives(key)
	a.Kill()
	stagetest.Shows(t, b, "leads", leads)
	s.allSettled()
	if times := s.is(key, "DELIVERED", 2); times != 2 {
		t.Errorf("received %d times, want twice: at least once", times)
	}
	count, m := s.drained(b)
	shown(t, m, 1, catalog.Acquired)
	if want := (noted{Delivered: 1}); count != want {
		t.Errorf("noted %+v, want %+v", count, want)
	}
}

// A suspended leader keeps an advisory lock, which has no lease: it is the
// database that has to end its session.
func TestALeaderIsSuspendedPastItsClaimAndDeposed(t *testing.T) {
	s := newSetting(t)
	a, b := s.leaderAndStandby()
	key := s.adds("/silent")
	s.arrives(key)
	a.Suspend()
	stagetest.Until(t, "the claim to run out", func(ctx context.Context) (out bool, err error) {
		err = s.db.QueryRowContext(ctx, "SELECT claimed_until < now() FROM webhooks").Scan(&out)
		return out, err
	})
	stagetest.Shows(t, b, "waits still", func(m stage.Metrics) bool { return m.Of(catalog.Pending.Name()) == 1 })
	s.depose()
	stagetest.Shows(t, b, "leads", leads)
	s.allSettled()
	a.Continue()
	stagetest.Shows(t, a, "lost the lock", func(m stage.Metrics) bool { return m.Of(catalog.TermsEnded.Name(), "cause", "lost") == 1 })

	count, m := s.drained(a)
	if count.Delivered+count.Refused != 0 {
		t.Errorf("the one that was suspended noted %+v, under a claim that it had lost", count)
	}
	shown(t, m, 1, catalog.Acquired)
	if times := s.is(key, "DELIVERED", 2); times != 2 {
		t.Errorf("received %d times, want twice", times)
	}
	count, m = s.drained(b)
	shown(t, m, 1, catalog.Acquired)
	if want := (noted{Delivered: 1}); count != want {
		t.Errorf("noted %+v, want %+v", count, want)
	}
}

// depose ends the session that has the lock.
func (s *setting) depose() {
	s.Helper()
	var ended bool
	err := s.db.QueryRowContext(s.Context(), "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted").Scan(&ended)
	if err != nil || !ended {
		s.Fatalf("the session of the lock: ended %v, error %v", ended, err)
	}
}

func TestPostgresIsRestarted(t *testing.T) {
	s := newSetting(t)
	a, b := s.leaderAndStandby()
	before := s.adds("/fine")
	s.allSettled()
	s.server.Down()
	stagetest.Shows(t, a, "lost the lock", func(m stage.Metrics) bool { return m.Of(catalog.TermsEnded.Name()) == 1 })
	for _, n := range []*stage.Node{a, b} {
		stagetest.Shows(t, n, "met the outage", func(m stage.Metrics) bool { return m.Of(catalog.NotAcquired.Name(), "reason", "backend_error") > 0 })
	}
	if err := s.server.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	after := s.adds("/fine")
	s.allSettled()
	s.is(before, "DELIVERED", 1)
	s.is(after, "DELIVERED", 1)
	var acquired float64
	for _, n := range []*stage.Node{a, b} {
		_, m := s.drained(n)
		acquired += m.Of(catalog.Acquired.Name())
	}
	if acquired < 2 {
		t.Errorf("acquired %v times, want one term before the restart and one after it", acquired)
	}
}
