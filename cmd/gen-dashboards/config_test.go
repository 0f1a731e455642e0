package main

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/goccy/go-yaml/ast"
	"github.com/google/go-cmp/cmp"

	"github.com/leaderscope/leaderscope/alerts"
	"github.com/leaderscope/leaderscope/dashboards"
	"github.com/leaderscope/leaderscope/internal/panel"
)

func TestThePrintedConfigurationIsTheDefault(t *testing.T) {
	text, err := commented(defaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	// Read over nothing, so that a key that is not printed is missed.
	var read config
	if err := decode(text, &read); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("%+v", defaultConfig().printed())
	if got := fmt.Sprintf("%+v", read.printed()); got != want {
		t.Errorf("(-want +got):\n%s", cmp.Diff(want, got))
	}
	if err := defaultConfig().validate(); err != nil {
		t.Errorf("the default is refused: %v", err)
	}
}

// printed is what a file can say.
func (c config) printed() config {
	shown := c
	shown.Dashboards = dashboards.Config{}
	v, to := reflect.ValueOf(c.Dashboards), reflect.ValueOf(&shown.Dashboards).Elem()
	for i := range v.NumField() {
		if v.Type().Field(i).Tag.Get("yaml") != "-" {
			to.Field(i).Set(v.Field(i))
		}
	}
	return shown
}

func TestEveryKeyHasAComment(t *testing.T) {
	text, err := commented(defaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	keys := 0
	walk(text, func(path string, key, _ ast.Node) {
		keys++
		line := key.GetToken().Position.Line
		above := strings.HasPrefix(strings.TrimSpace(lines[line-2]), "#")
		if !above && !strings.Contains(lines[line-1], " # ") {
			t.Errorf("%s has no comment", path)
		}
	})
	if keys < 50 {
		t.Errorf("only %d keys", keys)
	}
	for path := range comments {
		if line, _ := place(text, path); line == 0 {
			t.Errorf("comment on %s, which is no key", path)
		}
	}
}

// A knob that alerts.Config gains must be in the file too.
func TestTheFileHasEveryKnobOfTheAlerts(t *testing.T) {
	got := reflect.ValueOf(defaultConfig().rules())
	want := reflect.ValueOf(alerts.Default())
	if diff := cmp.Diff(fmt.Sprintf("%+v", want), fmt.Sprintf("%+v", got)); diff != "" {
		t.Errorf("defaults (-alerts +file):\n%s", diff)
	}
	section := reflect.TypeFor[alertSection]()
	elsewhere := map[string]bool{"ScopeLabels": true, "HolderLabel": true, "Selector": true, "ScrapeInterval": true, "DashboardUID": true, "Recording": true}
	for i := range want.NumField() {
		name := want.Type().Field(i).Name
		if _, ok := section.FieldByName(name); !ok && !elsewhere[name] {
			t.Errorf("alerts.Config has %s, the file has not", name)
		}
	}
}

func TestTheDashboardDrawsTheLimitsOfTheAlerts(t *testing.T) {
	c := defaultConfig()
	if diff := cmp.Diff(c.Dashboards.Thresholds, c.boards().Thresholds); diff != "" {
		t.Errorf("the defaults of the two differ (-dashboards +alerts):\n%s", diff)
	}
	c.Alerts.BackendErrors.Warning.Share = 0.25
	if got := c.boards().Thresholds.ErrorShare; got != 0.25 {
		t.Errorf("got %v, want 0.25", got)
	}
}

func TestABadConfigurationIsOneLineThatNamesTheKey(t *testing.T) {
	cases := map[string]struct{ file, want string }{
		"an unknown key":           {"scope:\n  holdr: pod\n", `f:2:3: scope.holdr: unknown key "holdr"`},
		"a key twice":              {"scope:\n  holder: a\n  holder: b\n", `f:3:3: scope.holder: mapping key "holder" already defined at [2:3]`},
		"a key of another section": {"alerts:\n  scopeLabels: [lock_name]\n", `f:2:3: alerts.scopeLabels: unknown key "scopeLabels"`},
		"no duration":              {"alerts:\n  flapping:\n    for: soon\n", `f:3:5: alerts.flapping.for: "soon" is no duration; write it as 30s, 5m or 1h30m`},
		"a number for a duration":  {"scope:\n  scrapeInterval: 15\n", `f:2:3: scope.scrapeInterval: "15" is no duration; write it as 30s, 5m or 1h30m`},
		"a text for a number":      {"alerts:\n  flapping:\n    handovers: many\n", `f:3:16: alerts.flapping.handovers: string was used where int is expected`},
		"a list missing":           {"scope:\n  labels: 3\n", `f:2:11: scope.labels: int was used where sequence is expected`},
		"broken YAML":              {"scope: [1\n", `f:1:8: sequence end token ']' not found`},
		"no lock_name":             {"scope:\n  labels: [job]\n", `f:2:3: scope.labels: job lack lock_name; without it different locks merge into one`},
		"a uid with a blank":       {"dashboards:\n  uid: a b\n", `f:2:3: dashboards.uid: "a b" is no uid; use at most 40 letters, digits, - and _`},
		"a legend without a lock":  {"dashboards: {legend: x}\n", `f:1:14: dashboards.legend: "x" does not contain {{lock_name}}`},
		"a share beyond 1":         {"alerts:\n  backendErrors:\n    critical:\n      share: 7\n", `f:4:7: alerts.backendErrors.critical.share: 7 is no share that attempts can exceed; use 0 to 0.99`},
		"a conflict of two keys": {"scope:\n  scrapeInterval: 5m\n",
			`f: alerts.splitBrain.window: 1m holds fewer than two samples at scrapeInterval 5m, so the alert could never fire; use at least 10m`},
		"two documents": {"scope: {}\n---\nscope: {}\n", `f: more than one document; put everything into the first`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			read := defaultConfig()
			err := decode([]byte(c.file), &read)
			if err == nil {
				err = read.validate()
			}
			if err == nil {
				t.Fatal("no error")
			}
			if got := inFile("f", []byte(c.file), err).Error(); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestAFileMayLeaveEverythingOut(t *testing.T) {
	for _, file := range []string{"", "# nothing\n", "alerts:\n", "scope: {}\n"} {
		c := defaultConfig()
		if err := decode([]byte(file), &c); err != nil {
			t.Errorf("%q: %v", file, err)
		}
		if diff := cmp.Diff(fmt.Sprintf("%+v", defaultConfig()), fmt.Sprintf("%+v", c)); diff != "" {
			t.Errorf("%q (-default +got):\n%s", file, diff)
		}
	}
}

// The dashboards mark alerts by the prefix that the rules give them.
func TestTheDashboardsKnowTheAlertsByTheirNames(t *testing.T) {
	if panel.AlertPrefix != alerts.Prefix {
		t.Errorf("dashboards look for %s, rules are called %s", panel.AlertPrefix, alerts.Prefix)
	}
}
