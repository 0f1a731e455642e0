package fence_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/leaderscope/leaderscope/instrument/fence"
)

// A guard of one's own, such as one in a file.
func TestCompareDecidesByTheHighestTokenAndRecordsIt(t *testing.T) {
	for _, c := range []struct {
		name           string
		token, highest uint64
		stale          bool
		shown          uint64
	}{
		{"the first", 0, 0, false, 0},
		{"a later one that is counted in", 6, 6, false, 6},
		{"a later one that is not counted in", 6, 3, false, 6},
		{"an older one", 3, 6, true, 6},
		{"the one before the last number", math.MaxUint64 - 1, math.MaxUint64, true, math.MaxUint64},
		{"neighbours beyond 2^53", beyondFloats, beyondFloats + 1, true, beyondFloats + 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStore(t)
			s.Guards()
			for i, e := range []store{s, {}} {
				err := fence.Compare(e.Election, c.token, c.highest)
				var want error
				if c.stale {
					want = &fence.StaleError{Token: c.token, Highest: c.highest}
				}
				if fmt.Sprint(err) != fmt.Sprint(want) || errors.Is(err, fence.ErrStale) != c.stale {
					t.Errorf("lock %d: %v, want %v", i, err, want)
				}
			}
			stale := 0
			if c.stale {
				stale = 1
			}
			s.shows(t, 1-stale, stale, 0, c.shown)
		})
	}
}
