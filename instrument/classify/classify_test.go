package classify_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/classify"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/instrument/internal/expect"
)

// Stand-ins for the libraries' own errors; the shapes are theirs.
var (
	errHeld    = errors.New("lib: held")
	errGone    = errors.New("lib: not held")
	errOwn     = errors.New("lib: already held by this session")
	errExpired = errors.New("lib: session expired")
	errDown    = errors.New("lib: server is down")
)

type errTaken struct{ nodes []int }

func (e *errTaken) Error() string { return fmt.Sprint("taken on ", e.nodes) }

type errNode struct{ err error }

func (e *errNode) Error() string { return e.err.Error() }

type errSQL struct{ code string }

func (e *errSQL) Error() string    { return "ERROR " + e.code }
func (e *errSQL) SQLState() string { return e.code }

// The contexts of a caller.
const (
	alive    = "alive"
	canceled = "canceled"
	late     = "late"
)

func contextThatIs(t *testing.T, state string) context.Context {
	switch ctx, cancel := context.WithCancel(t.Context()); state {
	case canceled:
		cancel()
		return ctx
	case late:
		cancel()
		ctx, cancel = context.WithTimeout(t.Context(), 0)
		t.Cleanup(cancel)
		return ctx
	default:
		t.Cleanup(cancel)
		return ctx
	}
}

func TestReasonsOfAttempts(t *testing.T) {
	wrap := func(err error) error { return fmt.Errorf("acquire: %w", err) }
	mongo := classify.MongoLock(errHeld, errGone)
	sql, waiting := classify.SQLState(), classify.SQLStateWaiting()
	for _, c := range []struct {
		name     string
		classify instrument.Classifier
		err      error
		ctx      string
		want     string
	}{
		{"declared by type", classify.ContendedAs[*errTaken](), wrap(&errTaken{}), alive, "contended"},
		{"the first of two that knows it", classify.First(classify.As[*errNode](instrument.BackendError), classify.ContendedAs[*errTaken]()),
			errors.Join(&errTaken{}, &errNode{errDown}), alive, "backend_error"},
		{"contended unless the caller gave up", classify.Is(instrument.ContendedUnlessDone, errHeld), wrap(errHeld), canceled, "canceled"},
		{"contended unless the caller was late", classify.As[*errTaken](instrument.ContendedUnlessDone), &errTaken{}, late, "timeout"},
		{"contended, and the caller did not give up", classify.Is(instrument.ContendedUnlessDone, errHeld), wrap(errHeld), alive, "contended"},
		{"a session that expired", classify.SessionLostIs(errGone, errExpired), errExpired, alive, "session_lost"},
		{"a limit of the library's own", classify.BackendErrorIs(context.DeadlineExceeded), context.DeadlineExceeded, alive, "backend_error"},
		{"declared as unknown", classify.Is(instrument.Unknown, context.DeadlineExceeded), context.DeadlineExceeded, alive, "unknown"},
		{"not declared", classify.ContendedIs(errHeld), errDown, alive, "unknown"},
		{"mongo-lock: locked", mongo, errHeld, alive, "contended"},
		{"bluetape-go: already the leader", classify.BluetapeGo(errOwn, errHeld), errOwn, alive, "already_held"},

		{"postgres: lock_timeout", sql, wrap(&errSQL{"55P03"}), alive, "contended"},
		{"postgres: statement_timeout on a lock that is tried", sql, &errSQL{"57014"}, alive, "unknown"},
		{"postgres: statement_timeout on a lock that is waited for", waiting, wrap(&errSQL{"57014"}), alive, "contended"},
		{"postgres: the caller cancelled the wait", waiting, &errSQL{"57014"}, canceled, "canceled"},
		{"postgres: the caller's deadline ended the wait", waiting, &errSQL{"57014"}, late, "timeout"},
		{"postgres: lock_timeout on a lock that is waited for", waiting, &errSQL{"55P03"}, alive, "contended"},
		{"postgres: too many connections", sql, &errSQL{"53300"}, alive, "backend_error"},
		{"postgres: shutting down while waiting", waiting, &errSQL{"57P01"}, alive, "backend_error"},
		{"postgres: shutting down, and the caller gave up", waiting, &errSQL{"57P01"}, canceled, "canceled"},
		{"postgres: an error without a state", sql, errDown, alive, "unknown"},
		{"postgres: a connection that broke", sql, &errSQL{"08006"}, alive, "backend_error"},
		{"postgres: a system error", sql, &errSQL{"58030"}, alive, "backend_error"},
		{"postgres: an internal error", sql, &errSQL{"XX000"}, alive, "backend_error"},
		{"postgres: an administrator's cancel", sql, &errSQL{"57000"}, alive, "unknown"},
		{"postgres: a deadlock of other locks", waiting, &errSQL{"40P01"}, alive, "unknown"},
	} {
		expect.Bubble(t, c.name, func(t *testing.T) {
			m := expect.Middleware(t)
			opts := []instrument.ElectionOption{instrument.Classify(c.classify)}
			_, err := m.Election(expect.Lock, opts...).Acquire(contextThatIs(t, c.ctx), electtest.Fails(c.err))
			if err != c.err {
				t.Errorf("the error became %v", err)
			}
			expect.Whole(t, m, "after the attempt", expect.Fresh(t, opts...).With(expect.NotAcquired(c.want, 0)))
		})
	}
}

