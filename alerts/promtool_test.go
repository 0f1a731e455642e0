//go:build integration

package alerts

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/common/model"
)

func TestPromtoolAgreesWithTheScenarios(t *testing.T) {
	servers := filepath.SplitList(os.Getenv("PROMETHEUS_SERVERS"))
	if len(servers) == 0 {
		t.Fatal("PROMETHEUS_SERVERS names no Prometheus that promtool lies beside; run make integration-prometheus")
	}
	other := Default()
	other.ScrapeInterval, other.HolderLabel, other.Selector = model.Duration(15*time.Second), "pod", `job=~"orders|billing",cluster=~"eu-.+"`
	other.ScopeLabels = []string{"namespace", "job", "lock_name"}
	other.Alerts.NoLeader.Critical.For = model.Duration(45 * time.Second)
	other.Alerts.Flapping.Enabled = false
	cases := map[string]struct {
		config    Config
		scenarios []scenario
	}{
		"default configuration":                          {Default(), scenarios()},
		"other scope, selector and holder, split brains": {other, splitScenarios()},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			rules, err := YAML(c.config)
			write(t, filepath.Join(dir, "rules.yaml"), rules, err)
			tests, err := unitTests("promtool", c.config, "rules.yaml", slices.DeleteFunc(c.scenarios, func(s scenario) bool { return s.extrapolated || s.native }))
			write(t, filepath.Join(dir, "tests.yaml"), tests, err)
			for _, server := range servers {
				promtool := filepath.Join(filepath.Dir(server), "promtool")
				for _, args := range [][]string{{"check", "rules", "--lint=all", "--lint-fatal", "rules.yaml"}, {"test", "rules", "tests.yaml"}} {
					cmd := exec.CommandContext(t.Context(), promtool, args...)
					cmd.Dir = dir
					if out, err := cmd.CombinedOutput(); err != nil {
						t.Errorf("%s %v: %v\n%s", promtool, args, err, out)
					}
				}
			}
		})
	}
}

func write(t *testing.T, path string, content []byte, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}
