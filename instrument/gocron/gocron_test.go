package gocron_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/classify"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/instrument/gocron"
	"github.com/leaderscope/leaderscope/instrument/internal/expect"
	"github.com/leaderscope/leaderscope/redact"
)

const s = time.Second

var (
	errHeld   = errors.New("locker: held")
	errDown   = errors.New("locker: down")
	errFailed = errors.New("job failed")
)

// lock is gocron's Lock, and locker its Locker, as far as they matter.
type lock interface{ Unlock(context.Context) error }

type locker struct {
	lock lock
	err  error
}

func (k *locker) Lock(context.Context, string) (lock, error) {
	if k.lock == nil && k.err == nil {
		panic("of the locker")
	}
	return k.lock, k.err
}

// held is a lock without capabilities.
type held struct{ err error }

func (l *held) Unlock(context.Context) error { return l.err }

// fenced is a lock with a token and a lease of 10 s.
type fenced struct {
	held
	end time.Time
}

func (*fenced) FencingToken() (uint64, bool) { return 7, true }
func (l *fenced) Expiry() time.Time          { return l.end }
func (*fenced) LeaseDuration() time.Duration { return 10 * s }

// broken has capabilities that panic, as those of a typed nil pointer.
type broken struct{ held }

func (*broken) FencingToken() (uint64, bool) { panic("token") }
func (*broken) Expiry() time.Time            { panic("expiry") }
func (*broken) Lost() <-chan struct{}        { panic("lost") }

// watched tells of a loss.
type watched struct {
	held
	lost chan struct{}
}

func (l *watched) Watch(ctx context.Context, k instrument.Sink) {
	select {
	case <-ctx.Done():
	case <-l.lost:
		k.Lost(instrument.ErrSessionLost)
	}
}

func named(m *instrument.Middleware, opts ...instrument.ElectionOption) func(string) *instrument.Election {
	return func(key string) *instrument.Election { return m.Named(key, opts...) }
}

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
	for _, c := range []struct {
		name string
		lock lock
		// happens during the job, which takes 3 s.
		happens func(k *gocron.Locker[lock], l *watched)
		during  electtest.Series // beside a run
		after   electtest.Series
		unlock  error
	}{
		{
			name: "a job that succeeds", lock: &held{},
			during: electtest.Series{"leader_active": 1, "leader_running": 1},
		},
		{
			name: "a lock with a lease and a token", lock: &fenced{},
			during: electtest.Series{
				"leader_active": 1, "leader_running": 1, "leader_fencing_token": 7, "leader_fencing_token_regressions_total": 0,
				"leader_lease_duration_seconds": 10, "leader_lease_headroom_seconds": 10, "leader_lease_overruns_total": 0,
			},
			after: electtest.Series{
				"leader_fencing_token": 7, "leader_fencing_token_regressions_total": 0, "leader_lease_duration_seconds": 10, "leader_lease_overruns_total": 0,
				"leader_lease_usage_ratio_count": 1, "leader_lease_usage_ratio_sum": 0.3,
			},
		},
		{
			name: "capabilities that panic are unknown, and the lock is given out", lock: &broken{},
			during: electtest.Series{"leader_active": 1, "leader_running": 1},
		},
		{
			name: "a job that fails", lock: &held{},
			happens: func(k *gocron.Locker[lock], _ *watched) { k.Failed(expect.Lock, errFailed) },
			during:  electtest.Series{"leader_active": 1, "leader_running": 1},
			after:   electtest.Series{`leader_execution_failures_total{cause="error"}`: 1},
		},
		{
			name: "a job that panics, and whose error gocron reports as well", lock: &held{},
			happens: func(k *gocron.Locker[lock], _ *watched) {
				k.Panicked(expect.Lock)
				k.Failed(expect.Lock, errFailed)
			},
			during: electtest.Series{"leader_active": 1, "leader_running": 1},
			after:  electtest.Series{`leader_execution_failures_total{cause="panic"}`: 1},
		},
		{
			name: "a failure of another job", lock: &held{},
			happens: func(k *gocron.Locker[lock], _ *watched) { k.Failed("another", errFailed) },
			during:  electtest.Series{"leader_active": 1, "leader_running": 1},
		},
		{
			name: "a lock that is lost while its job runs", lock: &watched{},
			happens: func(_ *gocron.Locker[lock], l *watched) { close(l.lost) },
			during:  electtest.Series{"leader_active": 1, "leader_running": 1},
			after: electtest.Series{
				`leader_terms_ended_total{cause="lost"}`: 1, `leader_terms_ended_total{cause="released"}`: 0,
				"leader_work_after_loss_seconds_total": 2,
			},
		},
		{
			name: "an error of the unlock comes back", lock: &held{err: errDown}, unlock: errDown,
			during: electtest.Series{"leader_active": 1, "leader_running": 1},
			after: electtest.Series{
				`leader_terms_ended_total{cause="release_failed"}`: 1, `leader_terms_ended_total{cause="released"}`: 0,
				`leader_releases_total{result="error"}`: 1, `leader_releases_total{result="ok"}`: 0,
			},
		},
	} {
		expect.Bubble(t, c.name, func(t *testing.T) {
			m := expect.Middleware(t)
			if l, ok := c.lock.(*fenced); ok {
				l.end = time.Now().Add(10 * s)
			}
			watched, _ := c.lock.(*watched)
			if watched != nil {
				watched.lost = make(chan struct{}) // of this bubble
			}
			k := gocron.NewLocker(named(m), &locker{lock: c.lock})
			l, err := k.Lock(t.Context(), expect.Lock)
			if err != nil {
				t.Fatal(err)
			}
			during := expect.Fresh(t).With(electtest.Series{
				"leader_attempts_total": 1, "leader_acquired_total": 1,
				"leader_acquire_duration_seconds_count": 1, "leader_acquire_duration_seconds_sum": 0,
			}).With(c.during)
			if _, leased := c.lock.(*fenced); leased {
				during["leader_lease_expiry_timestamp_seconds"] = float64(time.Now().Add(10*s).UnixNano()) / 1e9
			}
			expect.Whole(t, m, "while the job runs", during)
			time.Sleep(s)
			if c.happens != nil {
				c.happens(k, watched)
			}
			time.Sleep(2 * s)
			if err := l.Unlock(t.Context()); err != c.unlock {
				t.Errorf("unlock: %v", err)
			}
			expect.Whole(t, m, "after the job", ran(t).With(c.after))
			k.Failed(expect.Lock, errFailed) // too late
			expect.Whole(t, m, "after a late failure", ran(t).With(c.after))
		})
	}
}

func TestJobsOfOneNameThatOverlapFailEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := expect.Middleware(t)
		opts := []instrument.ElectionOption{instrument.MaxLeaders(2)}
		k := gocron.NewLocker(named(m, opts...), &locker{lock: &held{}})
		var locks []lock
		for range 2 {
			l, err := k.Lock(t.Context(), expect.Lock)
			if err != nil {
				t.Fatal(err)
			}
			locks = append(locks, l)
		}
		k.Failed(expect.Lock, errFailed)
		k.Panicked(expect.Lock)
		time.Sleep(3 * s)
		for _, l := range locks {
			if err := l.Unlock(t.Context()); err != nil {
				t.Error(err)
			}
		}
		expect.Whole(t, m, "after both", ran(t, opts...).With(electtest.Series{
			"leader_attempts_total": 2, "leader_acquired_total": 2, "leader_acquire_duration_seconds_count": 2,
			"leader_execution_duration_seconds_count": 2, "leader_execution_duration_seconds_sum": 6,
			`leader_execution_failures_total{cause="error"}`: 1, `leader_execution_failures_total{cause="panic"}`: 1,
			`leader_terms_ended_total{cause="released"}`: 2, `leader_releases_total{result="ok"}`: 2,
		}))
	})
}

func TestLocksThatAreNotWon(t *testing.T) {
	declared := instrument.Classify(classify.ContendedIs(errHeld), classify.BackendErrorIs(errDown))
	beside := &held{}
	for _, c := range []struct {
		name   string
		next   *locker
		opts   []instrument.ElectionOption
		reason string
		panics any
	}{
		{"a lock that another holds", &locker{err: errHeld}, []instrument.ElectionOption{declared}, "contended", nil},
		{"a failed backend", &locker{err: errDown}, []instrument.ElectionOption{declared}, "backend_error", nil},
		{"an error that is not declared", &locker{err: errHeld}, nil, "unknown", nil},
		{"a network error that is not declared", &locker{err: io.ErrUnexpectedEOF}, nil, "backend_error", nil},
		{"what came beside an error comes back with it", &locker{lock: beside, err: errHeld}, []instrument.ElectionOption{declared}, "contended", nil},
		{"a panic passes", &locker{}, nil, "panic", "of the locker"},
	} {
		expect.Bubble(t, c.name, func(t *testing.T) {
			m := expect.Middleware(t)
			k := gocron.NewLocker(named(m, c.opts...), c.next)
			func() {
				defer func() {
					if v := recover(); v != c.panics {
						t.Errorf("recovered %v", v)
					}
				}()
				if l, err := k.Lock(t.Context(), expect.Lock); l != c.next.lock || err != c.next.err {
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

func TestAJobRecordsAgainAfterItsLockWasForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := expect.Middleware(t)
		k := gocron.NewLocker(named(m), &locker{lock: &held{}})
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
		inner := &held{err: errDown}
		k := gocron.NewLocker(named(m), &locker{lock: inner})
		l, err := k.Lock(t.Context(), expect.Lock)
		if err != nil {
			t.Fatal(err)
		}
		m.Named(expect.Lock).Forget()
		if err := l.Unlock(t.Context()); err != errDown {
			t.Errorf("unlock: %v", err)
		}
	})
}

func TestManyNamesLeaveNothingBehind(t *testing.T) {
	m, err := instrument.New() // all names share a label
	if err != nil {
		t.Fatal(err)
	}
	k := gocron.NewLocker(named(m), &locker{lock: &held{}})
	for i := range 1000 {
		l, err := k.Lock(t.Context(), fmt.Sprint("tenant-", i))
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Unlock(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if n := gocron.Open(k); n != 0 {
		t.Errorf("%d handles are kept", n)
	}
	if r := electtest.Read(m, redact.Redacted); r["leader_acquired_total"] != 1000 || r["leader_active"] != 0 {
		t.Errorf("%v", r)
	}
}

func TestNothingPrintsTheNameOfAJob(t *testing.T) {
	const secret = "tenant-bravo-gmbh"
	m, err := instrument.New()
	if err != nil {
		t.Fatal(err)
	}
	k := gocron.NewLocker(named(m), &locker{lock: &held{err: errors.New(secret)}})
	l, err := k.Lock(t.Context(), secret)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Unlock(t.Context())
	elector := gocron.NewElector(m.Named(secret), follower{errors.New(secret)})
	for what, v := range map[string]any{"locker": k, "lock": l, "term": l.(*gocron.Lock).Term(), "elector": elector, "struct": struct{ inner any }{k}} {
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

func TestALockTypeThatAsksForMoreIsRefusedAtConstruction(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("it was taken")
		}
	}()
	gocron.NewLocker(nil, richLocker{})
}

type richLocker struct{}

func (richLocker) Lock(context.Context, string) (*held, error) { return nil, nil }

func TestWithoutElectionsLocksPassThrough(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner := &held{err: errDown}
		k := gocron.NewLocker(nil, &locker{lock: inner})
		l, err := k.Lock(t.Context(), "job")
		if err != nil {
			t.Fatal(err)
		}
		if unwrapped := l.(*gocron.Lock).Unwrap(); unwrapped != inner {
			t.Errorf("another lock: %v", unwrapped)
		}
		if err := l.Unlock(t.Context()); err != errDown {
			t.Errorf("unlock: %v", err)
		}
	})
}

// follower is an elector that answers so.
type follower struct{ err error }

func (f follower) IsLeader(context.Context) error { return f.err }

// asks is an elector whose answers a test changes.
type asks struct{ answer error }

func (a *asks) IsLeader(context.Context) error { return a.answer }

func TestAnElector(t *testing.T) {
	down := classify.BackendErrorIs(errDown)
	opts := []instrument.ElectionOption{instrument.Hold(), instrument.HiddenRenewals(), instrument.Classify(down)}
	won := func(t *testing.T) electtest.Series {
		return expect.Fresh(t, opts...).With(electtest.Series{
			"leader_attempts_total": 1, "leader_acquired_total": 1, "leader_active": 1,
			"leader_acquire_duration_seconds_count": 1, "leader_acquire_duration_seconds_sum": 0,
		})
	}
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
		{"an error that is not declared means that it does not lead", errors.New("not the leader"), false, lost, nil},
		{"a declared failure of the backend says nothing", fmt.Errorf("ask: %w", errDown), false, nil, refused("backend_error")},
		{"a plain network error says nothing", &net.OpError{Op: "dial", Err: errors.New("no route")}, false, nil, refused("backend_error")},
		{"a question that timed out says nothing", context.DeadlineExceeded, false, nil, refused("unknown")},
		{"a caller that gave up says nothing", errors.New("not the leader"), true, nil, refused("unknown")},
	} {
		for role, leads := range map[string]bool{"leader": true, "follower": false} {
			expect.Bubble(t, c.name+" of a "+role, func(t *testing.T) {
				m := expect.Middleware(t)
				next := &asks{}
				elector := gocron.NewElector(m.Election(expect.Lock, opts...), next, nil, down)
				want := expect.Fresh(t, opts...).With(c.follower)
				if leads {
					if err := elector.IsLeader(t.Context()); err != nil {
						t.Fatal(err)
					}
					want = won(t).With(c.leader)
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

func TestAClassifierThatPanicsHasNoOpinion(t *testing.T) {
	m := expect.Middleware(t)
	e := m.Election(expect.Lock, instrument.Hold(), instrument.HiddenRenewals())
	panics := instrument.ClassifierFunc(func(error) (instrument.Reason, bool) { panic("of a classifier") })
	next := &asks{}
	elector := gocron.NewElector(e, next, panics)
	_ = elector.IsLeader(t.Context())
	next.answer = errHeld
	if err := elector.IsLeader(t.Context()); err != errHeld || e.Leading() {
		t.Errorf("the answer became %v; leads %v", err, e.Leading())
	}
}
