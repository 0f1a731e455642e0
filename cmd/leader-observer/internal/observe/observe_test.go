package observe_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/leaderscope/leaderscope/cmd/leader-observer/internal/observe"
	. "github.com/leaderscope/leaderscope/cmd/leader-observer/internal/observe/observetest"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var errLost = errors.New("lost")

func held(by string) instrument.BackendView {
	return instrument.BackendView{State: instrument.BackendHeld, Holder: by, ValidFor: time.Hour}
}

var vacant = instrument.BackendView{State: instrument.BackendVacant, ValidFor: time.Hour}

// Each wait is the one before it doubled, up to 30 s, and between a half and the
// whole of it, so that observers do not come back at once.
func TestABackendThatIsAwayIsAskedLessAndLess(t *testing.T) {
	whole := []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second, 30 * time.Second, 30 * time.Second}
	for name, c := range map[string]struct {
		answers map[int]bool // attempts that reach the backend before they lose it
		want    []time.Duration
	}{
		"never reached":        {nil, whole},
		"reached at the first": {map[int]bool{0: true}, whole},
		"reached in between":   {map[int]bool{3: true}, append(whole[:3:3], whole[:5]...)},
		"reached each time":    {map[int]bool{0: true, 1: true, 2: true, 3: true, 4: true, 5: true, 6: true, 7: true}, []time.Duration{whole[0], whole[0], whole[0], whole[0], whole[0], whole[0], whole[0], whole[0]}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := New(t, 0)
				ctx, cancel := context.WithCancel(t.Context())
				n, last := 0, time.Now()
				f.Run(ctx, func(context.Context) error {
					if n > 0 {
						if waited := time.Since(last); waited < c.want[n-1]/2 || waited >= c.want[n-1] {
							t.Errorf("wait %d: %v, want a half of %v or more", n, waited, c.want[n-1])
						}
					}
					if last = time.Now(); n == len(c.want) {
						cancel()
						return ctx.Err()
					}
					if c.answers[n] {
						f.Up()
					}
					n++
					return errLost
				})
				if n != len(c.want) {
					t.Errorf("%d attempts", n)
				}
			})
		})
	}
}

func TestStoppingDoesNotWaitForTheNextAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := New(t, 0)
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		start := time.Now()
		f.Run(ctx, func(context.Context) error { return errLost })
		if took := time.Since(start); took != time.Millisecond {
			t.Errorf("stopped after %v", took)
		}
	})
}

// While the backend is lost, the state of its locks is unknown, not vacant. A holder
// that is found afterwards may have acquired the lock meanwhile.
func TestALostBackendIsNoVacancy(t *testing.T) {
	for name, c := range map[string]struct {
		before, after instrument.BackendView
		lost, found   electtest.Series
	}{
		"held by the same": {held("a"), held("a"), Unknown(0, 0), Held("a", 0, 0)},
		"held by another":  {held("a"), held("b"), Unknown(0, 0), Held("b", 1, 0)},
		"given back":       {held("a"), vacant, Unknown(0, 0), Free(0, 0)},
		"free all along":   {vacant, vacant, Unknown(0, 0), Free(0, 0)},
		"taken meanwhile":  {vacant, held("a"), Unknown(0, 0), Held("a", 1, 0)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := New(t, 0)
				ctx, cancel := context.WithCancel(t.Context())
				attempts := 0
				watch := func(context.Context) error {
					f.Up()
					if attempts++; attempts == 1 {
						f.Lock("x").Sees(c.before)
						return errLost
					}
					f.Shows("lost", "x", c.lost)
					f.Lock("x").Sees(c.after)
					f.Shows("found", "x", c.found)
					cancel()
					return nil
				}
				f.Run(ctx, watch)
				if attempts != 2 {
					t.Errorf("%d attempts", attempts)
				}
			})
		})
	}
}

