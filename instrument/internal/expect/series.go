package expect

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
)

// The functions that return a Series say what one event changes in those of a
// fresh election. A test puts them together by Series.With.

// NotAcquired is the first attempt, which did not win.
func NotAcquired(reason string, after time.Duration) electtest.Series {
	return electtest.Series{
		"leader_attempts_total": 1, `leader_not_acquired_total{reason="` + reason + `"}`: 1,
		"leader_acquire_duration_seconds_count": 1, "leader_acquire_duration_seconds_sum": after.Seconds(),
	}
}

// Acquired is the first attempt, which won; see Open for its term.
func Acquired(after time.Duration) electtest.Series {
	return electtest.Series{
		"leader_attempts_total": 1, "leader_acquired_total": 1,
		"leader_acquire_duration_seconds_count": 1, "leader_acquire_duration_seconds_sum": after.Seconds(),
	}
}

// Length is that of a lease that has an end.
func Length(lease time.Duration) electtest.Series {
	return electtest.Series{"leader_lease_duration_seconds": lease.Seconds(), "leader_lease_overruns_total": 0}
}

// Open is a term whose lease ends then.
func Open(end time.Time) electtest.Series {
	return electtest.Series{
		"leader_active": 1, "leader_lease_headroom_seconds": time.Until(end).Seconds(),
		"leader_lease_expiry_timestamp_seconds": float64(end.UnixNano()) / 1e9,
	}
}

// Ended is the end of the first term after that time.
func Ended(cause string, held time.Duration) electtest.Series {
	return electtest.Series{
		`leader_terms_ended_total{cause="` + cause + `"}`: 1,
		"leader_execution_duration_seconds_count":         1, "leader_execution_duration_seconds_sum": held.Seconds(),
	}
}

// Renewals are n of one result, which took that long together.
func Renewals(result string, n int, took time.Duration) electtest.Series {
	return electtest.Series{
		`leader_renewals_total{result="` + result + `"}`: float64(n),
		"leader_renewal_duration_seconds_count":          float64(n), "leader_renewal_duration_seconds_sum": took.Seconds(),
	}
}

// RenewedByThirds are so many that worked, each a third of the lease after the
// last, and n with another result, which took that long together.
func RenewedByThirds(ok, n int, other string, took time.Duration) electtest.Series {
	w := Renewals("ok", ok, took)
	if ok > 0 {
		w = w.With(electtest.Series{"leader_lease_usage_ratio_count": float64(ok), "leader_lease_usage_ratio_sum": float64(ok) / 3})
	}
	if n > 0 {
		w[`leader_renewals_total{result="`+other+`"}`] = float64(n)
		w["leader_renewal_duration_seconds_count"] += float64(n)
	}
	return w
}

// Used is how much of the lease was over at each renewal and at the release.
func Used(lease time.Duration, at ...time.Duration) electtest.Series {
	sum := 0.
	for _, d := range at {
		sum += d.Seconds() / lease.Seconds()
	}
	return electtest.Series{"leader_lease_usage_ratio_count": float64(len(at)), "leader_lease_usage_ratio_sum": sum}
}

// Released is the first release.
func Released(result string) electtest.Series {
	return electtest.Series{`leader_releases_total{result="` + result + `"}`: 1}
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
