package runnable_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/instrument/internal/expect"
	"github.com/leaderscope/leaderscope/instrument/runnable"
)

const s = time.Second

var (
	errFailed = errors.New("cannot reach the API")
	options   = []instrument.ElectionOption{instrument.Hold(), instrument.HiddenRenewals()}
)

// won is what a manager that leads adds to fresh series.
func won(t *testing.T) electtest.Series {
	return expect.Fresh(t, options...).With(electtest.Series{
		"leader_attempts_total": 1, "leader_acquired_total": 1,
		"leader_acquire_duration_seconds_count": 1, "leader_acquire_duration_seconds_sum": 0,
	})
}

// drains works until its context ends, and for a while more.
func drains(more time.Duration) func(context.Context) error {
	return func(ctx context.Context) error {
		<-ctx.Done()
		time.Sleep(more)
		return nil
	}
}

// ended is a term that ended, and the work under it.
func ended(works, sum float64) electtest.Series {
	return electtest.Series{
		`leader_terms_ended_total{cause="canceled"}`: 1,
		"leader_execution_duration_seconds_count":    works, "leader_execution_duration_seconds_sum": sum,
	}
}

func TestAManagerLeads(t *testing.T) {
	leads := electtest.Series{"leader_active": 1}
	for _, c := range []struct {
		name string
		work []func(context.Context) error
		// The manager stops after 10 s. Series at 5 s, 12 s and 20 s:
		leading, draining, stopped electtest.Series
		err                        error
	}{
		{
			"a drain is no work after loss", []func(context.Context) error{drains(5 * s)},
			leads.With(electtest.Series{"leader_running": 1}),
			leads.With(electtest.Series{"leader_running": 1}),
			ended(1, 15), nil,
		},
		{
			"work that stops at once", []func(context.Context) error{drains(0)},
			leads.With(electtest.Series{"leader_running": 1}),
			ended(1, 10), ended(1, 10), nil,
		},
		{
			"two pieces of work are one leadership, until the last has returned", []func(context.Context) error{drains(s), drains(5 * s)},
			leads.With(electtest.Series{"leader_running": 2}),
			leads.With(electtest.Series{"leader_running": 1, "leader_execution_duration_seconds_count": 1, "leader_execution_duration_seconds_sum": 11}),
			ended(2, 26), nil,
		},
		{
			"work that is done does not end the leadership", []func(context.Context) error{func(context.Context) error { time.Sleep(s); return nil }},
			leads.With(electtest.Series{"leader_execution_duration_seconds_count": 1, "leader_execution_duration_seconds_sum": 1}),
			ended(1, 1), ended(1, 1), nil,
		},
		{
			"without work", []func(context.Context) error{nil},
			leads, ended(1, 10), ended(1, 10), nil,
		},
		{
			"work that fails stops the manager", []func(context.Context) error{func(context.Context) error { time.Sleep(s); return errFailed }},
			ended(1, 1).With(electtest.Series{`leader_execution_failures_total{cause="error"}`: 1}),
			ended(1, 1).With(electtest.Series{`leader_execution_failures_total{cause="error"}`: 1}),
			ended(1, 1).With(electtest.Series{`leader_execution_failures_total{cause="error"}`: 1}),
			errFailed,
		},
		{
			"work that fails while other work goes on", []func(context.Context) error{
				func(context.Context) error { time.Sleep(s); return errFailed }, drains(5 * s),
			},
			leads.With(electtest.Series{
				"leader_running": 1, `leader_execution_failures_total{cause="error"}`: 1,
				"leader_execution_duration_seconds_count": 1, "leader_execution_duration_seconds_sum": 1,
			}),
			leads.With(electtest.Series{
				"leader_running": 1, `leader_execution_failures_total{cause="error"}`: 1,
				"leader_execution_duration_seconds_count": 1, "leader_execution_duration_seconds_sum": 1,
			}),
			ended(2, 16).With(electtest.Series{`leader_execution_failures_total{cause="error"}`: 1}),
			errFailed,
		},
	} {
		expect.Bubble(t, c.name, func(t *testing.T) {
			m := expect.Middleware(t)
			leading := runnable.New(m.Election(expect.Lock, options...))
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			errs := make(chan error, len(c.work))
			for _, work := range c.work {
				r := leading.Runnable(work)
				go func() { errs <- r.Start(ctx) }()
			}
			time.Sleep(5 * s)
			expect.Whole(t, m, "at 5 s", won(t).With(c.leading))
			time.Sleep(5 * s)
			stop()
			time.Sleep(2 * s)
			expect.Whole(t, m, "at 12 s", won(t).With(c.draining))
			time.Sleep(8 * s)
			expect.Whole(t, m, "at 20 s", won(t).With(c.stopped))
			var err error
			for range c.work {
				err = errors.Join(err, <-errs)
			}
			if !errors.Is(err, c.err) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestAPanicOfTheWorkEndsTheTermAndPasses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := expect.Middleware(t)
		leading := runnable.New(m.Election(expect.Lock, options...))
		func() {
			defer func() {
				if v := recover(); v != "of the work" {
					t.Errorf("recovered %v", v)
				}
			}()
			_ = leading.Runnable(func(context.Context) error { panic("of the work") }).Start(t.Context())
		}()
		expect.Whole(t, m, "afterwards", won(t).With(ended(1, 0)).With(electtest.Series{`leader_execution_failures_total{cause="panic"}`: 1}))
	})
}

func TestAnotherManagerIsAnotherTerm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := expect.Middleware(t)
		leading := runnable.New(m.Election(expect.Lock, options...))
		for range 2 {
			ctx, cancel := context.WithTimeout(t.Context(), 10*s)
			if err := leading.Runnable(drains(0)).Start(ctx); err != nil {
				t.Error(err)
			}
			cancel()
		}
		synctest.Wait()
		expect.Whole(t, m, "after both", won(t).With(ended(2, 20)).With(electtest.Series{
			"leader_attempts_total": 2, "leader_acquired_total": 2, "leader_acquire_duration_seconds_count": 2,
			`leader_terms_ended_total{cause="canceled"}`: 2,
		}))
	})
}

