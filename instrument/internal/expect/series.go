package expect

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
)

// The functions that return a Series say what one event changes in those of a
// fresh election. A test puts them together by Series.With.

// NotAcquired is the first attempt, which did not win.
func NotAcquired(reason string, after time.Duration) electtest.Series {
	return electtest.Series{
		electtest.Of(catalog.Attempts): 1, electtest.Of(catalog.NotAcquired, reason): 1,
		catalog.AcquireDuration.Count(): 1, catalog.AcquireDuration.Sum(): after.Seconds(),
	}
}

// Acquired is the first attempt, which won; see Open for its term.
func Acquired(after time.Duration) electtest.Series {
	return electtest.Series{
		electtest.Of(catalog.Attempts): 1, electtest.Of(catalog.Acquired): 1,
		catalog.AcquireDuration.Count(): 1, catalog.AcquireDuration.Sum(): after.Seconds(),
	}
}

// Length is that of a lease that has an end.
func Length(lease time.Duration) electtest.Series {
	return electtest.Series{electtest.Of(catalog.LeaseDuration): lease.Seconds(), electtest.Of(catalog.LeaseOverruns): 0}
}

// Open is a term whose lease ends then.
func Open(end time.Time) electtest.Series {
	return electtest.Series{
		electtest.Of(catalog.Active): 1, electtest.Of(catalog.LeaseHeadroom): time.Until(end).Seconds(),
		electtest.Of(catalog.LeaseExpiry): float64(end.UnixNano()) / 1e9,
	}
}

// Ended is the end of the first term after that time.
func Ended(cause string, held time.Duration) electtest.Series {
	return electtest.Series{
		electtest.Of(catalog.TermsEnded, cause): 1,
		catalog.ExecutionDuration.Count():       1, catalog.ExecutionDuration.Sum(): held.Seconds(),
	}
}

// Renewals are n of one result, which took that long together.
func Renewals(result string, n int, took time.Duration) electtest.Series {
	return electtest.Series{
		electtest.Of(catalog.Renewals, result): float64(n),
		catalog.RenewalDuration.Count():        float64(n), catalog.RenewalDuration.Sum(): took.Seconds(),
	}
}

// RenewedByThirds are so many that worked, each a third of the lease after the
// last, and n with another result, which took that long together.
func RenewedByThirds(ok, n int, other string, took time.Duration) electtest.Series {
	w := Renewals("ok", ok, took)
	if ok > 0 {
		w = w.With(electtest.Series{catalog.LeaseUsageRatio.Count(): float64(ok), catalog.LeaseUsageRatio.Sum(): float64(ok) / 3})
	}
	if n > 0 {
		w[electtest.Of(catalog.Renewals, other)] = float64(n)
		w[catalog.RenewalDuration.Count()] += float64(n)
	}
	return w
}

// Used is how much of the lease was over at each renewal and at the release.
func Used(lease time.Duration, at ...time.Duration) electtest.Series {
	sum := 0.
	for _, d := range at {
		sum += d.Seconds() / lease.Seconds()
	}
	return electtest.Series{catalog.LeaseUsageRatio.Count(): float64(len(at)), catalog.LeaseUsageRatio.Sum(): sum}
}

// Released is the first release.
func Released(result string) electtest.Series {
	return electtest.Series{electtest.Of(catalog.Releases, result): 1}
}

// Counters compares the counters of Lock that are not 0, leader_active, and the
// other series that begin so: for tests that do not know the rest.
func Counters(t testing.TB, m *instrument.Middleware, want electtest.Series, others ...string) {
	t.Helper()
	compared := append(others, "leader_not_acquired_", "leader_acquired_", "leader_terms_ended_",
		"leader_renewals_", "leader_releases_", "leader_lease_overruns_", "leader_active")
	got := electtest.Series{}
	for key, v := range electtest.Read(m, Lock) {
		for _, prefix := range compared {
			if _, named := want[key]; named || v != 0 && strings.HasPrefix(key, prefix) {
				got[key] = v
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
