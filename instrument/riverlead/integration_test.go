//go:build integration

package riverlead_test

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/instrument/riverlead"
)

var of = electtest.Of

// server is a PostgreSQL server, such as
// LEADERSCOPE_POSTGRES=postgres://postgres@127.0.0.1:5432/postgres.
func server(t *testing.T) string {
	t.Helper()
	dsn := os.Getenv("LEADERSCOPE_POSTGRES")
	if dsn == "" {
		t.Fatal("LEADERSCOPE_POSTGRES is not set; it names a PostgreSQL server, such as postgres://postgres@127.0.0.1:5432/postgres")
	}
	return dsn
}

type noArgs struct{}

func (noArgs) Kind() string { return "none" }

type noWorker struct{ river.WorkerDefaults[noArgs] }

func (noWorker) Work(context.Context, *river.Job[noArgs]) error { return nil }

func config(id, schema string) *river.Config {
	workers := river.NewWorkers()
	river.AddWorker(workers, noWorker{})
	return &river.Config{
		ID: id, Schema: schema, Workers: workers, Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 1}},
		Logger: slog.New(slog.DiscardHandler),
	}
}

// freshSchema has River's tables.
func freshSchema[TTx any](t *testing.T, db *sql.DB, driver riverdriver.Driver[TTx], name string) {
	t.Helper()
	exec(t, db, "DROP SCHEMA IF EXISTS "+name+" CASCADE")
	exec(t, db, "CREATE SCHEMA "+name)
	t.Cleanup(func() { _, _ = db.Exec("DROP SCHEMA " + name + " CASCADE") })
	migrator, err := rivermigrate.New(driver, &rivermigrate.Config{Schema: name, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := migrator.Migrate(t.Context(), rivermigrate.DirectionUp, nil); err != nil {
		t.Fatal(err)
	}
}

func database(t *testing.T) *sql.DB {
	t.Helper()
	db, err := sql.Open("pgx", server(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func exec(t *testing.T, db *sql.DB, statement string, args ...any) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), statement, args...); err != nil {
		t.Fatal(err)
	}
}

// replica is one process with a client.
type replica[TTx any] struct {
	client *river.Client[TTx]
	series func() electtest.Series
}

func start[TTx any](t *testing.T, driver riverdriver.Driver[TTx], id, schema string) *replica[TTx] {
	t.Helper()
	client, err := river.NewClient(driver, config(id, schema))
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		_ = client.Stop(ctx)
	})
	return &replica[TTx]{client, observe(t, client)}
}

func observe[TTx any](t *testing.T, client *river.Client[TTx]) func() electtest.Series {
	t.Helper()
	m, err := instrument.New(instrument.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	if err := riverlead.Observe(ctx, m.Election("river", instrument.Hold()), client, riverlead.Interval(500*time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	return func() electtest.Series {
		r := electtest.Read(m, "river")
		if why := electtest.Broken(r); why != "" {
			t.Errorf("%s in %v", why, r)
		}
		return r
	}
}

func (r *replica[TTx]) stop(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := r.client.Stop(ctx); err != nil {
		t.Fatal(err)
	}
}

func eventually(t *testing.T, what string, series func() electtest.Series, ok func(electtest.Series) bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !ok(series()); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within 30 s: %v", what, series())
		}
	}
}

func TestClientsOnAServer(t *testing.T) {
	t.Run("pgx", func(t *testing.T) {
		pool, err := pgxpool.New(t.Context(), server(t))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(pool.Close)
		testClients[pgx.Tx](t, func() riverdriver.Driver[pgx.Tx] { return riverpgxv5.New(pool) }, "riverlead_pgx")
	})
	t.Run("database/sql", func(t *testing.T) {
		db := database(t)
		testClients[*sql.Tx](t, func() riverdriver.Driver[*sql.Tx] { return riverdatabasesql.New(db) }, "riverlead_sql")
	})
}

func testClients[TTx any](t *testing.T, driver func() riverdriver.Driver[TTx], schema string) {
	db := database(t)
	freshSchema(t, db, driver(), schema)
	leads := func(s electtest.Series) bool { return s[of(catalog.Active)] == 1 }

	first := start(t, driver(), "first", schema)
	eventually(t, "the only client leads", first.series, leads)
	second := start(t, driver(), "second", schema)
	eventually(t, "its renewals are seen", first.series, func(s electtest.Series) bool { return s[of(catalog.Renewals, catalog.RenewalOK.String())] >= 2 })
	r := first.series()
	if headroom := r[of(catalog.LeaseHeadroom)]; headroom < 5 || headroom > 15 || r[of(catalog.LeaseDuration)] != 15 || r[of(catalog.Acquired)] != 1 {
		t.Errorf("of the leader: %v", r)
	}
	if usage := r[catalog.LeaseUsageRatio.Sum()] / r[catalog.LeaseUsageRatio.Count()]; usage < 0.2 || usage > 0.6 {
		t.Errorf("a renewal every 5 s uses %v of a lease of 15 s", usage)
	}
	if r := second.series(); r[of(catalog.Active)] != 0 || r[of(catalog.Acquired)] != 0 {
		t.Errorf("of the other: %v", r)
	}

	first.stop(t)
	eventually(t, "a client that stops has released", first.series, func(s electtest.Series) bool {
		return s[of(catalog.TermsEnded, catalog.Released.String())] == 1 && s[of(catalog.Active)] == 0
	})
	eventually(t, "the other leads", second.series, leads)

	exec(t, db, fmt.Sprintf("DELETE FROM %s.river_leader", schema))
	eventually(t, "a row that is deleted is a loss", second.series, func(s electtest.Series) bool {
		return s[of(catalog.TermsEnded, catalog.Lost.String())] == 1
	})
	eventually(t, "the client leads again", second.series, func(s electtest.Series) bool { return s[of(catalog.Acquired)] == 2 && leads(s) })

	exec(t, db, fmt.Sprintf("UPDATE %s.river_leader SET leader_id = 'third', elected_at = now(), expires_at = now() + interval '15 s'", schema))
	eventually(t, "a row that another client has is a loss", second.series, func(s electtest.Series) bool {
		return s[of(catalog.TermsEnded, catalog.Lost.String())] == 2 && s[of(catalog.Active)] == 0
	})
}

func TestASchemaWithoutTables(t *testing.T) {
	db := database(t)
	client, err := river.NewClient(riverdatabasesql.New(db), config("me", "riverlead_missing"))
	if err != nil {
		t.Fatal(err)
	}
	series := observe(t, client)
	eventually(t, "each look fails", series, func(s electtest.Series) bool { return s[of(catalog.NotAcquired, catalog.UnknownReason.String())] >= 3 })
	if r := series(); r[of(catalog.Active)] != 0 || r[of(catalog.NotAcquired, catalog.BackendError.String())] != 0 {
		t.Errorf("%v", r)
	}
}
