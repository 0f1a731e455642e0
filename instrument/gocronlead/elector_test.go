package gocronlead_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/classify"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/instrument/gocronlead"
	"github.com/leaderscope/leaderscope/instrument/internal/expect"
)

var (
	down        = classify.BackendErrorIs(errDown)
	electorOpts = []instrument.ElectionOption{instrument.Hold(), instrument.HiddenRenewals(), instrument.Classify(down)}
)

// leading is what an elector shows that led since it was asked first.
func leading(t *testing.T) electtest.Series {
	return expect.Fresh(t, electorOpts...).With(electtest.Series{
		"leader_attempts_total": 1, "leader_acquired_total": 1, "leader_active": 1,
		"leader_acquire_duration_seconds_count": 1, "leader_acquire_duration_seconds_sum": 0,
	})
}

func TestAnElector(t *testing.T) {
	lost := electtest.Series{
		"leader_active": 0, `leader_terms_ended_total{cause="lost"}`: 1,
		"leader_execution_duration_seconds_count": 1, "leader_execution_duration_seconds_sum": 5,
	}
	refused := func(reason string) electtest.Series {
		return electtest.Series{
			"leader_attempts_total": 1, `leader_not_acquired_total{reason="` + reason + `"}`: 1,
			"leader_acquire_duration_seconds_count": 1, "leader_acquire_duration_seconds_sum": 0,
		}
	}
	for _, c := range []struct {
		name     string
		err      error
		canceled bool
		leader   electtest.Series // changes of one that led for 5 s
		follower electtest.Series // changes of one that did not
	}{
		{"it still leads", nil, false, nil, nil},
		{"an error that is not declared means that it does not lead", errors.New("not the leader"), false, lost, nil},
		{"a declared failure of the backend says nothing", fmt.Errorf("ask: %w", errDown), false, nil, refused("backend_error")},
		{"a plain network error says nothing", &net.OpError{Op: "dial", Err: errors.New("no route")}, false, nil, refused("backend_error")},
		{"a question that timed out says nothing", context.DeadlineExceeded, false, nil, refused("unknown")},
		{"a caller that gave up says nothing", errors.New("not the leader"), true, nil, refused("canceled")},
	} {
		for role, leads := range map[string]bool{"leader": true, "follower": false} {
			if c.err == nil && !leads {
				continue
			}
			expect.Bubble(t, c.name+", of a "+role, func(t *testing.T) {
				m := expect.Middleware(t)
				next := &asks{}
				elector := gocronlead.Elector(m.Election(expect.Lock, electorOpts...), next, nil, down)
				want := expect.Fresh(t, electorOpts...).With(c.follower)
				if leads {
					if err := elector.IsLeader(t.Context()); err != nil {
						t.Fatal(err)
					}
					want = leading(t).With(c.leader)
				}
				time.Sleep(5 * s)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if c.canceled {
					cancel()
				}
				next.answer = c.err
				if err := elector.IsLeader(ctx); err != c.err {
					t.Errorf("the answer became %v", err)
				}
				expect.Whole(t, m, "afterwards", want)
			})
		}
	}
}

// A scheduler that has stopped no longer asks, while another replica may lead. A
// job may outlive it, and is work of the leader.
func TestATermEndsWithTheSchedulerAndItsLastJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := expect.Middleware(t)
		elector := gocronlead.Elector(m.Election(expect.Lock, electorOpts...), &asks{})
		x := elector.Monitor(nil)
		x.SchedulerStopped() // and never asked
		expect.Whole(t, m, "before it leads", expect.Fresh(t, electorOpts...))
		ask := func() {
			if err := elector.IsLeader(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		ask()
		x.JobRunning(named("a"))
		time.Sleep(3 * s)
		x.SchedulerStopped()
		time.Sleep(2 * s)
		expect.Whole(t, m, "while the job runs", leading(t).With(electtest.Series{"leader_running": 1}))
		x.JobCompleted(named("a"))
		stopped := leading(t).With(electtest.Series{
			"leader_execution_duration_seconds_count": 1, "leader_execution_duration_seconds_sum": 5,
			"leader_active": 0, `leader_terms_ended_total{cause="canceled"}`: 1,
		})
		expect.Whole(t, m, "when it has returned", stopped)
		ask() // of a scheduler that was started again
		x.JobRunning(named("a"))
		x.JobCompleted(named("a"))
		expect.Whole(t, m, "when it is started again", stopped.With(electtest.Series{
			"leader_active": 1, "leader_acquired_total": 2, "leader_attempts_total": 2, "leader_acquire_duration_seconds_count": 2,
			"leader_execution_duration_seconds_count": 2,
		}))
	})
}

