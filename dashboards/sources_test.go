package dashboards

import (
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/panel"
	"github.com/leaderscope/leaderscope/internal/promcheck"
	"github.com/leaderscope/leaderscope/internal/promeval"
	"github.com/leaderscope/leaderscope/internal/query"
)

// foreignBoards are the dashboards on series of other projects, by the name of their
// file.
var foreignBoards = map[string]func(Config) ([]byte, error){"client-go": ClientGo, "leases": Leases}

func eachForeignBoard(t *testing.T, test func(t *testing.T, name, configuration string, cfg Config, out []byte)) {
	for name, build := range foreignBoards {
		for title, change := range configurations {
			t.Run(name+"/"+title, func(t *testing.T) {
				cfg := Default()
				change(&cfg)
				out, err := build(cfg)
				if err != nil {
					t.Fatal(err)
				}
				test(t, name, title, cfg, out)
			})
		}
	}
}

func TestDashboardsOfOtherSourcesAreTheGoldenFiles(t *testing.T) {
	eachForeignBoard(t, func(t *testing.T, name, configuration string, cfg Config, out []byte) {
		if configuration == "default" || configuration == "locks alone" {
			golden(t, filepath.Join("testdata", "sources", strings.ReplaceAll(configuration, " ", "-"), name+".json"), out)
		}
	})
}

func TestDashboardsOfOtherSourcesPassTheStrictReader(t *testing.T) {
	eachForeignBoard(t, func(t *testing.T, _, _ string, _ Config, out []byte) {
		if problems := strictly(out); len(problems) > 0 {
			t.Errorf("strict reading: %v", problems)
		}
		if err := decoded(t, out).sdk.Validate(); err != nil {
			t.Errorf("validate: %v", err)
		}
	})
}

// The series of another project do not mean what ours mean: no panel reads both, and
// what is read belongs to the locks that are chosen.
func TestDashboardsOfOtherSourcesReadTheirOwnSeriesOfTheChosenLocks(t *testing.T) {
	series := map[string][]string{
		"client-go": {"leader_election_master_status", "leader_election_slowpath_total"},
		"leases":    {"kube_lease_owner", "kube_lease_renew_time"},
	}
	eachForeignBoard(t, func(t *testing.T, name, _ string, cfg Config, out []byte) {
		read := map[string]bool{}
		for where, expr := range decoded(t, out).expressions() {
			for _, problem := range promcheck.Expr(expr, promcheck.Foreign(series[name]...)) {
				t.Errorf("%s: %v", where, problem)
			}
			parsed, err := query.Parse(query.Expr(expr))
			if err != nil {
				t.Fatalf("%s: %v", where, err)
			}
			parser.Inspect(parsed, func(n parser.Node, _ []parser.Node) error {
				s, ok := n.(*parser.VectorSelector)
				if !ok {
					return nil
				}
				read[s.Name] = true
				if _, ours := catalog.ByName(s.Name); ours || strings.HasPrefix(s.Name, "ALERTS") {
					if ours {
						t.Errorf("%s reads %s", where, s.Name)
					}
					return nil
				}
				wanted := variablesOf(t, out)
				if s.Name == "up" { // a target names no lock
					wanted = slices.DeleteFunc(wanted, func(l string) bool { return l == "name" })
				}
				for _, l := range wanted {
					if !slices.ContainsFunc(s.LabelMatchers, func(m *labels.Matcher) bool { return m.Name == l && m.Value == "$"+l }) {
						t.Errorf("%s: %s ignores $%s", where, s.Name, l)
					}
				}
				return nil
			})
		}
		for _, wanted := range series[name] {
			if !read[wanted] {
				t.Errorf("no query reads %s", wanted)
			}
		}
		delete(read, "up")
		delete(read, "ALERTS")
		delete(read, "ALERTS_FOR_STATE")
		if diff := cmp.Diff(series[name], slices.Sorted(maps.Keys(read))); diff != "" {
			t.Errorf("series read: want -, got +\n%s", diff)
		}
	})
}

// variablesOf are the labels that a reader can choose.
func variablesOf(t *testing.T, out []byte) (names []string) {
	t.Helper()
	for _, v := range decoded(t, out).sdk.Templating.List {
		if v.Name != datasourceVariable {
			names = append(names, v.Name)
		}
	}
	return names
}

