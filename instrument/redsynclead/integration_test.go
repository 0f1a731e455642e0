//go:build integration

package redsynclead

import (
	"os"
	"testing"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"

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
	for name, k := range kinds {
		suite := k.suite(3*time.Second, func(t testing.TB) *redsync.Redsync { return redsync.New(goredis.NewPool(connect(t, address))) })
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
