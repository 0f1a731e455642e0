package instrument_test

import (
	"bytes"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
)

// Stand-ins for a library's own errors.
var (
	errHeld = errors.New("lib: held")
	errGone = errors.New("lib: not held")
	errOwn  = errors.New("lib: already held by this session")
)

// statusError has the method by which gRPC errors are recognised.
type statusError struct{ code uint32 }

func (e *statusError) Error() string       { return fmt.Sprint("rpc error: code ", e.code) }
func (e *statusError) GRPCStatus() *status { return &status{e.code} }

type status struct{ code uint32 }

func (s *status) Code() uint32 { return s.code }

// nilError is an error whose methods panic when it is nil.
type nilError struct{ cause error }

func (e *nilError) Error() string { return e.cause.Error() }
func (e *nilError) Unwrap() error { return e.cause }

// unnoticed is a context whose deadline has passed, in the instant before its
// own timer says so.
type unnoticed struct{ context.Context }

func (unnoticed) Deadline() (time.Time, bool) { return time.Unix(0, 0), true }

func TestAttemptsAreClassifiedByLibraryThenContextThenNetwork(t *testing.T) {
	wrap := func(err error) error { return fmt.Errorf("acquire: %w", err) }
	library := []instrument.ElectionOption{classified(instrument.Contended, errHeld), classified(instrument.SessionLost, errGone), classified(instrument.AlreadyHeld, errOwn)}
	answers := func(r instrument.Reason) []instrument.ElectionOption {
		return []instrument.ElectionOption{instrument.Classify(instrument.ClassifierFunc(func(error) (instrument.Reason, bool) { return r, true }))}
	}
	const alive, canceled, late, early = "alive", "canceled", "late", "early"
	cases := []struct {
		name string
		opts []instrument.ElectionOption
		err  error
		ctx  string
		want string
	}{
		{"contention", library, wrap(errHeld), alive, "contended"},
		{"contention is believed ahead of the context", library, wrap(errHeld), canceled, "contended"},
		{"a session that was lost, too", library, errors.Join(errGone), late, "session_lost"},
		{"an error that is the caller's deadline as well", library, errors.Join(errHeld, context.DeadlineExceeded), late, "timeout"},
		{"held by this caller", library, wrap(errOwn), alive, "already_held"},
		{"held by this caller, who gave up", library, wrap(errOwn), canceled, "canceled"},
		{"the backend failed", library, wrap(errBackend), alive, "backend_error"},
		{"a cancelled caller, whatever the library says", library, wrap(errBackend), canceled, "canceled"},
		{"a caller whose deadline passed", library, wrap(errBackend), late, "timeout"},
		{"a caller's deadline that a connection notices ahead of the context", nil, wrap(os.ErrDeadlineExceeded), early, "timeout"},
		{"a held lock at that instant", answers(instrument.ContendedUnlessDone), errHeld, early, "timeout"},
		{"a library's own deadline is not declared", library, context.DeadlineExceeded, alive, "unknown"},
		{"a library's own cancellation neither", library, wrap(context.Canceled), alive, "unknown"},
		{"contended unless the caller is done", answers(instrument.ContendedUnlessDone), errHeld, alive, "contended"},
		{"and the caller is", answers(instrument.ContendedUnlessDone), errHeld, late, "timeout"},
		{"a sentinel needs no classifier", nil, wrap(instrument.ErrAlreadyHeld), alive, "already_held"},
		{"a lost term is a lost session", nil, wrap(instrument.ErrLost), alive, "session_lost"},
		{"an answer outside of the closed set is no opinion", answers(77), errBackend, alive, "backend_error"},
		{"nor is one that only looks like a mark", answers(instrument.ContendedUnlessDone | 1), errHeld, alive, "unknown"},
		{"an undeclared error", nil, errHeld, alive, "unknown"},
		{"an error that speaks of a refused connection", nil, errors.New("dial tcp 10.0.0.1:6379: connection refused"), alive, "unknown"},
		{"a typed nil error", nil, (*nilError)(nil), alive, "unknown"},
		{"a reset connection", nil, wrap(syscall.ECONNRESET), alive, "backend_error"},
		{"an answer that ended early", nil, wrap(io.ErrUnexpectedEOF), alive, "backend_error"},
		{"the plain end of a file is an answer", nil, io.EOF, alive, "unknown"},
		{"a name that cannot be resolved", nil, &net.DNSError{Err: "no such host"}, alive, "backend_error"},
		{"a time-out of the network", nil, wrap(os.ErrDeadlineExceeded), alive, "backend_error"},
		{"a broken database connection", nil, wrap(driver.ErrBadConn), alive, "backend_error"},
		{"gRPC: unavailable", nil, wrap(&statusError{14}), alive, "backend_error"},
		{"gRPC: permission denied", nil, wrap(&statusError{7}), alive, "unknown"},
		{"gRPC: a typed nil", nil, (*statusError)(nil), alive, "unknown"},
		{"one of several joined errors is of the network", nil, errors.Join(errHeld, errBackend), alive, "backend_error"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m := newMiddleware(t)
			e := m.Election("x", c.opts...)
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			switch c.ctx {
			case canceled:
				cancel()
			case late:
				ctx, cancel = context.WithDeadline(ctx, time.Unix(0, 0))
				defer cancel()
			case early:
				ctx = unnoticed{ctx}
			}
			if _, err := e.Acquire(ctx, electtest.Fails(c.err)); err != c.err {
				t.Errorf("the error came back as %v", err)
			}
			check(t, m, c.name, zero.With(electtest.Series{
				"leader_attempts_total": 1, `leader_not_acquired_total{reason="` + c.want + `"}`: 1,
				"leader_acquire_duration_seconds_count": 1,
				"leader_acquire_duration_seconds_sum":   electtest.Read(m, "x")["leader_acquire_duration_seconds_sum"],
			}))
		})
	}
}