func TestJobsOfALeader(t *testing.T) {
	for _, c := range []struct {
		name string
		// happens three seconds after a job of 5 s has begun.
		happens func(ctx context.Context, j *gocronlead.JobElector, next *asks)
		fails   error
		after   electtest.Series
	}{
		{name: "one that succeeds"},
		{name: "one that fails", fails: errFailed, after: electtest.Series{`leader_execution_failures_total{cause="error"}`: 1}},
		{name: "one that panics", fails: errPanicked, after: electtest.Series{`leader_execution_failures_total{cause="panic"}`: 1}},
		{
			name: "one that runs on when another leads", fails: errFailed,
			happens: func(ctx context.Context, j *gocronlead.JobElector, next *asks) {
				next.answer = errHeld
				_ = j.IsLeader(ctx) // of the next job
			},
			after: electtest.Series{
				"leader_active": 0, `leader_terms_ended_total{cause="lost"}`: 1, "leader_work_after_loss_seconds_total": 2,
				`leader_execution_failures_total{cause="error"}`: 1,
			},
		},
	} {
		expect.Bubble(t, c.name, func(t *testing.T) {
			m := expect.Middleware(t)
			next := &asks{}
			elector := gocronlead.Elector(m.Election(expect.Lock, electorOpts...), next)
			x := elector.Monitor(nil)
			if err := elector.IsLeader(t.Context()); err != nil {
				t.Fatal(err)
			}
			x.JobRunning(named("a"))
			expect.Whole(t, m, "while it runs", leading(t).With(electtest.Series{"leader_running": 1}))
			time.Sleep(3 * s)
			if c.happens != nil {
				c.happens(t.Context(), elector, next)
			}
			time.Sleep(2 * s)
			if c.fails != nil {
				x.JobFailed(named("a"), c.fails)
			} else {
				x.JobCompleted(named("a"))
			}
			want := leading(t).With(electtest.Series{
				"leader_execution_duration_seconds_count": 1, "leader_execution_duration_seconds_sum": 5,
			}).With(c.after)
			expect.Whole(t, m, "afterwards", want)
			x.JobFailed(named("a"), errFailed) // without a run
			expect.Whole(t, m, "after a job that was skipped", want)
		})
	}
}

func TestRunsOfOneJobThatOverlapUnderAnElectorEndEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := expect.Middleware(t)
		elector := gocronlead.Elector(m.Election(expect.Lock, electorOpts...), &asks{})
		if err := elector.IsLeader(t.Context()); err != nil {
			t.Fatal(err)
		}
		x := elector.Monitor(nil)
		for running := range 3 {
			x.JobRunning(named("a"))
			expect.Whole(t, m, "while they run", leading(t).With(electtest.Series{"leader_running": float64(running + 1)}))
		}
		x.JobFailed(named("a"), errFailed)
		expect.Whole(t, m, "after the first", leading(t).With(electtest.Series{
			"leader_running": 2, `leader_execution_failures_total{cause="error"}`: 1,
			"leader_execution_duration_seconds_count": 1, "leader_execution_duration_seconds_sum": 0,
		}))
		x.JobCompleted(named("a"))
		x.JobCompleted(named("a"))
		x.JobFailed(named("a"), errFailed) // without a run
		expect.Whole(t, m, "after all", leading(t).With(electtest.Series{
			`leader_execution_failures_total{cause="error"}`: 1,
			"leader_execution_duration_seconds_count":        3, "leader_execution_duration_seconds_sum": 0,
		}))
	})
}

func TestAnElectorPrintsTheLabelOfItsLock(t *testing.T) {
	elector := gocronlead.Elector(expect.Middleware(t).Election(expect.Lock, electorOpts...), &asks{})
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		if got := fmt.Sprintf(verb, elector); strings.Trim(got, `"`) != expect.Lock {
			t.Errorf("%s prints %q", verb, got)
		}
	}
}

func TestAnElectorThatLeadsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := expect.Middleware(t)
		next := &asks{}
		elector := gocronlead.Elector(m.Election(expect.Lock, electorOpts...), next)
		for _, answer := range []error{nil, errHeld, errHeld, nil, nil} {
			next.answer = answer
			_ = elector.IsLeader(t.Context())
			time.Sleep(s)
		}
		expect.Whole(t, m, "afterwards", leading(t).With(electtest.Series{
			"leader_attempts_total": 2, "leader_acquired_total": 2, "leader_acquire_duration_seconds_count": 2,
			`leader_terms_ended_total{cause="lost"}`:  1,
			"leader_execution_duration_seconds_count": 1, "leader_execution_duration_seconds_sum": 1,
		}))
	})
}

func TestAClassifierThatPanicsHasNoOpinion(t *testing.T) {
	m := expect.Middleware(t)
	e := m.Election(expect.Lock, instrument.Hold(), instrument.HiddenRenewals())
	panics := instrument.ClassifierFunc(func(error) (instrument.Reason, bool) { panic("of a classifier") })
	next := &asks{}
	elector := gocronlead.Elector(e, next, panics)
	_ = elector.IsLeader(t.Context())
	next.answer = errHeld
	if err := elector.IsLeader(t.Context()); err != errHeld || e.Leading() {
		t.Errorf("the answer became %v; leads %v", err, e.Leading())
	}
}

func TestWithoutAnElectionAnswersPassThrough(t *testing.T) {
	next := &asks{}
	elector := gocronlead.Elector(nil, next)
	for _, answer := range []error{nil, errHeld, errDown} {
		next.answer = answer
		if err := elector.IsLeader(t.Context()); err != answer {
			t.Errorf("the answer became %v", err)
		}
	}
	elector.Monitor(nil).JobRunning(named("a"))
	elector.Monitor(nil).JobCompleted(named("a"))
}
