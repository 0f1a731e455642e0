package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"
)

// What the files do in jsonnet is tested in test/consumers, against what the
// other formats write.
func TestTheMixinOfTheRepositoryIsTheDefault(t *testing.T) {
	files, err := mixin(defaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		names = append(names, f.Path)
		committed, err := os.ReadFile(filepath.Join("../../alerts/generated", f.Path))
		if err != nil || string(committed) != string(f.Data) {
			t.Errorf("%s is not up to date (%v): run make generate", f.Path, err)
		}
	}
	if want := []string{"mixin/mixin.libsonnet", "mixin/config.json", "mixin/source.json"}; !slices.Equal(names, want) {
		t.Errorf("got %v, want %v", names, want)
	}
}

// mixinOf returns what the library reads.
func mixinOf(t *testing.T, config string) (d mixinData, source string) {
	t.Helper()
	c, _, err := decode("f", []byte(config))
	if err != nil {
		t.Fatal(err)
	}
	files, err := mixin(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(files[1].Data, &d); err != nil {
		t.Fatal(err)
	}
	return d, string(files[2].Data)
}

// A placeholder that another one begins with would be replaced in its middle,
// and one that the source lacks would set nothing.
func TestEveryPlaceholderIsInTheSourceAndInNoOther(t *testing.T) {
	d, source := mixinOf(t, "")
	var all []string
	for _, text := range d.Texts {
		all = append(all, text)
	}
	for _, text := range d.Labels {
		all = append(all, text)
	}
	selector, _ := json.Marshal(d.Selector)
	all = append(all, strings.Trim(string(selector), `"`), d.RunbookURL, d.GrafanaURL)
	for _, text := range all {
		if !strings.Contains(source, text) {
			t.Errorf("%s is not in the source", text)
		}
		for _, other := range all {
			if other != text && strings.Contains(other, text) {
				t.Errorf("%s has %s in it", other, text)
			}
		}
	}
	// Of the forms of a number, one at least is there; longer ones come first.
	found := map[string]bool{}
	for i, n := range d.Numbers {
		path := strings.Join(n.Path, ".")
		found[path] = found[path] || strings.Contains(source, n.Text)
		if i > 0 && len(n.Text) > len(d.Numbers[i-1].Text) {
			t.Errorf("%s comes after %s", n.Text, d.Numbers[i-1].Text)
		}
		for _, other := range d.Numbers {
			if n.Text == other.Text && path != strings.Join(other.Path, ".") {
				t.Errorf("%s is that of %v too", n.Text, other.Path)
			}
		}
	}
	for path, is := range found {
		if !is {
			t.Errorf("no form of %s is in the source", path)
		}
	}
	for _, p := range d.Durations {
		if !strings.Contains(source, p.Value) {
			t.Errorf("%s is not in the source", p.Value)
		}
	}
}

// keysOfMixin are the settings with their defaults.
func keysOfMixin(d mixinData) (all []string) {
	var walk func(at string, section map[string]any)
	walk = func(at string, section map[string]any) {
		for key, value := range section {
			if below, ok := value.(map[string]any); ok && len(below) > 0 {
				walk(at+key+".", below)
				continue
			}
			all = append(all, fmt.Sprintf("%s%s=%v", at, key, value))
		}
	}
	walk("", d.Defaults)
	slices.Sort(all)
	return all
}

// A setting that the rules of a source do not follow would be a promise.
func TestTheMixinOfASourceOffersWhatItsRulesFollow(t *testing.T) {
	for source, want := range map[string][]string{
		"client-go": {
			"alerts.flapping.enabled", "alerts.flapping.for", "alerts.flapping.handovers", "alerts.flapping.keepFiringFor", "alerts.flapping.severity",
			"alerts.metricsAbsent.critical.enabled", "alerts.metricsAbsent.critical.for", "alerts.metricsAbsent.critical.keepFiringFor", "alerts.metricsAbsent.critical.severity",
			"alerts.noLeader.critical.enabled", "alerts.noLeader.critical.keepFiringFor", "alerts.noLeader.critical.severity",
			"alerts.renewalFailures.enabled", "alerts.renewalFailures.for", "alerts.renewalFailures.keepFiringFor", "alerts.renewalFailures.minFailures", "alerts.renewalFailures.severity",
			"alerts.splitBrain.enabled", "alerts.splitBrain.for", "alerts.splitBrain.keepFiringFor", "alerts.splitBrain.severity",
			"clusterLabel", "holderLabel", "namespaceLabel",
		},
		"kube-state-metrics": {
			"alerts.flapping.enabled", "alerts.flapping.for", "alerts.flapping.handovers", "alerts.flapping.keepFiringFor", "alerts.flapping.severity",
			"alerts.observerBlind.enabled", "alerts.observerBlind.for", "alerts.observerBlind.keepFiringFor", "alerts.observerBlind.severity",
			"alerts.vacant.enabled", "alerts.vacant.for", "alerts.vacant.keepFiringFor", "alerts.vacant.severity",
			"clusterLabel", "holderLabel",
		},
	} {
		d, _ := mixinOf(t, "source: "+source)
		var got []string
		for _, k := range keysOfMixin(d) {
			if key, _, _ := strings.Cut(k, "="); strings.HasPrefix(key, "alerts.") || strings.HasSuffix(key, "Label") {
				got = append(got, key)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", source, diff)
		}
	}
}

func TestTheMixinKnowsWhatCanBeSet(t *testing.T) {
	byDefault, _ := mixinOf(t, "")
	for name, c := range map[string]struct {
		config     string
		gone, more []string
	}{
		"other labels": {"scope: {labels: [team, lock_name, job], holder: pod}", []string{"clusterLabel=cluster", "holderLabel=instance", "namespaceLabel=namespace"}, []string{"holderLabel=pod", "teamLabel=team"}},
		"a selector":   {"scope: {selector: ' {env=\"x\"} '}", []string{"selector="}, []string{`selector=env="x"`}},
		"recording":    {"recording: true", []string{"clusterLabel=cluster", "namespaceLabel=namespace", "selector="}, nil},
		"addresses": {"alerts: {runbookBaseURL: 'https://x/', dashboardBaseURL: 'https://g/'}",
			[]string{"dashboardBaseURL=", "runbookURLPattern=https://github.com/leaderscope/leaderscope/blob/main/alerts/runbooks/%s.md"},
			[]string{"dashboardBaseURL=https://g/", "runbookURLPattern=https://x/%s.md"}},
		"no runbooks": {"alerts: {runbookBaseURL: ''}", []string{"runbookURLPattern=https://github.com/leaderscope/leaderscope/blob/main/alerts/runbooks/%s.md"}, []string{"runbookURLPattern="}},
		"no tags":     {"dashboards: {tags: []}", []string{"tags=[leaderscope leader-election]"}, []string{"tags=[]"}},
		"an alert off": {"alerts: {lowHeadroom: {enabled: false}, workAfterLoss: {enabled: false}}",
			[]string{"alerts.lowHeadroom.enabled=true", "alerts.lowHeadroom.for=1m30s", "alerts.lowHeadroom.keepFiringFor=5m", "alerts.lowHeadroom.severity=warning",
				"alerts.workAfterLoss.enabled=true", "alerts.workAfterLoss.for=0s", "alerts.workAfterLoss.keepFiringFor=15m", "alerts.workAfterLoss.severity=critical"}, nil},
		"thresholds": {"alerts: {taskFailing: {share: 0.25, minFailures: 9, severity: info, for: 3m, keepFiringFor: 4m}}",
			[]string{"alerts.taskFailing.for=0s", "alerts.taskFailing.keepFiringFor=15m", "alerts.taskFailing.minFailures=1", "alerts.taskFailing.severity=warning", "alerts.taskFailing.share=0.1"},
			[]string{"alerts.taskFailing.for=3m", "alerts.taskFailing.keepFiringFor=4m", "alerts.taskFailing.minFailures=9", "alerts.taskFailing.severity=info", "alerts.taskFailing.share=0.25"}},
	} {
		t.Run(name, func(t *testing.T) {
			d, source := mixinOf(t, c.config)
			want := slices.DeleteFunc(keysOfMixin(byDefault), func(k string) bool { return slices.Contains(c.gone, k) })
			want = append(want, c.more...)
			slices.Sort(want)
			if diff := cmp.Diff(want, keysOfMixin(d)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			placed := name != "recording"
			if d.SeverityLabel != "severity" || (d.Selector != "") != placed || strings.Contains(source, "leaderscope_selector") != placed {
				t.Errorf("severity label %q, selector %q", d.SeverityLabel, d.Selector)
			}
		})
	}
}

func TestALegendOfTheMixinFollowsTheLabels(t *testing.T) {
	_, source := mixinOf(t, "dashboards: {legend: '{{ cluster }}/{{namespace}}/{{job}}/{{lock_name}}'}")
	want := `"legendFormat": "{{leaderscope_label_cluster}}/{{leaderscope_label_namespace}}/{{job}}/{{lock_name}}"`
	if !strings.Contains(source, want) {
		t.Errorf("no %s in the source", want)
	}
}

func TestRecordedSeriesOfTheMixinAreApart(t *testing.T) {
	_, source := mixinOf(t, "recording: true")
	var groups struct {
		Alerts, Recording []struct {
			Name  string
			Rules []struct{ Alert, Record string }
		}
	}
	if err := json.Unmarshal([]byte(source), &groups); err != nil {
		t.Fatal(err)
	}
	if len(groups.Alerts) != 3 || len(groups.Recording) != 1 {
		t.Fatalf("%d groups of alerts and %d of recordings", len(groups.Alerts), len(groups.Recording))
	}
	for _, g := range groups.Alerts {
		for _, r := range g.Rules {
			if r.Alert == "" || r.Record != "" {
				t.Errorf("%s has %+v", g.Name, r)
			}
		}
	}
	for _, r := range groups.Recording[0].Rules {
		if r.Alert != "" || r.Record == "" {
			t.Errorf("%s has %+v", groups.Recording[0].Name, r)
		}
	}
}

// Each duration with milliseconds is that of one key, and some seconds.
func TestDurationsOfTheMixinAreFoundInTheSource(t *testing.T) {
	minute := model.Duration(60e9)
	d := mixinData{places: []mixinDuration{{Path: []string{"a", "for"}, without: 60e9}, {Path: []string{"b", "for"}, without: 3600e9}}}
	source := fmt.Sprintf("for %s, %s and %s or 59m59s998ms, 1h", minute-model.Duration(1e6), minute-model.Duration(1e6), 2*minute+model.Duration(15e9-1e6))
	if err := d.durations([]byte(source)); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range d.Durations {
		got = append(got, fmt.Sprintf("%s is %v and %vs", p.Value, p.Path, p.Plus))
	}
	want := []string{"59m59s998ms is [b for] and 0s", "2m14s999ms is [a for] and 75s", "59s999ms is [a for] and 0s"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, source := range []string{"1s997ms", "500ms", "1s3ms", "1s1h999ms"} {
		if err := d.durations([]byte(source)); err == nil {
			t.Errorf("%s: no error", source)
		}
	}
}

func TestTheMixinRefusesMatchersOnNames(t *testing.T) {
	c := defaultConfig()
	c.Scope.Selector = `lock_name=~"a|b"`
	_, err := mixin(c)
	keys := refusals(err)
	want := "scope.selector: the format mixin cannot express matchers on lock_name; leave them out, or name the other formats with --format"
	if len(keys) != 1 || keys[0].Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
