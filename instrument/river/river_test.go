package river_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/instrument/internal/expect"
	"github.com/leaderscope/leaderscope/instrument/river"
)

const s = time.Second

var errNoTable = errors.New(`ERROR: relation "river_leader" does not exist (SQLSTATE 42P01)`)

// table is River's table, on a server whose clock may differ from ours.
type table struct {
	mu       sync.Mutex
	leader   string
	elected  time.Time
	expires  time.Time
	err      error
	ahead    time.Duration // of the server's clock
	way      time.Duration // to the server, and back
	queries  []string
	scramble int // of the way, in ms
}

func (x *table) now() time.Time { return time.Now().Add(x.ahead) }

// elect has this client lead for 15 s, again if it does.
func (x *table) elect(leader string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.leader, x.elected, x.expires = leader, x.now(), x.now().Add(15*s)
}

func (x *table) renew() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.expires = x.now().Add(15 * s)
}

func (x *table) change(f func(x *table)) {
	x.mu.Lock()
	defer x.mu.Unlock()
	f(x)
}

func (x *table) Connect(context.Context) (driver.Conn, error) { return connection{x}, nil }
func (x *table) Driver() driver.Driver                        { return nil }

type connection struct{ x *table }

func (connection) Prepare(string) (driver.Stmt, error) { return nil, errors.ErrUnsupported }
func (connection) Begin() (driver.Tx, error)           { return nil, errors.ErrUnsupported }
func (connection) Close() error                        { return nil }

func (c connection) QueryContext(_ context.Context, query string, _ []driver.NamedValue) (driver.Rows, error) {
	c.x.mu.Lock()
	way := c.x.way
	if c.x.scramble > 0 { // another way each time: 1 to 20 ms
		c.x.scramble = c.x.scramble*7%20 + 1
		way = time.Duration(c.x.scramble) * time.Millisecond
	}
	c.x.mu.Unlock()
	time.Sleep(way)
	defer time.Sleep(way)
	c.x.mu.Lock()
	defer c.x.mu.Unlock()
	c.x.queries = append(c.x.queries, query)
	if c.x.err != nil || c.x.leader == "" {
		return &rows{}, c.x.err
	}
	epoch := func(t time.Time) string { return strconv.FormatFloat(float64(t.UnixNano())/1e9, 'f', 6, 64) }
	return &rows{{c.x.leader, epoch(c.x.elected), epoch(c.x.expires), c.x.expires.Sub(c.x.now()).Seconds()}}, nil
}

type rows [][]driver.Value

func (*rows) Columns() []string { return make([]string, 4) }
func (*rows) Close() error      { return nil }

func (r *rows) Next(into []driver.Value) error {
	if len(*r) == 0 {
		return io.EOF
	}
	copy(into, (*r)[0])
	*r = (*r)[1:]
	return nil
}

var options = []instrument.ElectionOption{instrument.Hold()}

func fresh(t *testing.T) electtest.Series { return expect.Fresh(t, options...) }

// won is what a client that leads adds to fresh series.
func won(t *testing.T) electtest.Series {
	return fresh(t).With(electtest.Series{
		"leader_attempts_total": 1, "leader_acquired_total": 1, "leader_active": 1,
		"leader_acquire_duration_seconds_count": 1, "leader_acquire_duration_seconds_sum": 0,
		"leader_lease_duration_seconds": 15, "leader_lease_overruns_total": 0,
	})
}

func left(d time.Duration) electtest.Series {
	return electtest.Series{
		"leader_lease_headroom_seconds":         d.Seconds(),
		"leader_lease_expiry_timestamp_seconds": float64(time.Now().Add(d).UnixNano()) / 1e9,
	}
}

func lost(after time.Duration) electtest.Series {
	return electtest.Series{
		"leader_active": 0, `leader_terms_ended_total{cause="lost"}`: 1,
		"leader_execution_duration_seconds_count": 1, "leader_execution_duration_seconds_sum": after.Seconds(),
	}
}

func renewed(n, usage float64) electtest.Series {
	return electtest.Series{
		`leader_renewals_total{result="ok"}`: n, "leader_lease_usage_ratio_count": n, "leader_lease_usage_ratio_sum": usage,
	}
}

