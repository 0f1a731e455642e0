package gocronlead_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-co-op/gocron/v2"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/classify"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/instrument/gocronlead"
	"github.com/leaderscope/leaderscope/instrument/internal/expect"
)

// ran is what a job of 3 s adds to fresh series.
func ran(t *testing.T, opts ...instrument.ElectionOption) electtest.Series {
	return expect.Fresh(t, opts...).With(electtest.Series{
		"leader_attempts_total": 1, "leader_acquired_total": 1,
		"leader_acquire_duration_seconds_count": 1, "leader_acquire_duration_seconds_sum": 0,
		"leader_execution_duration_seconds_count": 1, "leader_execution_duration_seconds_sum": 3,
		`leader_terms_ended_total{cause="released"}`: 1, `leader_releases_total{result="ok"}`: 1,
	})
}

func TestJobsUnderALock(t *testing.T) {
	lease := electtest.Series{"leader_fencing_token": 7, "leader_fencing_token_regressions_total": 0, "leader_lease_duration_seconds": 10, "leader_lease_overruns_total": 0}
	lost := electtest.Series{
		`leader_terms_ended_total{cause="lost"}`: 1, `leader_terms_ended_total{cause="released"}`: 0,
		"leader_work_after_loss_seconds_total": 2,
	}
	for _, c := range []struct {
		name  string
		lock  gocron.Lock
		opts  []instrument.ElectionOption
		skips bool  // it is not run after all
		fails error // what gocron reports
		// happens a second after the job has begun, which takes 3 s.
		happens func(x gocron.SchedulerMonitor, lost chan struct{})
		during  electtest.Series
		after   electtest.Series
		unlock  error
	}{
		{name: "a job that succeeds", lock: &held{}},
		{
			name: "a lock with a lease and a token", lock: &fenced{},
			during: lease.With(electtest.Series{"leader_lease_headroom_seconds": 10}),
			after:  lease.With(electtest.Series{"leader_lease_usage_ratio_count": 1, "leader_lease_usage_ratio_sum": 0.3}),
		},
		{name: "capabilities that panic are unknown, and the lock is given out", lock: &broken{}},
		{
			name: "a job that fails", lock: &held{}, fails: errFailed,
			after: electtest.Series{`leader_execution_failures_total{cause="error"}`: 1},
		},
		{
			name: "a job that panics, and a listener of the program recovers it", lock: &held{}, fails: errPanicked,
			after: electtest.Series{`leader_execution_failures_total{cause="panic"}`: 1},
		},
		{name: "a job that is skipped after its lock was taken has not failed", lock: &held{}, skips: true, fails: errFailed},
		{
			name: "a failure of another job", lock: &held{},
			happens: func(x gocron.SchedulerMonitor, _ chan struct{}) {
				x.JobRunning(named("another"))
				x.JobFailed(named("another"), errFailed)
			},
		},
		{
			name: "a lock that is lost while its job runs", lock: &watched{},
			happens: func(_ gocron.SchedulerMonitor, lost chan struct{}) { close(lost) }, after: lost,
		},
		{
			name: "a lock that tells of its loss by a channel", lock: &noticed{},
			happens: func(_ gocron.SchedulerMonitor, lost chan struct{}) { close(lost) }, after: lost,
		},
		{
			name: "a job that takes longer than its lock", lock: &held{}, opts: []instrument.ElectionOption{instrument.LeaseDuration(2 * s)},
			during: electtest.Series{"leader_lease_duration_seconds": 2, "leader_lease_overruns_total": 0, "leader_lease_headroom_seconds": 2},
			after: electtest.Series{
				`leader_terms_ended_total{cause="expired"}`: 1, `leader_terms_ended_total{cause="released"}`: 0,
				"leader_lease_duration_seconds": 2, "leader_lease_overruns_total": 1, "leader_work_after_loss_seconds_total": 1,
				"leader_lease_usage_ratio_count": 1, "leader_lease_usage_ratio_sum": 1.5,
			},
		},
		{
			name: "an error of the unlock comes back", lock: &held{err: errDown}, unlock: errDown,
			after: electtest.Series{
				`leader_terms_ended_total{cause="release_failed"}`: 1, `leader_terms_ended_total{cause="released"}`: 0,
				`leader_releases_total{result="error"}`: 1, `leader_releases_total{result="ok"}`: 0,
			},
		},
	} {
		expect.Bubble(t, c.name, func(t *testing.T) {
			m := expect.Middleware(t)
			lost := make(chan struct{}) // of this bubble
			switch l := c.lock.(type) {
			case *fenced:
				l.end = time.Now().Add(10 * s)
			case *watched:
				l.lost = lost
			case *noticed:
				l.lost = lost
			}
			k := gocronlead.Locker(m, &locker{lock: c.lock}, c.opts...)
			x := k.Monitor(nil)
			l, err := k.Lock(t.Context(), expect.Lock)
			if err != nil {
				t.Fatal(err)
			}
			if !c.skips {
				x.JobRunning(named(expect.Lock))
			}
			during := expect.Fresh(t, c.opts...).With(electtest.Series{
				"leader_attempts_total": 1, "leader_acquired_total": 1, "leader_active": 1, "leader_running": 1,
				"leader_acquire_duration_seconds_count": 1, "leader_acquire_duration_seconds_sum": 0,
			}).With(c.during)
			if remaining, leased := c.during["leader_lease_headroom_seconds"]; leased {
				during["leader_lease_expiry_timestamp_seconds"] = float64(time.Now().UnixNano())/1e9 + remaining
			}
			expect.Whole(t, m, "while the job runs", during)
			time.Sleep(s)
			if c.happens != nil {
				c.happens(x, lost)
			}
			time.Sleep(2 * s)
			if c.fails != nil {
				x.JobFailed(named(expect.Lock), c.fails)
			} else {
				x.JobCompleted(named(expect.Lock))
			}
			if err := l.Unlock(t.Context()); err != c.unlock {
				t.Errorf("unlock: %v", err)
			}
			expect.Whole(t, m, "after the job", ran(t, c.opts...).With(c.after))
			x.JobFailed(named(expect.Lock), errFailed) // too late
			expect.Whole(t, m, "after a late failure", ran(t, c.opts...).With(c.after))
		})
	}
}

func TestASecondUnlockPassesThroughAndChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := expect.Middleware(t)
		k := gocronlead.Locker(m, &locker{lock: &held{}})
		l, err := k.Lock(t.Context(), expect.Lock)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * s)
		for range 2 {
			if err := l.Unlock(t.Context()); err != nil {
				t.Error(err)
			}
		}
		expect.Whole(t, m, "afterwards", ran(t))
	})
}

func TestRunsOfOneJobThatOverlapFailEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := expect.Middleware(t)
		opts := []instrument.ElectionOption{instrument.MaxLeaders(3)}
		k := gocronlead.Locker(m, &locker{lock: &held{}}, opts...)
		x := k.Monitor(nil)
		var locks []gocron.Lock
		for range 3 {
			l, err := k.Lock(t.Context(), expect.Lock)
			if err != nil {
				t.Fatal(err)
			}
			locks = append(locks, l)
			x.JobRunning(named(expect.Lock))
		}
		x.JobCompleted(named(expect.Lock))
		x.JobFailed(named(expect.Lock), errFailed)
		x.JobFailed(named(expect.Lock), errPanicked)
		time.Sleep(3 * s)
		for _, l := range locks {
			if err := l.Unlock(t.Context()); err != nil {
				t.Error(err)
			}
		}
		expect.Whole(t, m, "after all", ran(t, opts...).With(electtest.Series{
			"leader_attempts_total": 3, "leader_acquired_total": 3, "leader_acquire_duration_seconds_count": 3,
			"leader_execution_duration_seconds_count": 3, "leader_execution_duration_seconds_sum": 9,
			`leader_execution_failures_total{cause="error"}`: 1, `leader_execution_failures_total{cause="panic"}`: 1,
			`leader_terms_ended_total{cause="released"}`: 3, `leader_releases_total{result="ok"}`: 3,
		}))
	})
}

