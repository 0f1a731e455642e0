package libraries

import (
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/bsm/redislock"
	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	instrredsync "github.com/leaderscope/leaderscope/instrument/redsync"
	instrrueidis "github.com/leaderscope/leaderscope/instrument/rueidislock"
)

const ttl = 2 * time.Second

// clockStep is more than the clock of the server in memory is late.
const clockStep = 50 * time.Millisecond

// redisInMemory starts a server whose keys expire: its own clock stands still
// until it is moved.
func redisInMemory(t *testing.T) string {
	t.Helper()
	s := miniredis.RunT(t)
	const step = 10 * time.Millisecond
	tick := time.NewTicker(step)
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		last := time.Now()
		for {
			select {
			case <-done:
				return
			case now := <-tick.C:
				s.FastForward(now.Sub(last))
				last = now
			}
		}
	}()
	t.Cleanup(func() { tick.Stop(); close(done); <-stopped })
	return s.Addr()
}

func TestRedisLocksConform(t *testing.T) { conformOnRedis(t, redisInMemory(t)) }

func conformOnRedis(t *testing.T, address string) {
	admin := goRedis(t, address)
	drop := func(prefix string) func(t testing.TB, lock string) {
		return func(t testing.TB, lock string) {
			if n, err := admin.Del(t.Context(), prefix+lock).Result(); err != nil || n != 1 {
				t.Fatalf("%d keys dropped: %v", n, err)
			}
		}
	}
	remaining := func(t testing.TB, lock string) (time.Duration, bool) {
		left, err := admin.PTTL(t.Context(), lock).Result()
		if err != nil {
			t.Fatal(err)
		}
		return left + clockStep, left > 0
	}
	for name, suite := range map[string]electtest.Suite{
		"redislock": {
			New: func(t testing.TB, lock string) instrument.Acquirer {
				return redislockTry(redislock.New(goRedis(t, address)), lock, ttl)
			},
			Options: []instrument.ElectionOption{instrument.Classify(redislockErrors)},
			Lease:   ttl, RenewsOnDemand: true, KeepsQuiet: true, Lose: drop(""), Remaining: remaining,
		},
		"redislock that tries again": {
			New: func(t testing.TB, lock string) instrument.Acquirer {
				return redislockWait(redislock.New(goRedis(t, address)), lock, ttl)
			},
			Options: []instrument.ElectionOption{instrument.Classify(redislockRetryErrors)},
			Waits:   true, Lease: ttl, KeepsQuiet: true, Lose: drop(""), Remaining: remaining,
		},
		"redsync": {
			New: func(t testing.TB, lock string) instrument.Acquirer {
				return instrredsync.NewTry(redsyncMutex(t, address, lock))
			},
			Options: []instrument.ElectionOption{instrument.Classify(redsyncErrors)},
			Lease:   ttl, RenewsOnDemand: true, KeepsQuiet: true, Lose: drop(""), Remaining: remaining,
		},
		"redsync that tries again": {
			New: func(t testing.TB, lock string) instrument.Acquirer {
				return instrredsync.New(redsyncMutex(t, address, lock))
			},
			Options: []instrument.ElectionOption{instrument.Classify(redsyncErrors)},
			Waits:   true, Lease: ttl, RenewsOnDemand: true, KeepsQuiet: true, Lose: drop(""), Remaining: remaining,
		},
		"rueidislock": {
			New: func(t testing.TB, lock string) instrument.Acquirer {
				return instrrueidis.New(rueidisLocker(t, address).TryWithContext, lock)
			},
			Options: []instrument.ElectionOption{instrument.Classify(rueidislockErrors), instrument.HiddenRenewals()},
			Lose:    drop("rueidislock:0:"), LossWithin: ttl, ReleaseIgnoresLoss: true,
		},
		"rueidislock that waits": {
			New: func(t testing.TB, lock string) instrument.Acquirer {
				return instrrueidis.New(rueidisLocker(t, address).WithContext, lock)
			},
			Options: []instrument.ElectionOption{instrument.Classify(rueidislockErrors), instrument.HiddenRenewals()},
			Waits:   true, Lose: drop("rueidislock:0:"), LossWithin: ttl, ReleaseIgnoresLoss: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			electtest.Conformance(t, suite)
		})
	}
}

func goRedis(t testing.TB, address string) *redis.Client {
	c := redis.NewClient(&redis.Options{Addr: address, MaintNotificationsConfig: nil})
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func redsyncMutex(t testing.TB, address, lock string) *redsync.Mutex {
	return redsync.New(goredis.NewPool(goRedis(t, address))).NewMutex(lock, redsync.WithExpiry(ttl),
		redsync.WithTries(10000), redsync.WithRetryDelay(20*time.Millisecond))
}

// rueidisLocker has one key for each lock, and no client-side cache, which
// the server in memory does not know.
func rueidisLocker(t testing.TB, address string) rueidislock.Locker {
	l, err := rueidislock.NewLocker(rueidislock.LockerOption{
		ClientOption: rueidis.ClientOption{InitAddress: []string{address}, DisableCache: true},
		KeyMajority:  1, KeyValidity: ttl, ExtendInterval: ttl / 4,
		TryNextAfter: time.Second, // 20 ms if not set, too short on a busy machine
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}
