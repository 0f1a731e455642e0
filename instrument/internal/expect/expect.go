// Package expect compares everything that an election exports with what a test
// expects, for the packages beside the core. It belongs in tests only.
package expect

import (
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/redact"
)

// Lock is the name and the label of the lock that a test looks at.
const Lock = "x"

// Middleware makes a quiet middleware whose labels are the raw names.
func Middleware(t testing.TB) *instrument.Middleware {
	t.Helper()
	m, err := instrument.New(instrument.WithRedactor(redact.Raw()), instrument.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Fresh is what an election with these options exports before anything has
// happened. A test adds what it expects to change, by Series.With.
func Fresh(t testing.TB, opts ...instrument.ElectionOption) electtest.Series {
	t.Helper()
	m := Middleware(t)
	m.Election(Lock, opts...)
	return electtest.Read(m, Lock)
}

// Whole compares all series of Lock. Timestamps and histogram buckets are
// compared only where want names them.
func Whole(t testing.TB, m *instrument.Middleware, at string, want electtest.Series) {
	t.Helper()
	unnamed := cmpopts.IgnoreMapEntries(func(key string, _ float64) bool {
		_, named := want[key]
		return !named && (strings.Contains(key, "_bucket{") || strings.Contains(key, "_timestamp_"))
	})
	if diff := cmp.Diff(want, electtest.Read(m, Lock), unnamed, cmpopts.EquateApprox(0, 1e-6)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", at, diff)
	}
}

// Bubble runs a subtest on a virtual clock. A goroutine that outlives it fails
// the test.
func Bubble(t *testing.T, name string, test func(t *testing.T)) {
	t.Run(name, func(t *testing.T) { synctest.Test(t, test) })
}

// Counts compares the series of Lock that do not measure time with those of an
// election that has done nothing, and what changed since: for tests on the wall
// clock. What changed names is compared in any case; a histogram that has
// observed nothing is absent.
func Counts(t testing.TB, m *instrument.Middleware, at string, fresh, changed electtest.Series) {
	t.Helper()
	if diff := CountsDiff(m, fresh, changed); diff != "" {
		t.Errorf("%s (-want +got):\n%s", at, diff)
	}
}

// CountsDiff is what Counts reports; empty when there is no difference.
func CountsDiff(m *instrument.Middleware, fresh, changed electtest.Series) string {
	want, got := fresh.With(changed), electtest.Read(m, Lock)
	measured := cmpopts.IgnoreMapEntries(func(key string, _ float64) bool {
		if _, named := changed[key]; named {
			return false
		}
		return strings.HasSuffix(key, "_sum") || slices.ContainsFunc([]string{"_bucket{", "_timestamp_", "_headroom_", "_age_", "work_after_loss"},
			func(part string) bool { return strings.Contains(key, part) })
	})
	maps.DeleteFunc(want, func(key string, n float64) bool { return n == 0 && strings.HasSuffix(key, "_count") })
	return cmp.Diff(want, got, measured)
}
