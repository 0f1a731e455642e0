// Package observetest shows what a watch has made of what its backend said. It is
// for tests of the watches.
package observetest

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leaderscope/leaderscope/cmd/leader-observer/internal/observe"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/redact"
)

// Name is that of the backend.
const Name = "b"

// Fixture is a backend whose watch is under test.
type Fixture struct {
	*observe.Backend
	Middleware *instrument.Middleware
	Health     *observe.Health
	Options    observe.Options

	t *testing.T
}

// New makes a backend that is out of reach; locks whose record is gone are
// forgotten after that time, or never if it is 0.
func New(t *testing.T, forgetAfter time.Duration) *Fixture {
	t.Helper()
	m, err := instrument.New(instrument.WithRedactor(redact.Raw()), instrument.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	f := &Fixture{
		t: t, Middleware: m, Health: observe.NewHealth(m, Name),
		Options: observe.Options{ForgetAfter: forgetAfter, Logger: slog.New(slog.DiscardHandler)},
	}
	f.Backend = observe.New(f.Health, f.Options)
	return f
}

// Series are those of a lock, by their names without leader_backend_ and with
// no label but holder, which is written behind a slash. The time of the last
// event and the buckets of the histogram are left out.
func (f *Fixture) Series(name string) electtest.Series {
	got := electtest.Series{}
	for key, v := range electtest.ReadBackend(f.Middleware, name) {
		metric, labels, _ := strings.Cut(strings.TrimSuffix(key, "}"), "{")
		if metric == catalog.BackendLastEvent.Name() || strings.HasSuffix(metric, "_bucket") {
			continue
		}
		metric = strings.TrimPrefix(metric, "leader_backend_")
		if _, holder, is := strings.Cut(labels, `holder="`); is {
			metric = "holder/" + holder[:strings.IndexByte(holder, '"')]
		}
		got[metric] = v
	}
	return got
}

// Shows fails the test if a lock has other series.
func (f *Fixture) Shows(at, lock string, want electtest.Series) {
	f.t.Helper()
	if diff := cmp.Diff(want, f.Series(lock)); diff != "" {
		f.t.Errorf("%s: %s (-want +got):\n%s", at, lock, diff)
	}
}

// Held is what a lock shows that is held by that holder, after so many terms and
// seconds of vacancy.
func Held(by string, terms, vacant float64) electtest.Series {
	return electtest.Series{"up": 1, "held": 1, "holder/" + by: 1, "terms_total": terms, "vacant_seconds_total": vacant}
}

// Free is the series of a lock without a holder.
func Free(terms, vacant float64) electtest.Series {
	return electtest.Series{"up": 1, "held": 0, "terms_total": terms, "vacant_seconds_total": vacant}
}

// Unknown is what a lock shows while its backend is away.
func Unknown(terms, vacant float64) electtest.Series {
	return electtest.Series{"up": 0, "terms_total": terms, "vacant_seconds_total": vacant}
}

// Gaps are the handovers that a lock shows once there was one.
func Gaps(n, seconds float64) electtest.Series {
	return electtest.Series{"handover_seconds_count": n, "handover_seconds_sum": seconds}
}
