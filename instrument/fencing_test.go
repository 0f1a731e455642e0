package instrument_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/redact"
)

// checks are the series of a store's side; a highest token below 0 is none.
func checks(admitted, stale, missing, highest float64) electtest.Series {
	all := electtest.Series{
		electtest.Of(catalog.FencingChecks, "admitted"): admitted,
		electtest.Of(catalog.FencingChecks, "stale"):    stale,
		electtest.Of(catalog.FencingChecks, "missing"):  missing,
	}
	if highest >= 0 {
		all[electtest.Of(catalog.FencingHighestToken)] = highest
	}
	return all
}

func admits(token uint64) instrument.FencingCheck {
	return instrument.FencingCheck{Result: catalog.FencingAdmitted, Highest: token, Seen: true}
}

func refuses(highest uint64) instrument.FencingCheck {
	return instrument.FencingCheck{Result: catalog.FencingStale, Highest: highest, Seen: true}
}

func TestAStoreThatChecksTokensHasSeriesOfItsOwn(t *testing.T) {
	missing := instrument.FencingCheck{Result: catalog.FencingMissing}
	for _, c := range []struct {
		name   string
		checks []instrument.FencingCheck
		want   electtest.Series
	}{
		{"before the first write", nil, checks(0, 0, 0, -1)},
		{"a write without a token tells nothing of the highest", []instrument.FencingCheck{missing}, checks(0, 0, 1, -1)},
		{"a token of 0 is a token", []instrument.FencingCheck{admits(0)}, checks(1, 0, 0, 0)},
		{"writes of two terms, and a late one of the first", []instrument.FencingCheck{admits(3), admits(6), refuses(6), admits(6)}, checks(3, 1, 0, 6)},
		{"answers that arrive out of order", []instrument.FencingCheck{admits(6), admits(3)}, checks(2, 0, 0, 6)},
		{"a result that is none", []instrument.FencingCheck{{Result: 255, Highest: 9, Seen: true}}, checks(0, 0, 0, -1)},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMiddleware(t)
			e := m.Election("orders", instrument.WatchOnly())
			e.Guards()
			for _, check := range c.checks {
				e.ObserveFencing(check)
			}
			if diff := cmp.Diff(c.want, electtest.Read(m, e.Label())); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAProcessThatCampaignsAndGuardsShowsBothSides(t *testing.T) {
	m := newMiddleware(t)
	e := m.Election("orders")
	before := electtest.Read(m, e.Label())
	e.ObserveFencing(admits(4))
	if diff := cmp.Diff(before.With(checks(1, 0, 0, 4)), electtest.Read(m, e.Label())); diff != "" {
		t.Error(diff)
	}
}

func TestLocksUnderASharedLabelAddTheirChecksAndShowNoToken(t *testing.T) {
	m := newMiddleware(t, instrument.WithRedactor(redact.Constant()))
	const locks = 500 // more than one sweep of a shared label
	for i := range locks {
		e := m.Named(string(rune('a'+i%26))+string(rune('a'+i/26)), instrument.WatchOnly())
		e.ObserveFencing(admits(uint64(i)))
		e.ObserveFencing(refuses(uint64(i)))
	}
	want := checks(locks, locks, 0, -1)
	if diff := cmp.Diff(want, electtest.Read(m, redact.Redacted)); diff != "" {
		t.Error(diff)
	}
	m.Named("aa", instrument.WatchOnly()).Forget() // what it counted stays under the shared label
	if diff := cmp.Diff(want, electtest.Read(m, redact.Redacted)); diff != "" {
		t.Error(diff)
	}
}

func TestChecksOfALockThatWasForgottenAreNotRecorded(t *testing.T) {
	m := newMiddleware(t)
	e := m.Election("orders", instrument.WatchOnly())
	e.ObserveFencing(admits(1))
	e.Forget()
	e.Guards()
	e.ObserveFencing(admits(2))
	if diff := cmp.Diff(electtest.Series{}, electtest.Read(m, e.Label())); diff != "" {
		t.Error(diff)
	}
	var none *instrument.Election
	none.Guards()
	none.ObserveFencing(admits(3))
}

func TestCountingACheckAllocatesNothing(t *testing.T) {
	e := newMiddleware(t).Election("orders")
	e.Guards()
	if n := testing.AllocsPerRun(1000, func() { e.ObserveFencing(admits(7)) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
