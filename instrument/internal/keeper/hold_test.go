package keeper

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/instrument/internal/expect"
)

var errFinal = errors.New("final")

// record is the lock of a library whose heartbeats end only when the server
// answers, or after a lease.
type record struct {
	server
	requests chan struct{} // full while one is under way
	given    []string      // back, and how
}

func newRecord(script ...func(context.Context) error) *record {
	return &record{server: server{won: time.Now(), script: script}, requests: make(chan struct{}, 1)}
}

func (r *record) alone(do func()) {
	select {
	case r.requests <- struct{}{}:
	default:
		panic("two requests at once")
	}
	do()
	<-r.requests
}

func (r *record) Beat(ctx context.Context) (sent time.Time, err error) {
	r.alone(func() {
		sent = time.Now()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lease)
		defer cancel()
		err = r.asked(sent)(ctx)
	})
	return sent, err
}

func (r *record) Ends(err error) error {
	if errors.Is(err, errFinal) {
		return fmt.Errorf("%w: %w", instrument.ErrGaveUp, err)
	}
	return nil
}

func (r *record) Release(context.Context) error {
	r.giveBack("released")
	return nil
}

func (r *record) Withdraw(context.Context) { r.giveBack("withdrawn") }

func (r *record) giveBack(how string) {
	r.alone(func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.given = append(r.given, fmt.Sprint(how, " at ", time.Since(r.won)))
	})
}

// compare compares when heartbeats were sent, and how the lock was released.
func (r *record) compare(t *testing.T, sent []time.Duration, given string) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if got := strings.Join(r.given, ", "); !slices.Equal(r.sent, sent) || got != given {
		t.Errorf("sent at %v, %q; want %v, %q", r.sent, got, sent, given)
	}
}

// acquire wins the lock by a request that took so long.
func (r *record) acquire(ctx context.Context, took time.Duration) (instrument.Lease, error) {
	time.Sleep(took)
	return Hold(ctx, r, r.won, lease)
}

// A watcher that returns before its term has ended says that renewals cannot be
// seen.
func TestWatchLastsAsLongAsItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecord(at(nil), at(nil), at(nil), at(nil))
		l, err := r.acquire(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), lease)
		defer cancel()
		l.(instrument.Watcher).Watch(ctx, instrument.Sink{})
		if lasted := time.Since(begun); lasted != lease {
			t.Errorf("it lasted %v, want %v", lasted, lease)
		}
		if err := l.Release(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestHeartbeats(t *testing.T) {
	ok := at(nil)
	for _, c := range []struct {
		name    string
		script  []func(context.Context) error
		release time.Duration // when the term is released, 0: when its context has ended
		sent    []time.Duration
		given   string
		want    electtest.Series
	}{
		{
			"every third of the lease, and none after the release", []func(context.Context) error{ok, ok, ok, ok}, 70 * s,
			[]time.Duration{20 * s, 40 * s, 60 * s}, "released at 1m10s",
			electtest.Series{
				`leader_renewals_total{result="ok"}`: 3, `leader_terms_ended_total{cause="released"}`: 1,
				"leader_renewal_duration_seconds_count": 3, "leader_lease_usage_ratio_count": 4,
			},
		},
		{
			"one that is answered late moves the end of the lease, and the next waits for it", []func(context.Context) error{in(30*s, nil), ok}, 55 * s,
			[]time.Duration{20 * s, 50 * s}, "released at 55s",
			electtest.Series{
				`leader_renewals_total{result="ok"}`: 2, `leader_terms_ended_total{cause="released"}`: 1,
				"leader_renewal_duration_seconds_count": 2, "leader_lease_usage_ratio_count": 3,
			},
		},
		{
			"one that is not answered is awaited until a tenth of the lease is left, and the release waits for it", nil, 0,
			[]time.Duration{20 * s}, "released at 1m20s",
			electtest.Series{
				`leader_renewals_total{result="timeout"}`: 1, `leader_terms_ended_total{cause="gave_up"}`: 1,
				"leader_renewal_duration_seconds_count": 1,
			},
		},
		{
			"none after an error that ends the term", []func(context.Context) error{at(errBusy), at(errFinal)}, 0,
			[]time.Duration{20 * s, 30 * s}, "released at 30s",
			electtest.Series{
				`leader_renewals_total{result="error"}`: 2, `leader_terms_ended_total{cause="gave_up"}`: 1,
				"leader_renewal_duration_seconds_count": 2,
			},
		},
		{
			"one that was not sent is not counted", []func(context.Context) error{ok, at(instrument.ErrGaveUp)}, 0,
			[]time.Duration{20 * s, 40 * s}, "released at 40s",
			electtest.Series{
				`leader_renewals_total{result="ok"}`: 1, `leader_terms_ended_total{cause="gave_up"}`: 1,
				"leader_renewal_duration_seconds_count": 1, "leader_lease_usage_ratio_count": 1,
			},
		},
	} {
		expect.Bubble(t, c.name, func(t *testing.T) {
			r, m := newRecord(c.script...), expect.Middleware(t)
			term, err := m.Election(expect.Lock).Acquire(t.Context(), instrument.AcquirerFunc(func(ctx context.Context) (instrument.Lease, error) { return r.acquire(ctx, 0) }))
			if err != nil {
				t.Fatal(err)
			}
			if time.Sleep(c.release); c.release == 0 {
				<-term.Context().Done()
			}
			if err := term.Release(t.Context()); err != nil {
				t.Error(err)
			}
			time.Sleep(2 * lease)
			r.compare(t, c.sent, c.given)
			expect.Counts(t, m, "afterwards", held(t), c.want.With(electtest.Series{
				"leader_execution_duration_seconds_count": 1, `leader_releases_total{result="ok"}`: 1,
			}))
		})
	}
}

func TestALockThatNoTermWatchesIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecord(at(nil), at(nil), at(errFinal))
		l, err := r.acquire(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(61 * s)
		if remaining := time.Until(l.(instrument.Expirer).Expiry()); remaining != 39*s {
			t.Errorf("%v are left", remaining)
		}
		m := expect.Middleware(t)
		term, err := m.Election(expect.Lock).Acquire(t.Context(), electtest.Wins(l))
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if cause := context.Cause(term.Context()); !errors.Is(cause, instrument.ErrGaveUp) {
			t.Errorf("a term that watches it after it was given up ends with %v", cause)
		}
		_ = term.Release(t.Context())
	})
}

