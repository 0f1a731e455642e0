package fence_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/instrument/fence"
)

// store is the handle of a lock whose store is guarded, and its series.
type store struct {
	*instrument.Election
	m *instrument.Middleware
}

func newStore(t *testing.T) store {
	t.Helper()
	m, err := instrument.New()
	if err != nil {
		t.Fatal(err)
	}
	return store{m.Election("ledger", instrument.WatchOnly()), m}
}

// shows compares all series of the lock.
func (s store) shows(t *testing.T, admitted, stale, missing int, highest ...uint64) {
	t.Helper()
	want := electtest.Series{
		electtest.Of(catalog.FencingChecks, "admitted"): float64(admitted),
		electtest.Of(catalog.FencingChecks, "stale"):    float64(stale),
		electtest.Of(catalog.FencingChecks, "missing"):  float64(missing),
	}
	for _, token := range highest {
		want[electtest.Of(catalog.FencingHighestToken)] = float64(token)
	}
	if diff := cmp.Diff(want, electtest.Read(s.m, s.Label())); diff != "" {
		t.Error(diff)
	}
}

// inBubble runs a test on virtual time, where a write that waits forever fails
// at once.
func inBubble(t *testing.T, name string, run func(t *testing.T)) {
	t.Run(name, func(t *testing.T) { synctest.Test(t, run) })
}

const beyondFloats = 1 << 53 // from here on, neighbours are one float64

func TestAGuardRefusesATokenBelowTheHighestThatItHasSeen(t *testing.T) {
	for _, c := range []struct {
		name   string
		from   uint64
		tokens []uint64
		stale  []int // which of them
	}{
		{"one term writes on", 0, []uint64{3, 3, 3}, nil},
		{"a token of 0 is a token", 0, []uint64{0, 0}, nil},
		{"a later term follows", 0, []uint64{3, 6, 6}, nil},
		{"a late write of the term before", 0, []uint64{3, 6, 3, 6}, []int{2}},
		{"one of a term long ago", 0, []uint64{9, 10, 2, 10, 9}, []int{2, 4}},
		{"neighbours beyond 2^53", 0, []uint64{beyondFloats + 1, beyondFloats, beyondFloats + 1}, []int{1}},
		{"the last number", 0, []uint64{math.MaxUint64, math.MaxUint64 - 1, math.MaxUint64}, []int{1}},
		{"a signed number would have turned", 0, []uint64{math.MaxInt64, math.MaxInt64 + 1, math.MaxInt64}, []int{2}},
		{"a guard that goes on after a restart", 6, []uint64{5, 6, 7}, []int{0}},
	} {
		for _, way := range []string{"Check", "Do"} {
			inBubble(t, c.name+" by "+way, func(t *testing.T) {
				s := newStore(t)
				g := fence.From(s.Election, c.from)
				highest := c.from
				for i, token := range c.tokens {
					highest = max(highest, token)
					var want error
					if slices.Contains(c.stale, i) {
						want = &fence.StaleError{Token: token, Highest: highest}
					}
					wrote := false
					check := func() error { return g.Check(token) }
					if way == "Do" {
						check = func() error {
							return g.Do(t.Context(), token, func(context.Context) error { wrote = true; return nil })
						}
					}
					err := check()
					if diff := cmp.Diff(fmt.Sprint(want), fmt.Sprint(err)); diff != "" {
						t.Errorf("write %d of token %d: %s", i, token, diff)
					}
					if errors.Is(err, fence.ErrStale) != (want != nil) || way == "Do" && wrote != (want == nil) {
						t.Errorf("write %d of token %d: %v, wrote %v", i, token, err, wrote)
					}
				}
				if g.Highest() != highest {
					t.Errorf("highest is %d, want %d", g.Highest(), highest)
				}
				s.shows(t, len(c.tokens)-len(c.stale), len(c.stale), 0, highest)
			})
		}
	}
}

func TestARefusalCarriesBothNumbers(t *testing.T) {
	g := fence.New(nil)
	_ = g.Check(6)
	err := fmt.Errorf("append: %w", g.Check(3))
	stale, ok := errors.AsType[*fence.StaleError](err)
	if !ok || *stale != (fence.StaleError{Token: 3, Highest: 6}) || !errors.Is(err, fence.ErrStale) || errors.Is(err, fence.ErrMissing) {
		t.Errorf("%#v", err)
	}
	const want = "append: leaderscope: fencing token 3 is stale, the store has seen 6; stop the work of this term and campaign again"
	if err.Error() != want {
		t.Errorf("%q, want %q", err, want)
	}
}

