package instrument_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
)

func TestObservedElectorsAreLevels(t *testing.T) {
	bubble(t, "raft terms", func(t *testing.T) {
		m := newMiddleware(t)
		e := m.Election("x", instrument.Hold())
		lead := instrument.Leadership{Token: 3, Fenced: true}
		for range 5 {
			e.ObserveLeading(lead)
		}
		want := held(zero).With(electtest.Series{
			"leader_attempts_total": 1, "leader_acquired_total": 1, "leader_active": 1, "leader_acquire_duration_seconds_count": 1,
			"leader_fencing_token": 3, "leader_fencing_token_regressions_total": 0,
		})
		check(t, m, "the same level again", want)
		time.Sleep(7 * s)
		e.ObserveUnknown(nil)
		check(t, m, "no error says nothing", want)
		e.ObserveUnknown(errBackend)
		want = want.With(electtest.Series{`leader_renewals_total{result="error"}`: 1})
		check(t, m, "unknown is not zero", want)
		e.ObserveLeading(instrument.Leadership{})
		check(t, m, "nor is no token another token", want)
		lead.Token = 5
		e.ObserveLeading(lead)
		want = want.With(electtest.Series{
			"leader_execution_duration_seconds_sum": 7,
			"leader_attempts_total":                 2, "leader_acquired_total": 2, "leader_acquire_duration_seconds_count": 2,
			`leader_terms_ended_total{cause="lost"}`: 1, "leader_execution_duration_seconds_count": 1, "leader_fencing_token": 5,
		})
		check(t, m, "a term passed unseen", want)
		e.ObserveNotLeading(nil)
		e.ObserveNotLeading(nil)
		check(t, m, "stepped down", want.With(electtest.Series{
			"leader_active": 0, `leader_terms_ended_total{cause="lost"}`: 2, "leader_execution_duration_seconds_count": 2,
		}))
	})
	bubble(t, "a row with an expiry", func(t *testing.T) {
		m := newMiddleware(t)
		e := m.Election("x", instrument.Hold(), instrument.LeaseDuration(30*s))
		for range 3 {
			e.ObserveLeading(instrument.Leadership{Expiry: time.Now().Add(30 * s)})
			time.Sleep(10 * s)
		}
		expect(t, m, "x", "after three looks", electtest.Series{`leader_renewals_total{result="ok"}`: 2, "leader_lease_headroom_seconds": 20,
			"leader_lease_usage_ratio_count": 2, "leader_lease_usage_ratio_sum": 2. / 3})
		e.ObserveNotLeading(instrument.ErrReleased)
		expect(t, m, "x", "given back", electtest.Series{`leader_terms_ended_total{cause="released"}`: 1, `leader_releases_total{result="ok"}`: 1})
	})
	for name, c := range map[string]struct {
		cause error
		want  string
	}{
		"the lock is gone":     {nil, "lost"},
		"another has it":       {instrument.ErrContended, "lost"},
		"the elector stopped":  {context.Canceled, "canceled"},
		"the elector gave up":  {errors.Join(errHeld, instrument.ErrGaveUp), "gave_up"},
		"it was given back":    {instrument.ErrReleased, "released"},
		"an error of its own":  {errHeld, "lost"},
		"a term that was lost": {instrument.ErrLost, "lost"},
	} {
		bubble(t, "ended: "+name, func(t *testing.T) {
			m := newMiddleware(t)
			e := m.Election("x", instrument.Hold())
			e.ObserveLeading(instrument.Leadership{Expiry: time.Now().Add(30 * s)})
			e.ObserveNotLeading(c.cause)
			expect(t, m, "x", "after", electtest.Series{`leader_terms_ended_total{cause="` + c.want + `"}`: 1, "leader_active": 0})
			e.ObserveLeading(instrument.Leadership{})
			expect(t, m, "x", "won again", electtest.Series{"leader_acquired_total": 2, "leader_active": 1})
		})
	}
}

// A reader that looks into the wrong table forever must show.
func TestAnObservationThatFailsShowsAlsoWithoutATerm(t *testing.T) {
	bubble(t, "a failed look is a failed attempt", func(t *testing.T) {
		m := newMiddleware(t)
		e := m.Election("x", instrument.Hold(), classified(instrument.BackendError, errHeld))
		for _, err := range []error{errHeld, errBackend, errGone, context.DeadlineExceeded} {
			e.ObserveUnknown(err)
		}
		want := held(zero).With(electtest.Series{
			"leader_attempts_total": 4, "leader_acquire_duration_seconds_count": 4,
			`leader_not_acquired_total{reason="backend_error"}`: 2, `leader_not_acquired_total{reason="unknown"}`: 2,
		})
		check(t, m, "four failed looks", want)
		e.ObserveLeading(instrument.Leadership{})
		e.ObserveUnknown(errGone)
		check(t, m, "and one while leading", want.With(electtest.Series{
			"leader_attempts_total": 5, "leader_acquired_total": 1, "leader_active": 1, "leader_acquire_duration_seconds_count": 5,
			`leader_renewals_total{result="error"}`: 1,
		}))
	})
	bubble(t, "an error that says the lock is gone ends the term", func(t *testing.T) {
		m := newMiddleware(t)
		e := m.Election("x", instrument.Hold())
		e.ObserveLeading(instrument.Leadership{})
		e.ObserveUnknown(instrument.ErrSessionLost)
		expect(t, m, "x", "after", electtest.Series{"leader_active": 0, `leader_renewals_total{result="lost"}`: 1, `leader_terms_ended_total{cause="lost"}`: 1})
	})
}
