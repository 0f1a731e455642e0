package campaigner_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/campaigner"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/instrument/internal/expect"
)

const s = time.Second

var (
	errDown = errors.New("cannot reach the server")
	options = []instrument.ElectionOption{instrument.Hold(), instrument.HiddenRenewals()}
)

// candidate is an elector as bluetape-go's.
type candidate struct {
	leads    atomic.Bool
	panics   atomic.Bool
	asked    atomic.Int32
	resigned atomic.Int32
	err      error
}

func (c *candidate) Campaign(context.Context) error {
	if c.panics.Load() {
		panic("of the candidate")
	}
	c.leads.Store(c.err == nil)
	return c.err
}

func (c *candidate) Resign(context.Context) error {
	c.leads.Store(false)
	c.resigned.Add(1)
	return nil
}

func (c *candidate) IsLeader() bool {
	c.asked.Add(1)
	if c.panics.Load() {
		panic("of the candidate")
	}
	return c.leads.Load()
}

func (c *candidate) Leader(context.Context) (string, error) { return "replica-1", nil }

// ended is a term that ended after that time.
func ended(cause string, after time.Duration) electtest.Series {
	return electtest.Series{
		"leader_active": 0, `leader_terms_ended_total{cause="` + cause + `"}`: 1,
		"leader_execution_duration_seconds_count": 1, "leader_execution_duration_seconds_sum": after.Seconds(),
	}
}

