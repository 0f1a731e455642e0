package main

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestASeedMakesOnePlan(t *testing.T) {
	const length, lease = 2 * time.Minute, 4 * time.Second
	first := plan(7, length, lease, 3, kinds)
	if diff := cmp.Diff(first, plan(7, length, lease, 3, kinds)); diff != "" {
		t.Error(diff)
	}
	if cmp.Equal(first, plan(8, length, lease, 3, kinds)) {
		t.Error("two seeds make the same plan")
	}
	if longer := plan(7, time.Hour, lease, 3, kinds); !cmp.Equal(first, longer[:len(first)]) {
		t.Error("a longer plan begins otherwise")
	}
}

func TestAPlanHasEveryKindAndFitsIntoItsTime(t *testing.T) {
	const length, lease = 2 * time.Minute, 4 * time.Second
	for seed := range uint64(200) {
		all := plan(seed, length, lease, 3, kinds)
		seen := map[kind]int{}
		sum := 2 * lease
		for _, f := range all {
			seen[f.Kind]++
			sum += f.After + f.For
			if f.Kind == suspend && (f.For < lease/5 || f.For > 3*lease) || f.Candidate < 0 || f.Candidate > 2 {
				t.Errorf("seed %d: %+v", seed, f)
			}
		}
		if len(seen) != len(kinds) {
			t.Errorf("seed %d: %d of %d kinds: %v", seed, len(seen), len(kinds), seen)
		}
		if sum > length {
			t.Errorf("seed %d takes %v", seed, sum)
		}
	}
}

func TestKindsAreChosenByAWord(t *testing.T) {
	for word, want := range map[string][]kind{
		"":         kinds,
		"deleted":  {remove},
		"restart":  {kill, stop, restart},
		"unheard ": nil,
	} {
		if diff := cmp.Diff(want, some(word)); diff != "" {
			t.Errorf("%q: %s", word, diff)
		}
	}
	for _, f := range plan(1, time.Minute, 4*time.Second, 3, []kind{remove}) {
		if f.Kind != remove {
			t.Errorf("%+v", f)
		}
	}
}