func TestARow(t *testing.T) {
	for _, c := range []struct {
		name   string
		before func(x *table)
		// happens a second after the look at 2 s; looks are every 2 s
		happens func(x *table)
		read    time.Duration // when series are read
		want    func(t *testing.T) electtest.Series
	}{
		{
			"no client leads", func(*table) {}, func(*table) {}, 9 * s, fresh,
		},
		{
			"another client leads", func(x *table) { x.elect("other") }, func(*table) {}, 9 * s, fresh,
		},
		{
			"this client leads and renews every 4 s", func(x *table) { x.elect("me") },
			func(x *table) {
				for range 3 { // at 3 s, 7 s and 11 s, each seen a second later
					x.renew()
					time.Sleep(4 * s)
				}
			}, 19 * s,
			func(t *testing.T) electtest.Series {
				return won(t).With(renewed(3, 4.0/15+5.0/15+5.0/15)).With(left(7 * s))
			},
		},
		{
			"a renewal a second after the election is one",
			func(x *table) {
				x.elect("me")
				time.AfterFunc(s, x.renew)
			},
			func(*table) {}, 9 * s,
			func(t *testing.T) electtest.Series { return won(t).With(renewed(1, 2.0/15)).With(left(7 * s)) },
		},
		{
			"the way to the server varies, and that is no renewal",
			func(x *table) { x.elect("me"); x.change(func(x *table) { x.scramble = 3 }) }, func(*table) {}, 13 * s,
			func(t *testing.T) electtest.Series { return won(t).With(left(2*s - 2*ms)) },
		},
		{
			"a slow look is no renewal either, nor the fast one after it",
			func(x *table) { x.elect("me"); x.change(func(x *table) { x.way = 900 * ms }) },
			func(x *table) { x.change(func(x *table) { x.way = 0 }) }, 9 * s,
			func(t *testing.T) electtest.Series { return won(t).With(left(5100 * ms)) },
		},
		{
			"the server's clock is an hour ahead", func(x *table) { x.change(func(x *table) { x.ahead = time.Hour }); x.elect("me") },
			func(*table) {}, 9 * s, func(t *testing.T) electtest.Series { return won(t).With(left(6 * s)) },
		},
		{
			"the server's clock jumps ahead, and the lease is shorter by it", func(x *table) { x.elect("me") },
			func(x *table) { x.change(func(x *table) { x.ahead = 5 * s }) }, 9 * s,
			func(t *testing.T) electtest.Series { return won(t).With(left(1 * s)) },
		},
		{
			"another client took over", func(x *table) { x.elect("me") }, func(x *table) { x.elect("other") }, 9 * s,
			func(t *testing.T) electtest.Series { return won(t).With(lost(4 * s)) },
		},
		{
			"the row is gone", func(x *table) { x.elect("me") }, func(x *table) { x.elect("") }, 9 * s,
			func(t *testing.T) electtest.Series { return won(t).With(lost(4 * s)) },
		},
		{
			"this client was elected again between two looks", func(x *table) { x.elect("me") }, func(x *table) { x.elect("me") }, 9 * s,
			func(t *testing.T) electtest.Series {
				return won(t).With(lost(4 * s)).With(left(9 * s)).With(electtest.Series{
					"leader_attempts_total": 2, "leader_acquired_total": 2, "leader_acquire_duration_seconds_count": 2, "leader_active": 1,
				})
			},
		},
		{
			"the lease ran out and no client took over", func(x *table) { x.elect("me") }, func(*table) {}, 17 * s,
			func(t *testing.T) electtest.Series {
				return won(t).With(lost(16 * s)).With(electtest.Series{"leader_lease_overruns_total": 1})
			},
		},
		{
			"looks that fail leave the term, and count as failed renewals", func(x *table) { x.elect("me") },
			func(x *table) { x.change(func(x *table) { x.err = errNoTable }) }, 9 * s,
			func(t *testing.T) electtest.Series {
				return won(t).With(left(6 * s)).With(electtest.Series{`leader_renewals_total{result="error"}`: 3})
			},
		},
		{
			"without a term looks that fail show as attempts", func(x *table) { x.change(func(x *table) { x.err = errNoTable }) },
			func(*table) {}, 9 * s,
			func(t *testing.T) electtest.Series {
				return fresh(t).With(electtest.Series{
					"leader_attempts_total": 5, `leader_not_acquired_total{reason="unknown"}`: 5,
					"leader_acquire_duration_seconds_count": 5, "leader_acquire_duration_seconds_sum": 0,
				})
			},
		},
		{
			"a server that does not answer", func(x *table) { x.change(func(x *table) { x.err = io.ErrUnexpectedEOF }) }, func(*table) {}, 3 * s,
			func(t *testing.T) electtest.Series {
				return fresh(t).With(electtest.Series{
					"leader_attempts_total": 2, `leader_not_acquired_total{reason="backend_error"}`: 2,
					"leader_acquire_duration_seconds_count": 2, "leader_acquire_duration_seconds_sum": 0,
				})
			},
		},
	} {
		expect.Bubble(t, c.name, func(t *testing.T) {
			x := &table{}
			c.before(x)
			db := sql.OpenDB(x)
			defer db.Close()
			m := expect.Middleware(t)
			ctx, stop := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() { done <- river.Follow(ctx, m.Election(expect.Lock, options...), db, "me", 2*s, nil) }()
			go func() { time.Sleep(3 * s); c.happens(x) }()
			time.Sleep(c.read)
			synctest.Wait()
			expect.Whole(t, m, "after "+c.read.String(), c.want(t))
			stop()
			if err := <-done; err != nil {
				t.Error(err)
			}
			time.Sleep(20 * s)
		})
	}
}

