//go:build integration

package pglocklead_test

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"sync"
	"testing"
	"time"

	"cirello.io/pglock"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "github.com/lib/pq"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/instrument/pglocklead"
)

// realLease is long enough for a loaded machine.
const realLease = 3 * time.Second

var drivers = map[string]string{"pgx": "pgx", "lib/pq": "postgres"}

// server is a PostgreSQL server, such as
// LEADERSCOPE_POSTGRES=postgres://postgres@127.0.0.1:5432/postgres.
func server(t *testing.T) *url.URL {
	t.Helper()
	dsn := os.Getenv("LEADERSCOPE_POSTGRES")
	if dsn == "" {
		t.Fatal("LEADERSCOPE_POSTGRES is not set; it names a PostgreSQL server, such as postgres://postgres@127.0.0.1:5432/postgres")
	}
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	u.RawQuery = "sslmode=disable"
	return u
}

func database(t testing.TB, driver, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// realClient has a table of its own for each test.
func realClient(t testing.TB, db *sql.DB, table string) *pglock.Client {
	t.Helper()
	c, err := pglock.UnsafeNew(db, pglock.WithLeaseDuration(realLease), pglock.WithHeartbeatFrequency(0), pglock.WithCustomTable(table))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func createTable(t *testing.T, db *sql.DB, table string) {
	t.Helper()
	c := realClient(t, db, table)
	_ = c.DropTable() // of an earlier run
	if err := c.CreateTable(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.DropTable() })
}

func TestConformanceOnAServer(t *testing.T) {
	dsn := server(t).String()
	for name, driver := range drivers {
		db := database(t, driver, dsn)
		table := "locks_" + driver
		createTable(t, db, table)
		for style, suite := range map[string]electtest.Suite{
			"waiting": {Waits: true, New: func(t testing.TB, lock string) instrument.Acquirer {
				return pglocklead.NewLock(realClient(t, database(t, driver, dsn), table), lock, realLease)
			}},
			"answering at once": {New: func(t testing.TB, lock string) instrument.Acquirer {
				return pglocklead.NewTryLock(realClient(t, database(t, driver, dsn), table), lock, realLease)
			}},
		} {
			suite.Lease, suite.RenewsItself, suite.RenewsOnDemand, suite.Fenced = realLease, true, true, true
			suite.Lose = func(t testing.TB, lock string) {
				if _, err := db.ExecContext(t.Context(), "DELETE FROM "+table+" WHERE name = $1", lock); err != nil {
					t.Fatal(err)
				}
			}
			t.Run(name+" "+style, func(t *testing.T) {
				t.Parallel()
				electtest.Conformance(t, suite)
			})
		}
	}
}

// proxy stands before a server and can fall silent.
type proxy struct {
	server   string
	listener net.Listener
	pipes    sync.WaitGroup

	mu     sync.Mutex
	silent chan struct{} // nil: it passes everything on
	open   []net.Conn
}

func newProxy(t *testing.T, server string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{server: server, listener: l}
	p.pipes.Go(p.accept)
	t.Cleanup(func() {
		l.Close()
		p.mute(false)
		p.mu.Lock()
		for _, c := range p.open {
			c.Close()
		}
		p.mu.Unlock()
		p.pipes.Wait()
	})
	return p
}

func (p *proxy) accept() {
	for {
		from, err := p.listener.Accept()
		if err != nil {
			return
		}
		to, err := net.Dial("tcp", p.server)
		if err != nil {
			from.Close()
			continue
		}
		p.mu.Lock()
		p.open = append(p.open, from, to)
		p.mu.Unlock()
		p.pipes.Go(func() { io.Copy(to, from); to.Close() })
		p.pipes.Go(func() { io.Copy(waiting{from, p}, to); from.Close() })
	}
}

// waiting passes answers on when the proxy is not silent.
type waiting struct {
	io.Writer
	p *proxy
}

func (w waiting) Write(b []byte) (int, error) {
	w.p.mu.Lock()
	silent := w.p.silent
	w.p.mu.Unlock()
	if silent != nil {
		<-silent
	}
	return w.Writer.Write(b)
}

func (p *proxy) mute(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case on && p.silent == nil:
		p.silent = make(chan struct{})
	case !on && p.silent != nil:
		close(p.silent)
		p.silent = nil
	}
}

