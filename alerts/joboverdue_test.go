package alerts

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"

	"github.com/leaderscope/leaderscope/internal/promeval"
)

// neverRan is a fleet of jobs that never ran: for each declared interval one
// that has been declared for a little less than the first step of the ladder
// that is long enough, and one for a little more.
func neverRan() (fleet []promeval.Series, due map[string]time.Duration) {
	due = map[string]time.Duration{}
	const minutes = 3 * 24 * 60
	for _, c := range []struct {
		interval time.Duration
		step     string
	}{
		{time.Minute, "5m"}, {2 * time.Minute, "5m"}, {4 * time.Minute, "10m"}, {10 * time.Minute, "20m"}, {20 * time.Minute, "40m"},
		{45 * time.Minute, "1h20m"}, {100 * time.Minute, "2h40m"}, {200 * time.Minute, "5h20m"}, {6 * time.Hour, "10h40m"}, {13 * time.Hour, "21h20m"},
		{27 * time.Hour, "1d18h40m"}, {30 * time.Hour, "2d"}, {40 * time.Hour, ""},
	} {
		step := 3 * 24 * time.Hour
		if d, err := model.ParseDuration(c.step); err == nil {
			step = time.Duration(d)
		}
		for _, more := range []int{-2, 2} {
			lock := fmt.Sprintf("%s%+d", model.Duration(c.interval), more)
			begun := max(minutes-int(step.Minutes())-more, 0)
			for _, replica := range []string{"i1", "i2"} {
				fleet = append(fleet, promeval.Series{
					Selector: fmt.Sprintf(`leader_expected_interval_seconds{job="a",instance=%q,lock_name=%q}`, replica, lock),
					Values:   fmt.Sprintf("_x%d %.0fx%d", begun, c.interval.Seconds(), minutes-begun),
				})
			}
			if more > 0 && c.step != "" {
				due[lock] = step
			}
		}
		if c.step == "" || step == 5*time.Minute {
			continue
		}
		// Replicas were being replaced when the step looks: for three minutes,
		// which is a rollout, or for eight, which is none.
		for _, gap := range []int{3, 8} {
			lock, at := fmt.Sprintf("%s gap %d", model.Duration(c.interval), gap), minutes-int(step.Minutes())
			fleet = append(fleet, promeval.Series{
				Selector: fmt.Sprintf(`leader_expected_interval_seconds{job="a",instance="i1",lock_name=%q}`, lock),
				Values:   fmt.Sprintf("_x%[1]d %.0[2]fx%[3]d stale _x%[4]d %.0[2]fx%[5]d", max(at-gap-30, 0), c.interval.Seconds(), min(30, at-gap)-1, gap, minutes-at),
			})
			if gap < 5 {
				due[lock] = step
			}
		}
	}
	return fleet, due
}

// overdue asks the rule at the end of the fleet's days.
func overdue(ctx context.Context, store *promeval.Store, r Rule) (string, error) {
	bare := r.evaluated()
	bare.Labels, bare.Annotations = nil, map[string]string{"value": "{{ $value }}"}
	results, err := store.Results(ctx, bare, 3*24*time.Hour)
	if err != nil {
		return "", err
	}
	var lines []string
	for _, r := range results {
		lines = append(lines, r.Labels.Get("lock_name")+" = "+r.Annotations["value"])
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n"), nil
}

func neverRanStore(t *testing.T) *promeval.Store {
	t.Helper()
	fleet, _ := neverRan()
	store, err := promeval.Load(fleet, time.Minute, promeval.V3)
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func TestJobsThatNeverRanAreOverdueAfterTheFirstLongEnoughStep(t *testing.T) {
	_, due := neverRan()
	var want []string
	for lock, step := range due {
		want = append(want, fmt.Sprintf("%s = %v", lock, step.Seconds()))
	}
	slices.Sort(want)
	for _, r := range rulesOf(t, Default()) {
		if r.Name != Prefix+"JobOverdue" {
			continue
		}
		got, err := overdue(t.Context(), neverRanStore(t), r)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.Join(want, "\n"), got); diff != "" {
			t.Errorf("want -, got +\n%s", diff)
		}
	}
}
