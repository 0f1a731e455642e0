package redislocklead

import (
	"testing"
	"time"

	"github.com/bsm/redislock"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
)

// suites are those of the ways to take and hold a lock. A lock with its own
// renewals reports a loss.
func suites(ttl time.Duration, make func(t testing.TB, lock string, ttl time.Duration, waits bool, opts ...Option) instrument.Acquirer) map[string]electtest.Suite {
	suite := func(waits bool, opts ...Option) electtest.Suite {
		return electtest.Suite{
			New:   func(t testing.TB, lock string) instrument.Acquirer { return make(t, lock, ttl, waits, opts...) },
			Lease: ttl, Waits: waits, RenewsOnDemand: true, RenewsItself: len(opts) > 0, KeepsQuiet: len(opts) == 0,
			Options: []instrument.ElectionOption{instrument.Backend("redis")},
		}
	}
	return map[string]electtest.Suite{
		"waiting":                               suite(true),
		"answering at once":                     suite(false),
		"waiting, renewing by itself":           suite(true, WithAutoRenew()),
		"answering at once, renewing by itself": suite(false, WithAutoRenew()),
	}
}

// elector takes locks on a server in memory. What it clears up in the
// background has an hour of the virtual clock for it.
func (r *server) elector(t testing.TB, lock string, ttl time.Duration, waits bool, opts ...Option) instrument.Acquirer {
	t.Cleanup(func() { time.Sleep(time.Hour) })
	if waits {
		return NewLock(redislock.New(r), lock, ttl, opts...)
	}
	return NewTryLock(redislock.New(r), lock, ttl, opts...)
}

func TestConformance(t *testing.T) {
	for _, f := range []fault{refused, readOnly, ended, silent, deaf} {
		r := newServer()
		for name, suite := range suites(9*s, r.elector) {
			suite.VirtualTime = true
			suite.Lose = func(_ testing.TB, lock string) { r.del(lock) }
			suite.Remaining = func(_ testing.TB, lock string) (time.Duration, bool) { return r.remaining(lock) }
			suite.Break = func(testing.TB, string) func() {
				r.breaks(f)
				return func() { r.breaks(none) }
			}
			t.Run(f.String()+", "+name, func(t *testing.T) { electtest.Conformance(t, suite) })
		}
	}
}
