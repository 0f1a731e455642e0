package alerts

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"go.yaml.in/yaml/v3"

	"github.com/leaderscope/leaderscope/alerts/internal/alertmanager"
	"github.com/leaderscope/leaderscope/alerts/internal/grafana"
)

// only switches off every alert but those of these fields of Alerts.
func only(c Config, fields ...string) Config {
	alerts := reflect.ValueOf(&c.Alerts).Elem()
	for i := range alerts.NumField() {
		if slices.Contains(fields, alerts.Type().Field(i).Name) {
			continue
		}
		switchOff(alerts.Field(i))
	}
	return c
}

func switchOff(v reflect.Value) {
	if f, ok := v.Addr().Interface().(*Firing); ok {
		f.Enabled = false
		return
	}
	for i := range v.NumField() {
		if v.Field(i).Kind() == reflect.Struct {
			switchOff(v.Field(i))
		}
	}
}

// The wrapping is recorded with two rules of one name; that the rules are all
// there is another test.
func TestFormatsAreAsRecorded(t *testing.T) {
	c := only(Default(), "NoLeader")
	object := Object{Name: "leaderscope", Namespace: "monitoring", Labels: map[string]string{"release": "kube-prometheus-stack"}}
	formats := map[string]func() ([]byte, error){
		"prometheusrule":   func() ([]byte, error) { return PrometheusRule(c, object) },
		"mimir":            func() ([]byte, error) { return Mimir(c, "leaderscope") },
		"grafana-alerting": func() ([]byte, error) { return GrafanaAlerting(c, DefaultGrafanaManaged()) },
		"alertmanager":     func() ([]byte, error) { return Alertmanager(Default(), DefaultRouting()) },
	}
	for name, format := range formats {
		t.Run(name, func(t *testing.T) {
			got, err := format()
			if err != nil {
				t.Fatal(err)
			}
			if again, err := format(); err != nil || string(again) != string(got) {
				t.Errorf("a second run differs: %v", err)
			}
			golden := filepath.Join("testdata", "formats", name+".yaml")
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

func TestOperatorAndMimirHaveTheGroupsOfPrometheus(t *testing.T) {
	for name, c := range variants() {
		t.Run(name, func(t *testing.T) {
			var want rulefmt.RuleGroups
			decodeYAML(t, func() ([]byte, error) { return YAML(c) }, &want)
			var operator struct{ Spec rulefmt.RuleGroups }
			decodeYAML(t, func() ([]byte, error) { return PrometheusRule(c, Object{Name: "a"}) }, &operator)
			var mimir struct {
				Namespace          string
				rulefmt.RuleGroups `yaml:",inline"`
			}
			decodeYAML(t, func() ([]byte, error) { return Mimir(c, "team-a") }, &mimir)
			if diff := cmp.Diff(want.Groups, operator.Spec.Groups); diff != "" {
				t.Errorf("PrometheusRule (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(want.Groups, mimir.Groups); diff != "" || mimir.Namespace != "team-a" {
				t.Errorf("Mimir, namespace %q (-want +got):\n%s", mimir.Namespace, diff)
			}
		})
	}
}

func TestGrafanaAlertingHasEveryRule(t *testing.T) {
	for name, c := range variants() {
		t.Run(name, func(t *testing.T) {
			var file grafana.File
			decodeYAML(t, func() ([]byte, error) { return GrafanaAlerting(c, DefaultGrafanaManaged()) }, &file)
			rules := rulesOf(t, c)
			var got []grafana.Rule
			for _, g := range file.Groups {
				got = append(got, g.Rules...)
			}
			if len(got) != len(rules) {
				t.Fatalf("%d rules, want %d", len(got), len(rules))
			}
			uids, titles := map[string]bool{}, map[string]bool{}
			for i, r := range rules {
				g := got[i]
				query := g.Data[0].(map[string]any)
				if model := query["model"].(map[string]any); model["expr"] != r.Expr || model["instant"] != true || query["datasourceUid"] != "prometheus" {
					t.Errorf("%s asks %v", r.Name, query)
				}
				if g.For != r.For || g.KeepFiringFor != r.KeepFiringFor || g.NoDataState != "OK" || g.Condition != "firing" {
					t.Errorf("%s: %+v", r.Name, g)
				}
				want := maps.Clone(r.Labels)
				delete(want, backendLabel)
				if diff := cmp.Diff(want, g.Labels); diff != "" {
					t.Errorf("%s (-want +got):\n%s", r.Name, diff)
				}
				if uids[g.UID] || len(g.UID) > maxRuleUID || titles[g.Title] {
					t.Errorf("uid %q or title %q: long, or there twice", g.UID, g.Title)
				}
				uids[g.UID], titles[g.Title] = true, true
			}
		})
	}
}

func TestRulesWithAnIntervalOfTheirOwnAreAGroup(t *testing.T) {
	c := only(Default(), "NoLeader", "JobOverdue")
	c.Group.Interval, c.Alerts.JobOverdue.Interval, c.Alerts.NoLeader.Interval = minutes(1), model.Duration(95*time.Second), 0
	var prometheus rulefmt.RuleGroups
	decodeYAML(t, func() ([]byte, error) { return YAML(c) }, &prometheus)
	var managed grafana.File
	decodeYAML(t, func() ([]byte, error) { return GrafanaAlerting(c, DefaultGrafanaManaged()) }, &managed)
	var got []string
	for _, g := range prometheus.Groups {
		got = append(got, fmt.Sprintf("%s every %s: %d", g.Name, g.Interval, len(g.Rules)))
	}
	for _, g := range managed.Groups {
		got = append(got, fmt.Sprintf("Grafana: %s every %s: %d", g.Name, g.Interval, len(g.Rules)))
	}
	want := []string{
		"leader-election every 1m: 2", "leader-election-1m35s every 1m35s: 1",
		"Grafana: leader-election every 1m: 2", "Grafana: leader-election-1m35s every 1m40s: 1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want -, got +\n%s", diff)
	}
	c.Alerts.JobOverdue.Interval = 0
	var together rulefmt.RuleGroups
	decodeYAML(t, func() ([]byte, error) { return YAML(c) }, &together)
	if len(together.Groups) != 1 || len(together.Groups[0].Rules) != 3 {
		t.Errorf("got %d groups without an interval of its own, want 1", len(together.Groups))
	}
}

// Grafana takes a dollar for one of its environment variables.
func TestNoTextForGrafanaHasADollar(t *testing.T) {
	for name, c := range variants() {
		var file grafana.File
		decodeYAML(t, func() ([]byte, error) { return GrafanaAlerting(c, DefaultGrafanaManaged()) }, &file)
		for _, g := range file.Groups {
			for _, r := range g.Rules {
				for annotation, text := range r.Annotations {
					if strings.Contains(text, "$") {
						t.Errorf("%s: %s of %s has a dollar: %s", name, annotation, r.Title, text)
					}
				}
			}
		}
	}
}

func TestATextThatGrafanaCannotExpressIsRefusedWithItsKey(t *testing.T) {
	c := Default()
	c.Annotations = map[string]string{"a": "{{ $externalLabels.a }}", "b": "{{ $labels.b }}", "c": "{{ .ExternalLabels.c }}"}
	_, err := GrafanaAlerting(c, DefaultGrafanaManaged())
	want := "annotations.a: the format grafana-alerting cannot express this: $externalLabels are unknown to Grafana; leave that out of the text, or name the other formats with --format\n" +
		"annotations.c: the format grafana-alerting cannot express this: .ExternalLabels are unknown to Grafana; leave that out of the text, or name the other formats with --format"
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if _, err := YAML(c); err != nil {
		t.Errorf("Prometheus' file: %v", err)
	}
}

// Grafana expands variables of its environment in most fields of the file.
func TestADollarReachesGrafanaAsItIs(t *testing.T) {
	c := only(Default(), "NoLeader")
	c.Group.Name, c.Alerts.NoLeader.Warning.Severity, c.Alerts.NoLeader.Interval = "$A", "${B}", 0
	c.Labels = map[string]string{"team": "$HOME $$"}
	c.Selector = `env="$C"`
	g := DefaultGrafanaManaged()
	g.Folder = "$D"
	var file grafana.File
	decodeYAML(t, func() ([]byte, error) { return GrafanaAlerting(c, g) }, &file)
	group := file.Groups[0]
	rule := group.Rules[1]
	got := []string{group.Name, group.Folder, rule.Title, rule.Labels["team"], rule.Labels["severity"]}
	want := []string{"$$A", "$$D", "LeaderElectionNoLeader ($${B})", "$$HOME $$$$", "$${B}"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// The query is kept as it is written.
	if expr := rule.Data[0].(map[string]any)["model"].(map[string]any)["expr"].(string); !strings.Contains(expr, `env="$C"`) {
		t.Errorf("the query lacks the selector: %s", expr)
	}
	for name, text := range rule.Annotations {
		if strings.Contains(strings.ReplaceAll(text, "$.", ""), "$") {
			t.Errorf("%s has a dollar: %s", name, text)
		}
	}
}

func TestGrafanaManagedIsRefusedWithEveryKey(t *testing.T) {
	g := GrafanaManaged{DatasourceUID: "a b", OrgID: 0, Folder: " ", Interval: model.Duration(15 * time.Second), UIDPrefix: strings.Repeat("a", 12)}
	want := `datasourceUID: "a b" is not a valid uid; use 1 to 40 letters, digits, - and _` + "\n" +
		`orgID: 0 is not a valid organisation id; use 1 for the first` + "\n" +
		`folder: must not be empty, Grafana refuses rules without; use a name such as Leader election` + "\n" +
		`interval: 15s is not a multiple of 10s, in which Grafana evaluates; use one such as 1m` + "\n" +
		`uidPrefix: "aaaaaaaaaaaa" begins no uid; use 1 to 11 lower-case letters, digits, - and _`
	if err := g.Validate(); err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if _, err := GrafanaAlerting(Default(), g); err == nil || err.Error() != want {
		t.Errorf("the format: got %v", err)
	}
	g = DefaultGrafanaManaged()
	g.UIDPrefix, g.Interval = strings.Repeat("a", 11), model.Duration(10*time.Second)
	if err := g.Validate(); err != nil {
		t.Errorf("the longest prefix: %v", err)
	}
}

// An alert that is switched off mutes nothing and need not be muted.
func TestInhibitionsNameOnlyAlertsThatExist(t *testing.T) {
	named := regexp.MustCompile(Prefix + `\w+`)
	for name, c := range map[string]Config{
		"default": Default(), "two alerts": only(Default(), "BackendErrors", "NoLeader"), "none": only(Default()),
		"a warning": only(Default(), "NearLease"), "one lock for all": variants()["shared"],
	} {
		t.Run(name, func(t *testing.T) {
			exist := map[string]bool{}
			for _, r := range rulesOf(t, c) {
				exist[r.Name] = true
			}
			var file alertmanager.File
			decodeYAML(t, func() ([]byte, error) { return Alertmanager(c, DefaultRouting()) }, &file)
			for _, r := range file.Inhibit {
				for _, m := range append(r.Source, r.Target...) {
					for _, alert := range named.FindAllString(m, -1) {
						if !exist[alert] {
							t.Errorf("%s does not exist", alert)
						}
					}
				}
				if strings.Join(r.Source, " ") == strings.Join(r.Target, " ") {
					t.Errorf("%v mutes itself", r)
				}
			}
		})
	}
}

func TestAWarningMutesNoPage(t *testing.T) {
	c := Default()
	c.Alerts.BackendErrors.Critical.Enabled = false
	var file alertmanager.File
	decodeYAML(t, func() ([]byte, error) { return Alertmanager(c, DefaultRouting()) }, &file)
	for _, r := range file.Inhibit {
		if slices.Contains(r.Source, `alertname="LeaderElectionBackendErrors"`) {
			t.Errorf("%+v", r)
		}
	}
}

func decodeYAML(t *testing.T, format func() ([]byte, error), into any) {
	t.Helper()
	data, err := format()
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}