func TestAnErrorThatNobodyDeclaredIsLoggedOnceWithTheRemedy(t *testing.T) {
	bubble(t, "by its type", func(t *testing.T) {
		var text bytes.Buffer
		m := newMiddleware(t, instrument.WithLogger(slog.New(slog.NewTextHandler(&text, nil))))
		for range 3 {
			_, _ = m.Election("x").Acquire(context.Background(), electtest.Fails(fmt.Errorf("tenant-42: %w", &statusError{7})))
			_, _ = m.Election("y").Acquire(context.Background(), electtest.Fails(errBackend))
		}
		synctest.Wait()
		logged := text.String()
		if strings.Count(logged, "\n") != 1 || !strings.Contains(logged, "instrument.Classify") || !strings.Contains(logged, "lock_name=x") ||
			!strings.Contains(logged, "error_type=*instrument_test.statusError") || strings.Contains(logged, "tenant") {
			t.Errorf("logged:\n%s", logged)
		}
	})
}

func TestADeadlineIsNeverALoss(t *testing.T) {
	everything := classified(instrument.Contended, context.DeadlineExceeded, context.Canceled)
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"a deadline":                         {context.DeadlineExceeded, "timeout"},
		"a wrapped deadline":                 {fmt.Errorf("extend: %w", context.DeadlineExceeded), "timeout"},
		"a cancellation":                     {context.Canceled, "canceled"},
		"a deadline that carries a sentinel": {errors.Join(context.DeadlineExceeded, instrument.ErrSessionLost), "lost"},
	} {
		bubble(t, name, func(t *testing.T) {
			m := newMiddleware(t)
			term := acquire(t, m.Election("x", everything), electtest.Wins(instrument.NewLease(
				func(context.Context) error { return c.err },
				instrument.RenewWith(func(context.Context) error { return c.err }))))
			if err := term.Renew(context.Background()); !errors.Is(err, c.err) {
				t.Errorf("renew: %v", err)
			}
			r := electtest.Read(m, "x")
			lost := c.want == "lost"
			if r[`leader_renewals_total{result="`+c.want+`"}`] != 1 || (r["leader_active"] == 0) != lost {
				t.Errorf("after the renewal: %v", r)
			}
			_ = term.Release(context.Background())
			if r := electtest.Read(m, "x"); r[`leader_releases_total{result="not_owner"}`] != 0 && !lost {
				t.Errorf("after the release: %v", r)
			}
		})
	}
}

func TestAHeldLockAnswersACallerWhoGaveUpAndIsNotLost(t *testing.T) {
	for name, done := range map[string]bool{"the caller waits": false, "the caller gave up": true} {
		bubble(t, name, func(t *testing.T) {
			m := newMiddleware(t)
			unless := instrument.Classify(instrument.ClassifierFunc(func(error) (instrument.Reason, bool) { return instrument.ContendedUnlessDone, true }))
			term := acquire(t, m.Election("x", unless), electtest.Wins(instrument.NewLease(nil, instrument.RenewWith(func(context.Context) error { return errHeld }))))
			own := term.Context()
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			if done {
				cancel()
			}
			_ = term.Renew(ctx)
			want := electtest.Series{`leader_renewals_total{result="lost"}`: 1, `leader_renewals_total{result="canceled"}`: 0, "leader_active": 0}
			if done {
				want = electtest.Series{`leader_renewals_total{result="lost"}`: 0, `leader_renewals_total{result="canceled"}`: 1, "leader_active": 1}
			}
			expect(t, m, "x", "renewed", want)
			if cause := context.Cause(own); !done && (!errors.Is(cause, instrument.ErrLost) || !errors.Is(cause, errHeld) || strings.Contains(cause.Error(), "held")) {
				t.Errorf("the term's context ended with %v", cause)
			}
		})
	}
}

// classifying is an acquirer that knows its own errors.
type classifying struct{ *electtest.Elector }

func (classifying) Classify(err error) (instrument.Reason, bool) {
	return instrument.Contended, errors.Is(err, errHeld)
}

func TestAnAcquirerMayClassifyItsOwnErrors(t *testing.T) {
	m := newMiddleware(t)
	_, _ = m.Election("x").Acquire(context.Background(), classifying{electtest.Fails(errHeld)})
	if r := electtest.Read(m, "x"); r[`leader_not_acquired_total{reason="contended"}`] != 1 {
		t.Errorf("series %v", r)
	}
}