func TestASilentServer(t *testing.T) {
	u := server(t)
	for name, driver := range drivers {
		t.Run(name, func(t *testing.T) {
			table := "silent_" + driver
			direct := database(t, driver, u.String())
			createTable(t, direct, table)
			p := newProxy(t, u.Host)
			through := *u
			through.Host = p.listener.Addr().String()
			client := realClient(t, database(t, driver, through.String()), table)
			m, err := instrument.New()
			if err != nil {
				t.Fatal(err)
			}
			e := m.Election("lock")
			read := func() electtest.Series { return electtest.Read(m, "lock") }
			of := electtest.Of

			term, err := e.Acquire(t.Context(), pglocklead.NewLock(client, "held", realLease))
			if err != nil {
				t.Fatal(err)
			}
			p.mute(true)
			asked := time.Now()
			select {
			case <-term.Context().Done():
			case <-time.After(2 * realLease):
				t.Fatal("the term goes on without an answer for two leases")
			}
			r := read()
			if after := time.Since(asked); after > realLease || r[of(catalog.TermsEnded, catalog.GaveUp.String())] != 1 ||
				r[of(catalog.Renewals, catalog.RenewalTimeout.String())] == 0 || r[of(catalog.Renewals, catalog.RenewalLost.String())] != 0 {
				t.Errorf("after %v: %v", after, r)
			}
			short, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
			defer cancel()
			asked = time.Now()
			if err := term.Release(short); err == nil || time.Since(asked) > realLease {
				t.Errorf("release after %v: %v", time.Since(asked), err)
			}

			asked = time.Now()
			soon, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
			defer cancel()
			_, err = e.Acquire(soon, pglocklead.NewTryLock(client, "tried", realLease))
			if !errors.Is(err, context.DeadlineExceeded) || time.Since(asked) > realLease {
				t.Errorf("an attempt after %v: %v", time.Since(asked), err)
			}
			if r := read(); r[of(catalog.NotAcquired, catalog.TimedOut.String())] != 1 {
				t.Errorf("%v", r)
			}
			p.mute(false)
			for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
				var n int
				if err := direct.QueryRow("SELECT count(*) FROM " + table + " WHERE name = 'tried'").Scan(&n); err != nil {
					t.Fatal(err)
				}
				if n == 0 {
					break
				}
				if time.Now().After(deadline) {
					t.Fatal("the attempt that was given up left its record behind")
				}
			}
		})
	}
}

func TestTheLibrarysTrapsAreThere(t *testing.T) {
	db := database(t, "pgx", server(t).String())
	createTable(t, db, "traps")
	client := realClient(t, db, "traps")
	holder, err := client.Acquire("lock")
	if err != nil {
		t.Fatal(err)
	}
	beside, err := client.Acquire("lock", pglock.FailIfLocked())
	if beside == nil || !errors.Is(err, pglock.ErrNotAcquired) {
		t.Errorf("beside a lock that is not ours: %v, %v", beside, err)
	}
	if got, want := beside.RecordVersionNumber(), holder.RecordVersionNumber(); got != want {
		t.Errorf("its version is %d and the record's %d: tries can no longer tell a holder that died", got, want)
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	first := client.SendHeartbeat(canceled, holder)
	if second := client.SendHeartbeat(t.Context(), holder); first == nil || !errors.Is(second, pglock.ErrLockAlreadyReleased) {
		t.Errorf("a heartbeat that was cut short: %v; the next: %v: the library does not give the lock up any more", first, second)
	}
}
