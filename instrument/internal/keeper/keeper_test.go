package keeper

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/instrument/internal/expect"
)

const (
	s     = time.Second
	lease = 60 * s
)

var (
	errBusy   = errors.New("busy")
	errClient = errors.New("client is closed")
)

// server answers renewals by a script; when it has ended, it does not answer.
type server struct {
	won time.Time

	mu     sync.Mutex
	script []func(ctx context.Context) error
	end    time.Time
	sent   []time.Duration // since the win
}

func (v *server) renew(ctx context.Context) error {
	sent := time.Now()
	if err := v.asked(sent)(ctx); err != nil {
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.end = sent.Add(lease)
	return nil
}

// asked is what answers the next renewal.
func (v *server) asked(sent time.Time) func(context.Context) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.sent = append(v.sent, sent.Sub(v.won))
	if len(v.script) == 0 {
		return silent
	}
	answer := v.script[0]
	v.script = v.script[1:]
	return answer
}

func (v *server) expiry() time.Time {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.end
}

func (v *server) unix() float64 { return float64(v.expiry().UnixNano()) / 1e9 }

func (v *server) times() []time.Duration {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.sent
}

func at(err error) func(context.Context) error { return func(context.Context) error { return err } }

func in(d time.Duration, err error) func(context.Context) error {
	return func(context.Context) error {
		time.Sleep(d)
		return err
	}
}

