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

	"cirello.io/dynamolock/v2"
	"cirello.io/pglock"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	_ "github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/instrument/river"
	"github.com/leaderscope/leaderscope/instrument/sqllock"
)

// server is where a real server listens. A test without one fails: to be left
// out is for who runs the tests to say.
func server(t *testing.T, variable, example string) string {
	t.Helper()
	address := os.Getenv(variable)
	if address == "" {
		t.Fatalf("%s is not set; it names a server, such as %s", variable, example)
	}
	return address
}

func TestPostgresLocksConformOnAServer(t *testing.T) {
	dsn := server(t, "LEADERSCOPE_POSTGRES", "postgres://postgres@127.0.0.1:5432/postgres")
	admin := pool(t, "pgx", dsn)
	advisory := func(of func(int64) sqllock.Lock) func(testing.TB, string) instrument.Acquirer {
		return func(t testing.TB, lock string) instrument.Acquirer {
			return sqllock.New(pool(t, "pgx", dsn), of(key(lock)), 50*time.Millisecond)
		}
	}
	terminate := func(t testing.TB, lock string) {
		exec(t, admin, `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted
			AND objid::bigint = $1::bigint & 4294967295 AND classid::bigint = $1::bigint >> 32`, key(lock))
	}
	createLocks(t, admin)
	for name, suite := range map[string]electtest.Suite{
		"pg_try_advisory_lock": {New: advisory(sqllock.PostgresTry), RenewsItself: true, Lose: terminate},
		"pg_advisory_lock":     {New: advisory(sqllock.Postgres), Waits: true, RenewsItself: true, Lose: terminate},
		"pglock": {
			New: func(t testing.TB, lock string) instrument.Acquirer {
				return pglockTry(pglockClient(t, pool(t, "pgx", dsn)), lock)
			},
			Options: []instrument.ElectionOption{instrument.Classify(pglockErrors)},
			Lease:   pglockLease, RenewsOnDemand: true, GivenUpRenewalLoses: true, Fenced: true, KeepsQuiet: true,
			Lose: func(t testing.TB, lock string) { exec(t, admin, "DELETE FROM locks WHERE name = $1", lock) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			electtest.Conformance(t, suite)
		})
	}
}

func TestPglockFollowsADeadHolderOnlyInACallThatWaits(t *testing.T) {
	db := pool(t, "pgx", server(t, "LEADERSCOPE_POSTGRES", "postgres://postgres@127.0.0.1:5432/postgres"))
	createLocks(t, db)
	if _, err := pglockTry(pglockClient(t, db), t.Name()).Acquire(t.Context()); err != nil { // and dies
		t.Fatal(err)
	}
	for over := time.After(2 * pglockLease); ; {
		if _, err := pglockTry(pglockClient(t, db), t.Name()).Acquire(t.Context()); !errors.Is(err, pglock.ErrNotAcquired) {
			t.Fatalf("a call that does not wait: %v", err)
		}
		select {
		case <-over:
		case <-time.After(pglockLease / 10):
			continue
		}
		break
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*pglockLease)
	defer cancel()
	lock, err := pglockClient(t, db).AcquireContext(ctx, t.Name())
	if err != nil {
		t.Fatalf("a call that waits: %v", err)
	}
	if err := lock.Close(); err != nil {
		t.Error(err)
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
	lock := sqllock.New(db, sqllock.Postgres(key(t.Name())), 0)
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
			return sqllock.New(pool(t, "mysql", dsn), of(lock), 50*time.Millisecond)
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
	lock := sqllock.New(db, sqllock.MariaDB(t.Name()), 0)
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
	dsn := os.Getenv("LEADERSCOPE_PGBOUNCER")
	if dsn == "" {
		t.Skip("LEADERSCOPE_PGBOUNCER is not set; it names a pooler in transaction mode, such as postgres://postgres@127.0.0.1:6432/postgres?default_query_exec_mode=simple_protocol")
	}
	return dsn
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
		term, err := e.Acquire(t.Context(), sqllock.New(db, sqllock.PostgresTry(key(t.Name())), 20*time.Millisecond))
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
		first, err := e.Acquire(t.Context(), sqllock.New(pool(t, "pgx", dsn), sqllock.PostgresTry(key(t.Name())), 20*time.Millisecond))
		if err != nil {
			continue
		}
		second, err := e.Acquire(t.Context(), sqllock.New(pool(t, "pgx", dsn), sqllock.PostgresTry(key(t.Name())), 20*time.Millisecond))
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

func TestDynamolockConformsOnAServer(t *testing.T) {
	address := server(t, "LEADERSCOPE_DYNAMODB", "http://127.0.0.1:4567")
	const lease, table = 3 * time.Second, "locks"
	db := dynamodb.New(dynamodb.Options{
		Region: "local", BaseEndpoint: aws.String(address), Credentials: credentials.NewStaticCredentialsProvider("id", "key", ""),
	})
	client := func(t testing.TB) *dynamolock.Client {
		c, err := dynamolock.New(db, table, dynamolock.WithLeaseDuration(lease), dynamolock.DisableHeartbeat(),
			dynamolock.WithOwnerName(t.Name()+time.Now().String()))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	_, err := client(t).CreateTable(table, dynamolock.WithProvisionedThroughput(&types.ProvisionedThroughput{
		ReadCapacityUnits: aws.Int64(5), WriteCapacityUnits: aws.Int64(5),
	}))
	if err != nil {
		t.Log(err) // it may be there
	}
	eventually(t, func() bool {
		out, err := db.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String(table)})
		return err == nil && out.Table.TableStatus == types.TableStatusActive
	})
	electtest.Conformance(t, electtest.Suite{
		New:     func(t testing.TB, lock string) instrument.Acquirer { return dynamolockTry(client(t), lock) },
		Options: []instrument.ElectionOption{instrument.Classify(dynamolockErrors)},
		Lease:   lease, RenewsOnDemand: true, GivenUpRenewalLoses: true, KeepsQuiet: true,
		Lose: func(t testing.TB, lock string) {
			_, err := db.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{
				TableName: aws.String(table), Key: map[string]types.AttributeValue{"key": &types.AttributeValueMemberS{Value: lock}},
			})
			if err != nil {
				t.Fatal(err)
			}
		},
	})
}

