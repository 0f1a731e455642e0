package redsynclead

import (
	"testing"
	"time"

	"github.com/go-redsync/redsync/v4"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
)

// suite is that of a kind of lock. One that renews itself reports a loss.
func (k kind) suite(ttl time.Duration, servers func(testing.TB) *redsync.Redsync) electtest.Suite {
	return electtest.Suite{
		New: func(t testing.TB, lock string) instrument.Acquirer {
			return k.elector(servers(t), lock, redsync.WithExpiry(ttl), redsync.WithTries(10000), redsync.WithRetryDelay(ttl/50))
		},
		Lease: ttl, Waits: k.waits, RenewsOnDemand: true, RenewsItself: k.renewsItself, KeepsQuiet: !k.renewsItself,
		Options: []instrument.ElectionOption{instrument.Backend("redis")},
	}
}

// One node: of contenders that ask three at the same instant none may win.
func TestConformance(t *testing.T) {
	for _, f := range []fault{refused, readOnly, ended, silent, deaf} {
		all := newNodes(1)
		for name, k := range kinds {
			suite := k.suite(9*s, func(t testing.TB) *redsync.Redsync {
				settles(t)
				return all.redsync()
			})
			suite.VirtualTime = true
			suite.Lose = func(_ testing.TB, lock string) { all.del(lock) }
			suite.Remaining = func(_ testing.TB, lock string) (time.Duration, bool) { return all.remaining(lock) }
			suite.Break = func(testing.TB, string) func() {
				all.breaks(f)
				return func() { all.breaks(none) }
			}
			t.Run(f.String()+", "+name, func(t *testing.T) { electtest.Conformance(t, suite) })
		}
	}
}
