//go:build integration

package integration

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// wholeDemo bounds all faults of the demo on a loaded machine.
const wholeDemo = 8 * time.Minute

// TestEveryQueryOfTheDashboardsHasDataOfTheDemo lets real servers scrape the
// quickstart through its faults, with recording rules loaded, and then asks
// them everything that the dashboards ask: see TestEveryQueryRunsOnAPrometheus
// of package dashboards.
func TestEveryQueryOfTheDashboardsHasDataOfTheDemo(t *testing.T) {
	dir := t.TempDir()
	begin := time.Now()
	played := faultyDemo(t, dir)
	demoRules := waitForFile(t, filepath.Join(dir, "*", "rules.yml"))
	targets := followTargets(t, dir)
	config := filepath.Join(dir, "prometheus.yml")
	text := fmt.Sprintf("global: {scrape_interval: 1s, evaluation_interval: 1s}\nrule_files: [%q, %q]\n"+
		"scrape_configs:\n- job_name: quickstart\n  file_sd_configs: [{files: [%q], refresh_interval: 1s}]\n", demoRules, recordingRules(t), targets)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	addresses := map[string]string{}
	for _, server := range servers(t) {
		addresses[version(t, server)] = runPrometheus(t, server, config)
	}
	select {
	case all := <-played:
		if !all {
			t.Fatal("the demo ended before it had played its faults")
		}
	case <-time.After(wholeDemo):
		t.Fatal("the demo does not come to its end")
	}
	for name, address := range addresses {
		t.Run(name, func(t *testing.T) {
			waitForRules(t, address, func() bool { return true })
			ask := exec.Command("go", "test", "-count=1", "-v", "-tags", "integration", "-run", "^TestEveryQueryRunsOnAPrometheus$", ".")
			ask.Dir = "../../dashboards"
			ask.Env = append(os.Environ(), "LEADERSCOPE_PROMETHEUS=http://"+address, "LEADERSCOPE_SPAN="+time.Since(begin).Truncate(time.Second).String())
			if out, err := ask.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			} else {
				t.Logf("%s", out)
			}
		})
	}
}

// faultyDemo plays the demo's faults below dir and leaves its replicas running.
// The channel says true when nothing more happens, false if the demo ends.
func faultyDemo(t *testing.T, dir string) <-chan bool {
	t.Helper()
	demo := exec.Command(buildDemo(t), "-keep", "-phases", "1,2,3,4,5,6,7")
	demo.Env = append(os.Environ(), "TMPDIR="+dir)
	out, err := demo.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	demo.Stderr = os.Stderr
	if err := demo.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, demo) })
	played := make(chan bool, 2)
	go func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if strings.HasPrefix(lines.Text(), "Left running") {
				played <- true
			}
		}
		played <- false
	}()
	return played
}

// followTargets keeps a list of the replicas that the demo has started, for
// file_sd, and returns its name.
func followTargets(t *testing.T, dir string) string {
	t.Helper()
	file := filepath.Join(dir, "targets.json")
	stop, stopped := make(chan struct{}), make(chan struct{})
	waitForFile(t, filepath.Join(dir, "*", "replica-3.json"))
	go func() {
		defer close(stopped)
		written := ""
		for tick := time.NewTicker(100 * time.Millisecond); ; {
			if list := replicas(dir); list != written {
				if err := replace(file, list); err != nil {
					t.Errorf("targets: %v", err)
				}
				written = list
			}
			select {
			case <-stop:
				tick.Stop()
				return
			case <-tick.C:
			}
		}
	}()
	t.Cleanup(func() { close(stop); <-stopped })
	return file
}

// replicas lists what the demo's own files say, in the format of file_sd.
func replicas(dir string) string {
	type group struct {
		Targets []string          `json:"targets"`
		Labels  map[string]string `json:"labels"`
	}
	all := []group{}
	files, _ := filepath.Glob(filepath.Join(dir, "*", "replica-?.json")) // the pattern is well formed
	for _, name := range files {
		var replica struct{ Metrics string }
		data, err := os.ReadFile(name)
		if err != nil || json.Unmarshal(data, &replica) != nil {
			continue // it is being written, or is gone again
		}
		instance := strings.TrimSuffix(filepath.Base(name), ".json")
		all = append(all, group{Targets: []string{replica.Metrics}, Labels: map[string]string{"instance": instance}})
	}
	list, _ := json.Marshal(all) // of texts alone
	return string(list)
}

func replace(file, text string) error {
	if err := os.WriteFile(file+".new", []byte(text), 0o600); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}

func waitForFile(t *testing.T, pattern string) string {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if found, err := filepath.Glob(pattern); err == nil && len(found) == 1 {
			return found[0]
		}
	}
	t.Fatalf("there is no %s", pattern)
	return ""
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