func TestAWriteWithoutATokenIsRefusedAndCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t)
		g := fence.New(s.Election)
		wrote := func(context.Context) error { t.Error("it was written"); return nil }
		if err := g.DoContext(t.Context(), wrote); err != fence.ErrMissing {
			t.Error(err)
		}
		if err := g.CheckContext(t.Context()); err != fence.ErrMissing {
			t.Error(err)
		}
		s.shows(t, 0, 0, 2)
		ctx := fence.WithToken(t.Context(), 5)
		if err := errors.Join(g.CheckContext(ctx), g.DoContext(ctx, func(context.Context) error { return nil })); err != nil {
			t.Error(err)
		}
		s.shows(t, 2, 0, 2, 5)
	})
}

// A leader that was suspended within a write holds the successor back only
// until that write has seen its context end.
func TestAWriteOfANewerTermWaitsForThoseOfTheOlder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t)
		g := fence.New(s.Election)
		var order []string
		go func() {
			_ = g.Do(t.Context(), 3, func(ctx context.Context) error {
				<-ctx.Done()
				time.Sleep(time.Second)
				var stale *fence.StaleError
				if !errors.As(context.Cause(ctx), &stale) || *stale != (fence.StaleError{Token: 3, Highest: 6}) {
					t.Errorf("the older write ended by %v", context.Cause(ctx))
				}
				order = append(order, "3 ended")
				return nil
			})
		}()
		synctest.Wait()
		began := time.Now()
		err := g.Do(t.Context(), 6, func(ctx context.Context) error {
			order = append(order, "6 wrote")
			return ctx.Err()
		})
		if diff := cmp.Diff([]string{"3 ended", "6 wrote"}, order); diff != "" || err != nil || time.Since(began) != time.Second {
			t.Error(diff, err, time.Since(began))
		}
		s.shows(t, 2, 0, 0, 6)
	})
}

func TestWaitingForOlderWritesEndsWithItsContextOrWithANewerTerm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t)
		g := fence.New(s.Election)
		done := make(chan error, 3)
		write := func(ctx context.Context, token uint64, d time.Duration) {
			go func() {
				done <- g.Do(ctx, token, func(context.Context) error { time.Sleep(d); return nil })
			}()
			synctest.Wait()
		}
		write(t.Context(), 1, 10*time.Second)
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		write(short, 2, 0)
		write(t.Context(), 2, 0)
		if err := <-done; !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("with a deadline: %v", err)
		}
		_ = g.Check(3)
		for _, want := range []string{"<nil>", "leaderscope: fencing token 2 is stale, the store has seen 3; stop the work of this term and campaign again"} {
			if err := <-done; fmt.Sprint(err) != want {
				t.Errorf("%v, want %s", err, want)
			}
		}
		s.shows(t, 3, 1, 0, 3)
	})
}

func TestWritesOfOneTermRunSideBySide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := fence.New(nil)
		began := time.Now()
		done := make(chan error)
		for range 10 {
			go func() {
				done <- g.Do(t.Context(), 4, func(context.Context) error { time.Sleep(time.Second); return nil })
			}()
		}
		for range 10 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if d := time.Since(began); d != time.Second {
			t.Errorf("ten writes of a second took %v", d)
		}
	})
}

func TestAWriteThatFailsOrPanicsHoldsNobodyBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := fence.New(nil)
		failed := errors.New("disk full")
		if err := g.Do(t.Context(), 1, func(context.Context) error { return failed }); err != failed {
			t.Error(err)
		}
		func() {
			defer func() { _ = recover() }()
			_ = g.Do(t.Context(), 2, func(context.Context) error { panic("no") })
		}()
		if err := g.Do(t.Context(), 3, func(context.Context) error { return nil }); err != nil {
			t.Error(err)
		}
	})
}

