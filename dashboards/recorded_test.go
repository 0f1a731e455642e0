package dashboards

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/leaderscope/leaderscope/internal/panel"
	"github.com/leaderscope/leaderscope/internal/promeval"
	"github.com/leaderscope/leaderscope/internal/query"
)

// Where recording rules are loaded, the overview shows what it shows without,
// of all locks and of one.
func TestRecordedPanelsShowWhatOthersShow(t *testing.T) {
	cfg := Default()
	store := recordedStore(t, cfg, troubledLocks())
	direct := decoded(t, overview(t))
	cfg.Recording = true
	out, err := Overview(cfg)
	if err != nil {
		t.Fatal(err)
	}
	recorded := decoded(t, out).expressions()
	asked := map[string]int{}
	for where, expr := range direct.expressions() {
		for _, locks := range []string{".*", "led", "late|gone"} {
			want := seen(t, store, fill(expr, locks))
			got := seen(t, store, fill(recorded[where], locks))
			if strings.Contains(where, "Who led when") || strings.Contains(where, "Work after the lock was lost") {
				// Of replicas that have nothing to show, not all are drawn.
				nothing := func(s shown) bool { return s.value == 0 }
				want, got = slices.DeleteFunc(want, nothing), slices.DeleteFunc(got, nothing)
			}
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(shown{}), cmpopts.EquateApprox(1e-9, 0)); diff != "" {
				t.Errorf("%s, locks %s: want what the replicas say (-), got what is recorded (+)\n%s", where, locks, diff)
			}
			asked[where] += len(want)
		}
	}
	// A comparison of nothing with nothing says nothing.
	for where, n := range asked {
		if n == 0 && !slices.ContainsFunc(notThere, func(s string) bool { return strings.Contains(where, s) }) {
			t.Errorf("%s has no data in this test", where)
		}
	}
}

// notThere are queries of things that the locks of the test do not have.
var notThere = []string{"More", "Regressed", "Native", "Alert firing", "Replica started"}

