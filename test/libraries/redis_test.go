package libraries

import (
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
)

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

func goRedis(t testing.TB, address string) *redis.Client {
	c := redis.NewClient(&redis.Options{Addr: address, MaintNotificationsConfig: nil})
	t.Cleanup(func() { _ = c.Close() })
	return c
}