func TestLocksThatAreNotWon(t *testing.T) {
	declared := instrument.Classify(classify.ContendedIs(errHeld), classify.BackendErrorIs(errDown))
	beside := &held{}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		name   string
		next   *locker
		opts   []instrument.ElectionOption
		ctx    context.Context // nil: one that lives
		reason string
		panics any
	}{
		{"a lock that another holds, as declared", &locker{err: errHeld}, []instrument.ElectionOption{declared}, nil, "contended", nil},
		{"a failed backend, as declared", &locker{err: errDown}, []instrument.ElectionOption{declared}, nil, "backend_error", nil},
		{"an error that is not declared", &locker{err: errHeld}, nil, nil, "unknown", nil},
		{"an error that is not declared, in a scheduler that stops", &locker{err: errHeld}, nil, canceled, "canceled", nil},
		{"a network error", &locker{err: fmt.Errorf("lock: %w", io.ErrUnexpectedEOF)}, nil, nil, "backend_error", nil},
		{"a row that is there already", &locker{err: fmt.Errorf("insert: %w", sqlState("23505"))}, nil, nil, "contended", nil},
		{"too many connections", &locker{err: sqlState("53300")}, nil, nil, "backend_error", nil},
		{"a sentinel of this library", &locker{err: fmt.Errorf("%w by another", instrument.ErrContended)}, nil, nil, "contended", nil},
		{"what came beside an error comes back with it", &locker{lock: beside, err: errHeld}, []instrument.ElectionOption{declared}, nil, "contended", nil},
		{"a panic passes", &locker{}, nil, nil, "panic", "of the locker"},
	} {
		expect.Bubble(t, c.name, func(t *testing.T) {
			m := expect.Middleware(t)
			k := gocronlead.Locker(m, c.next, c.opts...)
			ctx := c.ctx
			if ctx == nil {
				ctx = t.Context()
			}
			func() {
				defer func() {
					if v := recover(); v != c.panics {
						t.Errorf("recovered %v", v)
					}
				}()
				if l, err := k.Lock(ctx, expect.Lock); l != c.next.lock || err != c.next.err {
					t.Errorf("got %v, %v", l, err)
				}
			}()
			expect.Whole(t, m, "afterwards", expect.Fresh(t, c.opts...).With(electtest.Series{
				"leader_attempts_total": 1, `leader_not_acquired_total{reason="` + c.reason + `"}`: 1,
				"leader_acquire_duration_seconds_count": 1, "leader_acquire_duration_seconds_sum": 0,
			}))
		})
	}
}

// redisLocker answers as that of gocron-redis-lock.
type redisLocker struct{ err error }

func (k *redisLocker) Lock(context.Context, string) (gocron.Lock, error) { return nil, k.err }

func TestTheRedisLockerTellsNoReason(t *testing.T) {
	defer gocronlead.SetRedisLockModule("github.com/leaderscope/leaderscope/instrument/gocronlead_test/")()
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		name   string
		err    error
		ctx    context.Context
		reason string
	}{
		{"its only error", errNotObtained, t.Context(), "contended"},
		{"its only error, in a scheduler that stops", errNotObtained, canceled, "canceled"},
		{"an error that wraps a cause says more", fmt.Errorf("lock: %w", io.ErrUnexpectedEOF), t.Context(), "backend_error"},
		{"and so does one that wraps several", errors.Join(io.ErrUnexpectedEOF, errDown), t.Context(), "backend_error"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := expect.Middleware(t)
			if l, err := gocronlead.Locker(m, &redisLocker{c.err}).Lock(c.ctx, expect.Lock); l != nil || err != c.err {
				t.Errorf("got %v, %v", l, err)
			}
			expect.Counters(t, m, electtest.Series{`leader_not_acquired_total{reason="` + c.reason + `"}`: 1, "leader_active": 0})
		})
	}
}

// neither is a locker that answers neither a lock nor an error.
type neither struct{}

func (neither) Lock(context.Context, string) (gocron.Lock, error) { return nil, nil }

