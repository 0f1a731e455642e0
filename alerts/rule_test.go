package alerts

import (
	"bytes"
	"flag"
	"github.com/leaderscope/leaderscope/internal/scenario"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"
	"github.com/prometheus/common/promslog"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/promcheck"
	"github.com/leaderscope/leaderscope/internal/promeval"
)

var update = flag.Bool("update", false, "write the golden files again")

// variants are configurations that users are known to need.
func variants() map[string]Config {
	kubernetes := Default()
	kubernetes.HolderLabel, kubernetes.Selector = "pod", `namespace=~"orders|billing"`
	kubernetes.Labels = map[string]string{"team": "platform"}
	kubernetes.Annotations = map[string]string{"slack": "#orders"}
	kubernetes.DashboardBaseURL = "https://grafana.example.com/"
	shared := Default()
	shared.ScopeLabels, shared.Selector = []string{"lock_name"}, `{lock_name=~"orders.*",job="orders"}`
	shared.DashboardUID, shared.LockDashboardUID, shared.RunbookBaseURL = "", "", ""
	return map[string]Config{"default": Default(), "kubernetes": kubernetes, "shared": shared}
}

func TestYAMLIsAsRecordedAndValid(t *testing.T) {
	for name, c := range variants() {
		t.Run(name, func(t *testing.T) {
			got, err := YAML(c)
			if err != nil {
				t.Fatal(err)
			}
			if _, errs := rulefmt.Parse(got, false, model.LegacyValidation, parser.NewParser(parser.Options{}), promslog.NewNopLogger()); len(errs) > 0 {
				t.Errorf("no valid rules file: %v", errs)
			}
			again, err := YAML(c)
			if err != nil || !bytes.Equal(got, again) {
				t.Errorf("a second run differs: %v", err)
			}
			golden := filepath.Join("testdata", name+".yaml")
			if *update {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("run go test ./alerts -update if this is meant (-want +got)\n%s", diff)
			}
		})
	}
}

// The list that users of package instrument are told about, for labels that
// locks share, is the list of the rules that leave such labels out.
func TestAlertsAboutSingleLocksAreThoseOfTheCatalogue(t *testing.T) {
	var got []string
	for _, r := range rulesOf(t, Default()) {
		if judgesSingleLocks(t, r) && !slices.Contains(got, r.Name) {
			got = append(got, r.Name)
		}
	}
	want := catalog.SingleLockAlerts()
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("these alerts leave out labels that locks share (+), and SingleLockAlerts in instrument/catalog/alerts.go lists these (-)\n%s", diff)
	}
}

// judgesSingleLocks reports whether some selector of the rule leaves out every
// label that locks share, and keeps others.
func judgesSingleLocks(t *testing.T, r Rule) (judges bool) {
	t.Helper()
	parsed, err := parser.NewParser(parser.Options{}).ParseExpr(r.Expr)
	if err != nil {
		t.Fatal(err)
	}
	parser.Inspect(parsed, func(n parser.Node, _ []parser.Node) error {
		if s, ok := n.(*parser.VectorSelector); ok {
			judges = judges || s.LabelMatchers != nil && keepsOnly(s.LabelMatchers, "x",
				"", catalog.RedactedLabel, catalog.OverflowLabel, "tenant-"+catalog.FamilyWildcard+"/orders")
		}
		return nil
	})
	return judges
}

// keepsOnly reports whether the matchers of lock_name match one label and none
// of the others.
func keepsOnly(matchers []*labels.Matcher, one string, others ...string) bool {
	kept := func(label string) bool {
		return !slices.ContainsFunc(matchers, func(m *labels.Matcher) bool {
			return m.Name == catalog.LockName.Name() && !m.Matches(label)
		})
	}
	return kept(one) && !slices.ContainsFunc(others, kept)
}

// ofJobs are the alerts about a job, independent of its locks.
var ofJobs = []string{"MetricsAbsent", "LockVanished", "ScrapeFailing", "LabelOverflow", "JobOverdue", "ObserverBlind"}

// presence are the alerts that ask whether a counter is there.
var presence = []string{"Flapping", "NearLease", "LeaseExceeded", "TokenRegressed"}

func TestRulesPassTheStaticChecks(t *testing.T) {
	for name, c := range variants() {
		for _, r := range rulesOf(t, c) {
			target := append(slices.Clone(c.ScopeLabels), c.HolderLabel, "namespace", "job")
			alert := promcheck.Alert{Expr: r.Expr, Labels: r.Labels, Annotations: r.Annotations}
			opts := []promcheck.Option{promcheck.TargetLabels(target...)}
			if slices.Contains(ofJobs, strings.TrimPrefix(r.Name, Prefix)) {
				opts = append(opts, promcheck.AcrossLocks())
			}
			if slices.Contains(presence, strings.TrimPrefix(r.Name, Prefix)) {
				opts = append(opts, promcheck.Cumulative())
			}
			for _, problem := range promcheck.Rule(alert, opts...) {
				t.Errorf("%s: %s (%s): %v", name, r.Name, r.Severity, problem)
			}
		}
	}
}

