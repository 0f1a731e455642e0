package consumers

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/google/go-jsonnet"

	"github.com/leaderscope/leaderscope/alerts"
	"github.com/leaderscope/leaderscope/dashboards"
)

const root = "../.."

func TestTheMixinImportsFilesThatExist(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(root, "mixin.libsonnet"))
	if err != nil {
		t.Fatal(err)
	}
	imports := regexp.MustCompile(`(?m)^[^/\n]*import(?:str)? '([^']+)'`).FindAllStringSubmatch(string(data), -1)
	if len(imports) != 3 {
		t.Errorf("%d imports, want 3", len(imports))
	}
	for _, m := range imports {
		if _, err := os.Stat(filepath.Join(root, m[1])); err != nil {
			t.Errorf("%v; run make generate", err)
		}
	}
}

func TestTheMixinIsWhatTheGeneratorMakes(t *testing.T) {
	vm := jsonnet.MakeVM()
	vm.Importer(&jsonnet.FileImporter{JPaths: []string{root}})
	out, err := vm.EvaluateAnonymousSnippet("test.jsonnet",
		`local m = import 'mixin.libsonnet'; {dashboards: m.grafanaDashboards, alerts: m.prometheusAlerts, rules: m.prometheusRules}`)
	if err != nil {
		t.Fatal(err)
	}
	type rule struct{ Alert, Expr string }
	var mixin struct {
		Dashboards map[string]struct{ UID string }
		Alerts     struct {
			Groups []struct {
				Rules []rule
			}
		}
		Rules struct{ Groups []any }
	}
	if err := json.Unmarshal([]byte(out), &mixin); err != nil {
		t.Fatal(err)
	}
	cfg := dashboards.Default()
	for name, uid := range map[string]string{"leaderscope-overview.json": cfg.UID, "leaderscope-lock.json": cfg.Lock.UID} {
		if mixin.Dashboards[name].UID != uid {
			t.Errorf("%s has the uid %q, want %s", name, mixin.Dashboards[name].UID, uid)
		}
	}
	rules, err := alerts.Rules(alerts.Default())
	if err != nil {
		t.Fatal(err)
	}
	var got []rule
	for _, g := range mixin.Alerts.Groups {
		got = append(got, g.Rules...)
	}
	if len(got) != len(rules) {
		t.Fatalf("%d rules, want %d; run make generate", len(got), len(rules))
	}
	for i, r := range rules {
		if got[i].Alert != r.Name || got[i].Expr != r.Expr {
			t.Errorf("rule %d is %s: run make generate", i, got[i].Alert)
		}
	}
}
