package main

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/prometheus/common/model"

	"github.com/leaderscope/leaderscope/alerts"
	"github.com/leaderscope/leaderscope/dashboards"
	"github.com/leaderscope/leaderscope/internal/output"
)

// A knob that changes nothing is a promise that is not kept.
func TestEveryKeyChangesWhatIsWritten(t *testing.T) {
	t.Parallel()
	keys := keysOf(reflect.TypeFor[config](), "")
	written, order := map[string][]output.File{}, cheapestFirst()
	// In order: neighbours are likely to change the same format.
	for _, path := range slices.Sorted(maps.Keys(keys)) {
		if keys[path].Kind() == reflect.Struct {
			continue
		}
		value, c := another(t, path)
		if alert, ok := ofOneAlert(path, c); ok && !reflect.DeepEqual(rulesOf(t, alert(c)), rulesOf(t, alert(defaultConfig()))) {
			continue
		}
		if i := changed(t, c, order, written); i >= 0 {
			order = slices.Concat(order[i:i+1], order[:i], order[i+1:])
			continue
		}
		t.Errorf("%s: %v changes nothing", path, value)
	}
}

// ofOneAlert tells whether a key is one of an alert, and how the others are switched
// off: all rules take thirty times as long.
func ofOneAlert(path string, c config) (alone func(config) config, ok bool) {
	section, rest, _ := strings.Cut(path, ".")
	alert, _, _ := strings.Cut(rest, ".")
	if section != "alerts" || !below(reflect.ValueOf(c.Alerts.Alerts), alert).IsValid() {
		return nil, false
	}
	return func(c config) config {
		all := c.Alerts.Alerts
		c.Alerts.Alerts = alerts.Alerts{}
		below(reflect.ValueOf(&c.Alerts.Alerts).Elem(), alert).Set(below(reflect.ValueOf(all), alert))
		return c
	}, true
}

func rulesOf(t *testing.T, c config) []output.File {
	t.Helper()
	files, err := prometheus(c)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// changed is the first format that differs from what it is by default, which it
// keeps; -1 if none does.
func changed(t *testing.T, c config, formats []format, byDefault map[string][]output.File) int {
	t.Helper()
	for i, f := range formats {
		made, err := f.make(c)
		if err != nil && f.of(c.Source) == nil {
			t.Fatal(err)
		}
		if byDefault[f.name] == nil {
			if byDefault[f.name], err = f.files(defaultConfig()); err != nil {
				t.Fatal(err)
			}
		}
		if !reflect.DeepEqual(made, byDefault[f.name]) {
			return i
		}
	}
	return -1
}

// cheapestFirst are the formats but for the tests of rules, which follow from
// the rules. The rules of a foreign source are one more, and so are the dashboards
// of each. Those without dashboards take a tenth of the time.
func cheapestFirst() []format {
	list := slices.DeleteFunc(slices.Clone(formats), func(f format) bool { return f.name == "promtool" || f.name == "vmalert-tool" })
	list = append(list, format{name: "rules of leases", files: func(c config) ([]output.File, error) {
		c.Source = alerts.KubeStateMetrics
		return prometheus(c)
	}})
	for _, source := range alerts.Sources()[1:] {
		list = append(list, format{name: "dashboard of " + string(source), about: "dashboard", files: func(c config) ([]output.File, error) {
			c.Source, c.Recording = source, false
			return grafana(c)
		}})
	}
	slices.SortStableFunc(list, func(a, b format) int {
		return strings.Count(a.about, "dashboard") - strings.Count(b.about, "dashboard")
	})
	return list
}

// The limits that panels draw are those of the alerts, so each of them must
// follow a key of the alerts.
func TestEveryLimitOfTheDashboardsFollowsAKeyOfTheAlerts(t *testing.T) {
	t.Parallel()
	keys := keysOf(reflect.TypeFor[config](), "")
	follows := map[string]bool{}
	limits := reflect.TypeFor[dashboards.Thresholds]()
	before := reflect.ValueOf(defaultConfig().boards().Thresholds)
	for path, kind := range keys {
		if !strings.HasPrefix(path, "alerts.") && !strings.HasPrefix(path, "kubeStateMetrics.") || kind.Kind() == reflect.Struct {
			continue
		}
		_, c := another(t, path)
		after := reflect.ValueOf(c.boards().Thresholds)
		for i := range limits.NumField() {
			if !before.Field(i).Equal(after.Field(i)) {
				follows[limits.Field(i).Name] = true
			}
		}
	}
	for i := range limits.NumField() {
		if name := limits.Field(i).Name; !follows[name] {
			t.Errorf("%s follows no key", name)
		}
	}
}

// another is a valid value beside the default of a key, and the configuration
// of a file that has it and nothing else.
func another(t *testing.T, path string) (any, config) {
	t.Helper()
	value := valueAt(t, path)
	for _, candidate := range candidates(value) {
		if fmt.Sprint(candidate) == fmt.Sprint(value) {
			continue
		}
		if c, _, err := decode("f", file(t, path, candidate)); err == nil {
			return candidate, c
		}
	}
	t.Fatalf("%s: no other value was found that is valid", path)
	return nil, config{}
}

// candidates are values beside a value, the likeliest first.
func candidates(value any) (all []any) {
	switch v := value.(type) {
	case bool:
		return []any{!v}
	case int, int64:
		n := reflect.ValueOf(v).Int()
		return []any{n + 1, 2 * n}
	case float64:
		return []any{v / 2, v * 2, v + 0.25}
	case model.Duration:
		for _, d := range []model.Duration{v + v/2, v / 2, 2 * v, v + model.Duration(time.Minute), v + model.Duration(10*time.Second), model.Duration(time.Minute)} {
			all = append(all, d.String())
		}
		return all
	case []string:
		if len(v) > 1 {
			all = append(all, v[:len(v)-1])
		}
		return append(all, append(slices.Clone(v), "extra"), append([]string{"extra"}, v...))
	case map[string]string:
		more := maps.Clone(v)
		if more == nil {
			more = map[string]string{}
		}
		more["extra"] = "extra"
		return []any{more}
	}
	text := reflect.ValueOf(value).String()
	return []any{
		text + "x", "client-go", "extra", `extra="x"`, "https://example.org/extra", "/extra", "{{lock_name}}", "native", "1m", "now-5h", "now-5m", "Europe/Berlin",
	}
}

// valueAt is the default of a key.
func valueAt(t *testing.T, path string) any {
	t.Helper()
	v := reflect.ValueOf(defaultConfig())
	for name := range strings.SplitSeq(path, ".") {
		v = below(v, name)
		if !v.IsValid() {
			t.Fatalf("%s is no key", path)
		}
	}
	return v.Interface()
}

func below(v reflect.Value, name string) reflect.Value {
	for i := range v.NumField() {
		tag, inline, _ := strings.Cut(v.Type().Field(i).Tag.Get("yaml"), ",")
		if tag == name {
			return v.Field(i)
		}
		if inline == "inline" {
			if found := below(v.Field(i), name); found.IsValid() {
				return found
			}
		}
	}
	return reflect.Value{}
}

// file is a configuration file with one key.
func file(t *testing.T, path string, value any) []byte {
	t.Helper()
	names := strings.Split(path, ".")
	for _, name := range slices.Backward(names) {
		value = map[string]any{name: value}
	}
	data, err := yaml.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
