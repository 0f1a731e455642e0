package instrument_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
)

// tape records what an observer was handed.
type tape struct {
	mu     sync.Mutex
	label  string
	values map[string][]float64
	spans  int
	closed bool
}

type ctxKey struct{}

func (o *tape) Observe(ctx context.Context, m *catalog.Metric, _ []string, v float64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.values[m.Name()] = append(o.values[m.Name()], v)
	if ctx.Value(ctxKey{}) != nil {
		o.spans++
	}
	if v == 13 {
		panic("an observer that panics")
	}
}

func (o *tape) Close() { o.closed = true }

func TestObserversSeeWhatTheHistogramsCount(t *testing.T) {
	bubble(t, "attached before and after the lock", func(t *testing.T) {
		m := newMiddleware(t)
		var tapes []*tape
		attach := func() (detach func()) {
			return m.Attach(func(label string) instrument.Observer {
				o := &tape{label: label, values: map[string][]float64{}}
				tapes = append(tapes, o)
				return o
			})
		}
		detach := attach()
		e := m.Election("x", instrument.LeaseDuration(10*s))
		attach()
		ctx := context.WithValue(context.Background(), ctxKey{}, true)
		renewing := instrument.NewLease(nil, instrument.RenewWith(func(context.Context) error { time.Sleep(s); return nil }))
		err := e.Run(ctx, electtest.NewElector(electtest.Step{Wait: 2 * s, Lease: renewing}), func(ctx context.Context, term *instrument.Term) error {
			time.Sleep(3 * s)
			return term.Renew(ctx)
		})
		if err != nil {
			t.Fatal(err)
		}
		want := map[string][]float64{
			"leader_acquire_duration_seconds":   {2},
			"leader_renewal_duration_seconds":   {1},
			"leader_execution_duration_seconds": {4},
			"leader_lease_usage_ratio":          {0.6, 0.1},
		}
		if len(tapes) != 2 {
			t.Fatalf("%d observers, want 2", len(tapes))
		}
		for _, o := range tapes {
			if diff := cmp.Diff(want, o.values); diff != "" || o.label != "x" || o.spans != 5 {
				t.Errorf("label %q, %d with the caller's context, values:\n%s", o.label, o.spans, diff)
			}
		}
		detach()
		_ = e.Run(ctx, electtest.NewElector(), func(context.Context, *instrument.Term) error { time.Sleep(13 * s); return nil })
		if !tapes[0].closed || tapes[1].closed || len(tapes[0].values["leader_acquire_duration_seconds"]) != 1 || m.Faults() != 1 {
			t.Errorf("after detaching one: %+v, %+v, faults %d", tapes[0], tapes[1], m.Faults())
		}
		e.Forget()
		if !tapes[1].closed {
			t.Error("the observer of a label that is gone is closed")
		}
	})
}