func TestRiversRowOnAServer(t *testing.T) {
	db := pool(t, "pgx", server(t, "LEADERSCOPE_POSTGRES", "postgres://postgres@127.0.0.1:5432/postgres"))
	exec(t, db, `CREATE SCHEMA IF NOT EXISTS "River jobs"`)
	exec(t, db, `DROP TABLE IF EXISTS "River jobs".river_leader`)
	exec(t, db, `CREATE UNLOGGED TABLE "River jobs".river_leader (elected_at timestamptz NOT NULL, expires_at timestamptz NOT NULL,
		leader_id text NOT NULL, name text PRIMARY KEY DEFAULT 'default')`) // as River's migrations leave it
	t.Cleanup(func() { _, _ = db.Exec(`DROP SCHEMA "River jobs" CASCADE`) })
	e, series := election(t, instrument.Hold())
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := river.Follow(ctx, e, db, "me", 50*time.Millisecond, river.Schema("River jobs")); err != nil {
			t.Error(err)
		}
	}()
	exec(t, db, `INSERT INTO "River jobs".river_leader (elected_at, expires_at, leader_id) VALUES (now(), now() + interval '15 s', 'me')`)
	eventually(t, func() bool { h := series()[of(catalog.LeaseHeadroom)]; return h > 10 && h <= 15 })
	exec(t, db, `UPDATE "River jobs".river_leader SET expires_at = now() + interval '25 s'`)
	eventually(t, func() bool { return series()[of(catalog.Renewals, catalog.RenewalOK.String())] == 1 })
	time.Sleep(500 * time.Millisecond) // looks at a row that does not change
	if r := series(); r[of(catalog.Renewals, catalog.RenewalOK.String())] != 1 || r[of(catalog.LeaseDuration)] != 15 {
		t.Errorf("%v", r)
	}
	exec(t, db, `UPDATE "River jobs".river_leader SET leader_id = 'other', elected_at = now()`)
	eventually(t, func() bool { return series()[of(catalog.TermsEnded, catalog.Lost.String())] == 1 })
	cancel()
	<-done
}

const pglockLease = 3 * time.Second

func createLocks(t *testing.T, db *sql.DB) {
	t.Helper()
	exec(t, db, "DROP TABLE IF EXISTS locks")
	exec(t, db, "DROP SEQUENCE IF EXISTS locks_rvn")
	if err := pglockClient(t, db).CreateTable(); err != nil {
		t.Fatal(err)
	}
}

func pglockClient(t testing.TB, db *sql.DB) *pglock.Client {
	t.Helper()
	c, err := pglock.UnsafeNew(db, pglock.WithLeaseDuration(pglockLease), pglock.WithHeartbeatFrequency(0)) // New insists on lib/pq
	if err != nil {
		t.Fatal(err)
	}
	return c
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
