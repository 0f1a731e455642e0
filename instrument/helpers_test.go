package instrument_test

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/redact"
)

// errBackend is a plain network error, as the net package gives it.
var errBackend error = &net.OpError{Op: "dial", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1), Port: 6379}, Err: syscall.ECONNREFUSED}

const s = time.Second

// zero is what a fresh run-mode election shows, beside what a test changes.
var zero = electtest.Series{
	"leader_attempts_total":                             0,
	"leader_acquired_total":                             0,
	`leader_not_acquired_total{reason="contended"}`:     0,
	`leader_not_acquired_total{reason="already_held"}`:  0,
	`leader_not_acquired_total{reason="timeout"}`:       0,
	`leader_not_acquired_total{reason="canceled"}`:      0,
	`leader_not_acquired_total{reason="session_lost"}`:  0,
	`leader_not_acquired_total{reason="backend_error"}`: 0,
	`leader_not_acquired_total{reason="panic"}`:         0,
	`leader_not_acquired_total{reason="unknown"}`:       0,
	"leader_active":              0,
	"leader_running":             0,
	"leader_pending":             0,
	"leader_pending_age_seconds": 0,
	`leader_execution_failures_total{cause="error"}`:   0,
	`leader_execution_failures_total{cause="panic"}`:   0,
	"leader_work_after_loss_seconds_total":             0,
	`leader_terms_ended_total{cause="released"}`:       0,
	`leader_terms_ended_total{cause="lost"}`:           0,
	`leader_terms_ended_total{cause="expired"}`:        0,
	`leader_terms_ended_total{cause="canceled"}`:       0,
	`leader_terms_ended_total{cause="abandoned"}`:      0,
	`leader_terms_ended_total{cause="gave_up"}`:        0,
	`leader_terms_ended_total{cause="release_failed"}`: 0,
	`leader_releases_total{result="ok"}`:               0,
	`leader_releases_total{result="error"}`:            0,
	`leader_releases_total{result="not_owner"}`:        0,
	`leader_renewals_total{result="ok"}`:               0,
	`leader_renewals_total{result="error"}`:            0,
	`leader_renewals_total{result="timeout"}`:          0,
	`leader_renewals_total{result="canceled"}`:         0,
	`leader_renewals_total{result="lost"}`:             0,
	"leader_max_leaders":                               1,
	`leader_elector_info{mode="run"}`:                  1,
}

// leased is zero for an election that declares a lease of that length.
func leased(d time.Duration) electtest.Series {
	return zero.With(electtest.Series{
		"leader_lease_duration_seconds": d.Seconds(),
		"leader_lease_overruns_total":   0,
	})
}

// held is a set as a hold-mode election shows it.
func held(r electtest.Series) electtest.Series {
	return r.Without(`leader_elector_info{mode="run"}`).With(electtest.Series{`leader_elector_info{mode="hold"}`: 1})
}

func newMiddleware(t *testing.T, opts ...instrument.Option) *instrument.Middleware {
	t.Helper()
	m, err := instrument.New(append([]instrument.Option{instrument.WithRedactor(redact.Raw())}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// check compares the whole set of series of the lock "x". Buckets, sums of
// histograms that have a count, and the timestamps of terms are compared only
// where the test names them.
func check(t *testing.T, m *instrument.Middleware, at string, want electtest.Series) {
	t.Helper()
	got := electtest.Read(m, "x")
	for k := range want { // a histogram that is named by its count has a sum
		if sum := strings.TrimSuffix(k, "_count") + "_sum"; strings.HasSuffix(k, "_count") {
			if _, named := want[sum]; !named {
				want = want.With(electtest.Series{sum: 0})
			}
		}
	}
	unnamed := cmpopts.IgnoreMapEntries(func(k string, _ float64) bool {
		if _, named := want[k]; named {
			return false
		}
		return k == "leader_last_acquired_timestamp_seconds" || k == "leader_last_ended_timestamp_seconds" || isBucket(k)
	})
	if diff := cmp.Diff(want, got, unnamed, cmpopts.EquateApprox(0, 1e-6)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", at, diff)
	}
}

// counted is what of these series is not zero.
func counted(m *instrument.Middleware, prefixes ...string) map[string]float64 {
	found := map[string]float64{}
	for key, v := range electtest.Read(m, "x") {
		if v != 0 && slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(key, p) }) {
			found[key] = v
		}
	}
	return found
}

func isBucket(key string) bool {
	for i := range key {
		if key[i] == '{' {
			return i > 7 && key[i-7:i] == "_bucket"
		}
	}
	return false
}

// classified takes errors that are one of these for that reason.
func classified(reason instrument.Reason, targets ...error) instrument.ElectionOption {
	return instrument.Classify(instrument.ClassifierFunc(func(err error) (instrument.Reason, bool) {
		for _, target := range targets {
			if errors.Is(err, target) {
				return reason, true
			}
		}
		return 0, false
	}))
}

// bubble runs a test on a virtual clock; leaked goroutines fail it.
func bubble(t *testing.T, name string, f func(t *testing.T)) {
	t.Run(name, func(t *testing.T) { synctest.Test(t, f) })
}

func acquire(t *testing.T, e *instrument.Election, a instrument.Acquirer) *instrument.Term {
	t.Helper()
	term, err := e.Acquire(context.Background(), a)
	if err != nil {
		t.Fatal(err)
	}
	return term
}

func release(t *testing.T, term *instrument.Term) {
	t.Helper()
	if err := term.Release(context.Background()); err != nil {
		t.Fatal(err)
	}
}
