package dashboards

import (
	stdcmp "cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/prometheus/promql"

	"github.com/leaderscope/leaderscope/internal/condition"
	"github.com/leaderscope/leaderscope/internal/panel"
	"github.com/leaderscope/leaderscope/internal/promeval"
)

// lock writes the series of one lock, seen by replicas i1 and i2.
type lock struct {
	// job is a if empty.
	job, name, mode string
	// active are the samples of leader_active of the two replicas.
	active [2]string
	more   map[string]string
}

// nameless is the name of locks that have none.
const nameless = "-"

func (l lock) series() []promeval.Series {
	var all []promeval.Series
	name := l.name
	if name == nameless {
		name = ""
	}
	job := stdcmp.Or(l.job, "a")
	add := func(metric, extra, values string) {
		all = append(all, promeval.Series{Selector: fmt.Sprintf(`%s{job=%q,lock_name=%q%s}`, metric, job, name, extra), Values: values})
	}
	for i, active := range l.active {
		instance := fmt.Sprintf(`,instance="i%d"`, i+1)
		add("leader_active", instance, active)
		add("leader_max_leaders", instance, "1x40")
		for metric, values := range map[string]string{"leader_attempts_total": "0+5x40", "leader_acquired_total": "1x40"} {
			if _, own := l.more[metric]; !own {
				add(metric, instance, values)
			}
		}
		add("leader_elector_info", instance+fmt.Sprintf(`,mode=%q,backend="etcd",family="f"`, l.mode), "1x40")
	}
	for metric, values := range l.more {
		name, extra, _ := strings.Cut(metric, "|")
		add(name, `,instance="i1"`+extra, values)
	}
	return all
}

const (
	on  = "1x40"
	off = "0x40"
)