func TestAReaderChoosesTheLocksOfASourceByItsLabels(t *testing.T) {
	want := map[string][]string{
		"client-go/default": {"cluster", "namespace", "job", "name"}, "leases/default": {"cluster", "namespace", "lease"},
		"client-go/pods of one team": {"team", "name"}, "leases/pods of one team": {"team", "namespace", "lease"},
		"client-go/locks alone": {"name"}, "leases/locks alone": {"namespace", "lease"},
		"client-go/recorded": {"cluster", "namespace", "job", "name"}, "leases/recorded": {"cluster", "namespace", "lease"},
	}
	eachForeignBoard(t, func(t *testing.T, name, configuration string, _ Config, out []byte) {
		if diff := cmp.Diff(want[name+"/"+configuration], variablesOf(t, out)); diff != "" {
			t.Errorf("want -, got +\n%s", diff)
		}
	})
}

// A panel has the number and the meaning of red of what it is called.
func TestPanelsOfOtherSourcesHaveNumbersAndAreRedForTrouble(t *testing.T) {
	names := numbered(t)
	want := map[string][]int{
		"client-go": {panel.Leaderless, panel.Crowded, panel.Alerts},
		"leases":    {panel.Alerts, panel.BackendFree, panel.BackendRenewAge},
	}
	eachForeignBoard(t, func(t *testing.T, name, _ string, _ Config, out []byte) {
		var got []int
		for _, p := range decoded(t, out).Panels {
			if p.Type != "row" && names[p.ID] == "" {
				t.Errorf("panel %q has no number in %s", p.Title, panelFile)
			}
			if text := string(encoded(t, p.raw)); strings.Contains(text, `"red"`) || strings.Contains(text, `-red"`) {
				got = append(got, p.ID)
			}
		}
		slices.Sort(got)
		if diff := cmp.Diff(want[name], got); diff != "" {
			t.Errorf("panels that can be red: want -, got +\n%s", diff)
		}
	})
}

func TestASourceHasItsDashboardAlone(t *testing.T) {
	for source, want := range map[Source][]string{
		"": {"overview", "lock", "backends"}, "leaderscope": {"overview", "lock", "backends"}, FromClientGo: {"client-go"}, FromKubeStateMetrics: {"leases"},
	} {
		cfg := Default()
		cfg.Source = source
		for form, made := range map[string]func(Config) ([]Named, error){"classic": All, "v1beta1": Manifests, "v2": ManifestsV2} {
			all, err := made(cfg)
			if err != nil {
				t.Fatalf("%s of %q: %v", form, source, err)
			}
			var names []string
			for _, b := range all {
				names = append(names, b.Name)
			}
			if diff := cmp.Diff(want, names); diff != "" {
				t.Errorf("%s of %q: want -, got +\n%s", form, source, diff)
			}
		}
	}
}

// shown is what one query of a panel says at a time.
type shownCase struct {
	panel int
	query string
	// at is in seconds; samples are 30 s apart and end at 1200.
	at int64
	// label tells the series of the result apart.
	label string
	want  map[string]float64
}

func showsWhatIsKnown(t *testing.T, build func(Config) ([]byte, error), series []promeval.Series, cases map[string]shownCase) {
	t.Helper()
	store, err := promeval.Load(series, 30*time.Second, promeval.V3)
	if err != nil {
		t.Fatal(err)
	}
	out, err := build(Default())
	if err != nil {
		t.Fatal(err)
	}
	b := decoded(t, out)
	asked := map[string]bool{}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			expr := b.panel(c.panel).expr(c.query)
			asked[expr] = true
			result, err := store.Query(t.Context(), foreignChosen(expr), time.Unix(c.at, 0))
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]float64{}
			for _, s := range result {
				got[s.Metric.Get(c.label)] = math.Round(s.F*10) / 10
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("want -, got +\n%s\n%s", diff, expr)
			}
		})
	}
	for where, expr := range b.expressions() {
		if !asked[expr] && !strings.HasSuffix(where, ", query "+partRef) && !strings.HasPrefix(where, "annotation") {
			t.Errorf("%s: no case says what it shows", where)
		}
		if _, err := store.Query(t.Context(), foreignChosen(expr), time.Unix(1200, 0)); err != nil {
			t.Errorf("%s: %v", where, err)
		}
	}
}

func foreignChosen(expr string) string {
	return strings.NewReplacer(`"$name"`, `".*"`, `"$lease"`, `".*"`, "$__interval", "2m").Replace(allChosen(expr))
}

