package instrument_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
)

func TestEachSentinelIsItsReason(t *testing.T) {
	for err, want := range map[error]string{
		instrument.ErrContended: "contended", instrument.ErrSessionLost: "session_lost", instrument.ErrLost: "session_lost", instrument.ErrAlreadyHeld: "already_held",
		instrument.ErrBackend: "backend_error", instrument.ErrUnknown: "unknown", instrument.ErrNoLease: "unknown", instrument.ErrGaveUp: "unknown",
	} {
		bubble(t, err.Error(), func(t *testing.T) {
			var text bytes.Buffer
			m := newMiddleware(t, instrument.WithLogger(slog.New(slog.NewTextHandler(&text, nil))))
			_, _ = m.Election("x").Acquire(context.Background(), electtest.Fails(fmt.Errorf("lib: %w", err)))
			synctest.Wait()
			key := `leader_not_acquired_total{reason="` + want + `"}`
			if diff := cmp.Diff(map[string]float64{key: 1}, counted(m, "leader_not_acquired_total")); diff != "" {
				t.Error(diff)
			}
			declared := err != instrument.ErrGaveUp // that is a cause of a loss, and no reason
			if noticed := strings.Contains(text.String(), "no classifier recognises"); noticed == declared {
				t.Errorf("logged: %s", text.String())
			}
		})
	}
}

func TestAnAcquirerWithoutALeaseAndWithoutAnErrorHasNotWon(t *testing.T) {
	m := newMiddleware(t)
	empty := instrument.AcquirerFunc(func(context.Context) (instrument.Lease, error) { return nil, nil })
	term, err := m.Election("x").Acquire(context.Background(), empty)
	if term != nil || err != instrument.ErrNoLease {
		t.Errorf("term %v, error %v", term, err)
	}
	want := map[string]float64{"leader_attempts_total": 1, `leader_not_acquired_total{reason="unknown"}`: 1}
	if diff := cmp.Diff(want, counted(m, "leader_attempts", "leader_not_acquired", "leader_acquired", "leader_active")); diff != "" {
		t.Error(diff)
	}
}

// Methods that look like those of gRPC, and are not.
type (
	withArgument  struct{ error }
	withTwo       struct{ error }
	withoutCode   struct{ error }
	codeWithInput struct{ error }
	codeOfText    struct{ error }
	textCode      struct{}
	inputCode     struct{}
	panicking     struct{ error }
)

func (withArgument) GRPCStatus(int) *status           { return &status{14} }
func (withTwo) GRPCStatus() (*status, error)          { return &status{14}, nil }
func (withoutCode) GRPCStatus() time.Time             { return time.Time{} }
func (codeWithInput) GRPCStatus() inputCode           { return inputCode{} }
func (codeOfText) GRPCStatus() textCode               { return textCode{} }
func (panicking) GRPCStatus() *status                 { panic("status") }
func (textCode) Code() string                         { return "14" }
func (inputCode) Code(uint32) uint32                  { return 14 }
func (withArgument) Unwrap() error                    { return nil }
func wrapped(outer func(error) error, in error) error { return fmt.Errorf("outer: %w", outer(in)) }

