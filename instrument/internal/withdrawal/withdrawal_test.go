package withdrawal

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

const s = time.Second

var (
	errBusy   = errors.New("busy")
	errClosed = errors.New("closed")
)

func isClosed(err error) bool { return errors.Is(err, errClosed) }

type key struct{}

// silent does not answer within the time of an attempt.
func silent(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

func TestWithdrawals(t *testing.T) {
	ok := func(context.Context) error { return nil }
	fails := func(err error) func(context.Context) error { return func(context.Context) error { return err } }
	for _, c := range []struct {
		name   string
		lives  time.Duration
		script []func(context.Context) error // the last one repeats
		want   []time.Duration               // when attempts are made
	}{
		{"twice, since the request may be on its way", time.Hour, []func(context.Context) error{ok}, []time.Duration{0, s}},
		{"sooner for a lock that lives for a moment", s, []func(context.Context) error{ok}, []time.Duration{0, s / 4}},
		{"again after failures, and less and less often", time.Hour,
			[]func(context.Context) error{fails(errBusy), silent, fails(errBusy), fails(errBusy), fails(errBusy), fails(errBusy), ok},
			[]time.Duration{0, 2 * s, 7 * s, 15 * s, 31 * s, 61 * s, 91 * s, 121 * s}},
		{"no longer than the lock lives", 20 * s, []func(context.Context) error{fails(errBusy)}, []time.Duration{0, 2 * s, 6 * s, 14 * s, 30 * s}},
		{"not with a client that is closed", time.Hour, []func(context.Context) error{fails(errBusy), fails(errClosed)}, []time.Duration{0, 2 * s}},
		{"not after a panic", time.Hour, []func(context.Context) error{func(context.Context) error { panic("hook") }}, []time.Duration{0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "value"))
				cancel() // the caller has given up
				begun := time.Now()
				var got []time.Duration
				Run(ctx, c.lives, func(ctx context.Context) error {
					if ctx.Value(key{}) != "value" || ctx.Err() != nil {
						t.Errorf("the context has value %v and error %v", ctx.Value(key{}), ctx.Err())
					}
					got = append(got, time.Since(begun))
					answer := c.script[0]
					if len(c.script) > 1 {
						c.script = c.script[1:]
					}
					return answer(ctx)
				}, isClosed)
				if !slices.Equal(got, c.want) {
					t.Errorf("attempts at %v, want %v", got, c.want)
				}
				if len(open) != 0 {
					t.Errorf("%d are open", len(open))
				}
			})
		})
	}
}

func TestTheNumberOfWithdrawalsIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		attempts := make(chan struct{}, 2*most)
		for range 2 * most {
			go Run(t.Context(), time.Hour, func(context.Context) error {
				attempts <- struct{}{}
				return nil
			}, isClosed)
		}
		synctest.Wait()
		if len(attempts) != most {
			t.Errorf("%d began, want %d", len(attempts), most)
		}
		time.Sleep(time.Minute)
	})
}