func TestTheDashboardOfClientGoShowsWhatTheGaugeSays(t *testing.T) {
	status := func(name, instance, values string) promeval.Series {
		return promeval.Series{Selector: `leader_election_master_status{job="ctl",instance="` + instance + `",name="` + name + `"}`, Values: values}
	}
	series := []promeval.Series{
		{Selector: `up{job="ctl",instance="i1"}`, Values: "1x40"},
		{Selector: `up{job="ctl",instance="i2"}`, Values: "1x30 0x9"},
		{Selector: `up{job="web",instance="w1"}`, Values: "0x40"}, // exports no gauge
		status("led", "i1", "1x40"), status("led", "i2", "0x30 stale"),
		status("free", "i1", "1x20 0x19"), status("free", "i2", "0x30 stale"),
		status("two", "i1", "1x40"), status("two", "i3", "0x20 1x19"),
		{Selector: `up{job="ctl",instance="i3"}`, Values: "1x40"},
		{Selector: `leader_election_slowpath_total{job="ctl",instance="i1",name="two"}`, Values: "0x20 3x19"},
		{Selector: `ALERTS{alertname="LeaderElectionNoLeader",alertstate="firing",severity="critical",job="ctl",name="free"}`, Values: "_x30 1x10"},
		{Selector: `ALERTS_FOR_STATE{alertname="LeaderElectionNoLeader",severity="critical",job="ctl",name="free"}`, Values: "_x30 700x10"},
		// An alert on our own series, and one of the Leases.
		{Selector: `ALERTS{alertname="LeaderElectionNoLeader",alertstate="firing",severity="critical",job="ctl",lock_name="ours"}`, Values: "1x40"},
		{Selector: `ALERTS_FOR_STATE{alertname="LeaderElectionNoLeader",severity="critical",job="ctl",lock_name="ours"}`, Values: "700x40"},
		{Selector: `ALERTS{alertname="LeaderElectionVacant",alertstate="firing",severity="critical",lease="theirs"}`, Values: "1x40"},
		{Selector: `ALERTS_FOR_STATE{alertname="LeaderElectionVacant",severity="critical",lease="theirs"}`, Values: "700x40"},
	}
	showsWhatIsKnown(t, ClientGo, series, map[string]shownCase{
		"alerts of these locks":            {panel.Alerts, "Since", 1200, "name", map[string]float64{"free": 700_000}},
		"without a leader, and paged":      {panel.Leaderless, "Firing", 1200, "", map[string]float64{"": 1}},
		"without a leader, and not paged":  {panel.Leaderless, "Now", 1200, "", map[string]float64{"": 0}},
		"without a leader, before a page":  {panel.Leaderless, "Now", 690, "", map[string]float64{"": 1}},
		"too many leaders, and paged":      {panel.Crowded, "Firing", 1200, "", map[string]float64{}},
		"too many leaders, and not paged":  {panel.Crowded, "Now", 1200, "", map[string]float64{"": 1}},
		"a replica that cannot be scraped": {panel.Unseen, "A", 1200, "", map[string]float64{"": 1}},
		"claims":                           {panel.Locks, "Claims", 1200, "name", map[string]float64{"led": 1, "free": 0, "two": 2}},
		"a leader":                         {panel.Locks, "Leader", 1200, "name", map[string]float64{"led": 1, "two": 1}},
		"the leader":                       {panel.Locks, "Leader", 600, "instance", map[string]float64{"i1": 1}},
		"replicas":                         {panel.Locks, "Replicas", 1200, "name", map[string]float64{"led": 1, "free": 1, "two": 2}},
		"replicas that exported before":    {panel.Locks, "Replicas", 600, "name", map[string]float64{"led": 2, "free": 2, "two": 2}},
		"won or lost":                      {panel.Locks, "Changes", 1200, "name", map[string]float64{"led": 0, "free": 1, "two": 1}},
		"conflicts":                        {panel.Locks, "Conflicts", 1200, "name", map[string]float64{"two": 3}},
		"who led":                          {panel.HolderTimeline, "A", 1200, "name", map[string]float64{"led": 1, "free": 0, "two": 1}},
		"replicas that led":                {panel.HolderTimeline, "A", 1200, "instance", map[string]float64{"i1": 1, "i3": 1}},
		"no change lately":                 {panel.Transitions, "A", 1200, "name", map[string]float64{"led": 0, "free": 0, "two": 0}},
		"a change":                         {panel.Transitions, "A", 660, "name", map[string]float64{"led": 0, "free": 1, "two": 1}},
		"no conflict lately":               {panel.Renewals, "A", 1200, "name", map[string]float64{"two": 0}},
		"conflicts when they happened":     {panel.Renewals, "A", 660, "name", map[string]float64{"two": 3}},
		"which replicas are scraped":       {panel.Scraped, "A", 1200, "instance", map[string]float64{"i1": 1, "i2": 0, "i3": 1}},
	})
}

