package dashboards

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// grafanaVariable is what Grafana replaces in a query.
// Source: public/app/features/variables/utils.ts of Grafana.
var grafanaVariable = regexp.MustCompile(`\$(\w+)|\[\[(\w+?)(?:\.(\w+))?(?::(\w+))?\]\]|\$\{(\w+)(?:\.([^:^\}]+))?(?::([^\}]+))?\}`)

func TestASelectorIsNoVariableOfGrafana(t *testing.T) {
	values := map[string]string{"a": "$job", "b": "x${cluster:regex}y$", "c": "[[job]]", "d": "$$__interval", "e": `\$5 [[:alpha:]]`, "f": "[[[x]]"}
	cfg := Default()
	var matchers []string
	for name, value := range values {
		quoted, _ := json.Marshal(value)
		matchers = append(matchers, name+"="+string(quoted))
	}
	cfg.Scope.Selector = strings.Join(matchers, ",")
	for name, build := range boards {
		data, err := build(cfg)
		if err != nil {
			t.Fatal(err)
		}
		checked := 0
		for _, selector := range regexp.MustCompile(`leader_\w+\{(?:[^{}"]|"(?:[^"\\]|\\.)*")*\}`).FindAllString(stringsOf(t, data), -1) {
			if !strings.Contains(selector, "a=") {
				continue
			}
			checked++
			parsed, err := parser.NewParser(parser.Options{}).ParseMetricSelector(selector)
			if err != nil {
				t.Fatalf("%s: %s: %v", name, selector, err)
			}
			got := map[string]string{}
			for _, m := range parsed {
				if _, ok := values[m.Name]; ok && m.Type == labels.MatchEqual {
					got[m.Name] = m.Value
				}
			}
			if diff := cmp.Diff(values, got); diff != "" {
				t.Fatalf("%s: %s (-want +got):\n%s", name, selector, diff)
			}
			for _, found := range grafanaVariable.FindAllString(selector, -1) {
				if !strings.Contains(selector, `=~"`+found+`"`) && !strings.Contains(selector, `lock_name="`+found+`"`) {
					t.Fatalf("%s: Grafana would replace %s in %s", name, found, selector)
				}
			}
		}
		if checked < 10 {
			t.Errorf("%s: only %d selectors were found", name, checked)
		}
	}
}

// stringsOf are the texts of a dashboard, one a line.
func stringsOf(t *testing.T, data []byte) string {
	t.Helper()
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			all.WriteString(v + "\n")
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			for _, e := range v {
				walk(e)
			}
		}
	}
	walk(v)
	return all.String()
}

func TestADollarInAnAddressIsNoVariable(t *testing.T) {
	cfg := Default()
	cfg.RunbookURL, cfg.Folder, cfg.Path = "https://example.org/$job", "$HOME/x", "/a/${B}"
	for name, build := range boards {
		data, err := build(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(data), `"https://example.org/%24job"`) {
			t.Errorf("%s has no link to the runbooks", name)
		}
	}
	data, err := Provisioning(cfg)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"    folder: $$HOME/x\n", "      path: /a/$${B}\n"} {
		if !strings.Contains(string(data), want) {
			t.Errorf("no %q in:\n%s", want, data)
		}
	}
}
