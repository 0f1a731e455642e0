package expect

import (
	"context"
	"testing"
	"time"
)

// A Caller makes the context of an attempt.
type Caller = func(context.Context) (context.Context, context.CancelFunc)

// ForEver is a caller that does not give up.
func ForEver(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithCancel(ctx)
}

// Within is a caller with a deadline.
func Within(d time.Duration) Caller {
	return func(ctx context.Context) (context.Context, context.CancelFunc) { return context.WithTimeout(ctx, d) }
}

// Cancels is a caller that cancels after that time.
func Cancels(after time.Duration) Caller {
	return func(ctx context.Context) (context.Context, context.CancelFunc) {
		ctx, cancel := context.WithCancel(ctx)
		time.AfterFunc(after, cancel)
		return ctx, cancel
	}
}

// MoveClock moves the clock of a server in memory, which stands still by
// itself, along with the wall clock until the test ends.
func MoveClock(t testing.TB, forward func(time.Duration)) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for last := time.Now(); ; {
			select {
			case <-done:
				return
			case now := <-tick.C:
				forward(now.Sub(last))
				last = now
			}
		}
	}()
	t.Cleanup(func() { tick.Stop(); close(done); <-stopped })
}
