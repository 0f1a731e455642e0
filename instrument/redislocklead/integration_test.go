//go:build integration

package redislocklead

import (
	"os"
	"testing"
	"time"

	"github.com/bsm/redislock"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
)

// address is where a real server listens.
func address(t *testing.T) string {
	t.Helper()
	address := os.Getenv("LEADERSCOPE_REDIS")
	if address == "" {
		t.Fatal("LEADERSCOPE_REDIS is not set; it names a Redis server, such as 127.0.0.1:6379")
	}
	return address
}

func TestConformanceOfAServer(t *testing.T) {
	address := address(t)
	admin := connect(t, address)
	for name, suite := range suites(3*time.Second, func(t testing.TB, lock string, ttl time.Duration, waits bool, opts ...Option) instrument.Acquirer {
		client := redislock.New(connect(t, address))
		if waits {
			return NewLock(client, lock, ttl, opts...)
		}
		return NewTryLock(client, lock, ttl, opts...)
	}) {
		suite.Lose = func(t testing.TB, lock string) {
			if n, err := admin.Del(t.Context(), lock).Result(); err != nil || n != 1 {
				t.Fatalf("%d keys dropped: %v", n, err)
			}
		}
		suite.Remaining = func(t testing.TB, lock string) (time.Duration, bool) {
			timeLeft, err := admin.PTTL(t.Context(), lock).Result()
			if err != nil {
				t.Fatal(err)
			}
			return timeLeft + time.Millisecond, timeLeft > 0
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			electtest.Conformance(t, suite)
		})
	}
}

func TestAttacksOnAServer(t *testing.T) { attack(t, address(t)) }
