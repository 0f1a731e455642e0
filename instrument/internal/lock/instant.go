package lock

import (
	"math"
	"time"
)

// Instant is a reading of the monotonic clock in nanoseconds. The middleware
// was made at Origin, so that an instant within the Horizon before it is still
// more than zero, which means unknown.
type Instant int64

// Origin is the instant at which the middleware was made.
const Origin = Instant(Horizon) + 1

// Horizon is the distance beyond which an end is no end: a lease of a hundred
// years never expires, and dates beyond it overflow durations.
const Horizon = 100 * 365 * 24 * time.Hour

// Sub is the time from j to i.
func (i Instant) Sub(j Instant) time.Duration { return time.Duration(i - j) }

// Seconds is the time from j to i in seconds.
func (i Instant) Seconds(j Instant) float64 { return float64(i-j) / 1e9 }

// Add is i plus d; it saturates instead of overflowing.
func (i Instant) Add(d time.Duration) Instant {
	sum := i + Instant(d)
	switch {
	case d > 0 && sum < i:
		return math.MaxInt64
	case d < 0 && sum > i:
		return math.MinInt64
	}
	return sum
}

// EndOf is the end of a lease of that length from start on; 0, which is
// unknown, for a length that is none or beyond the Horizon.
func EndOf(start Instant, length time.Duration) Instant {
	if length <= 0 || length > Horizon {
		return 0
	}
	return start.Add(length)
}
