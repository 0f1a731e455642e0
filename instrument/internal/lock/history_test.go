package lock

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

func endedAt(i int) EndedTerm {
	return EndedTerm{Began: Instant(i), Ended: Instant(i + 1), Cause: catalog.EndCause(i % catalog.EndCauses)}
}

func TestAHistoryKeepsTheLastTermsInTheirOrder(t *testing.T) {
	for name, c := range map[string]struct {
		keep      []int // one after the other, each before three more terms end
		first     int   // of those that are kept in the end
		beginning int   // terms that ended before the first Keep
	}{
		"none is kept":                    {keep: []int{0}, first: 3},
		"less than none":                  {keep: []int{-1}, first: 3},
		"not full":                        {keep: []int{4}, first: 0},
		"just full":                       {keep: []int{3}, first: 0},
		"one over":                        {keep: []int{2}, first: 1},
		"only the last":                   {keep: []int{1}, first: 2},
		"around twice":                    {keep: []int{2, 2, 2}, first: 7},
		"fewer than before is no change":  {keep: []int{4, 2}, first: 2},
		"more than before":                {keep: []int{2, 5}, first: 1},
		"what ended before is not known":  {keep: []int{4}, first: 2, beginning: 2},
		"more than before, in mid circle": {keep: []int{2, 4, 5}, first: 4},
	} {
		t.Run(name, func(t *testing.T) {
			var s State
			n := 0
			end := func() {
				s.history.add(endedAt(n))
				n++
			}
			for range c.beginning {
				end()
			}
			for _, most := range c.keep {
				s.Keep(most)
				for range 3 {
					end()
				}
			}
			var want []EndedTerm
			for i := c.first; i < n; i++ {
				want = append(want, endedAt(i))
			}
			if diff := cmp.Diff(want, s.AppendEnded(nil)); diff != "" {
				t.Error(diff)
			}
			s.Drain()
			if left := s.AppendEnded(nil); len(left) != 0 {
				t.Errorf("%v are left", left)
			}
		})
	}
}

// A term that ends takes memory once for a lock, and none where terms are not
// kept.
func TestAHistoryAllocatesOnce(t *testing.T) {
	for _, most := range []int{0, 1, 10} {
		var s State
		s.Keep(most)
		s.history.add(endedAt(0))
		if got := testing.AllocsPerRun(100, func() { s.history.add(endedAt(1)) }); got != 0 {
			t.Errorf("%d kept: %v allocations for each term", most, got)
		}
	}
}

func TestOpenTermsAreThoseThatHoldOrWork(t *testing.T) {
	for name, c := range map[string]struct {
		params Params
		play   func(s *State, t *Term)
		at     time.Duration
		want   []OpenTerm
	}{
		"held": {Params{Hold: true}, func(*State, *Term) {}, 5 * time.Second,
			[]OpenTerm{{Began: Origin, End: Origin.Add(lease), Active: true}}},
		"held past its lease": {Params{Hold: true}, func(*State, *Term) {}, 31 * time.Second,
			[]OpenTerm{{Began: Origin, End: Origin.Add(lease), Overrun: true}}},
		"held to the very end of its lease": {Params{Hold: true}, func(*State, *Term) {}, lease,
			[]OpenTerm{{Began: Origin, End: Origin.Add(lease)}}},
		"held, of unknown end": {Params{Hold: true, Hidden: true}, func(*State, *Term) {}, time.Hour,
			[]OpenTerm{{Began: Origin, Active: true}}},
		"left to its lease on purpose": {Params{Hold: true, KeepUntilExpiry: true}, func(*State, *Term) {}, 31 * time.Second, nil},
		"a body past the lease": {Params{}, func(s *State, t *Term) { s.BodyStarts(t, Origin) }, 31 * time.Second,
			[]OpenTerm{{Began: Origin, End: Origin.Add(lease), Bodies: 1, Overrun: true}}},
		"a body at the very end of the lease": {Params{}, func(s *State, t *Term) { s.BodyStarts(t, Origin) }, lease,
			[]OpenTerm{{Began: Origin, End: Origin.Add(lease), Bodies: 1}}},
		"a lock around one run that a late renewal may still find open": {Params{}, func(*State, *Term) {}, 31 * time.Second,
			[]OpenTerm{{Began: Origin, End: Origin.Add(lease)}}},
		"a body within the lease": {Params{}, func(s *State, t *Term) { s.BodyStarts(t, Origin) }, 29 * time.Second,
			[]OpenTerm{{Began: Origin, End: Origin.Add(lease), Bodies: 1, Active: true}}},
		"a body after the loss": {Params{}, func(s *State, t *Term) {
			s.BodyStarts(t, Origin)
			s.Lost(t, Origin.Add(time.Second), Gone)
		}, 2 * time.Second, []OpenTerm{{Began: Origin, End: Origin.Add(lease), Bodies: 1, Overrun: true}}},
		"a body whose holder gave up, while the lease keeps others out": {Params{}, func(s *State, t *Term) {
			s.BodyStarts(t, Origin)
			s.Lost(t, Origin.Add(time.Second), GaveUp)
		}, 2 * time.Second, []OpenTerm{{Began: Origin, End: Origin.Add(lease), Bodies: 1}}},
		"a body after the release": {Params{}, func(s *State, t *Term) {
			s.BodyStarts(t, Origin)
			t.Stop(Origin.Add(time.Second))
			s.Released(t, true, Origin.Add(time.Second), catalog.ReleaseOK)
		}, 2 * time.Second, []OpenTerm{{Began: Origin, End: Origin.Add(lease), Bodies: 1, Overrun: true}}},
		"released": {Params{}, func(s *State, t *Term) {
			t.Stop(Origin.Add(time.Second))
			s.Released(t, true, Origin.Add(time.Second), catalog.ReleaseOK)
		}, 2 * time.Second, nil},
		"forgotten": {Params{Hold: true}, func(s *State, _ *Term) { s.Retire(Origin.Add(time.Second)) }, 2 * time.Second, nil},
	} {
		t.Run(name, func(t *testing.T) {
			c.params.Lease = lease
			s, term := &State{Params: &c.params}, &Term{}
			s.Enter(Origin)
			s.Win(term, nil, Origin, &Won{Now: Origin, Renewals: ShownRenewals})
			c.play(s, term)
			now := Origin.Add(c.at)
			s.Settle(now)
			if diff := cmp.Diff(c.want, s.AppendOpen(nil, now)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
