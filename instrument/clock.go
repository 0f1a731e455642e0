package instrument

import (
	"sync/atomic"
	"time"
)

// Clock returns the time. The default is the system's monotonic clock.
type Clock interface {
	Now() time.Time
}

// clockPatience is how long a user's clock may take to answer.
const clockPatience = time.Second

// userClock reads a user's clock in a goroutine of its own: a clock that
// panics or blocks must not stop an election. One that blocked is not asked
// again.
type userClock struct {
	clock  Clock
	fault  func()
	broken atomic.Bool
}

func (c *userClock) now() time.Time {
	if c.broken.Load() {
		return time.Now()
	}
	answer := make(chan time.Time, 1)
	go func() {
		defer func() {
			if recover() != nil {
				c.fault()
				answer <- time.Now()
			}
		}()
		answer <- c.clock.Now()
	}()
	select {
	case t := <-answer:
		return t
	case <-time.After(clockPatience):
		c.fault()
		c.broken.Store(true)
		return time.Now()
	}
}
