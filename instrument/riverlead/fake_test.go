package riverlead_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
)

// table is River's table, on a server whose clock may differ from ours.
type table struct {
	mu       sync.Mutex
	leader   string
	elected  time.Time
	expires  time.Time
	err      error
	untimed  error           // instead of the time
	last     context.Context // of the last query
	ahead    time.Duration   // of the server's clock
	way      time.Duration   // of a poll to the server, and back
	scramble int             // of the way, in ms
	queries  []string
}

func (x *table) now() time.Time { return time.Now().Add(x.ahead) }

// elect has this client lead for 15 s, again if it does.
func (x *table) elect(leader string) {
	x.change(func(x *table) { x.leader, x.elected, x.expires = leader, x.now(), x.now().Add(15*s) })
}

func (x *table) renew() { x.change(func(x *table) { x.expires = x.now().Add(15 * s) }) }

// asked are the queries until now.
func (x *table) asked() (queries []string) {
	x.change(func(x *table) { queries = append(queries, x.queries...) })
	return queries
}

func (x *table) change(f func(x *table)) {
	x.mu.Lock()
	defer x.mu.Unlock()
	f(x)
}

// client is a River client of that ID, which is not started.
func (x *table) client(t *testing.T, id, schema string) *river.Client[*sql.Tx] {
	t.Helper()
	db := sql.OpenDB(x)
	t.Cleanup(func() { _ = db.Close() })
	c, err := river.NewClient(riverdatabasesql.New(db), &river.Config{ID: id, Schema: schema})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (x *table) Connect(context.Context) (driver.Conn, error) { return connection{x}, nil }
func (x *table) Driver() driver.Driver                        { return nil }

type connection struct{ x *table }

func (connection) Prepare(string) (driver.Stmt, error) { return nil, errors.ErrUnsupported }
func (connection) Begin() (driver.Tx, error)           { return nil, errors.ErrUnsupported }
func (connection) Close() error                        { return nil }

// QueryContext answers the question for the time after half of the way to the
// server, and that for the row after the other half.
func (c connection) QueryContext(ctx context.Context, query string, _ []driver.NamedValue) (driver.Rows, error) {
	asksTime := strings.Contains(query, "now()")
	c.x.mu.Lock()
	if c.x.scramble > 0 && asksTime { // another way each time: 1 to 20 ms
		c.x.scramble = c.x.scramble*7%20 + 1
		c.x.way = time.Duration(c.x.scramble) * time.Millisecond
	}
	way := c.x.way / 2
	c.x.last = ctx
	c.x.mu.Unlock()
	if !wait(ctx, way) {
		return nil, ctx.Err()
	}
	c.x.mu.Lock()
	defer c.x.mu.Unlock()
	c.x.queries = append(c.x.queries, query)
	switch {
	case c.x.untimed != nil && asksTime:
		return nil, c.x.untimed
	case c.x.err != nil && (c.x.err != errNoTable || !asksTime): // without the table the server still knows the time
		return nil, c.x.err
	case asksTime:
		return &rows{{c.x.now()}}, nil
	case c.x.leader == "":
		return &rows{}, nil
	default:
		return &rows{{c.x.elected, c.x.expires, c.x.leader, "default"}}, nil
	}
}

func wait(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

type rows [][]driver.Value

func (r *rows) Columns() []string {
	if len(*r) == 0 {
		return make([]string, 4)
	}
	return make([]string, len((*r)[0]))
}

func (*rows) Close() error { return nil }

func (r *rows) Next(into []driver.Value) error {
	if len(*r) == 0 {
		return io.EOF
	}
	copy(into, (*r)[0])
	*r = (*r)[1:]
	return nil
}

// sqlState is an error of the server, as drivers have it.
type sqlState string

func (s sqlState) Error() string    { return "ERROR (SQLSTATE " + string(s) + ")" }
func (s sqlState) SQLState() string { return string(s) }
