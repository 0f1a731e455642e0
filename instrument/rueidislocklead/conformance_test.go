package rueidislocklead

import (
	"testing"
	"time"

	"github.com/redis/rueidis/rueidislock"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
)

// suites are those of the two ways to take a lock.
func suites(lockers func(testing.TB) rueidislock.Locker) map[string]electtest.Suite {
	suite := func(waits bool, make func(rueidislock.Locker, string) instrument.Acquirer) electtest.Suite {
		return electtest.Suite{
			New:   func(t testing.TB, lock string) instrument.Acquirer { return make(lockers(t), lock) },
			Waits: waits, HidesRenewals: true, Options: []instrument.ElectionOption{instrument.Backend("redis")},
		}
	}
	return map[string]electtest.Suite{"waiting": suite(true, NewLock), "answering at once": suite(false, NewTryLock)}
}

func TestConformance(t *testing.T) {
	l := newLocker()
	for name, suite := range suites(func(t testing.TB) rueidislock.Locker {
		t.Cleanup(func() { time.Sleep(time.Minute) }) // of the virtual clock, for what is released in the background
		return l
	}) {
		suite.VirtualTime = true
		suite.Lose = func(_ testing.TB, lock string) { l.lose(lock) }
		suite.Break = func(testing.TB, string) func() {
			l.breaks(deaf)
			return func() { l.breaks(none) }
		}
		t.Run(name, func(t *testing.T) { electtest.Conformance(t, suite) })
	}
}
