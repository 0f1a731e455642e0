package parity

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/leaderscope/leaderscope/alerts"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/promeval"
)

// pushes are ten minutes of two replicas that push counts of 100 and 40 in
// turns, every 30 s, while nothing happens; instance is written for each.
func pushes(first, second string) []promeval.Series {
	metrics := map[*catalog.Metric][2]int{catalog.Acquired: {100, 40}, catalog.Active: {1, 0}, catalog.MaxLeaders: {1, 1}}
	var all []promeval.Series
	for m, v := range metrics {
		if first == second {
			all = append(all, series(m, first, fmt.Sprintf("%d %d", v[0], v[1])))
			continue
		}
		all = append(all, series(m, first, fmt.Sprintf("%d _", v[0])), series(m, second, fmt.Sprintf("_ %d", v[1])))
	}
	return append(all, series(catalog.ElectorInfo, first, "1 _"))
}

func series(m *catalog.Metric, instance, turn string) promeval.Series {
	values := ""
	for range 15 {
		values += turn + " "
	}
	mode := ""
	if m == catalog.ElectorInfo {
		mode = `,mode="hold"`
	}
	return promeval.Series{Selector: fmt.Sprintf(`%s{job="orders",instance=%q,lock_name="primary"%s}`, m.Name(), instance, mode), Values: values}
}

func TestC56WithoutIdentityAQuietLockSeemsToChangeHandsAThousandTimes(t *testing.T) {
	const step = 30 * time.Second
	ctx := context.Background()
	cases := map[string]struct {
		first, second string
		increase      float64
		flaps         bool
	}{
		"without identity": {first: "", second: "", increase: 1000, flaps: true},
		"with identity":    {first: "pod-a", second: "pod-b"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			store, err := promeval.Load(pushes(c.first, c.second), step, promeval.V3)
			if err != nil {
				t.Fatal(err)
			}
			increase := fmt.Sprintf("sum(increase(%s[10m])) or vector(0)", catalog.Acquired.Name())
			found, err := store.Query(ctx, increase, time.Unix(0, 0).Add(10*time.Minute))
			if err != nil {
				t.Fatal(err)
			}
			if got := found[0].F; got < 0.95*c.increase || got > 1.05*c.increase {
				t.Errorf("increase in 10 min: %v, want %v", got, c.increase)
			}
			fired := fires(t, store, "LeaderElectionFlapping")
			if fired != c.flaps {
				t.Errorf("Flapping fires: %v", fired)
			}
			if fires(t, store, "LeaderElectionSplitBrain") {
				t.Error("SplitBrain fires")
			}
		})
	}
}

// fires reports whether a shipped rule fires within the quarter of an hour.
func fires(t *testing.T, store *promeval.Store, name string) bool {
	t.Helper()
	rules, err := alerts.Rules(alerts.Default())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rules {
		if r.Name != name {
			continue
		}
		firings, err := store.Alerts(context.Background(), promeval.Rule{Name: r.Name, Expr: r.Expr, For: time.Duration(r.For)}, 15*time.Minute, 30*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		if len(firings) > 0 {
			return true
		}
	}
	return false
}
