package interruptible

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
)

var errBusy = errors.New("busy")

// slow answers after that time, even if its caller has left.
func slow(after time.Duration, n int, err error) func() (int, error) {
	return func() (int, error) {
		time.Sleep(after)
		return n, err
	}
}

func TestTheWaitEndsWithTheContext(t *testing.T) {
	const s = time.Second
	type answer struct {
		n   int
		err error
	}
	for _, c := range []struct {
		name   string
		within time.Duration // 0: the context never ends
		call   func() (int, error)
		want   answer
		took   time.Duration
		late   *answer
	}{
		{"an answer in time", 3 * s, slow(s, 7, nil), answer{7, nil}, s, nil},
		{"an error in time", 3 * s, slow(s, 0, errBusy), answer{0, errBusy}, s, nil},
		{"a context that never ends", 0, slow(time.Hour, 7, nil), answer{7, nil}, time.Hour, nil},
		{"an answer that comes late", s, slow(3*s, 7, nil), answer{0, context.DeadlineExceeded}, s, &answer{7, nil}},
		{"an error that comes late", s, slow(3*s, 0, errBusy), answer{0, context.DeadlineExceeded}, s, &answer{0, errBusy}},
		{"a panic that comes late", s, func() (int, error) { time.Sleep(3 * s); panic("late") }, answer{0, context.DeadlineExceeded}, s, nil},
		{"a context that is over already", -s, slow(s, 7, nil), answer{0, context.DeadlineExceeded}, 0, &answer{7, nil}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := context.Background()
				if c.within != 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, c.within)
					defer cancel()
				}
				var late *answer
				begun := time.Now()
				n, err := Call(ctx, c.call, func(n int, err error) { late = &answer{n, err} })
				if got := (answer{n, err}); got != c.want || time.Since(begun) != c.took {
					t.Errorf("got %v after %v, want %v after %v", got, time.Since(begun), c.want, c.took)
				}
				time.Sleep(time.Minute)
				synctest.Wait()
				switch {
				case (late == nil) != (c.late == nil):
					t.Errorf("late: %v, want %v", late, c.late)
				case late != nil && *late != *c.late:
					t.Errorf("late: %v, want %v", *late, *c.late)
				}
			})
		})
	}
}

// tardy is a context that has ended, and says so once the answer is there.
type tardy struct {
	context.Context
	asked int
}

func (c *tardy) Done() <-chan struct{} {
	if c.asked++; c.asked == 2 { // before that Call only asks whether it ever ends
		time.Sleep(time.Minute)
	}
	return c.Context.Done()
}

func TestOfAnAnswerAndTheEndOfTheContextAtOnceTheAnswerCounts(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for range 64 { // a select takes either
		synctest.Test(t, func(t *testing.T) {
			n, err := Call(&tardy{Context: ended}, slow(time.Second, 7, errBusy), func(int, error) { t.Error("it is late") })
			if n != 7 || err != errBusy {
				t.Errorf("got %d, %v", n, err)
			}
		})
	}
}

func TestAPanicPassesThrough(t *testing.T) {
	defer func() {
		if p := recover(); p != errBusy {
			t.Errorf("recovered %v", p)
		}
	}()
	_ = Do(t.Context(), func() error { panic(errBusy) })
	t.Error("it returned")
}

func TestTheEndOfTheGoroutinePassesThrough(t *testing.T) {
	ended := make(chan bool)
	go func() {
		returned := false
		defer func() { ended <- returned }()
		_ = Do(t.Context(), func() error { runtime.Goexit(); return nil })
		returned = true
	}()
	if <-ended {
		t.Error("it returned")
	}
}

func TestACallWithoutAResult(t *testing.T) {
	if err := Do(t.Context(), func() error { return errBusy }); err != errBusy {
		t.Errorf("got %v", err)
	}
}
