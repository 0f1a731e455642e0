package main

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPhasesAreChosenByNumber(t *testing.T) {
	every := []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}
	for list, want := range map[string][]int{
		"1":           {1},
		"1, 3":        {1, 3},
		"3,1":         {1, 3},
		"7,8":         {7, 8},
		"8,7":         {7, 8},
		"8":           {7, 8},
		"7":           {7},
		"9,9":         {9},
		"12,10,11":    {10, 11, 12},
		"all":         every,
		" all ":       every,
		usualPhases:   every[:9],
		"0":           nil,
		"-1":          nil,
		"13":          nil,
		"":            nil,
		"1,":          nil,
		"1,second":    nil,
		"all,1":       nil,
		"1-3":         nil,
		"99999999999": nil,
	} {
		chosen, err := choose(list)
		if (err != nil) != (want == nil) {
			t.Errorf("%q: error %v", list, err)
		}
		if diff := cmp.Diff(want, slices.Sorted(maps.Keys(chosen))); diff != "" {
			t.Errorf("%q: %s", list, diff)
		}
	}
}

func TestAnUnknownPhaseIsNamedWithTheRemedy(t *testing.T) {
	_, err := choose("1,x")
	if want := `--phases: unknown phase "x"; use numbers from 1 to 12 with commas between them, or all`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %q", err, want)
	}
}

// Each of the 4,096 combinations is played in the order of the numbers, with
// healthy replicas after each phase but one whose recovery is next.
func TestEveryCombinationOfPhasesLeavesHealthyReplicasToTheNext(t *testing.T) {
	phases := script("leader", "job")
	for set := range 1 << len(phases) {
		chosen := map[int]bool{}
		for i := range phases {
			if set&(1<<i) != 0 {
				chosen[i+1] = true
			}
		}
		if chosen[8] {
			chosen[7] = true // as choose does
		}
		steps := plan(phases, chosen)
		var played []int
		for i, s := range steps {
			played = append(played, s.number)
			recoveryNext := i+1 < len(steps) && steps[i+1].recovery
			if (s.cure == nil) != recoveryNext {
				t.Errorf("%v: phase %d has a cure: %v, its recovery is next: %v", chosen, s.number, s.cure != nil, recoveryNext)
			}
			if s.recovery && (i == 0 || steps[i-1].number != s.number-1) {
				t.Errorf("%v: the recovery %d does not follow its fault", chosen, s.number)
			}
			if s.takes <= 0 || s.title == "" || s.act == nil {
				t.Errorf("phase %d is not whole", s.number)
			}
		}
		if want := slices.Sorted(maps.Keys(chosen)); !slices.Equal(want, played) {
			t.Errorf("played %v, want %v", played, want)
		}
	}
}

func TestTheEstimateIsOfThePhasesThatArePlayed(t *testing.T) {
	for list, want := range map[string]string{usualPhases: "3 minutes", "1": "a minute", "7": "a minute", "3,4,5": "a minute", "3,4,5,6,7": "2 minutes", "all": "4 minutes"} {
		chosen, err := choose(list)
		if err != nil {
			t.Fatal(err)
		}
		if got := estimate(plan(script("", ""), chosen)); got != want {
			t.Errorf("%s: %q, want %q", list, got, want)
		}
	}
}

func TestTheHelpNamesEachPhase(t *testing.T) {
	want := `the ` + "`numbers`" + ` of the phases to play, in any combination, or all; 10 to 12 are played on request only:
  1  Three healthy replicas
  2  The leader is killed (kill -9), and started again later
  3  The leader is suspended past its lease, and continues
  4  The job takes 84 % of its lease
  5  The job takes twice its lease
  6  A fourth replica is configured with another etcd
  7  Two of three etcd members stop
  8  The etcd members are back
  9  The leader is killed, and no other replica campaigns
 10  Rolling restart: no alert may fire
 11  The job fails each time
 12  The service is scaled to zero, and back to three
8 is the recovery from 7, which is then played too; the default is`
	if diff := cmp.Diff(want, phasesHelp()); diff != "" {
		t.Error(diff)
	}
}