const ms = time.Millisecond

func TestOptions(t *testing.T) {
	for _, c := range []struct {
		name  string
		opts  []river.Option
		from  string
		lease float64
	}{
		{"the defaults", nil, "FROM river_leader WHERE", 15},
		{"an empty schema is the search path", []river.Option{river.Schema("")}, "FROM river_leader WHERE", 15},
		{"a schema", []river.Option{river.Schema("jobs")}, `FROM "jobs".river_leader WHERE`, 15},
		{"a schema in capitals with a dot", []river.Option{river.Schema("My.Jobs")}, `FROM "My.Jobs".river_leader WHERE`, 15},
		{"a hostile schema", []river.Option{river.Schema(`x".y; DROP TABLE z; --`)}, `FROM "x"".y; DROP TABLE z; --".river_leader WHERE`, 15},
		{"another lease", []river.Option{river.Lease(30 * s)}, "FROM river_leader WHERE", 30},
	} {
		expect.Bubble(t, c.name, func(t *testing.T) {
			x := &table{}
			x.elect("me")
			db := sql.OpenDB(x)
			defer db.Close()
			m := expect.Middleware(t)
			ctx, stop := context.WithTimeout(t.Context(), s)
			defer stop()
			if err := river.Follow(ctx, m.Election(expect.Lock, options...), db, "me", 2*s, c.opts...); err != nil {
				t.Error(err)
			}
			if len(x.queries) != 1 || !strings.Contains(x.queries[0], c.from) {
				t.Errorf("asked %q, want %s", x.queries, c.from)
			}
			expect.Whole(t, m, "after a look", won(t).With(left(14*s)).With(electtest.Series{"leader_lease_duration_seconds": c.lease}))
		})
	}
}

func TestArgumentsThatMakeNoSense(t *testing.T) {
	db := sql.OpenDB(&table{})
	defer db.Close()
	for _, c := range []struct {
		name  string
		db    *sql.DB
		id    string
		every time.Duration
		opts  []river.Option
		want  string
	}{
		{"no database", nil, "me", s, nil, "*sql.DB is nil"},
		{"no client", db, "", s, nil, "client ID is empty"},
		{"no interval", db, "me", 0, nil, "interval is 0s"},
		{"a negative interval", db, "me", -s, nil, "interval is -1s"},
		{"no lease", db, "me", s, []river.Option{river.Lease(0)}, "Lease(0s)"},
		{"a schema that no identifier can be", db, "me", s, []river.Option{river.Schema("a\x00b")}, "NUL"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := river.Follow(t.Context(), nil, c.db, c.id, c.every, c.opts...)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}
