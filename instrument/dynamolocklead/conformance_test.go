package dynamolocklead_test

import (
	"errors"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/leaderscope/leaderscope/instrument/electtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const lease = 12 * time.Second

func TestConformance(t *testing.T) {
	x := newTable()
	x.late = lease / 200
	electtest.Conformance(t, electtest.Suite{
		New:   x.lock,
		Lease: lease, VirtualTime: true,
		Waits: true, RenewsItself: true, RenewsOnDemand: true,
		Lose:      func(_ testing.TB, lock string) { x.remove(lock) },
		Remaining: func(_ testing.TB, lock string) (time.Duration, bool) { return x.remaining(lock) },
		Break: func(testing.TB, string) (repair func()) {
			x.fail(errors.New("no route to host"))
			return func() { x.fail(nil) }
		},
	})
}

func TestConformanceOfTries(t *testing.T) {
	x := newTable()
	x.late = lease / 200
	electtest.Conformance(t, electtest.Suite{
		New:   x.tryLock,
		Lease: lease, VirtualTime: true,
		RenewsItself: true, RenewsOnDemand: true,
		Lose:      func(_ testing.TB, lock string) { x.remove(lock) },
		Remaining: func(_ testing.TB, lock string) (time.Duration, bool) { return x.remaining(lock) },
	})
}
