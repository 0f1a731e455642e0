//go:build integration

package main

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leaderscope/leaderscope/examples/internal/stage"
	"github.com/leaderscope/leaderscope/examples/internal/stage/stagetest"
	"github.com/leaderscope/leaderscope/instrument/catalog"
)

func TestMain(m *testing.M) { stagetest.Main(m, main) }

// setting is a PostgreSQL of the test's own, with accounts in it.
type setting struct {
	*testing.T
	server *stage.Server
	cfg    config
	db     *sql.DB
}

func newSetting(t *testing.T) *setting {
	t.Helper()
	server := stagetest.Server(t, stage.Postgres)
	cfg := config{postgres: server.DSN(), schema: "app", migration: "0001-cents", budget: time.Minute, batch: 20 * time.Millisecond}
	db, err := prepare(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	db.SetMaxIdleConns(-1) // no connection of the test outlives a restart
	return &setting{t, server, cfg, db}
}

// instance starts an instance with changes to the configuration.
func (s *setting) instance(name string, change func(*config)) *stage.Node {
	s.Helper()
	cfg := s.cfg
	if change != nil {
		change(&cfg)
	}
	return stagetest.Node(s.T, name, cfg.args(name)...)
}

// reported waits until the instance has passed or failed, and holds its
// metrics to what it counted.
func (s *setting) reported(n *stage.Node) (outcome, stage.Metrics) {
	s.Helper()
	var r report
	m := stagetest.Reported(s.T, n, &r)
	for _, wrong := range stage.Disagreements(m, r.Counts) {
		s.Errorf("%s: %s", n.Name, wrong)
	}
	if err := n.Stop(); (err == nil) != (r.Outcome != none) {
		s.Errorf("%s: outcome %q, and it ended with %v", n.Name, r.Outcome, err)
	}
	return r.Outcome, m
}

// appliedBy holds the database to who applied the migration; empty for no replica.
func (s *setting) appliedBy(want string) {
	s.Helper()
	by, err := schema{db: s.db, version: s.cfg.migration}.whole(s.Context())
	if err != nil || by != want {
		s.Errorf("applied by %q, error %v; want %q", by, err, want)
	}
}

// hold has migrations wait at their first change of the table, with the marker
// set, until release.
func (s *setting) hold() (release func()) {
	s.Helper()
	tx, err := s.db.BeginTx(context.Background(), nil) // the test says when it ends
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { tx.Rollback() })
	if _, err := tx.ExecContext(s.Context(), "LOCK TABLE accounts IN ACCESS SHARE MODE"); err != nil {
		s.Fatal(err)
	}
	return func() {
		s.Helper()
		if err := tx.Rollback(); err != nil {
			s.Error(err)
		}
	}
}

// held waits until that many transactions wait: the first for the table, the
// next for what becomes of the first one's marker.
func (s *setting) held(n int) {
	s.Helper()
	stagetest.Until(s.T, "transactions to wait", func(ctx context.Context) (bool, error) {
		var waiting int
		err := s.db.QueryRowContext(ctx, "SELECT count(*) FROM pg_locks WHERE NOT granted").Scan(&waiting)
		return waiting == n, err
	})
}

func migrating(m stage.Metrics) bool { return m.Of(catalog.Running.Name()) == 1 }

func waiting(m stage.Metrics) bool {
	return m.Of(catalog.NotAcquired.Name(), "reason", "contended") > 0
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
	for _, want := range []string{"0001-cents is applied once", "cannot tell whether the migration is applied", "0002-currency is applied once"} {
		if !strings.Contains(printed, want) {
			t.Errorf("%q is missing in\n%s", want, printed)
		}
	}
}

func TestTheShowIsInterrupted(t *testing.T) { stagetest.Interrupt(t, "Three instances") }

func TestThreeInstancesAtOnceMigrateOnce(t *testing.T) {
	s := newSetting(t)
	release := s.hold()
	a := s.instance("a", nil)
	stagetest.Shows(t, a, "migrates", migrating)
	b, c := s.instance("b", nil), s.instance("c", nil)
	stagetest.Shows(t, b, "waits", waiting)
	stagetest.Shows(t, c, "waits", waiting)
	release()
	var got []outcome
	for _, n := range []*stage.Node{a, b, c} {
		how, m := s.reported(n)
		got = append(got, how)
		shown(t, m, 0, catalog.LeaseOverruns)
	}
	if want := []outcome{migrated, alreadyApplied, alreadyApplied}; !slices.Equal(got, want) {
		t.Errorf("outcomes are %q, want %q", got, want)
	}
	s.appliedBy("a")
}