func TestQueriesInTextsPassTheStaticChecks(t *testing.T) {
	asked := regexp.MustCompile("query \\(printf `([^`]*)`")
	for _, r := range rulesOf(t, Default()) {
		queries := asked.FindAllStringSubmatch(r.Annotations["description"], -1)
		// Where no series is left there is nothing to ask for.
		if len(queries) == 0 && r.Name != Prefix+"MetricsAbsent" {
			t.Errorf("%s asks for nothing", r.Name)
		}
		for _, q := range queries {
			for _, problem := range promcheck.Expr(strings.ReplaceAll(q[1], "%q", `"x"`), promcheck.AcrossLocks()) {
				t.Errorf("%s: %v", r.Name, problem)
			}
		}
	}
}

func TestEveryAlertHasNameSeverityTextsAndLinks(t *testing.T) {
	var names []string
	for _, r := range rulesOf(t, Default()) {
		names = append(names, r.Name+"/"+r.Severity)
		for _, a := range []string{"summary", "description", "runbook_url", "__dashboardUid__", "__panelId__"} {
			if r.Annotations[a] == "" {
				t.Errorf("%s lacks the annotation %s", r.Name, a)
			}
		}
		if r.Labels["severity"] != r.Severity {
			t.Errorf("%s: label %q, severity %q", r.Name, r.Labels["severity"], r.Severity)
		}
	}
	want := []string{
		"LeaderElectionNoAcquisition/warning",
		"LeaderElectionNoLeader/critical",
		"LeaderElectionSplitBrain/critical",
		"LeaderElectionBackendErrors/critical", "LeaderElectionBackendErrors/warning",
		"LeaderElectionLeaseExceeded/critical",
		"LeaderElectionLowHeadroom/warning",
		"LeaderElectionWorkAfterLoss/critical",
		"LeaderElectionTokenRegressed/critical",
		"LeaderElectionStaleWrite/warning",
		"LeaderElectionVacant/critical",
		"LeaderElectionImpostor/critical",
		"LeaderElectionObserverBlind/warning",
		"LeaderElectionMetricsAbsent/critical", "LeaderElectionMetricsAbsent/warning",
		"LeaderElectionScrapeFailing/warning",
		"LeaderElectionRedactionKeyMismatch/warning",
		"LeaderElectionLabelOverflow/warning",
		"LeaderElectionNoLeader/warning",
		"LeaderElectionOverlap/warning",
		"LeaderElectionFlapping/warning",
		"LeaderElectionRenewalFailures/warning",
		"LeaderElectionNearLease/warning",
		"LeaderElectionTaskFailing/warning",
		"LeaderElectionLockVanished/warning",
		"LeaderElectionFlapping/warning",
		"LeaderElectionJobOverdue/warning",
		"LeaderElectionNoStandby/warning",
		"LeaderElectionAttemptStuck/warning",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("the list in this test (-) and the rules in the order of the file (+) differ\n%s", diff)
	}
}

func TestAnAlertThatIsSwitchedOffIsLeftOut(t *testing.T) {
	c := Default()
	c.Alerts.NoLeader.Warning.Enabled = false
	c.Alerts.SplitBrain = SplitBrain{}
	for _, r := range rulesOf(t, c) {
		if r.Name == "LeaderElectionSplitBrain" || r.Name == "LeaderElectionNoLeader" && r.Severity == "warning" {
			t.Errorf("%s/%s is there", r.Name, r.Severity)
		}
	}
}

func TestThePageNamesTheFamilyOfAHashedLockAndHowToLookItUp(t *testing.T) {
	page := func(info string) string {
		s := scenario.Scenario{ID: "C25", Name: "hashed", Every: scenario.All()[0].Every, End: scenario.All()[0].End, Load: info + `
			leader_elector_info{instance="i0",lock_name="k1:0123456789abcdef",mode="hold",backend="etcd"} 1x60
			leader_active{instance="i1",lock_name="k1:0123456789abcdef",namespace="shop"} 0x60
			leader_elector_info{instance="i0",lock_name="k1:0123456789abcdef",namespace="shop",mode="hold",backend="etcd"} 1x60`}
		c := Default()
		c.DashboardBaseURL = "https://grafana.example.org"
		fired, err := s.Fire(t.Context(), evaluated(rulesOf(t, c)), seriesOf(t, s, c), promeval.V3)
		if err != nil || len(fired) != 1 {
			t.Fatalf("got %v, %v; want one alert", fired, err)
		}
		return fired[0].Annotations["summary"] + "\n" + fired[0].Annotations["description"] + "\n" + fired[0].Annotations["dashboard_url"]
	}
	const (
		intro = "Lock k1:0123456789abcdef has no leader\n" +
			"Lock k1:0123456789abcdef of job a in namespace shop has no leader: no replica has taken over within 45s of the last known end of a lease or term, and the leader's work is not being done. " +
			"Check that replicas run and campaign, and look up the holder of the lock in the backend. The backend has not reported the lock as held in the last 2m. "
		family = "The lock belongs to family tenant-*/orders. "
		lookUp = "If the label is a hash, `gen-dashboards label --key-file FILE --key-id ID < NAMES` prints the labels of the names in a file.\n" +
			"https://grafana.example.org/d/leaderscope-lock?viewPanel=3&var-namespace=shop&var-job=a&var-lock_name=k1%3A0123456789abcdef"
	)
	two := `
		leader_elector_info{instance="i1",lock_name="k1:0123456789abcdef",namespace="shop",mode="hold",backend="etcd",family="tenant-*/orders"} 1x60
		leader_elector_info{instance="i2",lock_name="k1:0123456789abcdef",namespace="shop",mode="hold",backend="etcd",family="tenant-*/orders"} 1x60`
	for name, c := range map[string]struct{ info, want string }{
		"two replicas say so": {two, intro + family + lookUp},
		"nobody says so":      {"", intro + lookUp},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, page(c.info)); diff != "" {
				t.Errorf("want -, got +\n%s", diff)
			}
		})
	}
}

