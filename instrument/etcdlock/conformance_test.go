package etcdlock

import (
	"strings"
	"testing"

	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
)

func TestConformance(t *testing.T) {
	_, c := server(t)
	own := func(of func(*concurrency.Session, string) instrument.Acquirer) func(testing.TB, string) instrument.Acquirer {
		return func(t testing.TB, lock string) instrument.Acquirer { return of(callersSession(t, c), lock) }
	}
	for name, suite := range map[string]electtest.Suite{
		"election": {Waits: true, New: func(_ testing.TB, lock string) instrument.Acquirer {
			return NewElection(c, lock, "replica-1", ttl)
		}},
		"mutex": {Waits: true, New: func(_ testing.TB, lock string) instrument.Acquirer {
			return NewMutex(c, lock, ttl)
		}},
		"try mutex": {New: func(_ testing.TB, lock string) instrument.Acquirer {
			return NewTryMutex(c, lock, ttl)
		}},
		"election on the caller's session": {Waits: true, New: own(func(s *concurrency.Session, lock string) instrument.Acquirer {
			return Election(s, concurrency.NewElection(s, lock), "replica-1")
		})},
		"mutex on the caller's session": {Waits: true, New: own(func(s *concurrency.Session, lock string) instrument.Acquirer {
			return Mutex(s, concurrency.NewMutex(s, lock))
		})},
		"try mutex on the caller's session": {New: own(func(s *concurrency.Session, lock string) instrument.Acquirer {
			return TryMutex(s, concurrency.NewMutex(s, lock))
		})},
	} {
		suite.Lease, suite.RenewsItself, suite.Fenced = ttl, true, true
		if strings.HasSuffix(name, "caller's session") {
			suite.HidesSendTimes = true
		}
		suite.Options = []instrument.ElectionOption{instrument.LeaseDuration(ttl), instrument.Backend("etcd")}
		if suite.Waits {
			suite.Options = append(suite.Options, instrument.Hold())
		}
		suite.Lose = func(t testing.TB, lock string) {
			if _, err := c.Revoke(t.Context(), waiterAt(t, c, lock+"/", 0)); err != nil {
				t.Fatal(err)
			}
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			electtest.Conformance(t, suite)
		})
	}
}
