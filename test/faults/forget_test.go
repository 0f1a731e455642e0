//go:build integration

package faults

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/stdlib"
)

// forgetLocks has the session of the holder give up all its advisory locks, as
// DISCARD ALL does. Another session cannot do that without ending this one.
func forgetLocks(_ testing.TB, _ *cluster, holder *process) error {
	return holder.cmd.Process.Signal(syscall.SIGUSR1)
}

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
// the first query after each SIGUSR1.
func openForgetful(name, dsn string) (*sql.DB, error) {
	how := forgetful[name]
	c, err := how.open(dsn)
	if err != nil {
		return nil, err
	}
	f := &forgettingConnector{Connector: c, forget: how.forget}
	poked := make(chan os.Signal, 1)
	signal.Notify(poked, syscall.SIGUSR1)
	go func() {
		for range poked {
			f.due.Store(true)
		}
	}()
	return sql.OpenDB(f), nil
}

type forgettingConnector struct {
	driver.Connector
	forget string
	due    atomic.Bool
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
	return c.fullConn.QueryContext(ctx, query, args)
}
