package riverlead_test

import (
	"bytes"
	"context"
	"database/sql"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
	"go.uber.org/goleak"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/instrument/internal/expect"
	"github.com/leaderscope/leaderscope/instrument/riverlead"
	"github.com/leaderscope/leaderscope/redact"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	s  = time.Second
	ms = time.Millisecond
)

var (
	errNoTable = sqlState("42P01")
	hold       = []instrument.ElectionOption{instrument.Hold()}
)

func fresh(t *testing.T) electtest.Series { return expect.Fresh(t, hold...) }

// won is what a client that leads adds to fresh series.
func won(t *testing.T) electtest.Series {
	return fresh(t).With(electtest.Series{
		"leader_attempts_total": 1, "leader_acquired_total": 1, "leader_active": 1,
		"leader_acquire_duration_seconds_count": 1, "leader_acquire_duration_seconds_sum": 0,
		"leader_lease_duration_seconds": 15, "leader_lease_overruns_total": 0,
	})
}

func remaining(d time.Duration) electtest.Series {
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

func failedLooks(t *testing.T, n float64, reason string, each time.Duration) electtest.Series {
	return fresh(t).With(electtest.Series{
		"leader_attempts_total": n, `leader_not_acquired_total{reason="` + reason + `"}`: n,
		"leader_acquire_duration_seconds_count": n, "leader_acquire_duration_seconds_sum": n * each.Seconds(),
	})
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
		{"no client leads", func(*table) {}, func(*table) {}, 9 * s, fresh},
		{"another client leads", func(x *table) { x.elect("other") }, func(*table) {}, 9 * s, fresh},
		{
			"this client leads and renews every 4 s", func(x *table) { x.elect("me") },
			func(x *table) {
				for range 3 { // at 3 s, 7 s and 11 s, each seen a second later
					x.renew()
					time.Sleep(4 * s)
				}
			}, 19 * s,
			func(t *testing.T) electtest.Series {
				return won(t).With(renewed(3, 4.0/15+5.0/15+5.0/15)).With(remaining(7 * s))
			},
		},
		{
			"a renewal a second after the election is one",
			func(x *table) {
				x.elect("me")
				time.AfterFunc(s, x.renew)
			},
			func(*table) {}, 9 * s,
			func(t *testing.T) electtest.Series { return won(t).With(renewed(1, 2.0/15)).With(remaining(7 * s)) },
		},
		{
			"the way to the server varies, and that is no renewal, and the length of the lease stays",
			func(x *table) { x.elect("me"); x.change(func(x *table) { x.scramble = 3 }) }, func(*table) {}, 13 * s,
			func(t *testing.T) electtest.Series { return won(t).With(remaining(2*s - ms)) },
		},
		{
			"a slow look is no renewal either, nor the fast one after it",
			func(x *table) { x.elect("me"); x.change(func(x *table) { x.way = 900 * ms }) },
			func(x *table) { x.change(func(x *table) { x.way = 0 }) }, 9 * s,
			func(t *testing.T) electtest.Series { return won(t).With(remaining(5550 * ms)) },
		},
		{
			"the server's clock is an hour ahead", func(x *table) { x.change(func(x *table) { x.ahead = time.Hour }); x.elect("me") },
			func(*table) {}, 9 * s, func(t *testing.T) electtest.Series { return won(t).With(remaining(6 * s)) },
		},
		{
			"the server's clock jumps ahead, and the lease is shorter by it", func(x *table) { x.elect("me") },
			func(x *table) { x.change(func(x *table) { x.ahead = 5 * s }) }, 9 * s,
			func(t *testing.T) electtest.Series { return won(t).With(remaining(1 * s)) },
		},
		{
			"the server's clock jumps ahead by no more than a second, and nothing shows it", func(x *table) { x.elect("me") },
			func(x *table) { x.change(func(x *table) { x.ahead = s }) }, 9 * s,
			func(t *testing.T) electtest.Series { return won(t).With(remaining(6 * s)) },
		},
		{
			"the server's clock jumps ahead by more than a second", func(x *table) { x.elect("me") },
			func(x *table) { x.change(func(x *table) { x.ahead = s + ms }) }, 9 * s,
			func(t *testing.T) electtest.Series { return won(t).With(remaining(5*s - ms)) },
		},
		{
			"the lease ends in the instant of a look", func(x *table) { x.elect("me") },
			func(x *table) { x.change(func(x *table) { x.expires = x.now().Add(s) }) }, 9 * s,
			func(t *testing.T) electtest.Series { return won(t).With(lost(4 * s)) },
		},
		{
			"the lease ends just after a look, and the next one shows it", func(x *table) { x.elect("me") },
			func(x *table) { x.change(func(x *table) { x.expires = x.now().Add(s + 1) }) }, 9 * s,
			func(t *testing.T) electtest.Series {
				return won(t).With(lost(6 * s)).With(electtest.Series{"leader_lease_overruns_total": 1})
			},
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
				return won(t).With(lost(4 * s)).With(remaining(9 * s)).With(electtest.Series{
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
				return won(t).With(remaining(6 * s)).With(electtest.Series{`leader_renewals_total{result="error"}`: 3})
			},
		},
		{
			"looks that are not answered leave the term, which is over with its lease", func(x *table) { x.elect("me") },
			func(x *table) { x.change(func(x *table) { x.way = time.Hour }) }, 17 * s,
			func(t *testing.T) electtest.Series {
				return won(t).With(remaining(-2 * s)).With(electtest.Series{
					"leader_active": 0, `leader_renewals_total{result="timeout"}`: 6, "leader_lease_overruns_total": 1,
				})
			},
		},
		{
			"without a term looks that fail show as attempts: a schema without River's tables", func(x *table) { x.change(func(x *table) { x.err = errNoTable }) },
			func(*table) {}, 9 * s, func(t *testing.T) electtest.Series { return failedLooks(t, 5, "unknown", 0) },
		},
		{
			"a server that refuses connections", func(x *table) { x.change(func(x *table) { x.err = io.ErrUnexpectedEOF }) }, func(*table) {}, 3 * s,
			func(t *testing.T) electtest.Series { return failedLooks(t, 2, "backend_error", 0) },
		},
		{
			"a server that does not know the time", func(x *table) { x.elect("me"); x.change(func(x *table) { x.untimed = errNoTable }) }, func(*table) {}, 3 * s,
			func(t *testing.T) electtest.Series { return failedLooks(t, 2, "unknown", 0) },
		},
		{
			"a server with an answer that says nothing of itself", func(x *table) { x.change(func(x *table) { x.err = sqlState("55P03") }) }, func(*table) {}, 3 * s,
			func(t *testing.T) electtest.Series { return failedLooks(t, 2, "unknown", 0) },
		},
		{
			"a server that shuts down", func(x *table) { x.change(func(x *table) { x.err = sqlState("57P01") }) }, func(*table) {}, 3 * s,
			func(t *testing.T) electtest.Series { return failedLooks(t, 2, "backend_error", 0) },
		},
		{
			"a server that does not answer", func(x *table) { x.change(func(x *table) { x.way = time.Hour }) }, func(*table) {}, 5 * s,
			func(t *testing.T) electtest.Series { return failedLooks(t, 2, "backend_error", 0) },
		},
	} {
		expect.Bubble(t, c.name, func(t *testing.T) {
			x, m := &table{}, expect.Middleware(t)
			c.before(x)
			ctx, stop := context.WithCancel(t.Context())
			if err := riverlead.Observe(ctx, m.Election(expect.Lock, hold...), x.client(t, "me", ""), nil); err != nil {
				t.Fatal(err)
			}
			go func() { time.Sleep(3 * s); c.happens(x) }()
			time.Sleep(c.read)
			synctest.Wait()
			expect.Whole(t, m, "after "+c.read.String(), c.want(t))
			stop()
			time.Sleep(20 * s)
		})
	}
}

func TestAClientThatStops(t *testing.T) {
	ended := func(cause string, after time.Duration) electtest.Series {
		return electtest.Series{
			"leader_active": 0, `leader_terms_ended_total{cause="` + cause + `"}`: 1,
			"leader_execution_duration_seconds_count": 1, "leader_execution_duration_seconds_sum": after.Seconds(),
		}
	}
	released := ended("released", 3*s).With(expect.Released("ok")).With(expect.Used(15*s, 3*s))
	for _, c := range []struct {
		name  string
		stops func(x *table) // at 3 s, a second after the second poll
		want  electtest.Series
		ended error // of the last poll
	}{
		{"it has resigned", func(x *table) { x.elect("") }, released, context.Canceled},
		{"it has resigned, and another client leads", func(x *table) { x.elect("other") }, released, context.Canceled},
		{"it could not resign", func(*table) {}, ended("canceled", 3*s), context.Canceled},
		{"it could not resign, and its lease has run out", func(x *table) { x.change(func(x *table) { x.expires = x.now() }) }, ended("canceled", 3*s), context.Canceled},
		{"the last look fails", func(x *table) { x.change(func(x *table) { x.err = errNoTable }) }, ended("canceled", 3*s), context.Canceled},
		{"the last look is not answered", func(x *table) { x.change(func(x *table) { x.way = time.Hour }) }, ended("canceled", 5*s), context.DeadlineExceeded},
	} {
		expect.Bubble(t, c.name, func(t *testing.T) {
			x, m, stopped := &table{}, expect.Middleware(t), make(chan struct{})
			x.elect("me")
			if err := riverlead.ObserveUntil(t.Context(), m.Election(expect.Lock, hold...), x.client(t, "me", ""), stopped); err != nil {
				t.Fatal(err)
			}
			time.Sleep(3 * s)
			c.stops(x)
			close(stopped)
			time.Sleep(9 * s)
			expect.Whole(t, m, "after the stop", won(t).With(c.want))
			if x.last.Err() != c.ended {
				t.Errorf("the context of the last look: %v", x.last.Err())
			}
		})
	}
	expect.Bubble(t, "it is not observed any more", func(t *testing.T) {
		x, m, stopped := &table{}, expect.Middleware(t), make(chan struct{})
		x.elect("me")
		ctx, stop := context.WithCancel(t.Context())
		if err := riverlead.ObserveUntil(ctx, m.Election(expect.Lock, hold...), x.client(t, "me", ""), stopped); err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * s)
		stop()
		synctest.Wait()
		close(stopped)
		time.Sleep(s)
		expect.Whole(t, m, "after the stop", won(t).With(remaining(11*s)))
	})
}

func TestAWrongSchemaIsLoggedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		m, err := instrument.New(instrument.WithRedactor(redact.Raw()), instrument.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		if err != nil {
			t.Fatal(err)
		}
		x := &table{err: errNoTable}
		ctx, stop := context.WithCancel(t.Context())
		if err := riverlead.Observe(ctx, m.Election(expect.Lock, hold...), x.client(t, "me", "wrong")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(19 * s)
		stop()
		synctest.Wait()
		if n := strings.Count(log.String(), "no classifier recognises"); n != 1 {
			t.Errorf("logged %d times:\n%s", n, log.String())
		}
	})
}

func TestTheClientsSchemaIsTheOneThatIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x, m := &table{}, expect.Middleware(t)
		x.elect("me")
		ctx, stop := context.WithCancel(t.Context())
		if err := riverlead.Observe(ctx, m.Election(expect.Lock, hold...), x.client(t, "me", "jobs")); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		stop()
		queries := x.asked()
		if last := queries[len(queries)-1]; !strings.Contains(strings.ReplaceAll(last, `"`, ""), "FROM jobs.river_leader") {
			t.Errorf("asked %s", last)
		}
		time.Sleep(s)
	})
}

func TestOptions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x, m := &table{}, expect.Middleware(t)
		x.elect("me")
		ctx, stop := context.WithCancel(t.Context())
		if err := riverlead.Observe(ctx, m.Election(expect.Lock, hold...), x.client(t, "me", ""), riverlead.Lease(30*s), riverlead.Interval(10*s)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(9 * s)
		if queries := x.asked(); len(queries) != 2 {
			t.Errorf("%d queries within an interval, want those of one look: %q", len(queries), queries)
		}
		expect.Whole(t, m, "after a look", won(t).With(remaining(6*s)).With(electtest.Series{"leader_lease_duration_seconds": 30}))
		stop()
		synctest.Wait()
	})
}

