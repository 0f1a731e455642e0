package unittest

import (
	"fmt"
	"testing"

	"github.com/leaderscope/leaderscope/internal/promeval"
)

// A text lists five replicas at most, and engines choose others of six that are
// alike.
func TestTextsOfMoreReplicasThanTheyListAreNotSpelledOut(t *testing.T) {
	for n, want := range map[int]bool{0: false, 5: false, 6: true} {
		var series []promeval.Series
		for i := range n {
			series = append(series, promeval.Series{Selector: fmt.Sprintf(`leader_active{instance="i%d",lock_name="x"}`, i)},
				promeval.Series{Selector: fmt.Sprintf(`leader_attempts_total{instance="i%d",lock_name="x"}`, i)})
		}
		if got := crowded(series); got != want {
			t.Errorf("%d replicas are crowded: %t, want %t", n, got, want)
		}
	}
}