func TestResultsOfRenewals(t *testing.T) {
	for _, c := range []struct {
		name     string
		classify instrument.Classifier
		err      error
		want     string
	}{
		{"mongo-lock: not found", classify.MongoLock(errHeld, errGone), errGone, "lost"},
		{"postgres: statement_timeout", classify.SQLState(), &errSQL{"57014"}, "error"},
		{"postgres: shutting down", classify.SQLState(), &errSQL{"57P01"}, "error"},
	} {
		expect.Bubble(t, c.name, func(t *testing.T) {
			m := expect.Middleware(t)
			e := m.Election(expect.Lock, instrument.Classify(c.classify))
			lease := instrument.NewLease(nil, instrument.RenewWith(func(context.Context) error { return c.err }))
			term, err := e.Acquire(t.Context(), electtest.Wins(lease))
			if err != nil {
				t.Fatal(err)
			}
			if err := term.Renew(t.Context()); err != c.err {
				t.Errorf("the error became %v", err)
			}
			want := expect.Fresh(t, instrument.Classify(c.classify)).With(electtest.Series{
				"leader_attempts_total": 1, "leader_acquired_total": 1, "leader_active": 1,
				"leader_acquire_duration_seconds_count": 1, "leader_acquire_duration_seconds_sum": 0,
				"leader_renewal_duration_seconds_count": 1, "leader_renewal_duration_seconds_sum": 0,
				`leader_renewals_total{result="` + c.want + `"}`: 1,
			})
			if c.want == "lost" {
				want = want.With(electtest.Series{
					"leader_active": 0, `leader_terms_ended_total{cause="lost"}`: 1,
					"leader_execution_duration_seconds_count": 1, "leader_execution_duration_seconds_sum": 0,
				})
			}
			expect.Whole(t, m, "after the renewal", want)
		})
	}
}

func TestBuilders(t *testing.T) {
	const none = instrument.Reason(255)
	first := classify.First(nil, classify.ContendedIs(errHeld), classify.AlreadyHeldIs(errHeld, errOwn))
	for _, c := range []struct {
		name     string
		classify instrument.Classifier
		err      error
		want     instrument.Reason
	}{
		{"the first opinion counts", first, errHeld, instrument.Contended},
		{"one without an opinion leaves it to the next", first, errOwn, instrument.AlreadyHeld},
		{"without any opinion there is none", first, errGone, none},
		{"without classifiers there is none", classify.First(), errGone, none},
		{"any of several targets", classify.SessionLostIs(errGone, errExpired), fmt.Errorf("unlock: %w", errExpired), instrument.SessionLost},
		{"a failed backend", classify.BackendErrorIs(errDown), errDown, instrument.BackendError},
		{"a nil target matches nothing", classify.ContendedIs(nil), errDown, none},
		{"without targets nothing matches", classify.ContendedIs(), errDown, none},
		{"a type", classify.ContendedAs[*errTaken](), fmt.Errorf("lock: %w", &errTaken{}), instrument.Contended},
		{"another type", classify.ContendedAs[*errTaken](), &errNode{errDown}, none},
		{"no SQL state", classify.SQLState(), errDown, none},
		{"a reason of choice", classify.Is(instrument.Unknown, errDown), errDown, instrument.Unknown},
		{"a type with a reason of choice", classify.As[*errNode](instrument.BackendError), &errNode{errDown}, instrument.BackendError},
	} {
		t.Run(c.name, func(t *testing.T) {
			reason, ok := c.classify.Classify(c.err)
			if !ok {
				if reason != 0 {
					t.Errorf("no opinion comes with the reason %d", reason)
				}
				reason = none
			}
			if reason != c.want {
				t.Errorf("got %d, want %d", reason, c.want)
			}
		})
	}
}
