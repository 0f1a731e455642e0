//go:build integration

package integration

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// What is generated for series of other projects is run as its users do: the
// rules in promtool, with the scenarios of each source, and the routing in amtool.
func TestPromtoolAndAmtoolTakeThePackOfEachForeignSource(t *testing.T) {
	for _, source := range []string{"client-go", "kube-state-metrics"} {
		t.Run(source, func(t *testing.T) {
			dir := t.TempDir()
			config := filepath.Join(dir, "leaderscope.yaml")
			if err := os.WriteFile(config, []byte("source: "+source+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			generate := exec.Command("go", "run", "../../cmd/gen-dashboards", "--out", dir, "--config", config, "--format", "prometheus,promtool,alertmanager")
			if out, err := generate.CombinedOutput(); err != nil {
				t.Fatalf("gen-dashboards: %v\n%s", err, out)
			}
			for _, server := range servers(t) {
				promtool := filepath.Join(filepath.Dir(server), "promtool")
				if out, err := exec.Command(promtool, "test", "rules", filepath.Join(dir, "promtool", "leaderscope-tests.yaml")).CombinedOutput(); err != nil {
					t.Errorf("%s test rules: %v\n%s", version(t, server), err, out)
				}
			}
			if out, err := exec.Command("amtool", "check-config", filepath.Join(dir, "alertmanager", "leaderscope-alertmanager.yaml")).CombinedOutput(); err != nil {
				t.Errorf("amtool check-config: %v\n%s", err, out)
			}
		})
	}
}