func TestTheDashboardOfLeasesShowsWhatKubeStateMetricsSays(t *testing.T) {
	lease := func(namespace, name, renewed string, holders map[string]string) []promeval.Series {
		at := `job="ksm",instance="k1",namespace="` + namespace + `",lease="` + name + `"`
		all := []promeval.Series{{Selector: "kube_lease_renew_time{" + at + "}", Values: renewed}}
		for holder, values := range holders {
			all = append(all, promeval.Series{Selector: "kube_lease_owner{" + at + `,owner_kind="",owner_name="",lease_holder="` + holder + `"}`, Values: values})
		}
		return all
	}
	const fresh = "-5+30x40"
	series := slices.Concat(
		lease("ns", "held", fresh, map[string]string{"pod-1": "1x40"}),
		lease("ns", "stale", "-5+30x20 595x19", map[string]string{"pod-2": "1x40"}),
		lease("ns", "released", "-5+30x30 905x9", map[string]string{"pod-3": "1x30 stale", "": "_x31 1x9"}),
		lease("ns", "gone", "-90000x40", map[string]string{"pod-4": "1x40"}),
		lease("ns", "moved", fresh, map[string]string{"pod-5": "1x20 stale", "pod-6": "_x21 1x19"}),
		lease("kube-node-lease", "node-1", "595x40", map[string]string{"node-1": "1x40"}),
		lease("kube-system", "apiserver-abc", "595x40", map[string]string{"apiserver-abc": "1x40"}),
		[]promeval.Series{
			{Selector: `ALERTS{alertname="LeaderElectionVacant",alertstate="firing",severity="critical",namespace="ns",lease="stale"}`, Values: "_x30 1x10"},
			{Selector: `ALERTS_FOR_STATE{alertname="LeaderElectionVacant",severity="critical",namespace="ns",lease="stale"}`, Values: "_x30 700x10"},
			{Selector: `ALERTS{alertname="LeaderElectionObserverBlind",alertstate="firing",severity="warning",job="ksm"}`, Values: "1x40"},
			{Selector: `ALERTS_FOR_STATE{alertname="LeaderElectionObserverBlind",severity="warning",job="ksm"}`, Values: "800x40"},
			// Alerts on our own series, and of client-go.
			{Selector: `ALERTS{alertname="LeaderElectionVacant",alertstate="firing",severity="critical",namespace="ns",lock_name="ours"}`, Values: "1x40"},
			{Selector: `ALERTS_FOR_STATE{alertname="LeaderElectionVacant",severity="critical",namespace="ns",lock_name="ours"}`, Values: "700x40"},
			{Selector: `ALERTS{alertname="LeaderElectionNoLeader",alertstate="firing",severity="critical",name="theirs"}`, Values: "1x40"},
			{Selector: `ALERTS_FOR_STATE{alertname="LeaderElectionNoLeader",severity="critical",name="theirs"}`, Values: "700x40"},
		},
	)
	showsWhatIsKnown(t, Leases, series, map[string]shownCase{
		"alerts of Leases and of the exporter": {panel.Alerts, "Since", 1200, "alertname", map[string]float64{"LeaderElectionVacant": 700_000, "LeaderElectionObserverBlind": 800_000}},
		"the Lease of an alert":                {panel.Alerts, "Since", 1200, "lease", map[string]float64{"stale": 700_000, "": 800_000}},
		"without a holder, and paged":          {panel.BackendFree, "Firing", 1200, "", map[string]float64{"": 1}},
		"without a holder, and not paged":      {panel.BackendFree, "Now", 1200, "", map[string]float64{"": 1}},
		"without a holder, before":             {panel.BackendFree, "Now", 660, "", map[string]float64{"": 0}},
		"how many are exported":                {panel.BackendWatched, "All", 1200, "", map[string]float64{"": 5}},
		"how many are held":                    {panel.BackendWatched, "Held", 1200, "", map[string]float64{"": 2}},
		"standing": {panel.BackendLocks, "Held", 1200, "lease", map[string]float64{
			"held": standingHeld, "stale": standingStale, "released": standingReleased, "gone": standingStale, "moved": standingHeld}},
		"holder":                {panel.BackendLocks, "Holder", 1200, "lease_holder", map[string]float64{"pod-1": 1, "pod-2": 1, "pod-4": 1, "pod-6": 1}},
		"age of the renewal":    {panel.BackendLocks, "Renewed", 1200, "lease", map[string]float64{"held": 5, "stale": 605, "released": 295, "gone": 91200, "moved": 5}},
		"holders":               {panel.BackendLocks, "Holders", 1200, "lease", map[string]float64{"held": 1, "stale": 1, "released": 1, "gone": 1, "moved": 2}},
		"who is named":          {panel.BackendTimeline, "Named", 1200, "lease_holder", map[string]float64{"pod-1": 1, "pod-6": 1}},
		"who was named":         {panel.BackendTimeline, "Named", 600, "lease_holder", map[string]float64{"pod-1": 1, "pod-2": 1, "pod-3": 1, "pod-5": 1}},
		"what is free":          {panel.BackendTimeline, "Free", 1200, "lease", map[string]float64{"stale": 0, "released": 0}},
		"age, of what is used":  {panel.BackendRenewAge, "A", 1200, "lease", map[string]float64{"held": 5, "stale": 605, "released": 295, "moved": 5}},
		"no new holder lately":  {panel.BackendTerms, "A", 1200, "lease", map[string]float64{"held": 0, "stale": 0, "released": 0, "gone": 0, "moved": 0}},
		"a new holder":          {panel.BackendTerms, "A", 660, "lease", map[string]float64{"held": 0, "stale": 0, "released": 0, "gone": 0, "moved": 1}},
		"no exporter was known": {panel.BackendTerms, "A", 60, "lease", map[string]float64{"held": 0, "stale": 0, "released": 0, "gone": 0, "moved": 0}},
		"exporters":             {panel.BackendReporters, "A", 1200, "instance", map[string]float64{"k1": 7}},
	})
}