func TestABackendIsUpWhileAllItsWatchesAre(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := New(t, 0)
		first, second := f.Backend, observe.New(f.Health, f.Options)
		shows := func(at string, up float64) {
			t.Helper()
			if diff := cmp.Diff(electtest.Series{"up": up}, f.Series("x")); diff != "" {
				t.Errorf("%s: %s", at, diff)
			}
		}
		shows("at first", 0)
		first.Up()
		shows("one of two", 0)
		second.Up()
		shows("both", 1)
		if !first.Reached() || !second.Reached() || first.Name() != Name {
			t.Error("a backend that answers is not reached")
		}
		ctx, cancel := context.WithCancel(t.Context())
		second.Run(ctx, func(context.Context) error {
			second.Up()
			time.AfterFunc(time.Millisecond, cancel)
			return errLost
		})
		shows("one is lost", 0)
		if !second.Reached() {
			t.Error("a backend that was lost has never been reached")
		}
	})
}

func TestALockWhoseRecordIsGoneIsForgotten(t *testing.T) {
	for name, c := range map[string]struct {
		after time.Duration
		play  func(*Fixture)
		want  []string
	}{
		"after a while": {time.Minute, func(f *Fixture) { f.Lock("x").Gone(vacant); time.Sleep(time.Minute) }, []string{"x"}},
		"not before":    {time.Minute, func(f *Fixture) { f.Lock("x").Gone(vacant); time.Sleep(time.Minute - 1) }, nil},
		"never":         {0, func(f *Fixture) { f.Lock("x").Gone(vacant); time.Sleep(1000 * time.Hour) }, nil},
		"not while it is held": {time.Minute, func(f *Fixture) {
			f.Lock("x").Sees(held("a"))
			time.Sleep(time.Hour)
		}, nil},
		"not while it is free": {time.Minute, func(f *Fixture) {
			f.Lock("x").Sees(vacant)
			time.Sleep(time.Hour)
		}, nil},
		"counted from the first time": {time.Minute, func(f *Fixture) {
			f.Lock("x").Gone(vacant)
			time.Sleep(40 * time.Second)
			f.Lock("x").Gone(vacant)
			time.Sleep(20 * time.Second)
		}, []string{"x"}},
		"not when it came back": {time.Minute, func(f *Fixture) {
			f.Lock("x").Gone(vacant)
			time.Sleep(40 * time.Second)
			f.Lock("x").Sees(held("a"))
			f.Lock("x").Gone(vacant)
			time.Sleep(40 * time.Second)
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := New(t, c.after)
				c.play(f)
				if diff := cmp.Diff(c.want, f.Sweep()); diff != "" {
					t.Error(diff)
				}
				if _, there := f.Series("x")["terms_total"]; there == (c.want != nil) {
					t.Errorf("it has series: %v", f.Series("x"))
				}
			})
		})
	}
}

func TestAPollLooksAtOnceAndInEachInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var at, patience []time.Duration
		err := observe.Poll(t.Context(), 10*time.Second, func(ctx context.Context) error {
			deadline, _ := ctx.Deadline()
			at, patience = append(at, time.Since(start)), append(patience, time.Until(deadline))
			if len(at) == 3 {
				return errLost
			}
			time.Sleep(3 * time.Second)
			return nil
		})
		if !errors.Is(err, errLost) {
			t.Error(err)
		}
		if diff := cmp.Diff([]time.Duration{0, 10 * time.Second, 20 * time.Second}, at); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]time.Duration{15 * time.Second, 15 * time.Second, 15 * time.Second}, patience); diff != "" {
			t.Errorf("a look may take: %s", diff)
		}
		if got := observe.Believed(10 * time.Second); got != 35*time.Second {
			t.Errorf("a look is believed for %v, which is less than two that are missed, or more", got)
		}
	})
}

func TestAPollStopsBetweenLooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
		defer cancel()
		looks := 0
		if err := observe.Poll(ctx, 10*time.Second, func(context.Context) error { looks++; return nil }); !errors.Is(err, context.DeadlineExceeded) || looks != 2 {
			t.Errorf("%v after %d looks", err, looks)
		}
	})
}
