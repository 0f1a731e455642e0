package main

import (
	"fmt"
	"os"
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
	elsewhere := map[string]bool{"ScopeLabels": true, "HolderLabel": true, "Selector": true, "ScrapeInterval": true, "MetricPrefix": true, "Histograms": true, "DashboardUID": true, "LockDashboardUID": true, "Recording": true}
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

func TestABadConfigurationIsALineForEachKey(t *testing.T) {
	cases := map[string]struct{ file, want string }{
		"an unknown key":           {"scope:\n  holdr: pod\n", `f:2:3: scope.holdr: unknown key "holdr"`},
		"a key twice":              {"scope:\n  holder: a\n  holder: b\n", `f:3:3: scope.holder: mapping key "holder" already defined at [2:3]`},
		"a key of another section": {"alerts:\n  scopeLabels: [lock_name]\n", `f:2:3: alerts.scopeLabels: unknown key "scopeLabels"`},
		"no duration":              {"alerts:\n  flapping:\n    for: soon\n", `f:3:5: alerts.flapping.for: "soon" is no duration; write it as 30s, 5m or 1h30m`},
		"a number for a duration":  {"scope:\n  scrapeInterval: 15\n", `f:2:3: scope.scrapeInterval: "15" is no duration; write it as 30s, 5m or 1h30m`},
		"a text for a number":      {"alerts:\n  flapping:\n    handovers: many\n", `f:3:5: alerts.flapping.handovers: "many" is no whole number; write it as 4`},
		"a list missing":           {"scope:\n  labels: 3\n", `f:2:11: scope.labels: int was used where sequence is expected`},
		"broken YAML":              {"scope: [1\n", `f:1:8: sequence end token ']' not found`},
		"no lock_name":             {"scope:\n  labels: [job]\n", `f:2:3: scope.labels: job lack lock_name; without it different locks merge into one`},
		"a uid with a blank":       {"dashboards:\n  uid: a b\n", `f:2:3: dashboards.uid: "a b" is no uid; use at most 40 letters, digits, - and _`},
		"a legend without a lock":  {"dashboards: {legend: x}\n", `f:1:14: dashboards.legend: "x" does not contain {{lock_name}}`},
		"a share beyond 1":         {"alerts:\n  backendErrors:\n    critical:\n      share: 7\n", `f:4:7: alerts.backendErrors.critical.share: 7 is no share that attempts can exceed; use 0 to 0.99`},
		"a fraction for a number":  {"alerts:\n  flapping:\n    handovers: 7.9\n", `f:3:5: alerts.flapping.handovers: "7.9" is no whole number; write it as 4`},
		"a conflict of two keys": {"alerts:\n  lowHeadroom:\n    for: 1m\n",
			`f:3:5: alerts.lowHeadroom.for: 1m is not longer than the 1m15s for which one sample counts, so one dip would fire; use at least 1m30s`},
		"an interval beyond what the server sees": {"scope:\n  scrapeInterval: 10m\n",
			`f:2:3: scope.scrapeInterval: 10m is too long: a series ends for Prometheus 5m after its last sample, so one missed scrape would end it; use at most 2m30s`},
		"a selector that smuggles a template": {"scope:\n  selector: job=\"{{x}}\"\n",
			"f:2:3: scope.selector: job=\"{{x}}\" has double braces, which templates of alerts would take for their own; write them as [{][{]"},
		"several at once": {"scope:\n  histograms: new\n  metricPrefix: 1-\nalerts:\n  taskFailing:\n    share: 2\n    minFailures: 0\n",
			`f:2:3: scope.histograms: "new" is no form of histograms; use classic, native or both` + "\n" +
				`f:3:3: scope.metricPrefix: "1-" begins no metric name; use letters, digits and _, as in shop_` + "\n" +
				`f:6:5: alerts.taskFailing.share: 2 is no share that runs can exceed; use 0 to 0.99` + "\n" +
				`f:7:5: alerts.taskFailing.minFailures: 0 is too few; use at least 1`},
		"several that cannot be read": {"scope:\n  holdr: pod\n  scrapeInterval: 15\nalerts:\n  nearLease: {minTimes: 1.5}\n",
			`f:2:3: scope.holdr: unknown key "holdr"` + "\n" +
				`f:3:3: scope.scrapeInterval: "15" is no duration; write it as 30s, 5m or 1h30m` + "\n" +
				`f:5:15: alerts.nearLease.minTimes: "1.5" is no whole number; write it as 4`},
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

func TestAFileThatIsNoConfigurationIsRefusedBeforeItIsParsed(t *testing.T) {
	for name, c := range map[string]struct{ file, want string }{
		"Latin-1":     {"scope: {holder: \"p\xf6d\"}\n", "f: the file is not in UTF-8; save it as UTF-8"},
		"aliases":     {"a: &a [1]\nb: [*a, *a]\n", "f: line 1: anchors, aliases and merge keys are not read; write the values out"},
		"a huge file": {strings.Repeat("# x\n", largest/4+1), "f: 1048580 bytes are too many for a configuration; use at most 1048576"},
		"a mark":      {byteOrderMark + "scope: {holder: pod}\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			if err := os.WriteFile("f", []byte(c.file), 0o600); err != nil {
				t.Fatal(err)
			}
			got := ""
			if _, err := load("f"); err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}
