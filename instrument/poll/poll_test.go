package poll_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/instrument/internal/expect"
	"github.com/leaderscope/leaderscope/instrument/poll"
)

const s = time.Second

var (
	errDown = errors.New("cannot reach the server")
	options = []instrument.ElectionOption{instrument.Hold(), instrument.LeaseDuration(15 * s)}
)

// leads is a poll that sees a lease of 15 s, renewed just now.
func leads(context.Context) poll.Outcome {
	asked := time.Now()
	return poll.Leading(instrument.Leadership{Expiry: asked.Add(15 * s), Asked: asked})
}

func outcome(o poll.Outcome) func(context.Context) poll.Outcome {
	return func(context.Context) poll.Outcome { return o }
}

func hangs(ctx context.Context) poll.Outcome {
	<-ctx.Done()
	return poll.Unknown(ctx.Err())
}

func expiresIn(d time.Duration) electtest.Series {
	return electtest.Series{
		"leader_lease_headroom_seconds":         d.Seconds(),
		"leader_lease_expiry_timestamp_seconds": float64(time.Now().Add(d).UnixNano()) / 1e9,
	}
}

func TestLooks(t *testing.T) {
	won := electtest.Series{
		"leader_attempts_total": 1, "leader_acquired_total": 1, "leader_active": 1,
		"leader_acquire_duration_seconds_count": 1, "leader_acquire_duration_seconds_sum": 0,
	}
	lost := func(cause string, after float64) electtest.Series {
		return electtest.Series{
			"leader_active": 0, `leader_terms_ended_total{cause="` + cause + `"}`: 1,
			"leader_execution_duration_seconds_count": 1, "leader_execution_duration_seconds_sum": after,
		}
	}
	for _, c := range []struct {
		name      string
		polls     []func(context.Context) poll.Outcome // one each 5 s
		want      electtest.Series                     // 1 s after the last
		remaining time.Duration                        // of the lease; 0 is none
	}{
		{"the zero outcome changes nothing", []func(context.Context) poll.Outcome{outcome(poll.Outcome{})}, nil, 0},
		{"an unknown without a reason changes nothing", []func(context.Context) poll.Outcome{outcome(poll.Unknown(nil))}, nil, 0},
		{"not leading, which it did not before", []func(context.Context) poll.Outcome{outcome(poll.NotLeading(nil))}, nil, 0},
		{"a look that fails is an attempt that did not win", []func(context.Context) poll.Outcome{outcome(poll.Unknown(errDown))}, electtest.Series{
			"leader_attempts_total": 1, `leader_not_acquired_total{reason="unknown"}`: 1,
			"leader_acquire_duration_seconds_count": 1, "leader_acquire_duration_seconds_sum": 0,
		}, 0},
		{"it leads", []func(context.Context) poll.Outcome{leads}, won, 14 * s},
		{"a lease that moved on was renewed", []func(context.Context) poll.Outcome{leads, leads}, won.With(electtest.Series{
			`leader_renewals_total{result="ok"}`: 1, "leader_lease_usage_ratio_count": 1, "leader_lease_usage_ratio_sum": 1.0 / 3,
		}), 14 * s},
		{"the zero outcome leaves a term as it is", []func(context.Context) poll.Outcome{leads, outcome(poll.Outcome{})}, won, 9 * s},
		{"a look that hangs is cut short, and is a failed renewal", []func(context.Context) poll.Outcome{leads, hangs, leads}, won.With(electtest.Series{
			`leader_renewals_total{result="timeout"}`: 1, `leader_renewals_total{result="ok"}`: 1,
			"leader_lease_usage_ratio_count": 1, "leader_lease_usage_ratio_sum": 2.0 / 3,
		}), 14 * s},
		{"the lock is gone", []func(context.Context) poll.Outcome{leads, outcome(poll.NotLeading(nil))}, won.With(lost("lost", 5)), 0},
		{"the elector gave up", []func(context.Context) poll.Outcome{leads, outcome(poll.NotLeading(instrument.ErrGaveUp))}, won.With(lost("gave_up", 5)), 0},
		{"the elector was stopped", []func(context.Context) poll.Outcome{leads, outcome(poll.NotLeading(context.Canceled))}, won.With(lost("canceled", 5)), 0},
	} {
		expect.Bubble(t, c.name, func(t *testing.T) {
			m := expect.Middleware(t)
			e := m.Election(expect.Lock, options...)
			ctx, stop := context.WithCancel(t.Context())
			polls, done := 0, make(chan error, 1)
			go func() {
				done <- poll.Poll(ctx, e, 5*s, func(ctx context.Context) poll.Outcome {
					polls++
					return c.polls[polls-1](ctx)
				})
			}()
			time.Sleep(time.Duration(len(c.polls)-1)*5*s + s)
			want := expect.Fresh(t, options...).With(c.want)
			if c.remaining > 0 {
				want = want.With(expiresIn(c.remaining))
			}
			expect.Whole(t, m, "after the last look", want)
			stop()
			if err := <-done; err != nil || polls != len(c.polls) {
				t.Errorf("%d looks, %v", polls, err)
			}
		})
	}
}