func TestATerm(t *testing.T) {
	for _, c := range []struct {
		name    string
		poll    time.Duration
		options []instrument.ElectionOption
		// happens after 30 s.
		happens func(t *testing.T, c *campaigner.Campaigner, next *candidate)
		want    electtest.Series // at 40 s
		asked   int32
	}{
		{
			name: "nothing happens", poll: 10 * s, options: options,
			happens: func(*testing.T, *campaigner.Campaigner, *candidate) {},
			asked:   4,
		},
		{
			name: "a lease length that is declared does not end what the library renews", poll: 10 * s,
			options: []instrument.ElectionOption{instrument.Hold(), instrument.LeaseDuration(15 * s)},
			happens: func(*testing.T, *campaigner.Campaigner, *candidate) {},
			asked:   4,
		},
		{
			name: "a resignation", poll: 10 * s, options: options,
			happens: func(t *testing.T, c *campaigner.Campaigner, next *candidate) {
				for range 2 { // again does nothing, as the elector's
					if err := c.Resign(t.Context()); err != nil {
						t.Error(err)
					}
				}
				if n := next.resigned.Load(); n != 2 {
					t.Errorf("%d resignations", n)
				}
			},
			want:  ended("released", 30*s).With(electtest.Series{`leader_releases_total{result="ok"}`: 1}),
			asked: 3,
		},
		{
			name: "a loss shows at the next poll", poll: 10 * s, options: options,
			happens: func(_ *testing.T, _ *campaigner.Campaigner, next *candidate) { next.leads.Store(false) },
			want:    ended("lost", 40*s),
			asked:   4,
		},
		{
			name: "a resignation after a loss is no release", poll: 5 * s, options: options,
			happens: func(t *testing.T, c *campaigner.Campaigner, next *candidate) {
				next.leads.Store(false)
				time.Sleep(5 * s)
				synctest.Wait()
				if err := c.Resign(t.Context()); err != nil || next.resigned.Load() != 1 {
					t.Errorf("resign: %v", err)
				}
			},
			want:  ended("lost", 35*s),
			asked: 7,
		},
		{
			name: "without a poll a loss shows when the application asks", options: options,
			happens: func(t *testing.T, c *campaigner.Campaigner, next *candidate) {
				next.leads.Store(false)
				if c.IsLeader() {
					t.Error("it leads")
				}
			},
			want:  ended("lost", 30*s),
			asked: 1,
		},
		{
			name: "a campaign of the leader is no second term", poll: 10 * s, options: options,
			happens: func(t *testing.T, c *campaigner.Campaigner, _ *candidate) {
				if err := c.Campaign(t.Context()); err != nil {
					t.Error(err)
				}
			},
			want: electtest.Series{
				"leader_attempts_total": 2, `leader_not_acquired_total{reason="already_held"}`: 1,
				"leader_acquire_duration_seconds_count": 2,
			},
			asked: 4,
		},
		{
			name: "a candidate that panics when telemetry asks says nothing", poll: 10 * s, options: options,
			happens: func(_ *testing.T, _ *campaigner.Campaigner, next *candidate) { next.panics.Store(true) },
			asked:   4,
		},
	} {
		expect.Bubble(t, c.name, func(t *testing.T) {
			m := expect.Middleware(t)
			next := &candidate{}
			campaigns := campaigner.New(m.Election(expect.Lock, c.options...), next, c.poll)
			if err := campaigns.Campaign(t.Context()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(30 * s)
			synctest.Wait()
			start := time.Now()
			c.happens(t, campaigns, next)
			time.Sleep(10*s - time.Since(start))
			synctest.Wait()
			expect.Whole(t, m, "at 40 s", expect.Fresh(t, c.options...).With(electtest.Series{
				"leader_attempts_total": 1, "leader_acquired_total": 1, "leader_active": 1,
				"leader_acquire_duration_seconds_count": 1, "leader_acquire_duration_seconds_sum": 0,
			}).With(c.want))
			if n := next.asked.Load(); n != c.asked {
				t.Errorf("asked %d times, want %d", n, c.asked)
			}
			_ = campaigns.Resign(t.Context())
		})
	}
}

func TestCampaignsThatDoNotWin(t *testing.T) {
	for _, c := range []struct {
		name   string
		next   *candidate
		panics bool
		reason string
	}{
		{"an error comes back untouched", &candidate{err: errDown}, false, "unknown"},
		{"a panic passes", &candidate{}, true, "panic"},
	} {
		expect.Bubble(t, c.name, func(t *testing.T) {
			m := expect.Middleware(t)
			c.next.panics.Store(c.panics)
			campaigns := campaigner.New(m.Election(expect.Lock, options...), c.next, s)
			func() {
				defer func() {
					if v := recover(); c.panics != (v == "of the candidate") {
						t.Errorf("recovered %v", v)
					}
				}()
				if err := campaigns.Campaign(t.Context()); err != c.next.err {
					t.Errorf("the error became %v", err)
				}
			}()
			expect.Whole(t, m, "afterwards", expect.Fresh(t, options...).With(expect.NotAcquired(c.reason, 0)))
		})
	}
}

func TestWhatPassesThrough(t *testing.T) {
	next := &candidate{}
	c := campaigner.New(nil, next, 0)
	if err := c.Campaign(t.Context()); err != nil || !c.IsLeader() {
		t.Errorf("campaign without an election: %v", err)
	}
	if leader, err := c.Leader(t.Context()); leader != "replica-1" || err != nil {
		t.Errorf("leader %q, %v", leader, err)
	}
	if c.Unwrap() != campaigner.Candidate(next) {
		t.Error("another candidate")
	}
	if err := c.Resign(t.Context()); err != nil || next.leads.Load() {
		t.Errorf("resign: %v", err)
	}
	e := expect.Middleware(t).Election(expect.Lock)
	for want, c := range map[string]*campaigner.Campaigner{"": c, e.Label(): campaigner.New(e, next, 0)} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
			if got := fmt.Sprintf(verb, c); got != want {
				t.Errorf("%s prints %q, want %q", verb, got, want)
			}
		}
	}
}

func TestACandidateThatIsMissingNeverLeads(t *testing.T) {
	m := expect.Middleware(t)
	c := campaigner.New(m.Election(expect.Lock, options...), nil, s)
	ctx := t.Context()
	_, who := c.Leader(ctx)
	for name, err := range map[string]error{"Campaign": c.Campaign(ctx), "Resign": c.Resign(ctx), "Leader": who} {
		if err == nil || err.Error() != "leaderscope: campaigner: the candidate is nil: pass the elector to observe" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if c.IsLeader() {
		t.Error("it leads")
	}
}
