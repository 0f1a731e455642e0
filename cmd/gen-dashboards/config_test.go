package main

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

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
	read, d, err := decode("f", text)
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("%+v", defaultConfig().printed())
	if got := fmt.Sprintf("%+v", read.printed()); got != want {
		t.Errorf("(-want +got):\n%s", cmp.Diff(want, got))
	}
	for path := range keysOf(reflect.TypeFor[config](), "") {
		if _, ok := d.at[path]; !ok {
			t.Errorf("%s is not printed", path)
		}
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
	d, err := parse("f", text)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range d.keys {
		line := e.key.GetToken().Position.Line
		above := strings.HasPrefix(strings.TrimSpace(lines[line-2]), "#")
		if !above && !strings.Contains(lines[line-1], " # ") {
			t.Errorf("%s has no comment", e.path)
		}
	}
	if len(d.keys) < 50 {
		t.Errorf("only %d keys", len(d.keys))
	}
	for path := range comments {
		if _, ok := d.at[path]; !ok {
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
	elsewhere := map[string]bool{"ScopeLabels": true, "Source": true, "KubeStateMetrics": true, "ReporterLabels": true, "HolderLabel": true, "Selector": true, "ScrapeInterval": true, "MetricPrefix": true, "Histograms": true, "DashboardUID": true, "LockDashboardUID": true, "BackendsDashboardUID": true, "SourceDashboardUID": true, "Recording": true}
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
		"an unknown key":           {"scope:\n  holdr: pod\n", `f:2:3: scope.holdr: unknown key "holdr"; valid keys: histograms, holder, labels, metricPrefix, reporter, scrapeInterval, selector`},
		"a key twice":              {"scope:\n  holder: a\n  holder: b\n", `f:3:3: scope.holder: duplicate key, first used in line 2; keep one of them`},
		"a key of another section": {"alerts:\n  group:\n    scopeLabels: [lock_name]\n", `f:3:5: alerts.group.scopeLabels: unknown key "scopeLabels"; valid keys: interval, name`},
		"no duration":              {"alerts:\n  flapping:\n    for: soon\n", `f:3:5: alerts.flapping.for: "soon" is not a valid duration; write it as 30s, 5m or 1h30m`},
		"a number for a duration":  {"scope:\n  scrapeInterval: 15\n", `f:2:3: scope.scrapeInterval: "15" is not a valid duration; write it as 30s, 5m or 1h30m`},
		"a text for a number":      {"alerts:\n  flapping:\n    handovers: many\n", `f:3:5: alerts.flapping.handovers: "many" is not a whole number; write it as 4`},
		"a list missing":           {"scope:\n  labels: 3\n", `f:2:3: scope.labels: this is not a list of texts; write it as [job, lock_name]`},
		"broken YAML":              {"scope: [1\n", `f:1:8: sequence end token ']' not found; correct the YAML here or just above`},
		"no lock_name":             {"scope:\n  labels: [job]\n", `f:2:3: scope.labels: job lack lock_name; without it different locks merge into one`},
		"a uid with a blank":       {"dashboards:\n  uid: a b\n", `f:2:3: dashboards.uid: "a b" is not a valid uid; use at most 40 letters, digits, - and _`},
		"a legend without a lock":  {"dashboards: {legend: x}\n", `f:1:14: dashboards.legend: "x" lacks {{lock_name}}, so that a reader could not tell locks apart; add it`},
		"a share beyond 1":         {"alerts:\n  backendErrors:\n    critical:\n      share: 7\n", `f:4:7: alerts.backendErrors.critical.share: 7 is not a share that attempts can exceed; use 0 to 0.99`},
		"a key that is no text":    {"1: x\n", `f:1:1: 1: unknown key "1"; valid keys: alertmanager, alerts, dashboards, grafanaAlerting, kubeStateMetrics, kubernetes, mimir, recording, scope, source`},
		"a uid of a source":        {"source: kube-state-metrics\ndashboards: {kubeStateMetrics: {uid: a b}}\n", `f:2:33: dashboards.kubeStateMetrics.uid: "a b" is not a valid uid; use at most 40 letters, digits, - and _`},
		"a uid of client-go":       {"source: client-go\ndashboards: {clientGo: {uid: a b}}\n", `f:2:25: dashboards.clientGo.uid: "a b" is not a valid uid; use at most 40 letters, digits, - and _`},
		"what rules and dashboards refuse is told once": {"alerts:\n  vacant: {lookback: 0s}\n  runbookBaseURL: x\nkubeStateMetrics:\n  staleAfter: 0s\n",
			`f:2:12: alerts.vacant.lookback: 0s is not longer than for, which is 1m, and two samples, so the lookback would end before the alert fires; use at least 3m` + "\n" +
				`f:3:3: alerts.runbookBaseURL: "x" is not a web address; start it with https:// or leave it empty` + "\n" +
				`f:5:3: kubeStateMetrics.staleAfter: 0s is not a positive duration; use one that is longer than every lease, such as 90s`},
		"a fraction for a number": {"alerts:\n  flapping:\n    handovers: 7.9\n", `f:3:5: alerts.flapping.handovers: "7.9" is not a whole number; write it as 4`},
		"a conflict of two keys": {"alerts:\n  lowHeadroom:\n    for: 1m\n",
			`f:3:5: alerts.lowHeadroom.for: 1m is not longer than the 1m15s for which one sample counts, so one dip would fire; use at least 1m30s`},
		"an interval beyond what the server sees": {"scope:\n  scrapeInterval: 10m\n",
			`f:2:3: scope.scrapeInterval: 10m is too long: a series ends for Prometheus 5m after its last sample, so one missed scrape would end it; use at most 2m30s`},
		"a selector that smuggles a template": {"scope:\n  selector: job=\"{{x}}\"\n",
			"f:2:3: scope.selector: job=\"{{x}}\" contains double braces, which alert templates would expand; write them as [{][{]"},
		"several at once": {"scope:\n  histograms: new\n  metricPrefix: 1-\nalerts:\n  taskFailing:\n    share: 2\n    minFailures: 0\n",
			`f:2:3: scope.histograms: "new" is not a known form of histograms; use classic, native or both` + "\n" +
				`f:3:3: scope.metricPrefix: "1-" begins no metric name; use letters, digits and _, as in shop_` + "\n" +
				`f:6:5: alerts.taskFailing.share: 2 is not a share that runs can exceed; use 0 to 0.99` + "\n" +
				`f:7:5: alerts.taskFailing.minFailures: 0 is too few; use at least 1`},
		"several that cannot be read": {"scope:\n  holdr: pod\n  scrapeInterval: 15\nalerts:\n  nearLease: {minTimes: 1.5}\n",
			`f:2:3: scope.holdr: unknown key "holdr"; valid keys: histograms, holder, labels, metricPrefix, reporter, scrapeInterval, selector` + "\n" +
				`f:3:3: scope.scrapeInterval: "15" is not a valid duration; write it as 30s, 5m or 1h30m` + "\n" +
				`f:5:15: alerts.nearLease.minTimes: "1.5" is not a whole number; write it as 4`},
		"every kind of value that cannot be read": {
			"recording: yes\nscope: {labels: [[a]], holder: [pod], selector: {a: b}}\nalerts:\n  labels: {team: 1.10, a: [b]}\n  annotations: [x]\n  nearLease: 3\n" +
				"  taskFailing: {share: 50%, enabled: \"true\", severity: ~}\n  group: {interval: [1m]}\ndashboards:\n  tags: a\n  title: |\n    x\n",
			`f:1:1: recording: "yes" is neither true nor false; write one of them, without quotes` + "\n" +
				`f:2:9: scope.labels: element 1: a list or a mapping is not a text; write a text in quotes` + "\n" +
				`f:2:24: scope.holder: a list or a mapping is not a single value; write it as key: value` + "\n" +
				`f:2:39: scope.selector: a list or a mapping is not a single value; write it as key: value` + "\n" +
				`f:4:3: alerts.labels: the value of "team": 1.10 is a number, which would become "1.1"; write it in quotes` + "\n" +
				`f:5:3: alerts.annotations: this is not a mapping of texts to texts; write it as {team: orders}` + "\n" +
				`f:6:3: alerts.nearLease: this key is a section; write its keys below it` + "\n" +
				`f:7:17: alerts.taskFailing.share: "50%" is not a number; write it as 0.5` + "\n" +
				`f:7:29: alerts.taskFailing.enabled: "true" is neither true nor false; write one of them, without quotes` + "\n" +
				`f:8:11: alerts.group.interval: a list or a mapping is not a single value; write it as key: value` + "\n" +
				`f:10:3: dashboards.tags: this is not a list of texts; write it as [job, lock_name]`},
		"a text that is a number of another form": {"alerts:\n  labels: {version: 0x10}\n",
			`f:2:3: alerts.labels: the value of "version": 0x10 is a number, which would become "16"; write it in quotes`},
		"a name twice in a mapping": {"alerts: {labels: {a: b, 'a': c}}\n", `f:1:10: alerts.labels: duplicate key "a"; keep one of them`},
		"a list at the top":         {"- scope\n", `f:1:1: this is not a mapping of keys to values; write it as key: value`},
		"a key in quotes":           {"alerts:\n  labels:\n    'a b': c\n", `f:3:5: alerts.labels.a b: "a b" is not a valid label name; use letters, digits and _`},
		"a bad value beside one that cannot be read": {"alerts:\n  flapping: {window: 1x, for: 40m}\n  taskFailing: {share: 2}\nmimir: {namespace: ''}\n",
			`f:2:14: alerts.flapping.window: "1x" is not a valid duration; write it as 30s, 5m or 1h30m` + "\n" +
				`f:3:17: alerts.taskFailing.share: 2 is not a share that runs can exceed; use 0 to 0.99` + "\n" +
				`f:4:9: mimir.namespace: must not be empty; use a name such as leaderscope`},
		"labels that cannot be read hide nothing else": {"alerts:\n  labels: [x]\n  taskFailing: {share: 2}\n",
			`f:2:3: alerts.labels: this is not a mapping of texts to texts; write it as {team: orders}` + "\n" +
				`f:3:17: alerts.taskFailing.share: 2 is not a share that runs can exceed; use 0 to 0.99`},
		"a key of a dashboard that cannot be read hides nothing else": {"dashboards: {tags: x, lock: {uid: [a]}, uid: a b}\n",
			`f:1:14: dashboards.tags: this is not a list of texts; write it as [job, lock_name]` + "\n" +
				`f:1:30: dashboards.lock.uid: a list or a mapping is not a single value; write it as key: value` + "\n" +
				`f:1:41: dashboards.uid: "a b" is not a valid uid; use at most 40 letters, digits, - and _`},
		"an unknown key hides nothing": {"scope: {holdr: pod, holder: a b}\n",
			`f:1:9: scope.holdr: unknown key "holdr"; valid keys: histograms, holder, labels, metricPrefix, reporter, scrapeInterval, selector` + "\n" +
				`f:1:21: scope.holder: "a b" is not a valid label name; use the label that tells replicas apart, such as instance or pod`},
		"an interval that cannot be read hides what depends on it": {"alerts: {group: {interval: x}, taskFailing: {share: 2}}\n",
			`f:1:18: alerts.group.interval: "x" is not a valid duration; write it as 30s, 5m or 1h30m`},
		"recording that cannot be read hides what depends on it": {"recording: 1\nalerts: {taskFailing: {share: 2}}\n",
			`f:1:1: recording: "1" is neither true nor false; write one of them, without quotes`},
		"below an unknown key nothing is looked at": {"x: {y: 1, z: {a: 2}}\nscop: {}\n",
			`f:1:1: x: unknown key "x"; valid keys: alertmanager, alerts, dashboards, grafanaAlerting, kubeStateMetrics, kubernetes, mimir, recording, scope, source` + "\n" +
				`f:2:1: scop: unknown key "scop"; valid keys: alertmanager, alerts, dashboards, grafanaAlerting, kubeStateMetrics, kubernetes, mimir, recording, scope, source`},
		"a key that others depend on": {"scope: {scrapeInterval: 15}\nalerts: {taskFailing: {share: 2}}\n",
			`f:1:9: scope.scrapeInterval: "15" is not a valid duration; write it as 30s, 5m or 1h30m`},
		"a default that a key makes impossible": {"scope: {scrapeInterval: 2m}\nalerts: {splitBrain: {enabled: false}, lowHeadroom: {enabled: false}}\n",
			`f:2:1: alerts.noLeader.downFor: 2m may hold no sample where samples are 2m apart, so the alert would come and go; use at least 2m30s (the file leaves this key at its default)` + "\n" +
				`f:2:1: alerts.backendErrors.recent: 3m holds fewer than two samples 2m apart, so the alert could never fire; use at least 4m (the file leaves this key at its default)` + "\n" +
				`f:2:1: alerts.renewalFailures.recent: 3m holds fewer than two samples 2m apart, so the alert could never fire; use at least 4m (the file leaves this key at its default)` + "\n" +
				`f:2:1: alerts.jobOverdue.grace: 2m is shorter than two samples 2m apart, and a run is not seen sooner; use at least 4m (the file leaves this key at its default)` + "\n" +
				`f:2:1: alerts.vacant.for: 1m is shorter than the time between two samples, 2m, so a handover that one sample shows would page; use at least 2m (the file leaves this key at its default)` + "\n" +
				`f:2:1: alerts.impostor.for: 1m is shorter than the time between two samples, 2m, and a handover between the samples of two processes would page; use at least 2m (the file leaves this key at its default)`},
		"defaults of a section that is not there": {"scope: {holder: job}\n",
			`f:1:9: scope.holder: job is a scope label too, so each replica would be evaluated alone and SplitBrain could never fire; remove it from scopeLabels`},
		"everything that formats refuse": {
			"kubernetes: {namespace: A, configMap: {name: '', labelValue: a b}, grafanaOperator: {instanceSelector: {'a b': c}}, prometheusRule: {name: B}}\n" +
				"grafanaAlerting: {orgID: 0, folder: ''}\nalertmanager: {receiver: '', pageSeverity: ' '}\n",
			`f:1:14: kubernetes.namespace: "A" is not a valid namespace; use at most 63 lower-case letters, digits and -` + "\n" +
				`f:1:40: kubernetes.configMap.name: "-overview" is not a valid object name; use at most 253 lower-case letters, digits, - and dots` + "\n" +
				`f:1:50: kubernetes.configMap.labelValue: "a b" is not a valid value of the label x; use at most 63 letters, digits, dots, - and _` + "\n" +
				`f:1:86: kubernetes.grafanaOperator.instanceSelector: "a b" is not a valid label name; use letters, digits, dots, - and _` + "\n" +
				`f:1:134: kubernetes.prometheusRule.name: "B" is not a valid object name; use at most 253 lower-case letters, digits, - and dots` + "\n" +
				`f:2:19: grafanaAlerting.orgID: 0 is not a valid organisation id; use 1 for the first` + "\n" +
				`f:2:29: grafanaAlerting.folder: must not be empty, Grafana refuses rules without; use a name such as Leader election` + "\n" +
				`f:3:16: alertmanager.receiver: must not be empty; use a name such as leader-election` + "\n" +
				`f:3:30: alertmanager.pageSeverity: must not be empty; use a name such as critical`},
		"two documents": {"scope: {}\n---\nscope: {}\n", `f:3:6: this is a second YAML document; put everything into the first`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, _, err := decode("f", []byte(c.file))
			if err == nil {
				t.Fatal("no error")
			}
			if got := err.Error(); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestAFileMayLeaveEverythingOut(t *testing.T) {
	for _, file := range []string{"", "# nothing\n", "alerts:\n", "scope: {}\n"} {
		c, _, err := decode("f", []byte(file))
		if err != nil {
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
		"Latin-1":                  {"scope: {holder: \"p\xf6d\"}\n", "f: the file is not in UTF-8; save it as UTF-8"},
		"UTF-16":                   {"\xff\xfes\x00c\x00", "f: the file is not in UTF-8; save it as UTF-8"},
		"an anchor":                {"a: &a [1]\nb: [*a, *a]\n", "f: line 1: anchors, aliases and merge keys are not supported; write the values out"},
		"a merge key":              {"scope:\n  <<: {holder: pod}\n", "f: line 2: anchors, aliases and merge keys are not supported; write the values out"},
		"a tag":                    {"scope:\n  holder: !!binary cG9k\n", "f: line 2: tags such as !!binary are not supported; write the value without a tag"},
		"a huge file":              {strings.Repeat("# xx\n", maxBytes/5+1), "f: the file is larger than the maximum of 262144 bytes; check its name"},
		"a flow that is deep":      {strings.Repeat("{a: ", maxTokens), "f: line 1: the file has too many keys, values and brackets for a configuration; use at most 10000"},
		"lists in lists":           {strings.Repeat("- ", maxTokens+1), "f: line 1: the file has too many keys, values and brackets for a configuration; use at most 10000"},
		"many keys":                {strings.Repeat("a: 1\n", maxTokens), "f: line 3334: the file has too many keys, values and brackets for a configuration; use at most 10000"},
		"many comments":            {strings.Repeat("#\n", maxTokens+1), ""},
		"a byte order mark":        {byteOrderMark + "scope: {holder: pod}\n", ""},
		"ends of lines of Windows": {"scope:\r\n  holder: pod\r\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			if err := os.WriteFile("f", []byte(c.file), 0o600); err != nil {
				t.Fatal(err)
			}
			got := ""
			if _, _, err := load("f"); err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestOfManyErrorsTheFirstAreListed(t *testing.T) {
	var text strings.Builder
	for i := range maxReported + 10 {
		fmt.Fprintf(&text, "x%02d: 1\n", i)
	}
	_, _, err := decode("f", []byte(text.String()))
	if err == nil {
		t.Fatal("no error")
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != maxReported+1 || !strings.HasPrefix(lines[0], "f:1:1: x00: ") || !strings.HasPrefix(lines[49], "f:50:1: x49: ") || lines[50] != "f: 10 more errors; fix the errors above first" {
		t.Errorf("%d lines, the last is %s", len(lines), lines[len(lines)-1])
	}
}

func TestNullsKeepTheDefaults(t *testing.T) {
	file := "scope: {holder: ~, labels: null}\nrecording:\nalerts: {labels: ~, flapping: ~, taskFailing: {share: ~, for: null}}\n"
	c, _, err := decode("f", []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(fmt.Sprintf("%+v", defaultConfig()), fmt.Sprintf("%+v", c)); diff != "" {
		t.Errorf("(-default +got):\n%s", diff)
	}
}

func TestNumbersAreReadInEveryForm(t *testing.T) {
	file := "alerts: {flapping: {handovers: 0x10}, taskFailing: {share: '0.25', minFailures: \"7\"}, attemptStuck: {factor: 2}, labels: {a: 5, b: true, c: '1.10'}}\n"
	c, _, err := decode("f", []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	a := c.Alerts
	got := fmt.Sprint(a.Flapping.Handovers, a.TaskFailing.Share, a.TaskFailing.MinFailures, a.AttemptStuck.Factor, a.Labels)
	if want := "16 0.25 7 2 map[a:5 b:true c:1.10]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
