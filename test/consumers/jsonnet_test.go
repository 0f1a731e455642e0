package consumers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

const root = "../.."

// programs builds gen-dashboards once, in the folder of its module so that its own
// requirements hold, and jsonnet. In a process of its own, jsonnet is without the
// race detector, with which each of its evaluations takes five times as long.
var programs = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "programs")
	if err != nil {
		return "", err
	}
	for folder, of := range map[string]string{filepath.Join(root, "cmd", "gen-dashboards"): ".", ".": "github.com/google/go-jsonnet/cmd/jsonnet"} {
		build := exec.Command("go", "build", "-o", dir, of)
		build.Dir = folder
		if out, err := build.CombinedOutput(); err != nil {
			return dir, fmt.Errorf("%w\n%s", err, out)
		}
	}
	return dir, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if dir, _ := programs(); dir != "" {
		os.RemoveAll(dir)
	}
	os.Exit(code)
}

// program is one of them.
func program(t *testing.T, name string) string {
	t.Helper()
	dir, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, name)
}

// generate runs gen-dashboards with a configuration into a new directory.
func generate(t *testing.T, config, formats string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	file := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(program(t, "gen-dashboards"), "--out", dir, "--config", file, "--format", formats).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

// evaluate runs jsonnet in which m is the mixin of a directory.
func evaluate(t *testing.T, dir, expression string) (map[string]any, error) {
	t.Helper()
	out, err := jsonnet(t, "-J", dir, "-e", "local m = import 'mixin/mixin.libsonnet'; "+expression)
	if err != nil {
		return nil, err
	}
	var made map[string]any
	if err := json.Unmarshal([]byte(out), &made); err != nil {
		t.Fatal(err)
	}
	return made, nil
}

// jsonnet returns what the program prints, or an error with its message.
func jsonnet(t *testing.T, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program(t, "jsonnet"), args...)
	cmd.Env = append(os.Environ(), "GOGC=400") // it is short of time, not of memory
	var message bytes.Buffer
	cmd.Stderr = &message
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, &message)
	}
	return string(out), nil
}

const shown = "{dashboards: made.grafanaDashboards, alerts: made.prometheusAlerts.groups, recording: made.prometheusRules.groups}"

// expected is what the generator writes, in the shape that is shown.
func expected(t *testing.T, dir string) map[string]any {
	t.Helper()
	boards := map[string]any{}
	files, err := filepath.Glob(filepath.Join(dir, "grafana/leaderscope/*.json"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		var board map[string]any
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(data, &board); err != nil {
			t.Fatal(err)
		}
		boards[board["uid"].(string)+".json"] = board
	}
	data, err := os.ReadFile(filepath.Join(dir, "prometheus/leaderscope-rules.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var rules struct{ Groups []map[string]any }
	if err := yaml.Unmarshal(data, &rules); err != nil {
		t.Fatal(err)
	}
	made := map[string]any{"dashboards": boards, "alerts": []any{}, "recording": []any{}}
	for _, g := range rules.Groups {
		kind := "alerts"
		if g["rules"].([]any)[0].(map[string]any)["record"] != nil {
			kind = "recording"
		}
		made[kind] = append(made[kind].([]any), g)
	}
	return made
}

var (
	spaces   = regexp.MustCompile(`\s+`)
	matchers = regexp.MustCompile(`\{(?:[^{}"]|"(?:[^"\\]|\\.)*")*\}`)
	matcher  = regexp.MustCompile(`\w+[=!~]+"(?:[^"\\]|\\.)*"`)
)

// inOrder sorts matchers, which the printer orders by the names of labels.
func inOrder(braced string) string {
	found := matcher.FindAllString(braced, -1)
	slices.Sort(found)
	return "{" + strings.Join(found, ",") + "}"
}

// plain makes values of JSON and of YAML alike, and takes the layout out of
// expressions, whose lines the printer breaks by their length.
func plain(t *testing.T, v any) any {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var made any
	if err := json.Unmarshal(data, &made); err != nil {
		t.Fatal(err)
	}
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			for _, key := range []string{"expr", "query", "definition"} {
				if expr, ok := v[key].(string); ok {
					v[key] = matchers.ReplaceAllStringFunc(spaces.ReplaceAllString(expr, ""), inOrder)
				}
			}
			for _, e := range v {
				walk(e)
			}
		}
	}
	walk(made)
	return made
}

// changed is a configuration of alerts with another value for each of the keys
// that a mixin has, or with every second alert switched off.
func changed(t *testing.T, dir string, off bool) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "mixin/config.json"))
	if err != nil {
		t.Fatal(err)
	}
	var settings struct {
		Defaults struct{ Alerts map[string]any }
	}
	if err := json.Unmarshal(data, &settings); err != nil {
		t.Fatal(err)
	}
	n := 0
	var walk func(map[string]any)
	walk = func(section map[string]any) {
		for _, key := range sortedKeys(section) {
			n++
			switch v := section[key].(type) {
			case map[string]any:
				walk(v)
			case float64:
				section[key] = v + 2
				if key == "share" {
					section[key] = v / 4
				}
			case string:
				section[key] = map[string]string{"severity": v + fmt.Sprint(n), "for": fmt.Sprintf("1m%ds", n%29+20), "keepFiringFor": fmt.Sprintf("%dm", n)}[key]
			case bool:
				section[key] = !off || n%2 == 0
			}
		}
	}
	walk(settings.Defaults.Alerts)
	text, err := json.Marshal(settings.Defaults.Alerts)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// What can be set in the mixin does there what it does in a configuration.
