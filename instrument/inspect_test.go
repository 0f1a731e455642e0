package instrument_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/redact"
)

// inspected are copies of the snapshots of all labels.
func inspected(m *instrument.Middleware) (all []instrument.Snapshot) {
	m.Inspect(func(s *instrument.Snapshot) {
		c := *s
		c.Electors, c.Open, c.Ended, c.Views = slices.Clone(s.Electors), slices.Clone(s.Open), slices.Clone(s.Ended), slices.Clone(s.Views)
		all = append(all, c)
	})
	return all
}

func TestASnapshotShowsTheTermsOfALabel(t *testing.T) {
	bubble(t, "a leader, a job and a standby", func(t *testing.T) {
		begin := time.Now()
		at := func(d time.Duration) time.Time { return begin.Add(d) }
		m := newMiddleware(t)
		m.KeepTerms(2)
		lead := m.Election("a", instrument.Hold(), instrument.LeaseDuration(15*s), instrument.Backend("etcd"), instrument.Family("f"), instrument.MaxLeaders(2))
		job := m.Election("b", instrument.LeaseDuration(10*s))
		m.Election("c").ObserveBackend(instrument.BackendView{State: instrument.BackendHeld, Holder: "pod-1"})
		m.Election("d", instrument.WatchOnly()).ObserveBackend(instrument.BackendView{State: instrument.BackendVacant})

		blind := m.Election("e")
		blind.ObserveBackend(instrument.BackendView{State: instrument.BackendHeld, Holder: "pod-1"})
		blind.ObserveBackend(instrument.BackendView{State: instrument.BackendUnknown})

		renewable := instrument.NewLease(nil, instrument.RenewWith(func(context.Context) error { return nil }))
		for _, wait := range []time.Duration{1 * s, 2 * s} {
			term := acquire(t, job, electtest.Wins(instrument.NewLease(nil)))
			time.Sleep(wait)
			release(t, term)
		}
		acquire(t, job, electtest.Wins(instrument.NewLease(nil))) // ends with its lease at 13 s
		time.Sleep(7 * s)
		first := acquire(t, lead, electtest.Wins(renewable)) // at 10 s
		waiting := lead.Begin(t.Context())
		working, done := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(done)
			_ = first.Work(context.Background(), func(context.Context, *instrument.Term) error { <-working; return nil })
		}()
		time.Sleep(5 * s)
		acquire(t, lead, electtest.Wins(renewable)) // at 15 s
		time.Sleep(11 * s)                          // to 26 s

		want := []instrument.Snapshot{{
			Label: "a", At: at(26 * s), Electors: []instrument.Elector{{Mode: catalog.ModeHold, Backend: "etcd", Family: "f"}},
			Active: 1, Running: 1, Pending: 1, PendingAge: 16 * s, LeaseDuration: 15 * s, MaxLeaders: 2,
			Open: []instrument.OpenTerm{
				{Began: at(10 * s), Expiry: at(25 * s), Overrun: true, Running: 1},
				{Began: at(15 * s), Expiry: at(30 * s), Active: true},
			},
		}, {
			Label: "b", At: at(26 * s), Electors: []instrument.Elector{{}}, LeaseDuration: 10 * s, MaxLeaders: 1,
			Ended: []instrument.EndedTerm{
				{Began: at(3 * s), Ended: at(13 * s), Cause: catalog.Expired},
				{Began: at(1 * s), Ended: at(3 * s), Cause: catalog.Released},
			},
		}, {
			Label: "c", At: at(26 * s), Electors: []instrument.Elector{{}}, MaxLeaders: 1,
			Views: []instrument.HolderView{{Held: 1, Holder: "pod-1"}},
		}, {
			Label: "d", At: at(26 * s), WatchOnly: true, Views: []instrument.HolderView{{}},
		}, {
			Label: "e", At: at(26 * s), Electors: []instrument.Elector{{}}, MaxLeaders: 1,
		}}
		if diff := cmp.Diff(want, inspected(m), cmpopts.EquateEmpty()); diff != "" {
			t.Error(diff)
		}
		close(working)
		<-done
		waiting.NotAcquired(instrument.ErrContended)
	})
}

