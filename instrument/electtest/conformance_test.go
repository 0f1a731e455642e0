package electtest_test

import (
	"testing"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
)

func TestTheServerInMemoryConforms(t *testing.T) {
	for name, waits := range map[string]bool{"waiting": true, "answering at once": false} {
		t.Run(name, func(t *testing.T) {
			server := electtest.NewMemory()
			const lease = 300 * time.Millisecond
			electtest.Conformance(t, electtest.Suite{
				New:   func(_ testing.TB, lock string) instrument.Acquirer { return server.Acquirer(lock, lease, waits) },
				Waits: waits, Lease: lease, Renews: true, Fenced: true,
				Lose: func(_ testing.TB, lock string) { server.Drop(lock) },
			})
		})
	}
}
