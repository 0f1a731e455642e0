package registry

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/internal/lock"
	"github.com/leaderscope/leaderscope/redact"
)

// ended are the seconds at which the listed terms ended, by label.
func (f *fixture) ended() map[string][]int {
	all := map[string][]int{}
	f.ReadTerms(func(r *Reading, terms *Terms) {
		ends := []int{}
		for _, e := range terms.Ended {
			ends = append(ends, int(e.Ended.Sub(lock.Origin)/time.Second))
		}
		all[r.Label] = ends
	})
	return all
}

// cycle wins and loses a lock; the term ends in that second.
func (f *fixture) cycle(l *Lock, second int) {
	f.now = time.Duration(second) * time.Second
	f.lose(l, f.win(l))
}

func TestTermsOfALabelAreThoseOfItsLocks(t *testing.T) {
	for name, c := range map[string]struct {
		play func(f *fixture)
		want map[string][]int
	}{
		"nothing is kept": {func(f *fixture) { f.cycle(f.own("a"), 1) }, map[string][]int{"a": {}}},
		"each label by itself, the latest first": {func(f *fixture) {
			f.KeepTerms(2)
			a, b := f.own("a"), f.own("b")
			f.cycle(a, 1)
			f.cycle(b, 2)
			f.cycle(a, 3)
			f.cycle(a, 4)
		}, map[string][]int{"a": {4, 3}, "b": {2}}},
		"a lock that exists keeps them from now on": {func(f *fixture) {
			a := f.own("a")
			f.cycle(a, 1)
			f.KeepTerms(2)
			f.cycle(a, 2)
		}, map[string][]int{"a": {2}}},
		"the largest number counts": {func(f *fixture) {
			f.KeepTerms(3)
			f.KeepTerms(1)
			a := f.own("a")
			for i := range 5 {
				f.cycle(a, i)
			}
		}, map[string][]int{"a": {4, 3, 2}}},
		"locks of a shared label have as many as one": {func(f *fixture) {
			f.KeepTerms(3)
			for i := range 5 {
				f.cycle(f.shared(fmt.Sprint(i)), i)
			}
		}, map[string][]int{"*": {4, 3, 2}}},
		"locks that were folded leave theirs": {func(f *fixture) {
			f.KeepTerms(3)
			var all []*Lock
			for i := range 4 {
				l := f.shared(fmt.Sprint(i))
				f.cycle(l, i)
				all = append(all, l)
			}
			for _, l := range []*Lock{all[3], all[0]} {
				sweep(l)
			}
			f.cycle(all[0], 9)
			sweep(all[0])
		}, map[string][]int{"*": {9, 3, 2}}},
		"a forgotten lock takes its terms with it": {func(f *fixture) {
			f.KeepTerms(3)
			a := f.own("a")
			f.cycle(a, 1)
			f.Forget(a)
			f.cycle(f.own("a"), 2)
		}, map[string][]int{"a": {2}}},
		"a forgotten lock of a shared label leaves them": {func(f *fixture) {
			f.KeepTerms(3)
			a, _ := f.shared("a"), f.shared("b")
			f.cycle(a, 1)
			f.now = 2 * time.Second
			f.win(a)
			f.now = 3 * time.Second
			f.Forget(a) // and what was open
		}, map[string][]int{"*": {3, 1}}},
		"a label that turns out to stand for two names": {func(f *fixture) {
			f.KeepTerms(3)
			a := f.enter("a", redact.Label{Text: "x"})
			f.cycle(a, 1)
			b := f.enter("b", redact.Label{Text: "x"})
			f.cycle(b, 2)
		}, map[string][]int{"x*": {2, 1}}},
		"a name that leaves the overflow": {func(f *fixture) {
			f.KeepTerms(3)
			a, _ := f.own("a"), f.own("b")
			c := f.own("c")
			f.cycle(c, 1)
			f.Forget(a)
			c = f.own("c")
			f.cycle(c, 2)
		}, map[string][]int{"b": {}, "c": {2}, redact.Overflow: {1}}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(2)
			c.play(f)
			if diff := cmp.Diff(c.want, f.ended()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestOpenTermsComeInTheOrderOfTheirEnds(t *testing.T) {
	var terms Terms
	want := []lock.OpenTerm{{Began: 9, End: 1}, {Began: 2, End: 5}, {Began: 3, End: 5}, {Began: 1}, {Began: 4}}
	for range 2 {
		terms.Open = append(terms.Open[:0], want[3], want[2], want[4], want[0], want[1])
		terms.finish(0)
		if !slices.Equal(terms.Open, want) {
			t.Errorf("got %v, want %v", terms.Open, want)
		}
		slices.Reverse(terms.Open)
	}
}

func TestTermsThatEndedAtOnceComeInTheOrderInWhichTheyWereCounted(t *testing.T) {
	at := func(cause catalog.EndCause, end lock.Instant) lock.EndedTerm {
		return lock.EndedTerm{Ended: end, Cause: cause}
	}
	got := latest([]lock.EndedTerm{at(catalog.Released, 2), at(catalog.Lost, 2), at(catalog.Expired, 1), at(catalog.GaveUp, 2)}, 3)
	want := []lock.EndedTerm{at(catalog.GaveUp, 2), at(catalog.Lost, 2), at(catalog.Released, 2)}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestFoldedTermsAreKeptTheOldestFirst(t *testing.T) {
	f := newFixture(2)
	f.KeepTerms(3)
	var all []*Lock
	for i := range 4 {
		l := f.shared(fmt.Sprint(i))
		f.cycle(l, i)
		all = append(all, l)
	}
	for _, l := range []*Lock{all[3], all[0], all[2]} {
		sweep(l)
	}
	ends := []lock.Instant{}
	for _, e := range f.labels["*"].folded.ended {
		ends = append(ends, e.Ended-lock.Origin)
	}
	if want := []lock.Instant{0, 2e9, 3e9}; !slices.Equal(ends, want) {
		t.Errorf("kept %v, want %v", ends, want)
	}
}