// kube-state-metrics runs in a namespace of its own.
func TestAnExporterThatIsBlindIsShownInEveryNamespace(t *testing.T) {
	out, err := Leases(Default())
	if err != nil {
		t.Fatal(err)
	}
	expr := strings.ReplaceAll(decoded(t, out).panel(panel.Alerts).expr("Since"), `"$namespace"`, `"other"`)
	var got []string
	for _, s := range vectorOf(t, foreignChosen(expr), []promeval.Series{
		{Selector: `ALERTS{alertname="LeaderElectionObserverBlind",alertstate="firing",severity="warning",job="ksm"}`, Values: "1x40"},
		{Selector: `ALERTS_FOR_STATE{alertname="LeaderElectionObserverBlind",severity="warning",job="ksm"}`, Values: "800x40"},
		{Selector: `ALERTS{alertname="LeaderElectionVacant",alertstate="firing",severity="critical",namespace="ns",lease="stale"}`, Values: "1x40"},
		{Selector: `ALERTS_FOR_STATE{alertname="LeaderElectionVacant",severity="critical",namespace="ns",lease="stale"}`, Values: "800x40"},
	}) {
		got = append(got, s.Metric.Get("alertname"))
	}
	if diff := cmp.Diff([]string{"LeaderElectionObserverBlind"}, got); diff != "" {
		t.Errorf("want -, got +\n%s", diff)
	}
}

// A time of 90 s is for leases of seconds; a lease of minutes needs a longer one.
func TestALeaseCountsAsFreeAfterTheConfiguredTime(t *testing.T) {
	cfg := Default()
	cfg.Thresholds.StaleAfter, cfg.Thresholds.VacantLookback = 10*time.Minute, 24*time.Hour
	out, err := Leases(cfg)
	if err != nil {
		t.Fatal(err)
	}
	b := decoded(t, out)
	for _, id := range []int{panel.BackendFree, panel.BackendLocks, panel.BackendTimeline} {
		text := string(encoded(t, b.panel(id).raw))
		if !strings.Contains(text, "600") || !strings.Contains(text, "10m") || strings.Contains(text, "1m30s") {
			t.Errorf("panel %q does not follow the time after which a Lease counts as free", b.panel(id).Title)
		}
	}
	if expr := b.panel(panel.BackendFree).expr("Now"); !strings.Contains(expr, "86400") {
		t.Errorf("the lookback is not 86400 s: %s", expr)
	}
}
