//go:build integration

package libraries

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"sync"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/instrument/sqllock"
)

// server is where a real server listens. A test without one fails: only the
// user who runs the tests may exclude it.
func server(t *testing.T, variable, example string) string {
	t.Helper()
	address := os.Getenv(variable)
	if address == "" {
		t.Fatalf("%s is not set; it names a server, such as %s", variable, example)
	}
	return address
}

func TestFiveJobsUnderGocronsLockerOnAServer(t *testing.T) {
	address := server(t, "LEADERSCOPE_REDIS", "127.0.0.1:6379")
	for name := range fiveJobs { // of an earlier run
		if err := goRedis(t, address).Del(t.Context(), name).Err(); err != nil {
			t.Fatal(err)
		}
	}
	fiveJobsOnRedis(t, address)
}

func TestPostgresLocksConformOnAServer(t *testing.T) {
	dsn := server(t, "LEADERSCOPE_POSTGRES", "postgres://postgres@127.0.0.1:5432/postgres")
	admin := pool(t, "pgx", dsn)
	advisory := func(of func(int64) sqllock.Lock) func(testing.TB, string) instrument.Acquirer {
		return func(t testing.TB, lock string) instrument.Acquirer {
			return sqllock.NewLock(pool(t, "pgx", dsn), of(key(lock)), 50*time.Millisecond)
		}
	}
	terminate := func(t testing.TB, lock string) {
		exec(t, admin, `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted
			AND objid::bigint = $1::bigint & 4294967295 AND classid::bigint = $1::bigint >> 32`, key(lock))
	}
	for name, suite := range map[string]electtest.Suite{
		"pg_try_advisory_lock": {New: advisory(sqllock.PostgresTry), RenewsItself: true, Lose: terminate},
		"pg_advisory_lock":     {New: advisory(sqllock.Postgres), Waits: true, RenewsItself: true, Lose: terminate},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			electtest.Conformance(t, suite)
		})
	}
}

func TestALimitOnTheWaitIsContended(t *testing.T) {
	for _, limit := range []string{"lock_timeout", "statement_timeout"} {
		t.Run(limit, func(t *testing.T) { limitOfPostgresIsContended(t, limit) })
	}
}

func limitOfPostgresIsContended(t *testing.T, limit string) {
	cfg, err := pgx.ParseConfig(server(t, "LEADERSCOPE_POSTGRES", "postgres://postgres@127.0.0.1:5432/postgres"))
	if err != nil {
		t.Fatal(err)
	}
	cfg.RuntimeParams[limit] = "100ms"
	db := stdlib.OpenDB(*cfg)
	defer db.Close()
	lock := sqllock.NewLock(db, sqllock.Postgres(key(t.Name())), 0)
	e, series := election(t)
	term, err := e.Acquire(t.Context(), lock)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Acquire(t.Context(), lock); err == nil {
		t.Error("won twice")
	}
	if r := series(); r[reason(instrument.Contended)] != 1 {
		t.Errorf("%v", r)
	}
	if err := term.Release(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestMariaDBLocksConformOnAServer(t *testing.T) {
	dsn := server(t, "LEADERSCOPE_MARIADB", "root@tcp(127.0.0.1:3306)/")
	admin := pool(t, "mysql", dsn)
	advisory := func(of func(string) sqllock.Lock) func(testing.TB, string) instrument.Acquirer {
		return func(t testing.TB, lock string) instrument.Acquirer {
			return sqllock.NewLock(pool(t, "mysql", dsn), of(lock), 50*time.Millisecond)
		}
	}
	kill := func(t testing.TB, lock string) {
		var id int64
		if err := admin.QueryRowContext(t.Context(), "SELECT IS_USED_LOCK(?)", lock).Scan(&id); err != nil {
			t.Fatal(err)
		}
		exec(t, admin, fmt.Sprint("KILL ", id))
	}
	for name, suite := range map[string]electtest.Suite{
		"GET_LOCK without a wait": {New: advisory(sqllock.MariaDBTry), RenewsItself: true, Lose: kill},
		"GET_LOCK":                {New: advisory(sqllock.MariaDB), Waits: true, RenewsItself: true, Lose: kill},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			electtest.Conformance(t, suite)
		})
	}
}