func TestTheMixinMakesWhatTheGeneratorMakes(t *testing.T) {
	dir := generate(t, "", "mixin")
	thresholds, off := changed(t, dir, false), changed(t, dir, true)
	for name, c := range map[string]struct{ mixin, config string }{
		"by default":   {"{}", ""},
		"a selector":   {`{selector: @'team=~"a|b",env!="x\\d"'}`, `scope: {selector: 'team=~"a|b",env!="x\\d"'}`},
		"other labels": {`{clusterLabel: 'region', namespaceLabel: 'ns', holderLabel: 'pod'}`, "scope: {labels: [region, ns, job, lock_name], reporter: [ns, job], holder: pod}"},
		"other names": {`{overviewUID: 'a', lockUID: 'b', backendsUID: 'c', overviewTitle: 'A "1"', lockTitle: 'B \\', backendsTitle: 'C', groupName: 'g'}`,
			`{dashboards: {uid: a, title: 'A "1"', lock: {uid: b, title: 'B \'}, backends: {uid: c, title: C}}, alerts: {group: {name: g}}}`},
		"addresses": {`{runbookURLPattern: 'https://example.org/x/%s.md', dashboardBaseURL: 'https://grafana.example.org/'}`,
			`alerts: {runbookBaseURL: 'https://example.org/x', dashboardBaseURL: 'https://grafana.example.org/'}`},
		"no runbooks": {`{runbookURLPattern: ''}`, `alerts: {runbookBaseURL: ''}`},
		"looks":       {`{tags: ['a'], refresh: '1m', timezone: 'browser', from: 'now-1d', to: 'now-1h'}`, `dashboards: {tags: [a], refresh: 1m, timezone: browser, from: now-1d, to: now-1h}`},
		"labels of alerts": {`{alertLabels: {team: 'x'}, alertAnnotations: {note: '{{ $labels.job }}'}}`,
			`alerts: {labels: {team: x}, annotations: {note: '{{ $labels.job }}'}}`},
		"every threshold":        {"{alerts: " + thresholds + "}", "alerts: " + thresholds},
		"every second alert off": {"{alerts: " + off + "}", "alerts: " + off},
	} {
		t.Run(name, func(t *testing.T) {
			made, err := evaluate(t, dir, "local made = m + {_config+:: {leaderscope+: "+c.mixin+"}}; "+shown)
			if err != nil {
				t.Fatal(err)
			}
			want := expected(t, generate(t, c.config, "prometheus,grafana"))
			if diff := cmp.Diff(plain(t, want), plain(t, made)); diff != "" {
				t.Errorf("(-generator +mixin):\n%s", diff)
			}
		})
	}
}

