package electors

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"hash/fnv"
	"net/url"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/sqllock"
)

// What the drivers take; %s is the address.
const (
	PostgresDSN = "postgres://postgres@%s/postgres?connect_timeout=2"
	MariaDSN    = "root@tcp(%s)/?timeout=2s"
)

// PostgresKey is a lock's number.
func PostgresKey(lock string) int64 {
	h := fnv.New64a()
	h.Write([]byte(lock))
	return int64(h.Sum64())
}

// Postgres is an advisory lock. Its session has the replica's name.
func Postgres(_ context.Context, r Replica) (instrument.Acquirer, func(), error) {
	dsn := fmt.Sprintf(PostgresDSN, r.Address) + "&application_name=" + url.QueryEscape(r.ID)
	return advisory("pgx", dsn, sqllock.Postgres(PostgresKey(r.Lock)), r)
}

// MariaDB is GET_LOCK.
func MariaDB(_ context.Context, r Replica) (instrument.Acquirer, func(), error) {
	return advisory("mysql", fmt.Sprintf(MariaDSN, r.Address), sqllock.MariaDB(r.Lock), r)
}

// advisory checks its connection every half second.
func advisory(driver, dsn string, lock sqllock.Lock, r Replica) (instrument.Acquirer, func(), error) {
	db, err := openForgetful(driver, dsn, r)
	if err != nil {
		return nil, nil, err
	}
	return sqllock.NewLock(db, lock, SQLCheck), func() { db.Close() }, nil
}

// SQLCheck is how often advisory locks look whether they are still held.
const SQLCheck = 500 * time.Millisecond

// Forget is the signal at which the session of a process that uses Postgres or
// MariaDB gives up all its advisory locks, as DISCARD ALL does. Another session
// cannot do that without ending this one.
const Forget = syscall.SIGUSR1

// forgetful are the drivers, and the statement that gives up all locks of a
// session.
var forgetful = map[string]struct {
	open   func(dsn string) (driver.Connector, error)
	forget string
}{
	"pgx":   {stdlib.GetDefaultDriver().(driver.DriverContext).OpenConnector, "SELECT pg_advisory_unlock_all()"},
	"mysql": {mysql.MySQLDriver{}.OpenConnector, "DO RELEASE_ALL_LOCKS()"},
}

// openForgetful is sql.Open with connections that forget their locks before
// the first query after each Forget.
func openForgetful(name, dsn string, r Replica) (*sql.DB, error) {
	how := forgetful[name]
	c, err := how.open(dsn)
	if err != nil {
		return nil, err
	}
	f := &forgettingConnector{Connector: c, forget: how.forget, replica: r}
	poked := make(chan os.Signal, 1)
	signal.Notify(poked, Forget)
	go func() {
		for range poked {
			f.due.Store(true)
		}
	}()
	return sql.OpenDB(f), nil
}

type forgettingConnector struct {
	driver.Connector
	forget  string
	replica Replica
	due     atomic.Bool
}

func (f *forgettingConnector) Connect(ctx context.Context) (driver.Conn, error) {
	c, err := f.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	full, ok := c.(fullConn)
	if !ok {
		return nil, fmt.Errorf("%T lacks a method of fullConn", c)
	}
	return &forgettingConn{fullConn: full, of: f}, nil
}

// fullConn is what both drivers' connections can do.
type fullConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.NamedValueChecker
	driver.Pinger
	driver.QueryerContext
	driver.SessionResetter
}

type forgettingConn struct {
	fullConn
	of *forgettingConnector
}

func (c *forgettingConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if c.of.due.CompareAndSwap(true, false) {
		if _, err := c.ExecContext(ctx, c.of.forget, nil); err != nil {
			return nil, err
		}
	}
	rows, err := c.fullConn.QueryContext(ctx, query, args)
	if err == nil { // each check is a query
		c.of.replica.renewed(time.Time{})
	}
	return rows, err
}

// TerminateOnPostgres ends the session that the lock lives with.
func TerminateOnPostgres(ctx context.Context, address, lock string) error {
	db, err := sql.Open("pgx", fmt.Sprintf(PostgresDSN, address))
	if err != nil {
		return err
	}
	defer db.Close()
	const terminate = `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted
		AND objid::bigint = $1::bigint & 4294967295 AND classid::bigint = ($1::bigint >> 32) & 4294967295`
	_, err = db.ExecContext(ctx, terminate, PostgresKey(lock))
	return err
}
