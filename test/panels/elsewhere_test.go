package panels

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leaderscope/leaderscope/dashboards"
	"github.com/leaderscope/leaderscope/internal/condition"
	"github.com/leaderscope/leaderscope/internal/panel"
	"github.com/leaderscope/leaderscope/internal/scenario"
)

// A lock that another job leads is not without a leader: the alert and all panels
// agree, whichever jobs are chosen.
func TestALockThatAnotherJobLeadsIsNotWithoutALeader(t *testing.T) {
	const (
		info   = `leader_elector_info{mode="hold",backend="etcd",family="orders"} 1x60` + "\n"
		canary = `leader_elector_info{job="canary",mode="hold",backend="etcd",family="orders"} 1x60` + "\n"
		leads  = `leader_active{instance="i1"} 1x60` + "\n" + `leader_active{instance="i2"} 0x60` + "\n"
		waits  = `leader_active{job="canary",instance="c1"} 0x60` + "\n" + `leader_active{job="canary",instance="c2"} 0x60` + "\n"
		a, c   = `job="a",lock_name="x"`, `job="canary",lock_name="x"`
	)
	for name, test := range map[string]struct {
		load string
		// want is the state of each lock; holders is what the canary's dashboard names
		// as the holder.
		want    map[string]*condition.Condition
		holders string
	}{
		"two jobs of two replicas, one of which leads": {
			load: info + canary + leads + waits,
			want: map[string]*condition.Condition{a: condition.Led, c: condition.LedElsewhere}, holders: "i1 of a",
		},
		"two jobs that both lead": {
			load: info + canary + leads + `leader_active{job="canary",instance="c1"} 1x60`,
			want: map[string]*condition.Condition{a: condition.Led, c: condition.Led},
		},
		"two jobs, and none leads": {
			load: info + canary + waits + `leader_active{instance="i1"} 0x60`,
			want: map[string]*condition.Condition{a: condition.NoLeader, c: condition.NoLeader},
		},
		"a job that led, and the other has led for a minute": {
			load: info + canary + `leader_active{instance="i1"} 1x37 0x10` + "\n" + `leader_active{job="canary",instance="c1"} 0x37 1x10`,
			want: map[string]*condition.Condition{a: condition.LedElsewhere, c: condition.Led},
		},
		"a job that led and cannot be scraped, and the other leads": {
			load: info + canary + waits + `
				leader_active{instance="i1"} 1x20 stale
				leader_active{instance="i2"} 0x60
				up{instance="i1"} 1x20 0x60
				leader_active{job="canary",instance="c3"} 0x20 1x60`,
			want: map[string]*condition.Condition{a: condition.LedElsewhere, c: condition.Led},
		},
		"a leader that cannot be scraped": {
			load: info + canary + waits + `
				leader_active{instance="i1"} 1x38 stale
				leader_active{instance="i2"} 0x60
				up{instance="i1"} 1x38 0x60`,
			want: map[string]*condition.Condition{a: condition.NotSeen, c: condition.NoLeaderNow},
		},
		"three jobs, of which one leads": {
			load: info + canary + leads + waits + `
				leader_elector_info{job="old",mode="hold",backend="etcd",family="orders"} 1x60
				leader_active{job="old",instance="o1"} 0x60`,
			want:    map[string]*condition.Condition{a: condition.Led, c: condition.LedElsewhere, `job="old",lock_name="x"`: condition.LedElsewhere},
			holders: "i1 of a",
		},
		"the leader is in another namespace": {
			load: strings.ReplaceAll(info+leads, "{", `{namespace="n",`) + canary + waits,
			want: map[string]*condition.Condition{`namespace="n",` + a: condition.Led, c: condition.NoLeader},
		},
		"the leader is in another cluster": {
			load: strings.ReplaceAll(info+leads, "{", `{cluster="east",`) + canary + waits,
			want: map[string]*condition.Condition{`cluster="east",` + a: condition.Led, c: condition.NoLeader},
		},
		"the leader has a lock of another family": {
			load: strings.ReplaceAll(info, "orders", "mail") + canary + leads + waits,
			want: map[string]*condition.Condition{a: condition.Led, c: condition.NoLeader},
		},
		"the leader has a lock of another backend": {
			load: strings.ReplaceAll(info, "etcd", "redis") + canary + leads + waits,
			want: map[string]*condition.Condition{a: condition.Led, c: condition.NoLeader},
		},
		"the other job takes the lock for single runs": {
			load: strings.ReplaceAll(info, "hold", "run") + canary + leads + waits,
			want: map[string]*condition.Condition{a: condition.Running, c: condition.NoLeader},
		},
		"the leader has another lock": {
			load: strings.ReplaceAll(info+leads, "{", `{lock_name="y",`) + canary + waits,
			want: map[string]*condition.Condition{`job="a",lock_name="y"`: condition.Led, c: condition.NoLeader},
		},
		"a label that several locks share": {
			load: strings.ReplaceAll(info+canary+leads+waits, "{", `{lock_name="redacted",`),
			want: map[string]*condition.Condition{`job="a",lock_name="redacted"`: condition.Led, `job="canary",lock_name="redacted"`: condition.NoLeaderNow},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := scenario.Scenario{ID: "B", Name: name, Every: 30 * time.Second, End: 20 * time.Minute, Load: test.load, Alone: true}
			store, _ := play(t, s)
			for where, job := range map[string]string{"overview": ".*", "overview of the canary": "canary", "lock": "canary"} {
				build, id, ref := dashboards.Overview, panel.Locks, "State"
				if where == "lock" {
					build, id, ref = dashboards.Lock, panel.State, "A"
				}
				want := maps.Clone(test.want)
				maps.DeleteFunc(want, func(lock string, _ *condition.Condition) bool { return job != ".*" && !strings.Contains(lock, job) })
				got := statesOf(t, store, ofJob(t, build, id, ref, job), s.End, s.End)[s.End]
				if diff := cmp.Diff(texts(want), texts(got)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", where, diff)
				}
			}
			var holders []string
			found, err := store.Values(t.Context(), ofJob(t, dashboards.Lock, panel.Holder, "Elsewhere", "canary"), s.End, s.End)
			if err != nil {
				t.Fatal(err)
			}
			for _, series := range found {
				if last := series.Floats[len(series.Floats)-1]; last.T == s.End.Milliseconds() {
					holders = append(holders, series.Metric.Get("instance")+" of "+series.Metric.Get("job"))
				}
			}
			if got := strings.Join(holders, ", "); got != test.holders && test.holders != "" {
				t.Errorf("the canary's dashboard names %q, want %q", got, test.holders)
			}
		})
	}
}

func texts(states map[string]*condition.Condition) map[string]string {
	said := map[string]string{}
	for lock, c := range states {
		said[lock] = c.Text
	}
	return said
}

// ofJob is a query of a panel with every variable but that of the job at All.
func ofJob(t *testing.T, build func(dashboards.Config) ([]byte, error), id int, ref, job string) string {
	t.Helper()
	return strings.ReplaceAll(expression(t, build, dashboards.Default(), id, ref, "job"), `"$job"`, `"`+job+`"`)
}
