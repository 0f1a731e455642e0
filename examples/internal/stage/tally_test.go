//go:build unix

package stage

import (
	"slices"
	"testing"
)

func TestDisagreementsAreNamed(t *testing.T) {
	var tally Tally
	tally.Ran("a", false)
	tally.Ran("a", true)
	tally.Missed("a")
	tally.Ran("gone", false)
	tally.Forget("gone")
	sample := func(name, label string, v float64) Sample {
		return Sample{name, map[string]string{"lock_name": label}, v}
	}
	right := Metrics{
		sample("leader_attempts_total", "a", 3), sample("leader_acquired_total", "a", 2), sample("leader_not_acquired_total", "a", 1),
		sample("leader_execution_failures_total", "a", 1), sample("leader_terms_ended_total", "a", 2),
	}
	if got := Disagreements(right, tally.Counts()); len(got) > 0 {
		t.Errorf("%q", got)
	}
	wrong := append(slices.Clone(right), sample("leader_acquired_total", "a", 5), sample("leader_attempts_total", "unknown", 1))
	want := []string{
		"leader_acquired_total of a is 7, counted were 2",
		"leader_attempts_total of unknown is 1, counted were 0",
	}
	got := Disagreements(wrong, tally.Counts())
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