func TestAWinThatTookLongIsFollowedByAHeartbeat(t *testing.T) {
	for _, c := range []struct {
		name      string
		took      time.Duration
		answer    func(context.Context) error
		limit     time.Duration // of the caller
		sent      []time.Duration
		remaining time.Duration // of the lease; 0: not won
		given     string
	}{
		{"a tenth of the lease is not long", 6 * s, at(nil), 0, nil, 54 * s, ""},
		{"its lease counts from the heartbeat", 7 * s, at(nil), 0, []time.Duration{7 * s}, 60 * s, ""},
		{"when it fails, the lock is withdrawn", 7 * s, at(errBusy), 0, []time.Duration{7 * s}, 0, "withdrawn at 7s"},
		{"when its caller gives up, the lock is withdrawn after its answer", 7 * s, in(5*s, nil), 9 * s, []time.Duration{7 * s}, 0, "withdrawn at 12s"},
	} {
		expect.Bubble(t, c.name, func(t *testing.T) {
			r := newRecord(c.answer)
			ctx := t.Context()
			if c.limit > 0 {
				limited, cancel := context.WithTimeout(ctx, c.limit)
				defer cancel()
				ctx = limited
			}
			l, err := r.acquire(ctx, c.took)
			if won := err == nil; won != (c.remaining > 0) {
				t.Fatalf("got %v, %v", l, err)
			} else if won {
				if remaining := time.Until(l.(instrument.Expirer).Expiry()); remaining != c.remaining {
					t.Errorf("%v are left, want %v", remaining, c.remaining)
				}
			}
			time.Sleep(10 * s)
			r.compare(t, c.sent, c.given)
			if l != nil {
				_ = l.Release(t.Context())
			}
		})
	}
}

// A request of a caller who has given up is not sent, and lets no other in
// before its turn.
func TestARequestUnderAnEndedContextIsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecord(in(30*s, nil), at(nil))
		l, err := r.acquire(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if err := l.(instrument.Renewer).Renew(gone); !errors.Is(err, context.Canceled) {
			t.Errorf("a renewal: %v", err)
		}
		time.Sleep(21 * s) // a heartbeat is under way, until 50 s
		if err := l.(instrument.Renewer).Renew(gone); !errors.Is(err, context.Canceled) {
			t.Errorf("a renewal beside a heartbeat: %v", err)
		}
		released := make(chan error, 1)
		go func() {
			limited, cancel := context.WithTimeout(context.Background(), s)
			defer cancel()
			released <- l.Release(limited)
		}()
		if err := <-released; !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a release beside a heartbeat: %v", err)
		}
		r.compare(t, []time.Duration{20 * s}, "")
		time.Sleep(30 * s)
		if err := l.Release(gone); err != nil {
			t.Errorf("a release whose turn it is: %v", err)
		}
		r.compare(t, []time.Duration{20 * s}, "released at 52s")
	})
}

type client struct{ leaseDuration time.Duration }

func TestCheckLease(t *testing.T) {
	for _, c := range []struct {
		name   string
		client *client
		lease  time.Duration
		want   string
	}{
		{"the client's lease", &client{lease}, lease, ""},
		{"a client that does not tell", &client{}, lease, ""},
		{"no client", nil, lease, "leaderscope: lib: the client is nil"},
		{"no lease", &client{lease}, 0, "leaderscope: lib: lease is 0s, want that of lib.WithLeaseDuration"},
		{"another lease", &client{lease}, 2 * lease, "leaderscope: lib: lease is 2m0s and the client's 1m0s; give both the same by lib.WithLeaseDuration"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := ""
			if err := CheckLease("lib", c.client, c.lease); err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	if err := CheckLease("lib", &struct{ leaseDuration string }{"1m"}, lease); err != nil {
		t.Errorf("a client that keeps it elsewhere: %v", err)
	}
}
