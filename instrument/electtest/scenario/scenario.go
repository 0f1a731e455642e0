// Package scenario is the script with which all exporters are compared: it
// produces every metric of the catalogue in one process, on a virtual clock.
//
//	synctest.Test(t, func(t *testing.T) {
//		err := scenario.Play(m)
//		series := gathered(exporter)
//		time.Sleep(scenario.Length) // until the last attempt has ended
//	})
//
// It belongs only in tests.
package scenario

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/redact"
)

// Secrets are parts of the names and error texts of the script; none of them
// may leave the process.
var Secrets = []string{"tenant", "primary", "ledger", "refused", "no disk"}

// Length is how long after Play the script still has an attempt in flight; a
// test waits that long before its bubble ends.
const Length = time.Minute

// Redactor is the policy of the golden file: hashed labels under a fixed key.
func Redactor() *redact.Policy {
	return redact.Hash([]byte("0123456789abcdef0123456789abcdef"), "k1")
}

// Play runs the script in a synctest bubble. When it returns, a leader holds
// its lock, and an attempt is in flight.
func Play(m *instrument.Middleware) error { return PlayIn(m, time.Second) }

// PlayIn runs the script with that length for each of its seconds, on any
// clock.
func PlayIn(m *instrument.Middleware, second time.Duration) error {
	ctx := context.Background()
	playJob(ctx, m, second)
	playWitness(m, second)
	playStore(m)
	lead := m.Election("primary", instrument.Hold(), instrument.LeaseDuration(15*second), instrument.Backend("etcd"), instrument.MaxLeaders(2))
	term, err := lead.Acquire(ctx, electtest.Wins(instrument.NewLease(nil, instrument.Token(12),
		instrument.RenewWith(func(context.Context) error { time.Sleep(second / 50); return nil }))))
	if err != nil {
		return err
	}
	time.Sleep(5 * second)
	if err := term.Renew(ctx); err != nil {
		return err
	}
	go func() {
		_, _ = lead.Acquire(ctx, electtest.NewElector(electtest.Step{Wait: 30 * second, Err: instrument.ErrContended}))
	}()
	time.Sleep(2 * second)
	return nil
}

// playJob runs a periodic job to a good, a failed and a late end, and fails to
// start it twice.
func playJob(ctx context.Context, m *instrument.Middleware, second time.Duration) {
	job := m.Election("tenant-42/nightly", instrument.LeaseDuration(10*second), instrument.ExpectEvery(60*second), instrument.Backend("redis"), instrument.Family("nightly"))
	run := func(d time.Duration, err error) {
		_ = job.Run(ctx, electtest.Wins(instrument.NewLease(nil, instrument.Token(7))), func(context.Context, *instrument.Term) error {
			time.Sleep(d)
			return err
		})
	}
	run(3*second, nil)
	run(9*second, errors.New("no disk"))
	run(12*second, nil)
	_, _ = job.Acquire(ctx, electtest.Fails(fmt.Errorf("refused: %w", instrument.ErrBackend)))
	_, _ = job.Acquire(ctx, electtest.Fails(instrument.ErrContended))
}

// playWitness sees, as a standby that polls, how a leader gives its lock up and
// another takes it.
func playWitness(m *instrument.Middleware, second time.Duration) {
	e := m.Election("ledger", instrument.Hold(), instrument.Backend("kubernetes"))
	e.Identify("ledger-pod-3")
	sees := func(state instrument.BackendState, holder string, token uint64) {
		view := instrument.BackendView{State: state, Holder: holder, Token: token, Counted: true, Every: 2 * second}
		if state == instrument.BackendHeld {
			view.Expiry, view.Granted = time.Now().Add(15*second), 15*second
		}
		e.ObserveBackend(view)
	}
	sees(instrument.BackendHeld, "ledger-pod-1", 4)
	time.Sleep(2 * second)
	sees(instrument.BackendVacant, "", 4)
	time.Sleep(4 * second)
	sees(instrument.BackendHeld, "ledger-pod-2", 5)
}

// playStore guards a store, and refuses a late write and one without a token.
func playStore(m *instrument.Middleware) {
	e := m.Election("ledger-store", instrument.WatchOnly())
	e.Guards()
	for _, result := range []catalog.FencingResult{catalog.FencingAdmitted, catalog.FencingAdmitted, catalog.FencingStale} {
		e.ObserveFencing(instrument.FencingCheck{Result: result, Highest: 1<<53 + 2, Seen: true})
	}
	e.ObserveFencing(instrument.FencingCheck{Result: catalog.FencingMissing})
}
