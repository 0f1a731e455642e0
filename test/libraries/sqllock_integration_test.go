//go:build integration

package libraries

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest/tcpproxy"
	"github.com/leaderscope/leaderscope/instrument/sqllock"
)

// databases have advisory locks.
var databases = map[string]struct {
	driver, variable, dsn string
	address               func(dsn string) string
	lock                  func(name string) sqllock.Lock
}{
	"PostgreSQL": {"pgx", "LEADERSCOPE_POSTGRES", "postgres://postgres@127.0.0.1:5432/postgres",
		func(dsn string) string { u, _ := url.Parse(dsn); return u.Host },
		func(name string) sqllock.Lock { return sqllock.PostgresTry(key(name)) }},
	"MariaDB": {"mysql", "LEADERSCOPE_MARIADB", "root@tcp(127.0.0.1:3306)/",
		func(dsn string) string {
			_, rest, _ := strings.Cut(dsn, "(")
			at, _, _ := strings.Cut(rest, ")")
			return at
		},
		sqllock.MariaDBTry},
}

func TestClosingThePoolFreesItsLocksOnAServer(t *testing.T) {
	for name, d := range databases {
		t.Run(name, func(t *testing.T) {
			dsn := server(t, d.variable, d.dsn)
			ours := pool(t, d.driver, dsn)
			e, series := election(t)
			term, err := e.Acquire(t.Context(), sqllock.NewLock(ours, d.lock(t.Name()), 50*time.Millisecond))
			if err != nil {
				t.Fatal(err)
			}
			go func() { _ = ours.Close() }()
			<-term.Context().Done()
			if r := series(); r[of(catalog.TermsEnded, catalog.CanceledTerm.String())] != 1 || r[of(catalog.Active)] != 0 {
				t.Errorf("%v", r)
			}
			freed(t, d.driver, dsn, d.lock(t.Name()))
		})
	}
}

func TestASilentConnectionIsLostAfterItsLimitOnAServer(t *testing.T) {
	for name, d := range databases {
		t.Run(name, func(t *testing.T) {
			dsn := server(t, d.variable, d.dsn)
			way := tcpproxy.New(t, d.address(dsn))
			far := pool(t, d.driver, strings.Replace(dsn, d.address(dsn), way.Address(), 1))
			e, series := election(t)
			lock := sqllock.NewLock(far, d.lock(t.Name()), 200*time.Millisecond, sqllock.AnswerTimeout(time.Second))
			term, err := e.Acquire(t.Context(), lock)
			if err != nil {
				t.Fatal(err)
			}
			way.Block()
			silent := time.Now()
			<-term.Context().Done()
			if took := time.Since(silent); took < time.Second || took > 5*time.Second {
				t.Errorf("lost after %v, want a second", took)
			}
			if r := series(); r[of(catalog.TermsEnded, catalog.Lost.String())] != 1 || r[of(catalog.Renewals, catalog.RenewalTimeout.String())] != 1 {
				t.Errorf("%v", r)
			}
			if err := term.Release(t.Context()); !errors.Is(err, instrument.ErrSessionLost) {
				t.Errorf("release: %v", err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			asked := time.Now()
			if _, err := lock.Acquire(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("acquire: %v", err)
			}
			if took := time.Since(asked); took > 2*time.Second {
				t.Errorf("acquire returned after %v", took)
			}
			way.Cut() // the server hears that the connection was closed
			freed(t, d.driver, dsn, d.lock(t.Name()))
		})
	}
}

// freed waits until the lock can be taken by another.
func freed(t *testing.T, driver, dsn string, lock sqllock.Lock) {
	t.Helper()
	db := pool(t, driver, dsn)
	eventually(t, func() bool {
		lease, err := sqllock.NewLock(db, lock, 0).Acquire(t.Context())
		return err == nil && lease.Release(t.Context()) == nil
	})
}