func TestTheTableSaysWhatIsWrongWithEachLock(t *testing.T) {
	cases := map[string]struct {
		lock lock
		want *condition.Condition
	}{
		"a held lock that is led":                {lock{mode: "hold", active: [2]string{on, off}}, condition.Led},
		"a held lock that no replica holds":      {lock{mode: "hold", active: [2]string{off, off}}, condition.NoLeaderNow},
		"a lock for runs that no replica holds":  {lock{mode: "run", active: [2]string{off, off}}, condition.Idle},
		"a held lock with two leaders":           {lock{mode: "hold", active: [2]string{on, on}}, condition.ManyNow},
		"a lock for runs with two leaders":       {lock{mode: "run", active: [2]string{on, on}}, condition.ManyNow},
		"a label that several locks share":       {lock{name: "redacted", mode: "hold", active: [2]string{on, on}}, condition.Led},
		"a family that several locks share":      {lock{name: "tenant-*/mail", mode: "run", active: [2]string{"2x40", on}}, condition.Running},
		"locks whose names a View drops":         {lock{name: nameless, mode: "hold", active: [2]string{"3x40", off}}, condition.Led},
		"a replica that works and does not lead": {lock{mode: "run", active: [2]string{off, off}, more: map[string]string{"leader_running": on}}, condition.UnprotectedNow},
		"a replica that works and leads":         {lock{mode: "run", active: [2]string{on, off}, more: map[string]string{"leader_running": on}}, condition.Running},
		"a leader that cannot be scraped":        {lock{mode: "hold", active: [2]string{"1x35 stale", off}, more: map[string]string{"up": "1x35 0x5"}}, condition.NotSeen},
		"such a leader, and work beside it": {lock{mode: "hold", active: [2]string{"1x35 stale", off}, more: map[string]string{
			"up": "1x35 0x5", `leader_running|,replica="b"`: on}}, condition.NotSeen},
		"a standby that cannot be scraped":       {lock{mode: "hold", active: [2]string{"0x35 stale", off}, more: map[string]string{"up": "1x35 0x5"}}, condition.NoLeaderNow},
		"an alert that fires":                    {lock{mode: "run", active: [2]string{off, off}, more: alert("JobOverdue", "firing")}, condition.JobOverdue},
		"an alert that is pending":               {lock{mode: "run", active: [2]string{off, off}, more: alert("JobOverdue", "pending")}, condition.Idle},
		"an alert of another kind":               {lock{mode: "run", active: [2]string{off, off}, more: map[string]string{`ALERTS|,alertname="Other",alertstate="firing"`: on}}, condition.Idle},
		"a warning of an alert that pages too":   {lock{mode: "hold", active: [2]string{off, off}, more: alert("NoLeader", "firing")}, condition.NoVisibleLeader},
		"a warning of backend errors":            {lock{mode: "hold", active: [2]string{on, off}, more: alert("BackendErrors", "firing")}, condition.SomeBackendErrors},
		"a page, and the warning of its alert":   {lock{mode: "hold", active: [2]string{off, off}, more: merged(alert("NoLeader", "firing"), paging("NoLeader"))}, condition.NoLeader},
		"a page of backend errors":               {lock{mode: "hold", active: [2]string{on, off}, more: paging("BackendErrors")}, condition.BackendErrors},
		"a leader not scraped whose alert warns": {lock{mode: "hold", active: [2]string{"1x35 stale", off}, more: merged(alert("NoLeader", "firing"), map[string]string{"up": "1x35 0x5"})}, condition.NotSeen},
		"an alert whose severity has other words": {lock{mode: "hold", active: [2]string{off, off}, more: map[string]string{
			`ALERTS|,alertname="LeaderElectionNoLeader",alertstate="firing",severity="P1"`: on}}, condition.NoLeader},
		"an alert without a severity": {lock{mode: "hold", active: [2]string{off, off}, more: map[string]string{
			`ALERTS|,alertname="LeaderElectionNoLeader",alertstate="firing"`: on}}, condition.NoLeader},
		"an alert and what is worse":         {lock{mode: "run", active: [2]string{off, off}, more: merged(alert("JobOverdue", "firing"), alert("SplitBrain", "firing"))}, condition.SplitBrain},
		"an alert and a fact that is worse":  {lock{mode: "run", active: [2]string{off, off}, more: merged(alert("NoStandby", "firing"), map[string]string{"leader_running": on})}, condition.UnprotectedNow},
		"a leader that a second server sees": {lock{mode: "hold", active: [2]string{on, off}, more: map[string]string{`leader_active|,replica="b"`: on}}, condition.Led},
	}
	expr := allChosen(decoded(t, overview(t)).panel(panel.Locks).expr("State"))
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if c.lock.name == "" {
				c.lock.name = "x"
			}
			if got := ask(t, expr, c.lock); len(got) != 1 || got[0] != float64(c.want.State()) {
				t.Errorf("got %v, want %v: %s", got, c.want.State(), c.want.Text)
			}
		})
	}
}