func TestAnInstanceThatMayNotReadTheMarkerFails(t *testing.T) {
	s := newSetting(t)
	if _, err := s.db.ExecContext(t.Context(), "CREATE ROLE stranger LOGIN; GRANT USAGE ON SCHEMA app TO stranger; GRANT ALL ON accounts TO stranger"); err != nil {
		t.Fatal(err)
	}
	n := s.instance("a", func(c *config) { c.postgres = strings.Replace(c.postgres, "postgres@", "stranger@", 1) })
	how, m := s.reported(n)
	if how != none {
		t.Errorf("outcome %q, want none", how)
	}
	shown(t, m, 0, catalog.Attempts)
	s.appliedBy("")
}

func TestAnInstanceIsKilledWhileItMigrates(t *testing.T) {
	s := newSetting(t)
	a := s.instance("a", func(c *config) { c.batch = time.Hour })
	stagetest.Shows(t, a, "migrates", migrating)
	b := s.instance("b", nil)
	stagetest.Shows(t, b, "waits", waiting)
	a.Kill()
	if how, _ := s.reported(b); how != migrated {
		t.Errorf("outcome %q, want %q", how, migrated)
	}
	s.appliedBy("b")
}

func TestAnInstanceIsSuspendedPastItsBudget(t *testing.T) {
	s := newSetting(t)
	release := s.hold()
	a := s.instance("a", func(c *config) { c.budget = time.Second })
	var end time.Time
	stagetest.Shows(t, a, "migrates", func(m stage.Metrics) bool {
		end = time.UnixMicro(int64(m.Of(catalog.LeaseExpiry.Name()) * 1e6))
		return migrating(m)
	})
	a.Suspend()
	b := s.instance("b", nil)
	stagetest.Shows(t, b, "waits", waiting)
	stagetest.Until(t, "the end of the budget", func(context.Context) (bool, error) { return time.Now().After(end), nil })
	release()
	s.appliedBy("")
	a.Continue()
	how, m := s.reported(a)
	if how != migrated {
		t.Errorf("outcome %q, want %q", how, migrated)
	}
	shown(t, m, 1, catalog.LeaseOverruns)
	shown(t, m, 1, catalog.TermsEnded, "cause", "expired")
	if how, _ := s.reported(b); how != alreadyApplied {
		t.Errorf("outcome of the other is %q, want %q", how, alreadyApplied)
	}
	s.appliedBy("a")
}

func TestPostgresIsRestartedUnderAMigration(t *testing.T) {
	s := newSetting(t)
	s.hold()
	a := s.instance("a", nil)
	s.held(1)
	b := s.instance("b", nil)
	stagetest.Shows(t, b, "waits", waiting)
	s.server.Down()
	how, m := s.reported(a)
	if how != none {
		t.Errorf("outcome %q of the one that migrated, want none", how)
	}
	shown(t, m, 1, catalog.ExecutionFailures, "cause", "error")
	if how, _ := s.reported(b); how != none {
		t.Errorf("outcome %q of the one that waited, want none", how)
	}
	if err := s.server.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.appliedBy("")
	if how, _ := s.reported(s.instance("c", nil)); how != migrated {
		t.Errorf("outcome %q after the restart, want %q", how, migrated)
	}
	s.appliedBy("c")
}

func TestTheLockIsLostUnderAMigration(t *testing.T) {
	s := newSetting(t)
	release := s.hold()
	a := s.instance("a", nil)
	s.held(1)
	b := s.instance("b", nil)
	stagetest.Shows(t, b, "waits", waiting)
	var ended bool
	err := s.db.QueryRowContext(t.Context(), "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted").Scan(&ended)
	if err != nil || !ended {
		t.Fatalf("the session of the lock: ended %v, error %v", ended, err)
	}
	stagetest.Shows(t, b, "has the lock too", migrating)
	s.held(2)
	release()

	how, m := s.reported(a)
	if how != migrated {
		t.Errorf("outcome %q of the one that lost the lock, want %q", how, migrated)
	}
	shown(t, m, 1, catalog.TermsEnded, "cause", "lost")
	shown(t, m, 1, catalog.Releases, "result", "not_owner")
	how, m = s.reported(b)
	if how != alreadyApplied {
		t.Errorf("outcome %q of the other, want %q", how, alreadyApplied)
	}
	shown(t, m, 1, catalog.Acquired)
	s.appliedBy("a")
}