func TestTheRecordedTimelineShowsTheLocksThatMoved(t *testing.T) {
	var locks []lock
	for i := range 20 {
		locks = append(locks, lock{name: fmt.Sprintf("still-%d", i), mode: "hold", active: [2]string{on, off}})
	}
	locks = append(locks,
		lock{name: "moved", mode: "hold", active: [2]string{"1x20 0x20", "0x20 1x20"}, more: map[string]string{"leader_acquired_total": "0x20 1x20"}},
		lock{name: "run", mode: "run", active: [2]string{on, off}, more: map[string]string{"leader_acquired_total": "0+1x40"}})
	cfg := Default()
	store := recordedStore(t, cfg, locks)
	cfg.Recording = true
	out, err := Overview(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range seen(t, store, fill(decoded(t, out).panel(panel.HolderTimeline).expr("A"), ".*")) {
		names = append(names, s.labels)
	}
	moved := slices.ContainsFunc(names, func(n string) bool { return strings.Contains(n, `"moved"`) })
	run := slices.ContainsFunc(names, func(n string) bool { return strings.Contains(n, `"run"`) })
	if !moved || run || len(names) != timelineLocks {
		t.Errorf("got %v", names)
	}
}

// The lock's dashboard looks at few series, and at exemplars.
func TestTheLockDashboardReadsNothingRecorded(t *testing.T) {
	cfg := Default()
	want, err := Lock(cfg)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Recording = true
	got, err := Lock(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("want -, got +\n%s", diff)
	}
}

// troubledLocks have something to show in every panel.
func troubledLocks() []lock {
	led := lock{name: "led", mode: "hold", active: [2]string{"1x20 0x20", "0x20 1x20"}, more: backendErrors("0+1x40")}
	led.more["leader_lease_duration_seconds"] = "15x40"
	led.more["leader_lease_headroom_seconds"] = "9x40"
	led.more["leader_pending_age_seconds"] = "600x40"
	led.more["leader_acquired_total"] = "0x38 1x2"
	led.more[`leader_not_acquired_total|,reason="contended"`] = "0+3x40"
	led.more[`leader_terms_ended_total|,cause="lost"`] = "0x38 1x2"
	led.more[`leader_renewals_total|,result="ok"`] = "0+6x40"
	led.more["leader_last_acquired_timestamp_seconds"] = "30x40"
	led.more["leader_redaction_info|,policy=\"raw\""] = "1x40"
	led.more["leader_redaction_overflows_total"] = "0+1x40"
	led.more["up"] = on
	free := lock{name: "free", mode: "hold", active: [2]string{off, off}, more: backendErrors("0+5x40")}
	free.more["leader_pending_age_seconds"] = "0+30x40"
	late := lock{name: "late", mode: "run", active: [2]string{on, off}, more: usage("0x34 1x6", "0x40")}
	late.more["leader_lease_duration_seconds"] = "60x40"
	late.more["leader_lease_headroom_seconds"] = "3x40"
	late.more["leader_lease_overruns_total"] = "0x40"
	late.more["leader_execution_duration_seconds_count"] = "0+1x40"
	late.more["leader_execution_duration_seconds_sum"] = "0+2x40"
	late.more[`leader_execution_failures_total|,cause="error"`] = "0+1x40"
	late.more[`leader_execution_failures_total|,cause="panic"`] = "0x38 1x2"
	gone := lock{name: "gone", mode: "run", active: [2]string{off, "1x30 0x10"}, more: usage("0x39 1", "0x39 1")}
	gone.more["leader_lease_overruns_total"] = "0x38 1x2"
	gone.more["leader_work_after_loss_seconds_total"] = "0x38 4x2"
	gone.more["leader_running"] = on
	gone.more[`ALERTS|,alertname="LeaderElectionSplitBrain",alertstate="firing",severity="critical"`] = on
	gone.more[`ALERTS|,alertname="LeaderElectionNoLeader",alertstate="firing",severity="critical"`] = on
	gone.more[`ALERTS_FOR_STATE|,alertname="LeaderElectionNoLeader",severity="critical"`] = "60x40"
	return []lock{
		led, free, late, gone,
		{name: "two", mode: "hold", active: [2]string{on, on}},
		{job: "canary", name: "two", mode: "hold", active: [2]string{off, off}},
		{name: "vanished", mode: "hold", active: [2]string{"1x20 stale", "0x20 stale"}},
		{name: "redacted", mode: "run", active: [2]string{on, on}},
	}
}

// recordedStore holds 20 minutes of samples and what the rules record of them.
func recordedStore(t *testing.T, cfg Config, locks []lock) *promeval.Store {
	t.Helper()
	var series []promeval.Series
	for _, l := range locks {
		series = append(series, l.series()...)
	}
	store, err := promeval.Load(series, 30*time.Second, promeval.V3)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range recordings(cfg) {
		expr, err := query.Pretty(r.Expr)
		if err != nil {
			t.Fatal(err)
		}
		if err := store.Record(t.Context(), r.Name, expr, 20*time.Minute, 30*time.Second); err != nil {
			t.Fatal(err)
		}
	}
	return store
}

// overRecorded looks at recorded values, which have a window already.
var overRecorded = regexp.MustCompile(`((?:avg|max)_over_time\(\s*[a-z_]+:[a-z0-9_:]+\{[^}]*\}\[)\$__rate_interval\]`)

// fill puts values in place of the variables, so that a window ends where one
// recorded value does.
func fill(expr, locks string) string {
	expr = overRecorded.ReplaceAllString(expr, "${1}30s]")
	return allChosen(strings.ReplaceAll(expr, `"$lock_name"`, `"`+locks+`"`))
}

// shown is one value of a panel.
type shown struct {
	labels string
	value  float64
}

func seen(t *testing.T, store *promeval.Store, expr string) []shown {
	t.Helper()
	result, err := store.Query(t.Context(), expr, time.Unix(0, 0).Add(20*time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	var all []shown
	for _, s := range result {
		all = append(all, shown{s.Metric.DropReserved(func(n string) bool { return n == "__name__" }).String(), s.F})
	}
	slices.SortFunc(all, func(a, b shown) int { return strings.Compare(a.labels, b.labels) })
	return all
}