// A mixin made with a configuration begins with it.
func TestTheMixinOfAConfigurationHasItsDefaults(t *testing.T) {
	for name, config := range map[string]string{
		"labels and a selector": "{scope: {labels: [team, lock_name], holder: pod, selector: '{env=\"x\"}', metricPrefix: shop_}, dashboards: {legend: '{{team}}: {{lock_name}}'}}",
		"recorded series":       "{recording: true, scope: {selector: 'cluster=\"x\"'}, alerts: {severityLabel: level, flapping: {enabled: false}, backendErrors: {critical: {enabled: false}}}}",
	} {
		t.Run(name, func(t *testing.T) {
			dir := generate(t, config, "mixin,prometheus,grafana")
			made, err := evaluate(t, dir, "local made = m; "+shown)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(plain(t, expected(t, dir)), plain(t, made)); diff != "" {
				t.Errorf("(-generator +mixin):\n%s", diff)
			}
		})
	}
}

// On the series of another project there are fewer rules, one dashboard, and only the
// settings that these follow.
func TestTheMixinOfAnotherSourceIsWhatTheGeneratorWrites(t *testing.T) {
	for name, c := range map[string]struct{ config, set, same string }{
		"client-go":          {"source: client-go", `{}`, ``},
		"kube-state-metrics": {"source: kube-state-metrics", `{}`, ``},
		"client-go, set": {"source: client-go",
			`{clientGoUID: 'mine', holderLabel: 'pod', selector: 'team="a"', alerts: {flapping: {handovers: 9}, noLeader: {critical: {severity: 'page'}}, splitBrain: {'for': '3m'}, renewalFailures: {enabled: false}}}`,
			"dashboards: {clientGo: {uid: mine}}\nscope: {holder: pod, selector: 'team=\"a\"'}\nalerts: {flapping: {handovers: 9}, noLeader: {critical: {severity: page}}, splitBrain: {for: 3m}, renewalFailures: {enabled: false}}"},
		"kube-state-metrics, set": {"source: kube-state-metrics",
			`{kubeStateMetricsTitle: 'Mine', clusterLabel: 'region', alerts: {flapping: {handovers: 9}, vacant: {'for': '7m'}}}`,
			"dashboards: {kubeStateMetrics: {title: Mine}}\nscope: {labels: [region, namespace, job, lock_name]}\nalerts: {flapping: {handovers: 9}, vacant: {for: 7m}}"},
	} {
		t.Run(name, func(t *testing.T) {
			want := expected(t, generate(t, c.config+"\n"+c.same, "grafana,prometheus"))
			got, err := evaluate(t, generate(t, c.config, "mixin"), "local made = m.newLeaderscope("+c.set+"); "+shown)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(plain(t, want), plain(t, got)); diff != "" {
				t.Errorf("(-generator +mixin):\n%s", diff)
			}
		})
	}
	for _, source := range []string{"source: client-go", "source: kube-state-metrics"} {
		t.Run("every threshold, "+source, func(t *testing.T) {
			dir := generate(t, source, "mixin")
			thresholds := changed(t, dir, false)
			got, err := evaluate(t, dir, "local made = m.newLeaderscope({alerts: "+thresholds+"}); "+shown)
			if err != nil {
				t.Fatal(err)
			}
			want := expected(t, generate(t, source+"\nalerts: "+thresholds, "grafana,prometheus"))
			if diff := cmp.Diff(plain(t, want), plain(t, got)); diff != "" {
				t.Errorf("(-generator +mixin):\n%s", diff)
			}
		})
	}
}

// another is a mixin as others write it.
const another = `{
  _config+:: {clusterLabel: 'job', selector: 'x', tags: ['other']},
  grafanaDashboardFolder: 'Other',
  grafanaDashboards+:: {'other.json': {uid: 'other', tags: $._config.tags}},
  prometheusAlerts+:: {groups+: [{name: 'other', rules: [{alert: 'Other', expr: $._config.selector}]}]},
  prometheusRules+:: {groups+: [{name: 'other-recording', rules: [{record: 'other', expr: $._config.clusterLabel}]}]},
}`