func silent(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

func TestRenewals(t *testing.T) {
	ok := at(nil)
	for _, c := range []struct {
		name   string
		script []func(context.Context) error
		after  time.Duration
		sent   []time.Duration
		cause  error // of the term's context; nil while it is open
		want   electtest.Series
	}{
		{
			"every third of the lease", []func(context.Context) error{ok, in(2*s, nil), ok}, 79 * s, []time.Duration{20 * s, 40 * s, 60 * s}, nil,
			electtest.Series{
				"leader_active": 1, "leader_lease_headroom_seconds": 41, `leader_renewals_total{result="ok"}`: 3,
				"leader_renewal_duration_seconds_count": 3, "leader_renewal_duration_seconds_sum": 2,
				"leader_lease_usage_ratio_count": 3, "leader_lease_usage_ratio_sum": 20./60 + 22./60 + 20./60,
			},
		},
		{
			"twice as often once one has failed", []func(context.Context) error{at(errBusy), at(errBusy), ok, ok}, 61 * s, []time.Duration{20 * s, 30 * s, 40 * s, 60 * s}, nil,
			electtest.Series{
				"leader_active": 1, "leader_lease_headroom_seconds": 59,
				`leader_renewals_total{result="ok"}`: 2, `leader_renewals_total{result="error"}`: 2,
				"leader_renewal_duration_seconds_count": 4, "leader_renewal_duration_seconds_sum": 0,
				"leader_lease_usage_ratio_count": 2, "leader_lease_usage_ratio_sum": 1,
			},
		},
		{
			"a server that does not answer has a third of the lease, and a renewal that times out is no loss",
			[]func(context.Context) error{silent, ok}, 41 * s, []time.Duration{20 * s, 40 * s}, nil,
			electtest.Series{
				"leader_active": 1, "leader_lease_headroom_seconds": 59,
				`leader_renewals_total{result="ok"}`: 1, `leader_renewals_total{result="timeout"}`: 1,
				"leader_renewal_duration_seconds_count": 2, "leader_renewal_duration_seconds_sum": 20,
				"leader_lease_usage_ratio_count": 1, "leader_lease_usage_ratio_sum": 40. / 60,
			},
		},
		{
			"it gives up a tenth of the lease before others may lead", nil, 61 * s, []time.Duration{20 * s, 40 * s}, instrument.ErrGaveUp,
			electtest.Series{
				`leader_terms_ended_total{cause="gave_up"}`: 1, `leader_renewals_total{result="timeout"}`: 2,
				"leader_renewal_duration_seconds_count": 2, "leader_renewal_duration_seconds_sum": 34,
				"leader_execution_duration_seconds_count": 1, "leader_execution_duration_seconds_sum": 54,
			},
		},
		{
			"a lock that is another's is lost", []func(context.Context) error{ok, at(instrument.ErrContended)}, 61 * s, []time.Duration{20 * s, 40 * s}, instrument.ErrContended,
			electtest.Series{
				`leader_terms_ended_total{cause="lost"}`: 1, `leader_renewals_total{result="ok"}`: 1, `leader_renewals_total{result="lost"}`: 1,
				"leader_renewal_duration_seconds_count": 2, "leader_renewal_duration_seconds_sum": 0,
				"leader_lease_usage_ratio_count": 1, "leader_lease_usage_ratio_sum": 20. / 60,
				"leader_execution_duration_seconds_count": 1, "leader_execution_duration_seconds_sum": 40,
			},
		},
		{
			"a client that the program has closed ends the term at once", []func(context.Context) error{at(errClient)}, 21 * s, []time.Duration{20 * s}, context.Canceled,
			electtest.Series{
				`leader_terms_ended_total{cause="canceled"}`: 1, `leader_renewals_total{result="error"}`: 1,
				"leader_renewal_duration_seconds_count": 1, "leader_renewal_duration_seconds_sum": 0,
				"leader_execution_duration_seconds_count": 1, "leader_execution_duration_seconds_sum": 20,
			},
		},
	} {
		expect.Bubble(t, c.name, func(t *testing.T) {
			m := expect.Middleware(t)
			v := &server{script: c.script}
			term := v.win(t, m)
			ctx := term.Context()
			time.Sleep(c.after)
			want := held(t).With(c.want)
			if c.cause == nil {
				want = want.With(electtest.Series{"leader_lease_expiry_timestamp_seconds": v.unix()})
			}
			expect.Whole(t, m, "afterwards", want)
			if cause := context.Cause(ctx); !errors.Is(cause, c.cause) {
				t.Errorf("the term's context ended with %v", cause)
			}
			if sent := v.times(); !slices.Equal(sent, c.sent) {
				t.Errorf("renewals were sent at %v, want %v", sent, c.sent)
			}
			_ = term.Release(t.Context())
		})
	}
}

// win wins a lease that the keeper renews.
func (v *server) win(t *testing.T, m *instrument.Middleware) *instrument.Term {
	t.Helper()
	v.won = time.Now()
	v.end = v.won.Add(lease)
	k := Keeper{
		Length: lease, Expiry: v.expiry, Renew: v.renew,
		Ends: func(err error) error {
			if errors.Is(err, errClient) {
				return context.Canceled
			}
			return nil
		},
	}
	lease := instrument.NewLease(nil, instrument.ExpiryFrom(k.Expiry), instrument.RenewWith(v.renew), instrument.WatchWith(k.Watch))
	term, err := m.Election(expect.Lock).Acquire(t.Context(), electtest.Wins(lease))
	if err != nil {
		t.Fatal(err)
	}
	return term
}

func held(t *testing.T) electtest.Series {
	return expect.Fresh(t).With(expect.Acquired(0)).With(expect.Length(lease))
}

func TestARenewalOfTheHolderMovesTheMomentOfGivingUp(t *testing.T) {
	expect.Bubble(t, "the server is silent for the keeper", func(t *testing.T) {
		m := expect.Middleware(t)
		v := &server{script: []func(context.Context) error{silent, silent, at(nil), at(nil)}}
		term := v.win(t, m)
		time.Sleep(50 * s)
		if err := term.Renew(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * s)
		expect.Whole(t, m, "a second after it would have given up", held(t).With(electtest.Series{
			"leader_active": 1, "leader_lease_headroom_seconds": 59, "leader_lease_expiry_timestamp_seconds": v.unix(),
			`leader_renewals_total{result="ok"}`: 2, `leader_renewals_total{result="timeout"}`: 2,
			"leader_renewal_duration_seconds_count": 4, "leader_renewal_duration_seconds_sum": 20 + 14,
			"leader_lease_usage_ratio_count": 2, "leader_lease_usage_ratio_sum": 50./60 + 4./60,
		}))
		_ = term.Release(t.Context())
	})
}