// writers write under tokens that grow, each pauses between winning its turn
// and writing. The model: what is stored never goes back, a write is refused
// exactly if it was not stored, and each check is counted once.
func TestOf64WritersWithPausesNoLateOneReachesTheStore(t *testing.T) {
	const writers, turns = 64, 20
	for seed := range uint64(10) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStore(t)
				g := fence.New(s.Election)
				var term atomic.Uint64
				var stored []uint64
				results := make(chan error)
				for w := range uint64(writers) {
					go func() {
						random := rand.New(rand.NewPCG(seed, w))
						pause := func() { time.Sleep(time.Duration(random.Int64N(int64(time.Second)))) }
						for range turns {
							pause()
							token := beyondFloats + term.Add(1)
							pause()
							results <- g.Do(t.Context(), token, func(context.Context) error {
								pause()
								stored = append(stored, token)
								return nil
							})
						}
					}()
				}
				refused := 0
				for range writers * turns {
					err := <-results
					if errors.Is(err, fence.ErrStale) {
						refused++
					} else if err != nil {
						t.Error(err)
					}
				}
				if !slices.IsSorted(stored) {
					t.Errorf("the store went back: %v", stored)
				}
				if len(stored)+refused != writers*turns || refused == 0 || len(stored) < 2 {
					t.Errorf("%d stored, %d refused, of %d", len(stored), refused, writers*turns)
				}
				s.shows(t, len(stored), refused, 0, g.Highest())
			})
		})
	}
}

func TestANilGuardAdmitsAndAGuardWithoutALockRecordsNothing(t *testing.T) {
	var none *fence.Guard
	ran := 0
	write := func(context.Context) error { ran++; return nil }
	if err := errors.Join(none.Check(3), none.Check(1), none.CheckContext(t.Context()), none.Do(t.Context(), 1, write), none.DoContext(t.Context(), write)); err != nil || ran != 2 {
		t.Error(err, ran)
	}
	if none.Highest() != 0 {
		t.Error("a nil guard has seen a token")
	}
	for name, g := range map[string]*fence.Guard{"zero": {}, "without a lock": fence.New(nil)} {
		if highest := g.Highest(); highest != 0 {
			t.Errorf("%s: it has seen %d", name, highest)
		}
		if err := g.Check(2); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := g.Check(1); !errors.Is(err, fence.ErrStale) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAWriteWithoutAContextIsChecked(t *testing.T) {
	g := fence.New(nil)
	var none context.Context
	ran := 0
	write := func(ctx context.Context) error { ran++; return ctx.Err() }
	if err := errors.Join(g.Do(none, 6, write), g.Do(none, 6, write)); err != nil || ran != 2 {
		t.Error(err, ran)
	}
	if err := g.Do(none, 3, write); !errors.Is(err, fence.ErrStale) || ran != 2 {
		t.Error(err, ran)
	}
	if err := errors.Join(g.DoContext(none, write), g.CheckContext(none)); !errors.Is(err, fence.ErrMissing) || ran != 2 {
		t.Error(err, ran)
	}
}

func TestTwoStoresOfOneLockKeepTheirOwnTokens(t *testing.T) {
	s := newStore(t)
	ledger, archive := fence.New(s.Election), fence.New(s.Election)
	_ = ledger.Check(6)
	if err := archive.Check(3); err != nil {
		t.Errorf("a store that has seen no later token: %v", err)
	}
	if err := ledger.Check(3); !errors.Is(err, fence.ErrStale) {
		t.Error(err)
	}
	s.shows(t, 2, 1, 0, 6)
}

func TestAnAdmittedCheckAllocatesNothing(t *testing.T) {
	g := fence.New(newStore(t).Election)
	token := uint64(0)
	if n := testing.AllocsPerRun(1000, func() {
		token++
		raised, again := g.Check(token), g.Check(token)
		if raised != nil || again != nil {
			t.Fatal("refused")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkCheck(b *testing.B) {
	m, err := instrument.New()
	if err != nil {
		b.Fatal(err)
	}
	g := fence.New(m.Election("ledger", instrument.WatchOnly()))
	_ = g.Check(7)
	b.Run("admitted", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_ = g.Check(7)
		}
	})
	b.Run("refused", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_ = g.Check(6)
		}
	})
	b.Run("admitted, in parallel", func(b *testing.B) {
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				_ = g.Check(7)
			}
		})
	})
}
