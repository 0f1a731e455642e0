package postgres

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"go.uber.org/goleak"

	. "github.com/leaderscope/leaderscope/cmd/leader-observer/internal/observe/observetest"
	"github.com/leaderscope/leaderscope/instrument/electtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// row is what the query answers: a session that has a lock.
type row struct {
	key     int64
	pid     int32
	program string
	began   int64
}

// database answers in place of PostgreSQL. broken ends the answer after its rows.
type database struct {
	rows         []row
	away, broken error
}

func (d *database) Query(context.Context, string, ...any) (pgx.Rows, error) {
	return &rows{left: d.rows, err: d.broken}, d.away
}

type rows struct {
	pgx.Rows
	left []row
	row
	err error
}

func (r *rows) Next() bool {
	if len(r.left) == 0 {
		return false
	}
	r.row, r.left = r.left[0], r.left[1:]
	return true
}

func (r *rows) Scan(into ...any) error {
	*into[0].(*int64), *into[1].(*int32), *into[2].(*string), *into[3].(*int64) = r.key, r.pid, r.program, r.began
	return nil
}

func (r *rows) Close()                              {}
func (r *rows) Err() error                          { return r.err }
func (r *rows) CommandTag() (tag pgconn.CommandTag) { return tag }

const every = 5 * time.Second

func polled(s electtest.Series) electtest.Series {
	return s.With(electtest.Series{"poll_interval_seconds": every.Seconds()})
}

func TestWhatTheLooksShowOfALock(t *testing.T) {
	reporter := row{42, 17, "reporter", 1000}
	for name, play := range map[string]func(d *database, looks func() error, f *Fixture){
		"free": func(_ *database, looks func() error, f *Fixture) {
			_ = looks()
			f.Shows("free", "x", polled(Free(0, 0)))
		},
		"held": func(d *database, looks func() error, f *Fixture) {
			d.rows = []row{reporter}
			_ = looks()
			f.Shows("held", "x", polled(Held("reporter/17/1000", 0, 0)))
		},
		"another lock is held": func(d *database, looks func() error, f *Fixture) {
			d.rows = []row{{43, 17, "reporter", 1000}, {-42, 18, "reporter", 1000}}
			_ = looks()
			f.Shows("free", "x", polled(Free(0, 0)))
			f.Shows("free", "negative", polled(Held("reporter/18/1000", 0, 0)))
		},
		"a process number that is used again": func(d *database, looks func() error, f *Fixture) {
			d.rows = []row{reporter}
			_ = looks()
			time.Sleep(every)
			d.rows = []row{{42, 17, "reporter", 2000}}
			_ = looks()
			f.Shows("held by the other", "x", polled(Held("reporter/17/2000", 1, 0)))
		},
		"prepared, which ends its session": func(d *database, looks func() error, f *Fixture) {
			d.rows = []row{reporter}
			_ = looks()
			time.Sleep(every)
			d.rows = []row{{42, 0, "prepared transaction", 0}}
			_ = looks()
			f.Shows("held by no session", "x", polled(Held("prepared transaction/0/0", 1, 0)))
		},
		"given back and taken": func(d *database, looks func() error, f *Fixture) {
			d.rows = []row{reporter}
			_ = looks()
			time.Sleep(every)
			d.rows = nil
			_ = looks()
			time.Sleep(every)
			d.rows = []row{reporter}
			_ = looks()
			f.Shows("taken by the same", "x", polled(Held("reporter/17/1000", 1, 5)).With(Gaps(1, 5)))
		},
		"no answer": func(d *database, looks func() error, f *Fixture) {
			d.away = errAway
			if err := looks(); !errors.Is(err, errAway) {
				t.Error(err)
			}
			f.Shows("away", "x", electtest.Series{"up": 0})
		},
		"an answer that breaks off": func(d *database, looks func() error, f *Fixture) {
			d.rows = []row{reporter}
			_ = looks()
			d.rows, d.broken = nil, errAway
			if err := looks(); !errors.Is(err, errAway) {
				t.Error(err)
			}
			f.Shows("as before", "x", polled(Held("reporter/17/1000", 0, 0)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, d := New(t, 0), &database{}
				watched := Source{Every: every, Locks: []Lock{{"x", 42}, {"negative", -42}}}.Watch(f.Backend)
				play(d, func() error { return watched.look(t.Context(), d) }, f)
			})
		})
	}
}

var errAway = errors.New("away")

func TestADatabaseThatCannotBeReachedEndsTheWatch(t *testing.T) {
	for name, url := range map[string]string{"no address": "postgres://:x", "nothing there": "postgres://127.0.0.1:1/x"} {
		t.Run(name, func(t *testing.T) {
			f := New(t, 0)
			err := (Source{URL: url, Every: every}).Watch(f.Backend).Run(t.Context())
			if err == nil || !strings.HasPrefix(err.Error(), "connect: ") || f.Reached() {
				t.Errorf("%v, reached: %v", err, f.Reached())
			}
		})
	}
}