func TestTheMixinStandsBesideAnother(t *testing.T) {
	dir := generate(t, "recording: true", "mixin")
	alone, err := evaluate(t, dir, "local made = m + {_config+:: {leaderscope+: {tags: ['mine']}}}; "+shown)
	if err != nil {
		t.Fatal(err)
	}
	other, err := evaluate(t, dir, "local made = "+another+"; "+shown)
	if err != nil {
		t.Fatal(err)
	}
	for _, order := range []string{"m + " + another, another + " + m"} {
		both, err := evaluate(t, dir, "local made = "+order+" + {_config+:: {leaderscope+: {tags: ['mine']}}}; "+shown+" + {folder: made.grafanaDashboardFolder}")
		if err != nil {
			t.Fatal(err)
		}
		if both["folder"] != "Other" {
			t.Errorf("the folder of the other became %v", both["folder"])
		}
		for _, of := range []map[string]any{alone, other} {
			for name, board := range of["dashboards"].(map[string]any) {
				if diff := cmp.Diff(board, both["dashboards"].(map[string]any)[name]); diff != "" {
					t.Errorf("%s (-alone +together):\n%s", name, diff)
				}
			}
		}
		for _, kind := range []string{"alerts", "recording"} {
			first, second := alone, other
			if strings.HasPrefix(order, "{") {
				first, second = other, alone
			}
			want := append(append([]any{}, first[kind].([]any)...), second[kind].([]any)...)
			if diff := cmp.Diff(want, both[kind]); diff != "" {
				t.Errorf("%s (-alone +together):\n%s", kind, diff)
			}
		}
	}
}

func TestCopiesOfTheMixinStandBesideEachOther(t *testing.T) {
	dir := generate(t, "", "mixin")
	const config = `{selector: 'team="b"', overviewUID: 'b-overview', lockUID: 'b-lock', backendsUID: 'b-backends', groupName: 'b', alertLabels: {team: 'b'}}`
	first, err := evaluate(t, dir, "local made = m; "+shown)
	if err != nil {
		t.Fatal(err)
	}
	second, err := evaluate(t, dir, "local made = m + {_config+:: {leaderscope+: "+config+"}}; "+shown)
	if err != nil {
		t.Fatal(err)
	}
	for name, order := range map[string]string{
		"one by _config":  "m + m.newLeaderscope(" + config + ")",
		"both of its own": "m.newLeaderscope({}) + m.newLeaderscope(" + config + ")",
	} {
		both, err := evaluate(t, dir, "local made = "+order+"; "+shown)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want := append(append([]any{}, first["alerts"].([]any)...), second["alerts"].([]any)...)
		if diff := cmp.Diff(want, both["alerts"]); diff != "" {
			t.Errorf("%s (-alone +together):\n%s", name, diff)
		}
		if got := len(both["dashboards"].(map[string]any)); got != 6 {
			t.Errorf("%s: %d dashboards, want 6", name, got)
		}
	}
}