func TestHeadlinesShowZeroAsZeroAndMissingAsMissing(t *testing.T) {
	led := lock{name: "led", mode: "hold", active: [2]string{on, off}}
	led.more = map[string]string{"leader_lease_duration_seconds": "15x40"}
	free := lock{name: "free", mode: "hold", active: [2]string{off, off}}
	two := lock{name: "two", mode: "hold", active: [2]string{on, on}}
	canary := lock{job: "canary", name: "led", mode: "hold", active: [2]string{off, off}}
	idle := lock{name: "idle", mode: "run", active: [2]string{off, off}}
	late := lock{name: "late", mode: "run", active: [2]string{off, off}, more: usage("0x20 1x20", "0x40")}
	late.more["leader_lease_duration_seconds"] = "15x40"
	gone := lock{name: "gone", mode: "run", active: [2]string{off, off}, more: usage("0x20 1x20", "0x40")}
	gone.more["leader_lease_duration_seconds"] = "15x40"
	gone.more["leader_lease_overruns_total"] = "0x20 1x20"
	paged := lock{name: "paged", mode: "hold", active: [2]string{off, off}, more: merged(alert("NoLeader", "firing"), map[string]string{
		`ALERTS|,alertname="LeaderElectionNoLeader",alertstate="firing",severity="critical"`: on})}
	cases := map[string]struct {
		panel int
		query string
		locks []lock
		want  []float64
	}{
		"no leaderless lock":                {panel.Leaderless, "Now", []lock{led, idle}, []float64{0}},
		"one leaderless lock":               {panel.Leaderless, "Now", []lock{led, free, idle}, []float64{1}},
		"a lock that another job leads":     {panel.Leaderless, "Now", []lock{led, canary, free}, []float64{1}},
		"no lock that is held":              {panel.Leaderless, "Now", []lock{idle}, nil},
		"the alert of a leaderless lock":    {panel.Leaderless, "Firing", []lock{led, paged}, []float64{1}},
		"a paged lock is not counted twice": {panel.Leaderless, "Now", []lock{led, paged, free}, []float64{1}},
		"no alert of a leaderless lock":     {panel.Leaderless, "Firing", []lock{led, free}, nil},
		"no data on leaders":                {panel.Leaderless, "Now", nil, nil},
		"no lock with two leaders":          {panel.Crowded, "Now", []lock{led, free}, []float64{0}},
		"one lock with two leaders":         {panel.Crowded, "Now", []lock{led, two}, []float64{1}},
		"no data on two leaders":            {panel.Crowded, "Now", nil, nil},
		"no run near its lease":             {panel.NearLease, "Near", []lock{led}, []float64{0}},
		"one run near its lease":            {panel.NearLease, "Near", []lock{led, late}, []float64{1}},
		"no term past its lease":            {panel.NearLease, "Past", []lock{led, late}, []float64{0}},
		"one term past its lease":           {panel.NearLease, "Past", []lock{led, gone}, []float64{1}},
		"past its lease is not near":        {panel.NearLease, "Near", []lock{led, gone}, []float64{0}},
		"no lease known":                    {panel.NearLease, "Near", []lock{free}, nil},
		"no backend errors":                 {panel.BackendTrouble, "A", []lock{led}, []float64{0}},
	}
	b := decoded(t, overview(t))
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := ask(t, allChosen(b.panel(c.panel).expr(c.query)), c.locks...)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Each lock has one tile and one row, even if replicas disagree about it.
func TestEachLockIsThereOnce(t *testing.T) {
	locks := []lock{
		{name: "a", mode: "hold", active: [2]string{on, off}},
		{name: "b", mode: "hold", active: [2]string{on, on}},
		{name: "c", mode: "run", active: [2]string{off, off}},
		{name: "d", mode: "run", active: [2]string{on, off}, more: map[string]string{`leader_elector_info|,mode="hold",backend="redis",family="g"`: on}},
	}
	b := decoded(t, overview(t))
	shown := 0
	for _, target := range b.panel(panel.Leaders).Targets {
		shown += len(ask(t, allChosen(target.Expr), locks...))
	}
	if shown != len(locks) {
		t.Errorf("%d tiles, want %d", shown, len(locks))
	}
	for _, target := range b.panel(panel.Locks).Targets {
		if got := len(ask(t, allChosen(target.Expr), locks...)); got > len(locks) {
			t.Errorf("query %s gives %d rows for %d locks", target.RefID, got, len(locks))
		}
	}
}

func usage(all, small string) map[string]string {
	return map[string]string{"leader_lease_usage_ratio_count": all, `leader_lease_usage_ratio_bucket|,le="0.8"`: small}
}

func paging(name string) map[string]string {
	return map[string]string{fmt.Sprintf(`ALERTS|,alertname="LeaderElection%s",alertstate="firing",severity="critical"`, name): on}
}

func alert(name, state string) map[string]string {
	return map[string]string{fmt.Sprintf(`ALERTS|,alertname="LeaderElection%s",alertstate=%q,severity="warning"`, name, state): on}
}

func merged(all ...map[string]string) map[string]string {
	out := map[string]string{}
	for _, m := range all {
		maps.Copy(out, m)
	}
	return out
}

func backendErrors(values string) map[string]string {
	return map[string]string{`leader_not_acquired_total|,reason="backend_error"`: values}
}

func TestTheLockDashboardSaysWhoHoldsTheLock(t *testing.T) {
	free := [2]string{off, off}
	cases := map[string]struct {
		lock lock
		want map[string]int // series by query
	}{
		"one replica":                    {lock{mode: "hold", active: [2]string{on, off}}, map[string]int{"Holder": 1}},
		"two replicas":                   {lock{mode: "hold", active: [2]string{on, on}}, map[string]int{"Crowd": 2}},
		"no replica, and one should":     {lock{mode: "hold", active: free}, map[string]int{"NoLeader": 1}},
		"no replica, between two runs":   {lock{mode: "run", active: free}, map[string]int{"Idle": 1}},
		"one replica, for a run":         {lock{mode: "run", active: [2]string{off, on}}, map[string]int{"Holder": 1}},
		"two of the locks of one family": {lock{name: "tenant-*/mail", mode: "run", active: [2]string{on, on}}, map[string]int{"Holder": 2}},
		"a leader that is not scraped": {lock{mode: "hold", active: [2]string{"1x35 stale", off}, more: map[string]string{"up": "1x35 0x5"}},
			map[string]int{"NotSeen": 1}},
		"a standby that is not scraped": {lock{mode: "hold", active: [2]string{"0x35 stale", off}, more: map[string]string{"up": "1x35 0x5"}},
			map[string]int{"NoLeader": 1}},
		"a replica that works without it": {lock{mode: "hold", active: [2]string{off, on}, more: map[string]string{"leader_running": on}},
			map[string]int{"Holder": 1, "Unprotected": 1}},
	}
	out, err := Lock(Default())
	if err != nil {
		t.Fatal(err)
	}
	held := decoded(t, out).panel(panel.Holder)
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if c.lock.name == "" {
				c.lock.name = "x"
			}
			got := map[string]int{}
			for _, target := range held.Targets {
				if n := len(ask(t, allChosen(target.Expr), c.lock)); n > 0 {
					got[target.RefID] = n
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// The timeline of many locks is of those that moved, and of the replicas that
// led.
func TestTheTimelineShowsTheLocksThatMoved(t *testing.T) {
	var locks []lock
	for i := range 20 {
		locks = append(locks, lock{name: fmt.Sprintf("still-%d", i), mode: "hold", active: [2]string{on, off}})
	}
	locks = append(locks,
		lock{name: "moved", mode: "hold", active: [2]string{"1x20 0x20", "0x20 1x20"}},
		lock{name: "run", mode: "run", active: [2]string{"0 1 0 1 0 1 0 1 0 1x31", off}})
	expr := allChosen(decoded(t, overview(t)).panel(panel.HolderTimeline).expr("A"))
	names := map[string]int{}
	for _, s := range vector(t, expr, locks...) {
		names[s.Metric.Get("lock_name")]++
	}
	if names["moved"] != 2 || names["run"] != 0 || len(names) != timelineLocks {
		t.Errorf("got %v", names)
	}
}

// allChosen puts what All stands for in place of the variables.
func allChosen(expr string) string {
	expr = strings.NewReplacer(`="$lock_name"`, `=~".*"`, "$__range", "20m", "$__rate_interval", "2m").Replace(expr)
	for _, l := range append(Default().Scope.Labels, Default().Scope.Holder) {
		expr = strings.ReplaceAll(expr, `"$`+l+`"`, `".*"`)
	}
	return expr
}

// ask is the values of a vector.
func ask(t *testing.T, expr string, locks ...lock) []float64 {
	t.Helper()
	var values []float64
	for _, s := range vector(t, expr, locks...) {
		values = append(values, s.F)
	}
	return values
}

// vector evaluates after 20 minutes of samples every 30 seconds.
func vector(t *testing.T, expr string, locks ...lock) promql.Vector {
	t.Helper()
	var series []promeval.Series
	for _, l := range locks {
		series = append(series, l.series()...)
	}
	return vectorOf(t, expr, series)
}

func vectorOf(t *testing.T, expr string, series []promeval.Series) promql.Vector {
	t.Helper()
	store, err := promeval.Load(series, 30*time.Second, promeval.V3)
	if err != nil {
		t.Fatal(err)
	}
	result, err := store.Query(t.Context(), expr, time.Unix(0, 0).Add(20*time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// A row leads to its own lock: the link chooses the labels that it has.
func TestARowLeadsToItsOwnLock(t *testing.T) {
	expr := allChosen(decoded(t, overview(t)).panel(panel.Locks).expr("State"))
	one := lock{name: "x", mode: "hold", active: [2]string{on, off}}
	var got []string
	for _, s := range vector(t, expr, one) {
		got = append(got, s.Metric.String())
	}
	if diff := cmp.Diff([]string{`{job="a", lock_name="x", where="&&&var-job=a"}`}, got); diff != "" {
		t.Errorf("want -, got +\n%s", diff)
	}
}

func TestAlertsAreListedWithWhatTheyAreAbout(t *testing.T) {
	expr := allChosen(decoded(t, overview(t)).panel(panel.Alerts).expr("Since"))
	paged := lock{name: "x", mode: "hold", active: [2]string{off, off}, more: map[string]string{
		`ALERTS|,alertname="LeaderElectionNoLeader",alertstate="firing",severity="critical",backend="etcd"`: on,
		`ALERTS_FOR_STATE|,alertname="LeaderElectionNoLeader",severity="critical",backend="etcd"`:           "60x40",
		`ALERTS|,alertname="LeaderElectionFlapping",alertstate="pending",severity="warning"`:                on,
		`ALERTS_FOR_STATE|,alertname="LeaderElectionFlapping",severity="warning"`:                           "60x40",
	}}
	job := lock{name: nameless, mode: "hold", active: [2]string{off, off}, more: map[string]string{
		`ALERTS|,alertname="LeaderElectionScrapeFailing",alertstate="firing",severity="warning"`: on,
		`ALERTS_FOR_STATE|,alertname="LeaderElectionScrapeFailing",severity="warning"`:           "90x40",
	}}
	got := map[string]float64{}
	for _, s := range vector(t, expr, paged, job) {
		got[s.Metric.String()] = s.F
	}
	want := map[string]float64{
		`{alertname="LeaderElectionNoLeader", backend="etcd", job="a", lock_name="x", severity="critical", where="&&&var-job=a"}`: 60_000,
		`{alertname="LeaderElectionScrapeFailing", job="a", severity="warning", where="&&&var-job=a"}`:                            90_000,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want -, got +\n%s", diff)
	}
}

// A tile has a name that a person can read, also where nothing is left of a
// lock but its alert.
func TestATileNamesItsLock(t *testing.T) {
	hashed := lock{name: "k1:0123456789abcdef", mode: "hold", active: [2]string{on, off}}
	short := lock{name: "short", mode: "run", active: [2]string{off, off}}
	tenant := lock{name: "tenant-17/orders", mode: "run", active: [2]string{off, off}}
	other := lock{name: "tenant-18/orders", mode: "run", active: [2]string{on, off}}
	vanished := `ALERTS{alertname="LeaderElectionLockVanished",alertstate="firing",job="a",lock_name="gone"}`
	series := append(slices.Concat(hashed.series(), short.series(), tenant.series(), other.series()), promeval.Series{Selector: vanished, Values: on})
	tile := decoded(t, overview(t)).panel(panel.Leaders).Targets[0]
	got := map[string]float64{}
	for _, s := range vectorOf(t, allChosen(tile.Expr), series) {
		name := tile.Legend
		for _, label := range []string{"job", "family", "end"} {
			name = strings.ReplaceAll(name, "{{"+label+"}}", s.Metric.Get(label))
		}
		got[name] = s.F
	}
	want := map[string]float64{
		"a / f …abcdef": float64(condition.Led.State()), "a / f short": float64(condition.Idle.State()),
		"a / f tenant-17/orders": float64(condition.Idle.State()), "a / f tenant-18/orders": float64(condition.Running.State()),
		"a /  gone": float64(condition.LockVanished.State()),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want -, got +\n%s", diff)
	}
}

// A configured legend keeps its own form.
func TestATileFollowsTheConfiguredLegend(t *testing.T) {
	cfg := Default()
	cfg.Legend = "{{namespace}}: {{lock_name}}"
	out, err := Overview(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if got := decoded(t, out).panel(panel.Leaders).Targets[0].Legend; got != "{{namespace}}: {{family}} {{end}}" {
		t.Errorf("got %q", got)
	}
}
