package natskv

import (
	"testing"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
)

func TestConformance(t *testing.T) { conform(t, embedded(t).ClientURL()) }

func conform(t *testing.T, url string) {
	js := client(t, url)
	kv := bucket(t, js, ttl)
	for name, suite := range map[string]electtest.Suite{
		"waiting": {Waits: true, New: func(t testing.TB, lock string) instrument.Acquirer {
			return NewElection(bucket(t, client(t, url), ttl), lock, "replica-1")
		}},
		"answering at once": {New: func(t testing.TB, lock string) instrument.Acquirer {
			return NewTryElection(bucket(t, client(t, url), ttl), lock, "replica-1")
		}},
	} {
		suite.Lease, suite.RenewsItself, suite.Fenced = ttl, true, true
		suite.Options = []instrument.ElectionOption{instrument.LeaseDuration(ttl), instrument.Backend("nats")}
		if suite.Waits {
			suite.Options = append(suite.Options, instrument.Hold())
		}
		suite.Lose = func(t testing.TB, lock string) {
			if err := kv.Purge(t.Context(), lock); err != nil {
				t.Fatal(err)
			}
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			electtest.Conformance(t, suite)
		})
	}
}