func TestAnswersOfNeitherALockNorAnErrorPass(t *testing.T) {
	m := expect.Middleware(t)
	if l, err := gocronlead.Locker(m, neither{}).Lock(t.Context(), expect.Lock); l != nil || err != nil {
		t.Errorf("got %v, %v", l, err)
	}
	if got := electtest.Read(m, expect.Lock)[`leader_not_acquired_total{reason="unknown"}`]; got != 1 {
		t.Errorf("unknown is %v", got)
	}
}

func TestAJobRecordsAgainAfterItsLockWasForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := expect.Middleware(t)
		k := gocronlead.Locker(m, &locker{lock: &held{}})
		for range 2 {
			l, err := k.Lock(t.Context(), expect.Lock)
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(3 * s)
			if err := l.Unlock(t.Context()); err != nil {
				t.Fatal(err)
			}
			expect.Whole(t, m, "after a run", ran(t))
			m.Named(expect.Lock).Forget()
		}
	})
}

func TestALockThatIsForgottenWhileItsJobRunsIsGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := expect.Middleware(t)
		k := gocronlead.Locker(m, &locker{lock: &held{err: errDown}})
		l, err := k.Lock(t.Context(), expect.Lock)
		if err != nil {
			t.Fatal(err)
		}
		m.Named(expect.Lock).Forget()
		k.Monitor(nil).JobRunning(named(expect.Lock))
		k.Monitor(nil).JobFailed(named(expect.Lock), errFailed)
		if err := l.Unlock(t.Context()); err != errDown {
			t.Errorf("unlock: %v", err)
		}
		if r := electtest.Read(m, expect.Lock); len(r) != 0 {
			t.Errorf("series of a lock that was forgotten: %v", r)
		}
	})
}

func TestAJobThatWasDeclaredHasItsOwnHandle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, err := instrument.New() // names made at run time are redacted
		if err != nil {
			t.Fatal(err)
		}
		m.Election(expect.Lock, instrument.ExpectEvery(time.Minute))
		l, err := gocronlead.Locker(m, &locker{lock: &held{}}).Lock(t.Context(), expect.Lock)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * s)
		if err := l.Unlock(t.Context()); err != nil {
			t.Fatal(err)
		}
		expect.Whole(t, m, "after a run", ran(t, instrument.ExpectEvery(time.Minute)))
	})
}

func TestManyNamesLeaveNothingBehind(t *testing.T) {
	m, err := instrument.New(instrument.WithLogger(slog.New(slog.DiscardHandler))) // all names share a label
	if err != nil {
		t.Fatal(err)
	}
	k := gocronlead.Locker(m, &locker{lock: &held{}})
	for i := range 1000 {
		l, err := k.Lock(t.Context(), fmt.Sprint("tenant-", i))
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Unlock(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if n := gocronlead.Open(k); n != 0 {
		t.Errorf("%d names are kept", n)
	}
}

func TestNoNameInAnyFormat(t *testing.T) {
	const secret = "tenant-bravo"
	m, err := instrument.New(instrument.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	k := gocronlead.Locker(m, &locker{lock: &held{err: errors.New(secret)}})
	l, err := k.Lock(t.Context(), secret)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Unlock(t.Context())
	elector := gocronlead.Elector(m.Named(secret), &asks{errors.New(secret)})
	for what, v := range map[string]any{"locker": k, "lock": l, "elector": elector, "struct": struct{ inner any }{k}} {
		var out bytes.Buffer
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
			fmt.Fprintf(&out, verb, v)
		}
		slog.New(slog.NewTextHandler(&out, nil)).Info("it", "it", v)
		slog.New(slog.NewJSONHandler(&out, nil)).Info("it", "it", v)
		encoded, _ := json.Marshal(v)
		out.Write(encoded)
		if strings.Contains(out.String(), "bravo") {
			t.Errorf("%s shows the name:\n%s", what, out.String())
		}
	}
}

func TestWithoutAMiddlewareLocksPassThrough(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := gocronlead.Locker(nil, &locker{lock: &held{err: errDown}})
		l, err := k.Lock(t.Context(), "job")
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Unlock(t.Context()); err != errDown {
			t.Errorf("unlock: %v", err)
		}
	})
}