func TestTheStopOfAManagerDoesNotEndTheTermOfTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := expect.Middleware(t)
		leading := runnable.New(m.Election(expect.Lock, options...))
		first, stopFirst := context.WithCancel(t.Context())
		if err := leading.Runnable(func(context.Context) error { return errFailed }).Start(first); err != errFailed {
			t.Error(err)
		}
		second, stopSecond := context.WithCancel(t.Context())
		if err := leading.Runnable(func(context.Context) error { return nil }).Start(second); err != nil {
			t.Error(err)
		}
		stopFirst()
		synctest.Wait()
		expect.Whole(t, m, "after the stop of the first", won(t).With(ended(2, 0)).With(electtest.Series{
			"leader_attempts_total": 2, "leader_acquired_total": 2, "leader_acquire_duration_seconds_count": 2, "leader_active": 1,
			`leader_execution_failures_total{cause="error"}`: 1,
		}))
		stopSecond()
		synctest.Wait()
	})
}

func TestALeadershipThatAnotherAdapterShowsIsShownOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := expect.Middleware(t)
		e := m.Election(expect.Lock, options...)
		term := e.Begin(t.Context()).Won(instrument.NewLease(nil)) // as k8slease.Lock does
		ran := false
		work := runnable.New(e).Runnable(func(context.Context) error { ran = true; return errFailed })
		if err := work.Start(t.Context()); err != errFailed || !ran {
			t.Errorf("ran: %v, %v", ran, err)
		}
		expect.Whole(t, m, "while it leads", won(t).With(electtest.Series{"leader_active": 1}))
		_ = term.Release(t.Context())
	})
}

func TestWithoutAnElectionTheWorkRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if err := runnable.New(nil).Runnable(func(context.Context) error { return errFailed }).Start(t.Context()); err != errFailed {
			t.Error(err)
		}
	})
}

func TestTheWorkIsTheLeaders(t *testing.T) {
	if !runnable.New(nil).Runnable(nil).NeedLeaderElection() {
		t.Error("it is started everywhere")
	}
}