func TestThePageOfAMismatchSaysWhatIsInUse(t *testing.T) {
	s := scenarioTitled(t, "R8")
	const inUse = "In use (replicas: policy, key_id, key_check): (1: hash k1 1a2b3c4d) (1: hash k2 5e6f7a8b)."
	for name, want := range map[string]string{
		"default": "Replicas of job a have used 2 different redaction policies or keys for more than 15m: " +
			"one lock has several labels, so no alert detects a split brain between these replicas. Give all replicas the same policy, key and key id. " + inUse,
		"shared": "Replicas have used 2 different redaction policies or keys for more than 15m: " +
			"one lock has several labels, so no alert detects a split brain between these replicas. Give all replicas the same policy, key and key id. " + inUse,
	} {
		t.Run(name, func(t *testing.T) {
			c := variants()[name]
			fired, err := s.Fire(t.Context(), evaluated(rulesOf(t, c)), seriesOf(t, s, c), promeval.V3)
			if err != nil || len(fired) != 1 {
				t.Fatalf("got %v, %v; want one alert", fired, err)
			}
			if diff := cmp.Diff(want, fired[0].Annotations["description"]); diff != "" {
				t.Errorf("want -, got +\n%s", diff)
			}
		})
	}
}

func TestEveryAlertFiresOnceAndStaysSilentTwice(t *testing.T) {
	c := Default()
	c.Alerts.each(func(_ string, a alert) {
		for _, severity := range severities(t, a.about().Alert) {
			name := a.about().Alert + "/" + severity
			fires, near := 0, 0
			for _, s := range scenario.All() {
				if strings.Contains(s.Want, name) {
					fires++
				} else if s.Letters() == a.about().id {
					near++
				}
			}
			if fires < 1 || near < 2 {
				t.Errorf("%s fires in %d scenarios of internal/scenario, and %d with ids %s1, %[4]s2 and so on are near misses; want 1 and 2", name, fires, near, a.about().id)
			}
		}
	})
}

func TestTheIDOfAScenarioBelongsToOneAlertOrToCases(t *testing.T) {
	owner := map[string]string{"C": "cases from practice"}
	c := Default()
	c.Alerts.each(func(_ string, a alert) {
		id, name := a.about().id, a.about().Alert
		if other := owner[id]; other != "" {
			t.Errorf("the id %q of %s is that of %s: choose another", id, name, other)
		}
		owner[id] = name
	})
	for _, s := range scenario.All() {
		if owner[s.Letters()] == "" {
			t.Errorf("the id of scenario %q begins with that of no alert", s.Title())
		}
	}
}

func rulesOf(t *testing.T, c Config) []Rule {
	t.Helper()
	rules, err := Rules(c)
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

// A store may be a job of its own: with it chosen, the dashboard would hide the
// replicas whose write was refused.
func TestALinkFromAStoreChoosesTheLockAndNotTheStoresJob(t *testing.T) {
	c := Default()
	c.DashboardBaseURL = "https://grafana.example"
	urls := map[string]string{}
	for _, r := range rulesOf(t, c) {
		urls[r.Name] = r.Annotations["dashboard_url"]
	}
	const lock = "{{ with $labels.lock_name }}&var-lock_name={{ . | urlquery }}{{ end }}"
	const cluster = "{{ with $labels.cluster }}&var-cluster={{ . | urlquery }}{{ end }}"
	const namespace = "{{ with $labels.namespace }}&var-namespace={{ . | urlquery }}{{ end }}"
	if got, want := urls[Prefix+"StaleWrite"], "https://grafana.example/d/leaderscope-lock?viewPanel=51"+cluster+namespace+lock; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := urls[Prefix+"TokenRegressed"]; !strings.Contains(got, "&var-job=") {
		t.Errorf("an alert of replicas does not choose their job: %s", got)
	}
}