func TestKeptTermsAreBounded(t *testing.T) {
	for name, c := range map[string]struct {
		keep []int
		want int
	}{
		"none without being asked": {nil, 0},
		"none of a negative":       {[]int{-1, 0}, 0},
		"the largest of several":   {[]int{3, 5, 2}, 5},
		"the bound":                {[]int{1 << 40}, instrument.MaxKeptTerms},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMiddleware(t, instrument.WithRedactor(redact.Constant()))
			for _, n := range c.keep {
				m.KeepTerms(n)
			}
			for i := range 2 * instrument.MaxKeptTerms {
				release(t, acquire(t, m.Named(fmt.Sprint(i)), electtest.Wins(instrument.NewLease(nil))))
			}
			if got := len(inspected(m)[0].Ended); got != c.want {
				t.Errorf("%d kept, want %d", got, c.want)
			}
		})
	}
}

func TestNothingIsInspectedOfANilOrClosedMiddleware(t *testing.T) {
	var none *instrument.Middleware
	none.KeepTerms(5)
	closed := newMiddleware(t)
	acquire(t, closed.Election("x"), electtest.Wins(instrument.NewLease(nil)))
	_ = closed.Close()
	for _, m := range []*instrument.Middleware{none, closed} {
		m.Inspect(func(s *instrument.Snapshot) { t.Errorf("label %q", s.Label) })
	}
}

func TestAnOverrunIsOverWithARenewal(t *testing.T) {
	bubble(t, "late, and then in time", func(t *testing.T) {
		m := newMiddleware(t)
		e := m.Election("x", instrument.Hold(), instrument.LeaseDuration(10*s))
		fails := errors.New("no answer")
		renew := error(nil)
		term := acquire(t, e, electtest.Wins(instrument.NewLease(nil, instrument.RenewWith(func(context.Context) error { return renew }))))
		overrun := func() bool { return inspected(m)[0].Open[0].Overrun }
		states := []bool{overrun()}
		for _, step := range []struct {
			wait time.Duration
			err  error
		}{{9 * s, nil}, {11 * s, fails}, {s, nil}, {11 * s, fails}} {
			time.Sleep(step.wait)
			renew = step.err
			_ = term.Renew(t.Context())
			states = append(states, overrun())
		}
		release(t, term)
		if want := []bool{false, false, true, false, true}; !slices.Equal(states, want) || len(inspected(m)[0].Open) != 0 {
			t.Errorf("overrun %v, want %v; then %+v", states, want, inspected(m)[0].Open)
		}
	})
}

func TestInspectingWhileRecordingAndForgettingIsSafe(t *testing.T) {
	m := newMiddleware(t)
	var workers sync.WaitGroup
	for w := range 4 {
		workers.Go(func() {
			for i := range 200 {
				e := m.Named(fmt.Sprint("lock-", (w+i)%5))
				if term, err := e.Acquire(context.Background(), electtest.Wins(instrument.NewLease(nil))); err == nil {
					_ = term.Release(context.Background())
				}
				m.KeepTerms(i % 10)
				e.Forget()
			}
		})
	}
	for range 50 {
		inspected(m)
	}
	workers.Wait()
}

func TestKeepingTermsAllocatesNothingWhenOneEnds(t *testing.T) {
	m := newMiddleware(t, instrument.WithLogger(nil))
	m.KeepTerms(10)
	e := m.Election("x", instrument.LeaseDuration(time.Minute))
	var lease instrument.Lease = bare{}
	won := instrument.AcquirerFunc(func(context.Context) (instrument.Lease, error) { return lease, nil })
	cycle := func() {
		if term, err := e.Acquire(context.Background(), won); err != nil || term.Release(context.Background()) != nil {
			t.Fatal(err)
		}
	}
	cycle() // the ring is made
	if got := testing.AllocsPerRun(1000, cycle); got > 1 {
		t.Errorf("%v allocations for each term, want 1: the term", got)
	}
}

// bare is a lease that can do nothing but be given back.
type bare struct{}

func (bare) Release(context.Context) error { return nil }
