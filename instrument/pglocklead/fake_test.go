package pglocklead_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"cirello.io/pglock"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/pglocklead"
)

// table is the table of locks of a PostgreSQL server in memory, for the
// statements that the library sends.
type table struct {
	mu       sync.Mutex
	sequence int64
	drawn    int64 // if not 0, the number that the next attempt drew before, and was slow since
	rows     map[string]*row
	pools    []*sql.DB
	closed   bool          // the pools are
	err      error         // of every request
	refused  error         // of every heartbeat
	kept     error         // of every release
	broken   int           // so many requests meet a connection that broke
	lost     int           // so many requests are done, and their answers lost
	silent   chan struct{} // until it is closed no request is answered
	late     time.Duration // of every answer
	sent     int           // requests
}

type row struct {
	version driver.Value // int64, or nil when it is released and kept
	data    driver.Value
	owner   driver.Value
	written time.Time
}

func newTable() *table { return &table{rows: map[string]*row{}} }

// database is a pool of connections to the table.
func (x *table) database(t testing.TB) *sql.DB {
	db := sql.OpenDB(x)
	t.Cleanup(func() { _ = db.Close() })
	x.pools = append(x.pools, db)
	if x.closed {
		x.close()
	}
	return db
}

// close closes the pools, as a program does that stops.
func (x *table) close() {
	for _, db := range x.pools {
		_ = db.Close()
	}
}

func (x *table) client(t testing.TB, opts ...pglock.ClientOption) *pglock.Client {
	t.Helper()
	opts = append([]pglock.ClientOption{pglock.WithLeaseDuration(lease), pglock.WithHeartbeatFrequency(0)}, opts...)
	c, err := pglock.UnsafeNew(x.database(t), opts...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (x *table) lock(t testing.TB, name string) instrument.Acquirer {
	return pglocklead.NewLock(x.client(t), name, lease)
}

// tryLock is for a virtual clock: the test ends when what its tries have won
// too late is released.
func (x *table) tryLock(t testing.TB, name string) instrument.Acquirer {
	lock := pglocklead.NewTryLock(x.client(t), name, lease)
	t.Cleanup(func() { time.Sleep(lease) }) // before the database is closed
	return lock
}

// change does something to the table behind the clients' backs.
func (x *table) change(f func(x *table)) {
	x.mu.Lock()
	defer x.mu.Unlock()
	f(x)
}

// steal gives a lock to another client.
func (x *table) steal(name string) {
	x.change(func(x *table) {
		x.sequence++
		x.rows[name] = &row{version: x.sequence, owner: "another", written: time.Now()}
	})
}

func (x *table) remove(name string) { x.change(func(x *table) { delete(x.rows, name) }) }

// fail has every request fail until it is called with nil.
func (x *table) fail(err error) { x.change(func(x *table) { x.err = err }) }

// mute has no request be answered until the returned function is called.
func (x *table) mute() (speak func()) {
	silent := make(chan struct{})
	x.change(func(x *table) { x.silent = silent })
	return func() {
		x.change(func(x *table) { x.silent = nil })
		close(silent)
	}
}

// remaining is what is left of a lease, and whether the lock is held.
func (x *table) remaining(name string) (timeLeft time.Duration, held bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	r := x.rows[name]
	if r == nil || r.version == nil {
		return 0, false
	}
	timeLeft = time.Until(r.written.Add(lease))
	return timeLeft, timeLeft > 0
}

func (x *table) Connect(context.Context) (driver.Conn, error) { return connection{x}, nil }
func (x *table) Driver() driver.Driver                        { return nil }

type connection struct{ x *table }

func (connection) Prepare(string) (driver.Stmt, error) { return nil, errors.ErrUnsupported }
func (connection) Begin() (driver.Tx, error)           { return nil, errors.ErrUnsupported }
func (connection) Close() error                        { return nil }

func (c connection) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	rows := &rows{}
	_, err := c.x.serve(ctx, func() int64 {
		switch {
		case strings.Contains(query, "nextval"):
			rows.values = []driver.Value{c.x.draw()}
		case strings.Contains(query, "INSERT"):
			rows.values = c.x.insert(args)
		default:
			name := args[0].Value.(string)
			if r := c.x.rows[name]; r != nil {
				rows.values = []driver.Value{name, r.owner, r.data}
			}
			rows.done = rows.values == nil
		}
		return 0
	})
	return rows, err
}

func (c connection) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if strings.Contains(query, "UPDATE") && c.x.refused != nil {
		return nil, c.x.refused
	}
	if strings.Contains(query, "DELETE") && c.x.kept != nil {
		return nil, c.x.kept
	}
	affected, err := c.x.serve(ctx, func() int64 {
		r := c.x.rows[args[0].Value.(string)]
		if r == nil || r.version != args[1].Value {
			return 0
		}
		switch {
		case strings.Contains(query, "DELETE"):
			delete(c.x.rows, args[0].Value.(string))
		case strings.Contains(query, "NULL"):
			r.version = nil
		default:
			r.version, r.written = args[2].Value, time.Now()
		}
		return 1
	})
	return driver.RowsAffected(affected), err
}

func (x *table) draw() (number int64) {
	if number, x.drawn = x.drawn, 0; number != 0 {
		return number
	}
	x.sequence++
	return x.sequence
}

// serve answers one request.
func (x *table) serve(ctx context.Context, do func() int64) (int64, error) {
	x.mu.Lock()
	x.sent++
	silent, err, late := x.silent, x.err, x.late
	if x.broken > 0 {
		x.broken--
		err = errReset
	}
	x.mu.Unlock()
	if silent != nil {
		select {
		case <-silent:
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
	if err != nil {
		return 0, err
	}
	if late == 0 {
		x.mu.Lock()
		defer x.mu.Unlock()
		n := do()
		if x.lost > 0 {
			x.lost--
			return 0, errReset
		}
		return n, nil
	}
	answers := make(chan int64, 1)
	go func() { // it is executed even if the caller has left
		time.Sleep(late / 2)
		x.mu.Lock()
		n := do()
		x.mu.Unlock()
		time.Sleep(late / 2)
		answers <- n
	}()
	select {
	case n := <-answers:
		return n, nil
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// insert is the statement that acquires: it writes where there is no record,
// or that which the client has seen.
func (x *table) insert(args []driver.NamedValue) []driver.Value {
	name, version, data, seen, owner := args[0].Value.(string), args[1].Value, args[2].Value, args[3].Value, args[5].Value
	r := x.rows[name]
	switch {
	case r == nil:
		r = &row{version, data, owner, time.Now()}
		x.rows[name] = r
	case r.version == nil || r.version == seen:
		r.version, r.owner, r.written = version, owner, time.Now()
	}
	return []driver.Value{r.version, r.data, r.owner}
}

// rows is the answer to a query: one row.
type rows struct {
	values []driver.Value
	done   bool
}

func (r *rows) Columns() []string { return make([]string, len(r.values)) }

func (*rows) Close() error { return nil }

func (r *rows) Next(into []driver.Value) error {
	if r.done {
		return io.EOF
	}
	r.done = true
	copy(into, r.values)
	return nil
}

// sqlState is an error of the server, as drivers have it.
type sqlState string

func (s sqlState) Error() string    { return fmt.Sprintf("ERROR (SQLSTATE %s)", string(s)) }
func (s sqlState) SQLState() string { return string(s) }
