//go:build integration

package integration

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// reader is a real server that dashboards can ask, and the one that evaluates
// its rules.
type reader struct{ server, evaluator string }

// readers have the recording rules of the dashboards beside the demo's rules.
func readers(t *testing.T, rules, targets string) map[string]reader {
	t.Helper()
	recording := recordingRules(t)
	config := filepath.Join(t.TempDir(), "prometheus.yml")
	text := fmt.Sprintf("global: {scrape_interval: 1s, evaluation_interval: 1s}\nrule_files: [%q, %q]\n"+
		"scrape_configs:\n- job_name: quickstart\n  static_configs: [%s]\n", rules, recording, targets)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	all := map[string]reader{}
	for _, server := range servers(t) {
		address := runPrometheus(t, server, config)
		all[version(t, server)] = reader{server: address, evaluator: address}
	}
	victoria := runVictoriaMetrics(t, scrapeOnly(t, targets))
	all["victoriametrics"] = reader{server: victoria, evaluator: runVMAlert(t, victoria, "", rules, recording)}
	return all
}

// ask asks a server everything that the dashboards ask, over the time since the
// demo began: see TestEveryQueryRunsOnAPrometheus of package dashboards.
func (r reader) ask(t *testing.T, since time.Time) {
	t.Helper()
	waitForRules(t, r.evaluator, func() bool { return true })
	ask := exec.Command("go", "test", "-count=1", "-v", "-tags", "integration", "-run", "^TestEveryQueryRunsOnAPrometheus$", ".")
	ask.Dir = "../../dashboards"
	ask.Env = append(os.Environ(), "LEADERSCOPE_PROMETHEUS=http://"+r.server, "LEADERSCOPE_SPAN="+time.Since(since).Truncate(time.Second).String())
	out, err := ask.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	} else {
		t.Logf("%s", out)
	}
}

// recordingRules are the default rules and what the dashboards read.
func recordingRules(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	config := filepath.Join(dir, "leaderscope.yaml")
	if err := os.WriteFile(config, []byte("recording: true\nalerts: {group: {interval: 1s}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	generate := exec.Command("go", "run", "../../cmd/gen-dashboards", "--out", dir, "--config", config, "--format", "prometheus")
	if out, err := generate.CombinedOutput(); err != nil {
		t.Fatalf("gen-dashboards: %v\n%s", err, out)
	}
	return evaluatedOften(t, filepath.Join(dir, "prometheus", "leaderscope-rules.yaml"))
}

// The example's files say the same in a container and on the host.
func TestPrometheusTakesTheConfigurationOfTheComposeFile(t *testing.T) {
	const config = "../../examples/prometheus-dashboard/prometheus.yml"
	for _, server := range servers(t) {
		t.Run(version(t, server), func(t *testing.T) {
			out, err := exec.Command(filepath.Join(filepath.Dir(server), "promtool"), "check", "config", config).CombinedOutput()
			if err != nil || !strings.Contains(string(out), "1 rule files found") {
				t.Errorf("promtool check config: %v\n%s", err, out)
			}
		})
	}
}

func TestAlertmanagerTakesTheConfigurationOfTheComposeFile(t *testing.T) {
	const config = "../../examples/prometheus-dashboard/generated/alertmanager/leaderscope-alertmanager.yaml"
	if out, err := exec.Command("amtool", "check-config", config).CombinedOutput(); err != nil {
		t.Errorf("amtool check-config: %v\n%s", err, out)
	}
}