func TestArgumentsThatMakeNoSense(t *testing.T) {
	client := (&table{}).client(t, "me", "")
	e := expect.Middleware(t).Election(expect.Lock)
	for _, c := range []struct {
		name   string
		client *river.Client[*sql.Tx]
		opts   []riverlead.Option
		wants  string
	}{
		{"no client", nil, nil, "client is nil"},
		{"no interval", client, []riverlead.Option{riverlead.Interval(0)}, "the interval is 0s: pass"},
		{"a negative lease", client, []riverlead.Option{riverlead.Lease(-s)}, "the lease is -1s: pass"},
		{"no lease", client, []riverlead.Option{riverlead.Lease(0)}, "the lease is 0s: pass"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := riverlead.Observe(t.Context(), e, c.client, c.opts...); err == nil || !strings.Contains(err.Error(), c.wants) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// lite is the driver of another database.
type lite struct{ *riverdatabasesql.Driver }

func (lite) DatabaseName() string { return "sqlite" }

func TestADatabaseThatCannotBeAskedIsRefused(t *testing.T) {
	x := &table{}
	db := sql.OpenDB(x)
	defer db.Close()
	client, err := river.NewClient(lite{riverdatabasesql.New(db)}, &river.Config{ID: "me"})
	if err != nil {
		t.Fatal(err)
	}
	const want = `leaderscope: river: the client's database is "sqlite": use a client for PostgreSQL, the only database from which the lease can be read`
	err = riverlead.Observe(t.Context(), expect.Middleware(t).Election(expect.Lock), client)
	if err == nil || err.Error() != want || len(x.asked()) != 0 {
		t.Errorf("%v, %q", err, x.asked())
	}
}

func TestANilElectionIsNotLookedAt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x, stopped := &table{}, make(chan struct{})
		close(stopped)
		err := riverlead.ObserveUntil(t.Context(), nil, x.client(t, "me", ""), stopped, riverlead.Interval(1), riverlead.Lease(1))
		synctest.Wait()
		if err != nil || len(x.asked()) != 0 {
			t.Errorf("%v, %q", err, x.asked())
		}
	})
}
