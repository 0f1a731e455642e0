package instrument_test

import (
	"testing"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
)

// A time at which something began comes from outside, perhaps from a clock that
// was set in between. One that is still to come is unknown: it neither makes a
// duration negative nor moves a lease end beyond what can be true.
func TestABeginningThatIsStillToComeIsUnknown(t *testing.T) {
	ahead := map[string]time.Duration{"a moment ahead": 1, "an hour ahead": time.Hour, "a century ahead": 200 * 365 * 24 * time.Hour}
	for name, by := range ahead {
		bubble(t, "a renewal that was sent "+name, func(t *testing.T) {
			m := newMiddleware(t)
			e := m.Election("x", instrument.Hold(), instrument.LeaseDuration(10*s))
			term := acquire(t, e, electtest.Wins(instrument.NewLease(nil, instrument.RenewalsReported())))
			time.Sleep(2 * s)
			term.Sink().Renewed(instrument.Renewal{Sent: time.Now().Add(by)})
			term.Sink().RenewalFailedSince(time.Now().Add(by), errBackend)
			time.Sleep(s)
			term.Sink().Renewed(instrument.Renewal{Sent: time.Now().Add(-s / 2)}) // no longer overtaken by one to come
			check(t, m, "after", held(leased(10*s)).With(electtest.Series{
				"leader_attempts_total": 1, "leader_acquired_total": 1, "leader_active": 1,
				"leader_acquire_duration_seconds_count": 1,
				`leader_renewals_total{result="ok"}`:    2, `leader_renewals_total{result="error"}`: 1,
				"leader_renewal_duration_seconds_count": 1, "leader_renewal_duration_seconds_sum": 0.5,
				"leader_lease_usage_ratio_count": 2, "leader_lease_usage_ratio_sum": 0.2 + 0.1,
				"leader_lease_headroom_seconds":         9.5,
				"leader_lease_expiry_timestamp_seconds": float64(time.Now().Add(9500*time.Millisecond).UnixMilli()) / 1e3,
			}))
			release(t, term)
		})
		bubble(t, "a look that was asked for "+name, func(t *testing.T) {
			m := newMiddleware(t)
			e := m.Election("x", instrument.Hold(), instrument.LeaseDuration(10*s))
			end := time.Now().Add(10 * s)
			for range 4 {
				e.ObserveLeading(instrument.Leadership{Asked: time.Now().Add(by), Expiry: end})
			}
			check(t, m, "after", held(leased(10*s)).With(electtest.Series{
				"leader_attempts_total": 1, "leader_acquired_total": 1, "leader_active": 1,
				"leader_acquire_duration_seconds_count": 1,
				"leader_lease_headroom_seconds":         10,
				"leader_lease_expiry_timestamp_seconds": float64(end.Unix()),
			}))
			e.ObserveNotLeading(nil)
		})
	}
}
