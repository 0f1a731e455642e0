package instrument_test

import (
	"testing"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
)

// A reading that tells less than the one before makes no other term, and a record
// that shows a term which no reading has met makes one.
func TestTermsOfTheBackendAreCountedByWhatEachLookTells(t *testing.T) {
	const polled = 30 * s
	held := func(holder string, token uint64) instrument.BackendView {
		return instrument.BackendView{State: instrument.BackendHeld, Holder: holder, Token: token, Counted: token != 0}
	}
	lease := func(holder string, remaining time.Duration) instrument.BackendView {
		return instrument.BackendView{State: instrument.BackendHeld, Holder: holder, Expiry: time.Now().Add(remaining), Granted: 10 * s, Every: polled}
	}
	of := func(name string) string { return name + `{backend="b"}` }
	for name, c := range map[string]struct {
		collect func(e *instrument.Election)
		want    electtest.Series
	}{
		"a token that one look does not tell": {func(e *instrument.Election) {
			for _, token := range []uint64{1 << 60, 0, 1 << 60, 0, 1<<60 + 1} { // beyond what the gauge can show
				e.ObserveBackend(held("a", token))
			}
		}, electtest.Series{
			of("leader_backend_held"): 1, `leader_backend_holder_info{backend="b",holder="a"}`: 1, of("leader_backend_token"): 1 << 60,
			of("leader_backend_terms_total"): 1, of("leader_backend_vacant_seconds_total"): 0,
			of("leader_backend_handover_seconds_count"): 1, of("leader_backend_handover_seconds_sum"): 0, of("leader_backend_up"): 1,
		}},
		"a holder that one look does not tell": {func(e *instrument.Election) {
			for _, holder := range []string{"a", "", "a", "", "b", ""} {
				e.ObserveBackend(held(holder, 0))
			}
		}, electtest.Series{
			of("leader_backend_held"): 1, of("leader_backend_terms_total"): 1, of("leader_backend_vacant_seconds_total"): 0,
			of("leader_backend_handover_seconds_count"): 1, of("leader_backend_handover_seconds_sum"): 0, of("leader_backend_up"): 1,
		}},
		"a term between two looks": {func(e *instrument.Election) {
			e.ObserveBackend(lease("a", 5*s))
			time.Sleep(polled)
			e.ObserveBackend(lease("a", -25*s))
			time.Sleep(polled)
			e.ObserveBackend(lease("b", -2*s))
			time.Sleep(polled)
			e.ObserveBackend(lease("c", 10*s))
		}, electtest.Series{
			of("leader_backend_held"): 1, `leader_backend_holder_info{backend="b",holder="c"}`: 1, of("leader_backend_lease_duration_seconds"): 10,
			of("leader_backend_terms_total"): 2, of("leader_backend_vacant_seconds_total"): 25 + 30 + 30,
			of("leader_backend_handover_seconds_count"): 1, of("leader_backend_handover_seconds_sum"): 32,
			of("leader_backend_up"): 1, of("leader_backend_poll_interval_seconds"): 30,
		}},
	} {
		bubble(t, name, func(t *testing.T) {
			m := newMiddleware(t)
			c.collect(m.Election("x", instrument.Backend("b")))
			for key := range electtest.ReadBackend(m, "x") {
				if isBucket(key) {
					c.want[key] = electtest.ReadBackend(m, "x")[key]
				}
			}
			backendIs(t, m, "x", "after", c.want)
		})
	}
}