func TestTheMixinRefusesWhatCannotWork(t *testing.T) {
	dir := generate(t, "", "mixin")
	configured := func(config string) string {
		return "(m + {_config+:: {leaderscope+: " + config + "}}).prometheusAlerts"
	}
	for name, c := range map[string]struct{ expression, want string }{
		"two copies by one _config": {"(m + m).prometheusAlerts",
			"leaderscope: two copies of the mixin have the group leader-election, group leader-election-2m, group leader-election-5m, uid leaderscope-backends, uid leaderscope-lock, uid leaderscope-overview; _config is one for all copies, so make each of them by newLeaderscope({backendsUID: ..., lockUID: ..., overviewUID: ..., groupName: ...})"},
		"two copies of one uid": {"(m + m.newLeaderscope({overviewUID: 'x', groupName: 'x'})).grafanaDashboards", "leaderscope: two copies of the mixin have the uid leaderscope-backends, uid leaderscope-lock; "},
		"an unknown key":        {configured("{selectr: 'x'}"), "leaderscope: unknown key _config.leaderscope.selectr; valid keys: alertAnnotations, "},
		"an unknown alert":      {configured("{alerts+: {noLeder: {}}}"), "leaderscope: unknown key _config.leaderscope.alerts.noLeder; valid keys: attemptStuck, "},
		"a window":              {configured("{alerts+: {flapping+: {window: '1h'}}}"), "leaderscope: unknown key _config.leaderscope.alerts.flapping.window; valid keys: enabled, for, handovers, "},
		"another type":          {configured("{alerts+: {flapping+: {'for': 3}}}"), "leaderscope: _config.leaderscope.alerts.flapping.for is of type number; it must be of type string"},
		"no duration":           {configured("{alerts+: {flapping+: {'for': '3 m'}}}"), `leaderscope: _config.leaderscope.alerts.flapping.for: "3 m" is not a valid duration; write it as 30s, 5m or 1h30m`},
		"a fraction of events":  {configured("{alerts+: {flapping+: {handovers: 7.9}}}"), "leaderscope: _config.leaderscope.alerts.flapping.handovers: 7.9 is not a number of events; use a whole number from 1"},
		"a share of 1":          {configured("{alerts+: {lowHeadroom+: {share: 1}}}"), "leaderscope: _config.leaderscope.alerts.lowHeadroom.share: 1 is not a share that can be exceeded; use 0 to 0.99"},
		"a severity template":   {configured("{alerts+: {lowHeadroom+: {severity: '{{x}}'}}}"), `leaderscope: _config.leaderscope.alerts.lowHeadroom.severity: "{{x}}" is not a valid severity; use one such as warning or critical`},
		"a label with a blank":  {configured("{clusterLabel: 'a b'}"), `leaderscope: _config.leaderscope.clusterLabel: "a b" is not a valid label name; use letters, digits and _`},
		"a label twice":         {configured("{clusterLabel: 'job'}"), "leaderscope: _config.leaderscope.labels must differ from each other, and from job and lock_name; they are job, instance, namespace, job, lock_name"},
		"a matcher of names":    {configured(`{selector: 'lock_name="x"'}`), `leaderscope: _config.leaderscope.selector: it has "lock_name", which this mixin cannot express; run gen-dashboards with the selector in its configuration`},
		"a template":            {configured(`{selector: 'a="{{x}}"'}`), `leaderscope: _config.leaderscope.selector: it has "{", which this mixin cannot express`},
		"a uid":                 {configured("{overviewUID: 'a b'}"), `leaderscope: _config.leaderscope.overviewUID: "a b" is not a valid uid; use 1 to 40 letters, digits, - and _`},
		"an empty title":        {configured("{lockTitle: ''}"), "leaderscope: _config.leaderscope.lockTitle: it must not be empty"},
		"runbooks in one place": {configured("{runbookURLPattern: 'https://x'}"), `leaderscope: _config.leaderscope.runbookURLPattern: "https://x" lacks %s, which stands for the name of the alert, or has it twice`},
		"a label of the alert":  {configured("{alertLabels: {severity: 'x'}}"), "leaderscope: _config.leaderscope.alertLabels: severity is written by the rules; use another name"},
		"two at once":           {configured("{lockTitle: '', overviewUID: ''}"), "leaderscope: _config.leaderscope.lockTitle: it must not be empty"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := evaluate(t, dir, c.expression)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

func TestTheDataSourceOfTheMixinCanBeChosen(t *testing.T) {
	dir := generate(t, "", "mixin")
	made, err := evaluate(t, dir, `local made = m + {_config+:: {leaderscope+: {datasource: 'main', datasourceRegex: '/prod/'}}};
		{[name]: made.grafanaDashboards[name].templating.list[0] for name in std.objectFields(made.grafanaDashboards)}`)
	if err != nil {
		t.Fatal(err)
	}
	if len(made) != 3 {
		t.Errorf("%d dashboards, want 3", len(made))
	}
	for name, v := range made {
		variable := v.(map[string]any)
		want := map[string]any{"text": "main", "value": "main", "selected": true}
		if diff := cmp.Diff(want, variable["current"]); diff != "" || variable["regex"] != "/prod/" || variable["type"] != "datasource" {
			t.Errorf("%s: got %v", name, variable)
		}
	}
}

// The copy at the root is that of the default configuration.
func TestTheMixinOfTheRepositoryIsUpToDate(t *testing.T) {
	dir := generate(t, "", "mixin")
	committed := filepath.Join(root, "alerts/generated/mixin")
	for _, name := range []string{"mixin.libsonnet", "config.json", "source.json"} {
		want, err := os.ReadFile(filepath.Join(dir, "mixin", name))
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(committed, name))
		if err != nil || string(got) != string(want) {
			t.Errorf("%s is not up to date (%v): run make generate", name, err)
		}
	}
	out, err := jsonnet(t, filepath.Join(root, "mixin.libsonnet"))
	if err != nil || out != "{ }\n" {
		t.Errorf("the mixin shows %q, error %v", out, err)
	}
}
