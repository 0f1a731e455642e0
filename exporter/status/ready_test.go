package status_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/leaderscope/leaderscope/exporter/status"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/redact"
)

func TestReadinessFollowsItsPolicy(t *testing.T) {
	type check struct {
		at   time.Duration // from the beginning, in whole seconds
		want string
	}
	const ready = "ready\n"
	notLeading := "not ready: this process does not lead lock_name=\"orders\"\n"
	overrun := "not ready: a lease is overrun, lock_name=\"orders\"\n"
	for name, c := range map[string]struct {
		policies func(e *instrument.Election) []status.Policy
		play     func(t *testing.T, e *instrument.Election)
		want     []check
	}{
		"a standby is ready by default": {func(*instrument.Election) []status.Policy { return nil },
			func(*testing.T, *instrument.Election) {}, []check{{0, ready}}},
		"so is an overrun leader": {func(*instrument.Election) []status.Policy { return []status.Policy{{}} },
			func(t *testing.T, e *instrument.Election) { acquire(t, e, renewable()) }, []check{{0, ready}, {11 * s, ready}}},
		"leader only, until its lease ends": {func(e *instrument.Election) []status.Policy { return []status.Policy{status.LeaderOnly(e)} },
			func(t *testing.T, e *instrument.Election) { acquire(t, e, renewable()) },
			[]check{{0, ready}, {9 * s, ready}, {10 * s, notLeading}}},
		"leader only, a standby": {func(e *instrument.Election) []status.Policy { return []status.Policy{status.LeaderOnly(e)} },
			func(t *testing.T, e *instrument.Election) { e.Begin(context.Background()) }, []check{{0, notLeading}}},
		"leader only, of a lock that is forgotten": {func(e *instrument.Election) []status.Policy { return []status.Policy{status.LeaderOnly(e)} },
			func(t *testing.T, e *instrument.Election) { acquire(t, e, renewable()); e.Forget() }, []check{{0, notLeading}}},
		"leader only, of no election": {func(*instrument.Election) []status.Policy { return []status.Policy{status.LeaderOnly(nil)} },
			func(*testing.T, *instrument.Election) {}, []check{{0, "not ready: this process does not lead lock_name=\"\"\n"}}},
		"not while overrun": {func(*instrument.Election) []status.Policy { return []status.Policy{status.NotWhileOverrun()} },
			func(t *testing.T, e *instrument.Election) {
				term := acquire(t, e, renewable())
				time.AfterFunc(13*s, func() { _ = term.Renew(context.Background()) })
			}, []check{{0, ready}, {10 * s, ready}, {11 * s, overrun}, {14 * s, ready}, {24 * s, overrun}}},
		"both": {func(e *instrument.Election) []status.Policy {
			return []status.Policy{status.NotWhileOverrun(), status.LeaderOnly(e)}
		}, func(t *testing.T, e *instrument.Election) {
			term := acquire(t, e, renewable())
			time.AfterFunc(12*s, func() { _ = term.Release(context.Background()) })
		}, []check{{0, ready}, {11 * s, overrun}, {13 * s, notLeading}}},
	} {
		bubble(t, name, func(t *testing.T) {
			m := newMiddleware(t)
			e := m.Election("orders", instrument.Hold(), instrument.LeaseDuration(10*s))
			h := status.Ready(m, c.policies(e)...)
			c.play(t, e)
			begin := time.Now()
			for _, want := range c.want {
				time.Sleep(want.at - time.Since(begin))
				r := get(t, h, "/ready")
				code := http.StatusServiceUnavailable
				if want.want == ready {
					code = http.StatusOK
				}
				if got := text(t, r); got != want.want || r.StatusCode != code || r.Header.Get("Content-Type") != asPlain {
					t.Errorf("after %v: %d %s %q, want %d %q", want.at, r.StatusCode, r.Header.Get("Content-Type"), got, code, want.want)
				}
			}
		})
	}
}

func TestAReasonNamesTheLabelOnOneLine(t *testing.T) {
	const name = "tenant-42\n<script>/orders"
	for mode, policy := range map[string]instrument.Redactor{
		"raw": redact.Raw(), "constant": redact.Constant(), "hash": redact.Hash([]byte("0123456789abcdef0123456789abcdef"), "k1"),
	} {
		m := newMiddleware(t, instrument.WithRedactor(policy))
		e := m.Named(name)
		want := "not ready: this process does not lead lock_name=\"" + e.Label() + "\"\n"
		if got := text(t, get(t, status.Ready(m, status.LeaderOnly(e)), "/")); got != want {
			t.Errorf("%s: %q, want %q", mode, got, want)
		}
	}
}
