package instrument_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/redact"
)

// observation is one thing that an observed lock is told, and how long nothing
// happens after it.
type observation struct {
	view func(e *instrument.Election, now time.Time)
	wait time.Duration
}

func draw[T any](rt *rapid.T, what string, from ...T) T {
	return rapid.SampledFrom(from).Draw(rt, what)
}

// drawObservation draws what a reading of this process or of the backend shows.
func drawObservation(rt *rapid.T) observation {
	remaining := time.Duration(rapid.IntRange(-10, 20).Draw(rt, "left")) * s
	expires := rapid.Bool().Draw(rt, "expires")
	end := func(now time.Time) time.Time {
		if !expires {
			return time.Time{}
		}
		return now.Add(remaining)
	}
	token, counted := uint64(rapid.IntRange(0, 2).Draw(rt, "token")), rapid.Bool().Draw(rt, "counted")
	length := draw(rt, "length", 0, 8*s)
	state := draw(rt, "state", instrument.BackendHeld, instrument.BackendHeld, instrument.BackendVacant, instrument.BackendUnknown, instrument.BackendUnwatched)
	holder := draw(rt, "holder", "", "a", "b")
	valid := draw(rt, "valid", 0, 6*s)
	cause := draw(rt, "cause", nil, instrument.ErrGaveUp, instrument.ErrReleased)
	view := func(e *instrument.Election, now time.Time) {
		e.ObserveBackend(instrument.BackendView{State: state, Holder: holder, Token: token, Counted: counted, Expiry: end(now), Granted: length, ValidFor: valid})
	}
	return observation{
		view: draw(rt, "what", view, view, view, func(e *instrument.Election, now time.Time) {
			e.ObserveLeading(instrument.Leadership{Token: token, Fenced: counted, Expiry: end(now), Granted: length})
		}, func(e *instrument.Election, _ time.Time) {
			e.ObserveNotLeading(cause)
		}, func(e *instrument.Election, _ time.Time) {
			e.ObserveUnknown(errBackend)
		}),
		wait: time.Duration(rapid.IntRange(0, 20).Draw(rt, "wait")) * s,
	}
}

// What an observed lock shows in the end is the same whether or not anybody
// looked in between, and none of it goes below zero.
func TestWhatAnObservedLockShowsDoesNotDependOnLooks(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var opts []instrument.ElectionOption
		for _, o := range []instrument.ElectionOption{instrument.Hold(), instrument.KeepUntilExpiry(), instrument.LeaseDuration(10 * s), instrument.HiddenRenewals()} {
			if rapid.Bool().Draw(rt, "option") {
				opts = append(opts, o)
			}
		}
		var all []observation
		for range rapid.IntRange(1, 20).Draw(rt, "observations") {
			all = append(all, drawObservation(rt))
		}
		play := func(collect func(m *instrument.Middleware)) [2]electtest.Series {
			clock := electtest.NewClock(time.Unix(1_700_000_000, 0))
			m, err := instrument.New(instrument.WithClock(clock), instrument.WithRedactor(redact.Raw()), instrument.WithLogger(slog.New(slog.DiscardHandler)))
			if err != nil {
				rt.Fatal(err)
			}
			e := m.Election("x", opts...)
			for _, o := range all {
				o.view(e, clock.Now())
				for range 4 {
					collect(m)
					clock.Advance(o.wait / 4)
				}
			}
			return [2]electtest.Series{electtest.Read(m, "x"), electtest.ReadBackend(m, "x")}
		}
		unseen := play(func(*instrument.Middleware) {})
		seen := play(func(m *instrument.Middleware) { electtest.Read(m, "x") })
		if diff := cmp.Diff(unseen, seen, cmpopts.EquateApprox(0, 1e-6)); diff != "" {
			rt.Fatalf("unseen (-) and looked at (+):\n%s", diff)
		}
		if why := electtest.Broken(unseen[0]); why != "" {
			rt.Fatal(why)
		}
		for key, v := range unseen[1] {
			if v < 0 {
				rt.Fatalf("%s is %v", key, v)
			}
		}
	})
}
