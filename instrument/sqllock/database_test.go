package sqllock_test

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
)

// database is a server that knows advisory locks and nothing else.
type database struct {
	mu     sync.Mutex
	last   int64
	holder map[driver.Value]*backend
	freed  chan struct{} // closed when a lock may be free
	refuse error         // of every connection
	way    time.Duration // of every connection, with any context
	opened int
	closed int

	// route is the backend that a statement of a client reaches, as a pooler
	// decides; nil is the client's own.
	route func(own *backend) *backend
	// instead replaces the answer to a statement; ok is false for the usual one.
	instead func(ctx context.Context, query string) (answer driver.Value, err error, ok bool)
}

// backend is a session of the server.
type backend struct {
	id   int64
	dead bool
}

func newDatabase() *database {
	return &database{holder: map[driver.Value]*backend{}, freed: make(chan struct{})}
}

// pool is a pool of connections, as one process has it.
func (d *database) pool(t testing.TB) *sql.DB {
	db := sql.OpenDB(d)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// newBackend starts a session. The caller holds mu.
func (d *database) newBackend() *backend {
	d.last++
	return &backend{id: d.last}
}

func (d *database) Connect(context.Context) (driver.Conn, error) {
	time.Sleep(d.way)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.refuse != nil {
		return nil, d.refuse
	}
	d.opened++
	return &client{db: d, own: d.newBackend()}, nil
}

func (d *database) Driver() driver.Driver { return nil }

func (d *database) counts() (opened, closed int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.opened, d.closed
}

// change changes how the server behaves.
func (d *database) change(f func(d *database)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f(d)
}

// kill ends the session that holds the lock, as an administrator does. The
// caller holds mu.
func (d *database) kill(key driver.Value) {
	if b := d.holder[key]; b != nil {
		b.dead = true
		d.free(b)
	}
}

// forget frees the lock and leaves its session alive, as
// pg_advisory_unlock_all does. The caller holds mu.
func (d *database) forget(key driver.Value) { d.free(d.holder[key]) }

// free gives back what a backend holds. The caller holds mu.
func (d *database) free(b *backend) {
	for key, holder := range d.holder {
		if holder == b {
			delete(d.holder, key)
		}
	}
	close(d.freed)
	d.freed = make(chan struct{})
}

// client is a connection.
type client struct {
	db  *database
	own *backend
}

func (c *client) Prepare(string) (driver.Stmt, error) { return nil, errors.ErrUnsupported }
func (c *client) Begin() (driver.Tx, error)           { return nil, errors.ErrUnsupported }

func (c *client) Close() error {
	c.db.mu.Lock()
	defer c.db.mu.Unlock()
	c.db.closed++
	c.db.free(c.own)
	return nil
}

func (c *client) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	c.db.mu.Lock()
	instead := c.db.instead
	c.db.mu.Unlock()
	if instead != nil {
		if answer, err, ok := instead(ctx, query); ok {
			return &row{answer: answer}, err
		}
	}
	for {
		answer, freed, err := c.run(query, args)
		if freed == nil {
			return &row{answer: answer}, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-freed:
		}
	}
}

// run answers, or says when to try again.
func (c *client) run(query string, args []driver.NamedValue) (answer driver.Value, freed <-chan struct{}, err error) {
	d := c.db
	d.mu.Lock()
	defer d.mu.Unlock()
	b := c.own
	if d.route != nil {
		b = d.route(b)
	}
	if b.dead {
		return nil, nil, driver.ErrBadConn
	}
	if len(args) == 0 {
		return b.id, nil, nil
	}
	if want := parameters(query); len(args) != want {
		return nil, nil, fmt.Errorf("%d parameters for %d in %s", len(args), want, query)
	}
	if args[0].Value != b.id {
		return int64(-1), nil, nil
	}
	key := args[len(args)-1].Value
	holder := d.holder[key]
	contains := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(query, w) {
				return true
			}
		}
		return false
	}
	takes := contains("pg_try_advisory_lock", "pg_advisory_lock", "GET_LOCK")
	switch {
	case contains("pg_advisory_unlock", "RELEASE_LOCK"):
		if holder == b {
			d.free(b)
		}
		return number(holder == b), nil, nil
	case takes && holder == b:
		return int64(-2), nil, nil
	case takes && holder == nil:
		d.holder[key] = b
		return int64(1), nil, nil
	case takes && contains("try", "(?, 0)"):
		return int64(0), nil, nil
	case takes:
		return nil, d.freed, nil
	default:
		return number(holder == b), nil, nil
	}
}

// parameters is how many a query has: ? each, or $1 and on.
func parameters(query string) (n int) {
	for strings.Contains(query, fmt.Sprint("$", n+1)) {
		n++
	}
	return max(n, strings.Count(query, "?"))
}

func number(yes bool) int64 {
	if yes {
		return 1
	}
	return 0
}

func isCheck(query string) bool {
	return strings.Contains(query, "pg_locks") && !strings.Contains(query, "_advisory_")
}

func takesLock(query string) bool {
	return strings.Contains(query, "advisory_lock(") || strings.Contains(query, "GET_LOCK")
}

// row is one answer.
type row struct {
	answer driver.Value
	read   bool
}

func (r *row) Columns() []string { return make([]string, 1) }
func (r *row) Close() error      { return nil }

func (r *row) Next(into []driver.Value) error {
	if r.read {
		return io.EOF
	}
	into[0], r.read = r.answer, true
	return nil
}