func TestOnlyAStatusOfGRPCIsTakenForOne(t *testing.T) {
	plain := errors.New("lib: failed")
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"a status":                           {&statusError{14}, "backend_error"},
		"a wrapped status":                   {fmt.Errorf("a: %w", fmt.Errorf("b: %w", &statusError{14})), "backend_error"},
		"another code":                       {&statusError{13}, "unknown"},
		"the code after it":                  {&statusError{15}, "unknown"},
		"a method with an argument":          {withArgument{plain}, "unknown"},
		"a method with two results":          {withTwo{plain}, "unknown"},
		"a status without a code":            {withoutCode{plain}, "unknown"},
		"a code that asks for something":     {codeWithInput{plain}, "unknown"},
		"a code that is a text":              {codeOfText{plain}, "unknown"},
		"a method that panics":               {panicking{plain}, "unknown"},
		"a status below one that is none":    {wrapped(func(in error) error { return lookalike{in} }, &statusError{14}), "backend_error"},
		"nothing below one that is none":     {lookalike{plain}, "unknown"},
		"a status beside others is not seen": {errors.Join(plain, &statusError{14}), "unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMiddleware(t)
			_, _ = m.Election("x").Acquire(context.Background(), electtest.Fails(c.err))
			if diff := cmp.Diff(map[string]float64{`leader_not_acquired_total{reason="` + c.want + `"}`: 1}, counted(m, "leader_not_acquired")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// lookalike has a method GRPCStatus that is none, and wraps an error.
type lookalike struct{ in error }

func (l lookalike) Error() string  { return "lookalike" }
func (l lookalike) GRPCStatus(int) {}
func (l lookalike) Unwrap() error  { return l.in }

// What a renewal's error says depends on the library, then on the caller.
func TestARenewalIsClassifiedByLibraryThenContext(t *testing.T) {
	held, gone, busy := errors.New("lib: held"), errors.New("lib: gone"), errors.New("lib: busy")
	own := instrument.ClassifierFunc(func(err error) (instrument.Reason, bool) {
		switch {
		case errors.Is(err, held):
			return instrument.Contended, true
		case errors.Is(err, gone):
			return instrument.SessionLost, true
		case errors.Is(err, busy):
			return instrument.ContendedUnlessDone, true
		case errors.Is(err, errBackend):
			return instrument.BackendError, true
		}
		return 0, false
	})
	const alive, canceled, late, early = "alive", "canceled", "late", "early"
	for name, c := range map[string]struct {
		err  error
		ctx  string
		want string
	}{
		"done":                                    {nil, alive, "ok"},
		"done for a caller who gave up":           {nil, canceled, "ok"},
		"held by another":                         {held, alive, "lost"},
		"held by another, to a caller who left":   {held, canceled, "lost"},
		"a session that was lost":                 {gone, late, "lost"},
		"an error for a held lock":                {busy, alive, "lost"},
		"the same, to a caller who gave up":       {busy, canceled, "canceled"},
		"the same, to a caller who was late":      {busy, late, "timeout"},
		"a failed backend":                        {errBackend, alive, "error"},
		"a failed backend, to a caller who left":  {errBackend, canceled, "canceled"},
		"a failed backend, to a late caller":      {errBackend, late, "timeout"},
		"an unknown error":                        {errors.New("lib: failed"), alive, "error"},
		"a connection that noticed it first":      {os.ErrDeadlineExceeded, early, "timeout"},
		"the library's own deadline":              {fmt.Errorf("lib: %w", context.DeadlineExceeded), alive, "timeout"},
		"the library's own cancellation":          {fmt.Errorf("lib: %w", context.Canceled), alive, "canceled"},
		"its deadline, to a caller who left":      {fmt.Errorf("lib: %w", context.DeadlineExceeded), canceled, "canceled"},
		"a loss by sentinel within a deadline":    {errors.Join(instrument.ErrLost, context.DeadlineExceeded), late, "lost"},
		"contention by sentinel in a deadline":    {errors.Join(instrument.ErrContended, context.Canceled), canceled, "lost"},
		"a session by sentinel within a deadline": {errors.Join(instrument.ErrSessionLost, context.Canceled), canceled, "lost"},
		"a loss by the library within a deadline": {errors.Join(gone, context.DeadlineExceeded), alive, "timeout"},
		"a backend by sentinel within a deadline": {errors.Join(instrument.ErrBackend, context.DeadlineExceeded), alive, "timeout"},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMiddleware(t)
			e := m.Election("x", instrument.Classify(nil, own))
			term := acquire(t, e, electtest.Wins(instrument.NewLease(nil, instrument.RenewWith(func(context.Context) error { return c.err }))))
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
			if err := term.Renew(ctx); err != c.err {
				t.Errorf("the error came back as %v", err)
			}
			want := map[string]float64{`leader_renewals_total{result="` + c.want + `"}`: 1, "leader_active": 1}
			if c.want == "lost" {
				want = map[string]float64{`leader_renewals_total{result="lost"}`: 1, `leader_terms_ended_total{cause="lost"}`: 1}
			}
			if diff := cmp.Diff(want, counted(m, "leader_renewals", "leader_terms_ended", "leader_active")); diff != "" {
				t.Error(diff)
			}
			if lost := term.Context().Err() != nil; lost != (c.want == "lost") {
				t.Errorf("the context of the term: %v", context.Cause(term.Context()))
			}
		})
	}
}

// A body that was told to stop has not failed when it says so, however it puts
// it.
func TestABodyThatWasStoppedSaysSoInItsOwnWords(t *testing.T) {
	why := errors.New("the reason of the caller")
	for name, c := range map[string]struct {
		err    error
		stop   bool
		failed bool
	}{
		"no error":                            {nil, true, false},
		"no error, not stopped":               {nil, false, false},
		"the end of its context":              {fmt.Errorf("body: %w", context.Canceled), true, false},
		"a deadline":                          {context.DeadlineExceeded, true, false},
		"the cause":                           {fmt.Errorf("body: %w", why), true, false},
		"gRPC: cancelled":                     {&statusError{1}, true, false},
		"gRPC: a deadline":                    {fmt.Errorf("body: %w", &statusError{4}), true, false},
		"gRPC: unavailable":                   {&statusError{14}, true, true},
		"gRPC: a status among joined errors":  {errors.Join(&statusError{1}), true, true},
		"gRPC: unknown":                       {&statusError{2}, true, true},
		"gRPC: an invalid argument":           {&statusError{3}, true, true},
		"gRPC: not found":                     {&statusError{5}, true, true},
		"another error":                       {errBackend, true, true},
		"a cancellation although it may run":  {context.Canceled, false, true},
		"gRPC: cancelled although it may run": {&statusError{1}, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMiddleware(t)
			ctx, cancel := context.WithCancelCause(context.Background())
			defer cancel(nil)
			err := m.Election("x").Run(ctx, electtest.NewElector(), func(context.Context, *instrument.Term) error {
				if c.stop {
					cancel(why)
				}
				return c.err
			})
			if err != c.err {
				t.Errorf("the error came back as %v", err)
			}
			want := map[string]float64{}
			if c.failed {
				want[`leader_execution_failures_total{cause="error"}`] = 1
			}
			if diff := cmp.Diff(want, counted(m, "leader_execution_failures")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTheCauseOfALossSaysWhatItShows(t *testing.T) {
	gone := errors.New("lib: gone")
	for name, c := range map[string]struct {
		cause error
		end   string
		after float64 // work after the loss, of ten seconds
	}{
		"nothing":                        {nil, "lost", 0},
		"a sentinel":                     {instrument.ErrLost, "lost", 10},
		"contention":                     {instrument.ErrContended, "lost", 10},
		"what the library calls it":      {gone, "lost", 10},
		"an unknown error":               {errors.New("lib: failed"), "lost", 0},
		"the elector gave up":            {fmt.Errorf("lib: %w", instrument.ErrGaveUp), "gave_up", 0},
		"the elector was stopped":        {fmt.Errorf("lib: %w", context.Canceled), "canceled", 0},
		"it was stopped, and it is gone": {errors.Join(context.Canceled, instrument.ErrSessionLost), "canceled", 10},
		"a deadline":                     {context.DeadlineExceeded, "lost", 0},
		"a deadline, and it is gone":     {errors.Join(context.DeadlineExceeded, instrument.ErrLost), "lost", 10},
	} {
		bubble(t, name, func(t *testing.T) {
			m := newMiddleware(t)
			e := m.Election("x", instrument.LeaseDuration(time.Minute), classified(instrument.SessionLost, gone))
			term := acquire(t, e, electtest.Wins(instrument.NewLease(nil, instrument.RenewalsReported())))
			_ = term.Work(context.Background(), func(ctx context.Context, _ *instrument.Term) error {
				term.Sink().Lost(c.cause)
				time.Sleep(10 * s)
				why := context.Cause(ctx)
				if !errors.Is(why, instrument.ErrLost) || c.cause != nil && !errors.Is(why, c.cause) || why.Error() != instrument.ErrLost.Error() {
					t.Errorf("the cause is %v", why)
				}
				if text := fmt.Sprintf("%#v", why); c.cause != nil && text != "leaderscope: term lost" {
					t.Errorf("the cause is printed as %s", text)
				}
				return nil
			})
			want := map[string]float64{`leader_terms_ended_total{cause="` + c.end + `"}`: 1}
			if c.after > 0 {
				want["leader_work_after_loss_seconds_total"] = c.after
			}
			if diff := cmp.Diff(want, counted(m, "leader_terms_ended", "leader_work_after_loss")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAReleaseThatTheCallerCutShortIsNoLoss(t *testing.T) {
	busy := errors.New("lib: busy")
	for name, c := range map[string]struct {
		err  error
		done bool
		want string
	}{
		"given back":                    {nil, false, "ok"},
		"held by another":               {instrument.ErrContended, false, "not_owner"},
		"held by another, caller left":  {instrument.ErrContended, true, "not_owner"},
		"an error for a held lock":      {busy, false, "not_owner"},
		"the same, to a caller who has": {busy, true, "error"},
		"a failed backend":              {errBackend, false, "error"},
		"a deadline":                    {context.DeadlineExceeded, false, "error"},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMiddleware(t)
			term := acquire(t, m.Election("x", classified(instrument.ContendedUnlessDone, busy)), electtest.Wins(instrument.NewLease(func(context.Context) error { return c.err })))
			ctx, cancel := context.WithCancel(context.Background())
			if c.done {
				cancel()
			}
			defer cancel()
			if err := term.Release(ctx); err != c.err {
				t.Errorf("the error came back as %v", err)
			}
			if diff := cmp.Diff(map[string]float64{`leader_releases_total{result="` + c.want + `"}`: 1}, counted(m, "leader_releases")); diff != "" {
				t.Error(diff)
			}
		})
	}
}
