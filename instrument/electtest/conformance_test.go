package electtest_test

import (
	"testing"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
)

func TestTheServerInMemoryConforms(t *testing.T) {
	const lease = 9 * time.Second
	for name, c := range map[string]struct {
		waits, virtual bool
		lease          time.Duration
	}{
		"waiting, on virtual time":           {true, true, lease},
		"answering at once, on virtual time": {false, true, lease},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := electtest.NewMemory()
			electtest.Conformance(t, electtest.Suite{
				New:   func(_ testing.TB, lock string) instrument.Acquirer { return server.Acquirer(lock, c.lease, c.waits) },
				Lease: c.lease, VirtualTime: c.virtual, Waits: c.waits, RenewsItself: true, Fenced: true,
				Lose:      func(_ testing.TB, lock string) { server.Drop(lock) },
				Remaining: func(_ testing.TB, lock string) (time.Duration, bool) { return server.Remaining(lock) },
			})
		})
	}
}
