//go:build integration

package fencing

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/instrument/fence"
)

// served runs a test against each kind of store on a server of its own.
func served(t *testing.T, test func(t *testing.T, kind, address string)) {
	for kind := range openers {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			if kind == "http" {
				s, _ := newService(t)
				front := httptest.NewServer(s)
				t.Cleanup(front.Close)
				test(t, kind, strings.TrimPrefix(front.URL, "http://"))
				return
			}
			test(t, kind, strings.Join(started(t, kind).Addresses(), ","))
		})
	}
}

// Each writer pauses between its win and its write. Model: what is stored
// never goes back, and holds exactly what was admitted.
func TestOf64WritersWithPausesNoLateOneReachesAServer(t *testing.T) {
	const writers, turns = 64, 5
	served(t, func(t *testing.T, kind, address string) {
		m, err := instrument.New()
		if err != nil {
			t.Fatal(err)
		}
		e := m.Election("ledger", instrument.WatchOnly())
		s, err := openers[kind](e, address, "fence_a")
		if err != nil {
			t.Fatal(err)
		}
		var term atomic.Uint64
		var stored, late atomic.Int64
		var group sync.WaitGroup
		for w := range uint64(writers) {
			group.Go(func() {
				random := rand.New(rand.NewPCG(1, w))
				for range turns {
					token := offset + term.Add(1)
					time.Sleep(time.Duration(random.Int64N(int64(100 * time.Millisecond))))
					ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
					err := s.write(ctx, token)
					cancel()
					switch {
					case err == nil:
						stored.Add(1)
					case errors.Is(err, fence.ErrStale):
						late.Add(1)
					default:
						t.Errorf("token %d: %v", token, err)
					}
				}
			})
		}
		group.Wait()
		tokens, err := s.read(t.Context())
		if err != nil || !slices.IsSorted(tokens) || int64(len(tokens)) != stored.Load() || late.Load() == 0 {
			t.Errorf("%d refused, %d admitted, %d stored: %v, %v", late.Load(), stored.Load(), len(tokens), err, tokens)
		}
		if kind == "http" {
			return // the service counts
		}
		want := electtest.Series{
			electtest.Of(catalog.FencingChecks, "admitted"): float64(stored.Load()),
			electtest.Of(catalog.FencingChecks, "stale"):    float64(late.Load()),
			electtest.Of(catalog.FencingChecks, "missing"):  0,
			electtest.Of(catalog.FencingHighestToken):       offset + writers*turns,
		}
		if diff := cmp.Diff(want, electtest.Read(m, e.Label())); diff != "" {
			t.Error(diff)
		}
	})
}

func TestServersCompareTokensAsNumbersUpToTheLast(t *testing.T) {
	served(t, func(t *testing.T, kind, address string) {
		var want, got []string
		var highest uint64
		for _, token := range []uint64{0, 0, 9, 10, 9, 1<<53 + 1, 1 << 53, math.MaxInt64, math.MaxInt64 + 1, math.MaxInt64, math.MaxUint64 - 1, math.MaxUint64, math.MaxUint64 - 1, math.MaxUint64, 0} {
			s, err := openers[kind](nil, address, "fence_b") // as after a restart of the process that checks
			if err != nil {
				t.Fatal(err)
			}
			highest = max(highest, token)
			err = s.write(t.Context(), token)
			stale, ok := errors.AsType[*fence.StaleError](err)
			if ok && *stale != (fence.StaleError{Token: token, Highest: highest}) || err != nil && !errors.Is(err, fence.ErrStale) {
				t.Errorf("token %d: %v", token, err)
			}
			want = append(want, fmt.Sprint(token, token >= highest))
			got = append(got, fmt.Sprint(token, err == nil))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}