func TestALookThatIsCutShortByTheStopIsNotRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := expect.Middleware(t)
		ctx, stop := context.WithTimeout(t.Context(), s)
		defer stop()
		if err := poll.Poll(ctx, m.Election(expect.Lock, options...), 5*s, hangs); err != nil {
			t.Error(err)
		}
		expect.Whole(t, m, "after the stop", expect.Fresh(t, options...))
	})
}

func TestArgumentsThatMakeNoSense(t *testing.T) {
	for _, c := range []struct {
		name  string
		every time.Duration
		read  func(context.Context) poll.Outcome
		want  string
	}{
		{"no interval", 0, leads, "the interval is 0s: pass more than 0"},
		{"a negative interval", -s, leads, "the interval is -1s: pass more than 0"},
		{"no look", s, nil, "the poll function is nil: pass one"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ended, end := context.WithCancel(t.Context())
			end() // so that arguments that make sense are answered as well
			err := poll.Poll(ended, nil, c.every, c.read)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestEveryIntervalAboveZeroMakesSense(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		var polls []time.Duration
		begun := time.Now()
		err := poll.Poll(ctx, expect.Middleware(t).Election(expect.Lock), 1, func(context.Context) poll.Outcome {
			if polls = append(polls, time.Since(begun)); len(polls) == 2 {
				stop()
			}
			return poll.Outcome{}
		})
		if want := []time.Duration{0, 1}; err != nil || !slices.Equal(polls, want) {
			t.Errorf("looked after %v, error %v", polls, err)
		}
	})
}

func TestTheContextOfALookEndsWithIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithTimeout(t.Context(), s)
		defer stop()
		var read context.Context
		err := poll.Poll(ctx, expect.Middleware(t).Election(expect.Lock), 5*s, func(ctx context.Context) poll.Outcome {
			read = ctx
			context.AfterFunc(ctx, stop)
			return poll.Outcome{}
		})
		if err != nil || context.Cause(read) != context.Canceled || ctx.Err() != context.Canceled {
			t.Errorf("error %v; the look ended with %v, and the poll with %v", err, context.Cause(read), ctx.Err())
		}
	})
}

func TestANilContextDoesNotEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		polls, done := 0, make(chan struct{})
		go func() {
			defer close(done)
			var none context.Context
			_ = poll.Poll(none, expect.Middleware(t).Election(expect.Lock), 5*s, func(ctx context.Context) poll.Outcome {
				if polls++; polls == 3 {
					runtime.Goexit()
				}
				return poll.Outcome{}
			})
		}()
		begun := time.Now()
		<-done
		if polls != 3 || time.Since(begun) != 10*s {
			t.Errorf("%d looks in %v", polls, time.Since(begun))
		}
	})
}

func TestWithoutAnElectionNothingIsLookedAt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithTimeout(t.Context(), 60*s)
		defer stop()
		err := poll.Poll(ctx, nil, s, func(context.Context) poll.Outcome {
			t.Error("looked")
			return poll.Outcome{}
		})
		if err != nil || ctx.Err() == nil {
			t.Errorf("got %v before the stop", err)
		}
	})
}