func TestALimitOnTheWaitOfMariaDBIsContended(t *testing.T) {
	db := pool(t, "mysql", server(t, "LEADERSCOPE_MARIADB", "root@tcp(127.0.0.1:3306)/")+"?max_statement_time=0.2")
	lock := sqllock.NewLock(db, sqllock.MariaDB(t.Name()), 0)
	e, series := election(t)
	term, err := e.Acquire(t.Context(), lock)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Acquire(t.Context(), lock); err == nil {
		t.Error("won twice")
	}
	if r := series(); r[reason(instrument.Contended)] != 1 {
		t.Errorf("%v", r)
	}
	if err := term.Release(t.Context()); err != nil {
		t.Error(err)
	}
}

// pooler is where a pooler in transaction mode listens.
func pooler(t *testing.T) string {
	t.Helper()
	return server(t, "LEADERSCOPE_PGBOUNCER", "postgres://postgres@127.0.0.1:6432/postgres?default_query_exec_mode=simple_protocol")
}

// keepBusy queries through several connections until the test ends, so that a
// pooler has several sessions to choose from.
func keepBusy(t *testing.T, dsn string) {
	db := pool(t, "pgx", dsn)
	ctx, cancel := context.WithCancel(t.Context())
	var queries sync.WaitGroup
	for range 4 {
		queries.Go(func() {
			for ctx.Err() == nil {
				_, _ = db.ExecContext(ctx, "SELECT pg_sleep(0.005)")
			}
		})
	}
	t.Cleanup(func() { cancel(); queries.Wait() })
}

func TestAPoolerInTransactionModeIsRefused(t *testing.T) {
	dsn := pooler(t)
	keepBusy(t, dsn)
	db := pool(t, "pgx", dsn)
	e, series := election(t)
	for range 20 { // until statements reach two sessions, or two holders one
		term, err := e.Acquire(t.Context(), sqllock.NewLock(db, sqllock.PostgresTry(key(t.Name())), 20*time.Millisecond))
		if err == nil {
			<-term.Context().Done() // a check finds it
			err = context.Cause(term.Context())
		}
		if !errors.Is(err, sqllock.ErrSessionChanged) && !errors.Is(err, instrument.ErrContended) {
			t.Fatalf("got %v", err)
		}
	}
	if r := series(); r[of(catalog.Active)] != 0 {
		t.Errorf("%v", r)
	}
}

func TestTwoReplicasBehindAPoolerInTransactionModeNeverBothLead(t *testing.T) {
	dsn := pooler(t)
	e, series := election(t)
	for range 20 {
		first, err := e.Acquire(t.Context(), sqllock.NewLock(pool(t, "pgx", dsn), sqllock.PostgresTry(key(t.Name())), 20*time.Millisecond))
		if err != nil {
			continue
		}
		second, err := e.Acquire(t.Context(), sqllock.NewLock(pool(t, "pgx", dsn), sqllock.PostgresTry(key(t.Name())), 20*time.Millisecond))
		if err == nil && first.Leading() {
			t.Error("both lead")
		}
		_ = second.Release(context.WithoutCancel(t.Context()))
		_ = first.Release(context.WithoutCancel(t.Context()))
	}
	if r := series(); r[of(catalog.Active)] != 0 {
		t.Errorf("%v", r)
	}
}

func pool(t testing.TB, driver, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func exec(t testing.TB, db *sql.DB, statement string, args ...any) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), statement, args...); err != nil {
		t.Fatal(err)
	}
}

// key is a lock's number, positive so that its halves are easy to find.
func key(lock string) int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(lock))
	return int64(h.Sum64() >> 1)
}
