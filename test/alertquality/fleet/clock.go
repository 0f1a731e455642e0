package fleet

import "time"

// clock is that of a process: the time of the world and its own error.
type clock struct {
	sim    *sim
	offset time.Duration
}

// Now implements instrument.Clock.
func (c *clock) Now() time.Time { return c.of(c.sim.now) }

// of is what the clock shows at a time of the world.
func (c *clock) of(t time.Duration) time.Time { return Epoch.Add(t + c.offset) }
