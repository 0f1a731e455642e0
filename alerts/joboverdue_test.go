package alerts

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"

	"github.com/leaderscope/leaderscope/instrument/catalog"
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

// ranOnce is a fleet of jobs that ran once, days ago, on a replica that went
// half an hour later. Some are declared by another one since.
func ranOnce() (fleet []promeval.Series, due map[string]time.Duration) {
	due = map[string]time.Duration{}
	const end = 3 * 24 * time.Hour
	for _, c := range []struct {
		ago, interval time.Duration
		replaced      bool
		due           time.Duration
	}{
		{45 * time.Hour, 28 * time.Hour, true, 45 * time.Hour},
		// The run is beyond the lookback: the job owes from its declaration.
		{60 * time.Hour, 28 * time.Hour, true, 42*time.Hour + 40*time.Minute},
		{31 * time.Hour, 19 * time.Hour, false, 31 * time.Hour},
		{31 * time.Hour, 22 * time.Hour, false, 0},
		{60 * time.Hour, 19 * time.Hour, false, 0},
	} {
		lock := fmt.Sprintf("ran %s ago, every %s", model.Duration(c.ago), model.Duration(c.interval))
		begun := int((end - c.ago).Minutes())
		add := func(instance, metric string, from, samples int, value time.Duration) {
			fleet = append(fleet, promeval.Series{
				Selector: fmt.Sprintf("%s{job=\"a\",instance=%q,lock_name=%q}", metric, instance, lock),
				Values:   fmt.Sprintf("_x%d %.0fx%d stale", from, value.Seconds(), samples-1),
			})
		}
		add("i1", catalog.ExpectedInterval.Name(), begun, 30, c.interval)
		add("i1", catalog.LastAcquired.Name(), begun, 30, end-c.ago)
		if c.replaced {
			add("i2", catalog.ExpectedInterval.Name(), begun+30, int(c.ago.Minutes()), c.interval)
		}
		if c.due != 0 {
			due[lock] = c.due
		}
	}
	return fleet, due
}

// longJobs are both fleets.
func longJobs() (fleet []promeval.Series, due map[string]time.Duration) {
	fleet, due = neverRan()
	ran, also := ranOnce()
	maps.Copy(due, also)
	return append(fleet, ran...), due
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

func longJobsStore(t *testing.T) *promeval.Store {
	t.Helper()
	fleet, _ := longJobs()
	store, err := promeval.Load(fleet, time.Minute, promeval.V3)
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// A job that never ran is overdue after the first step of the ladder that is
// long enough, one that ran since its run.
func TestJobsAreOverdueSinceTheirRunOrTheirDeclaration(t *testing.T) {
	_, due := longJobs()
	var want []string
	for lock, since := range due {
		want = append(want, fmt.Sprintf("%s = %v", lock, since.Seconds()))
	}
	slices.Sort(want)
	for _, r := range rulesOf(t, Default()) {
		if r.Name != Prefix+"JobOverdue" {
			continue
		}
		got, err := overdue(t.Context(), longJobsStore(t), r)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.Join(want, "\n"), got); diff != "" {
			t.Errorf("want -, got +\n%s", diff)
		}
	}
}
