//go:build integration

package integration

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// victoriaMetrics is the path of a program of VictoriaMetrics that the script
// built, in the folder VICTORIAMETRICS.
func victoriaMetrics(t *testing.T, program string) string {
	t.Helper()
	folder := os.Getenv("VICTORIAMETRICS")
	if folder == "" {
		t.Fatal("VICTORIAMETRICS names no folder with victoria-metrics and vmalert; run make integration-prometheus")
	}
	return filepath.Join(folder, program)
}

// runVictoriaMetrics runs a server that scrapes as a configuration of
// Prometheus says, until the test ends, and returns its address.
func runVictoriaMetrics(t *testing.T, config string) string {
	t.Helper()
	address := freeAddress(t)
	run(t, address, victoriaMetrics(t, "victoria-metrics"), "-storageDataPath="+t.TempDir(), "-httpListenAddr="+address,
		"-promscrape.config="+config, "-promscrape.config.strictParse=false", // it has keys of Prometheus alone
		"-search.latencyOffset=0s", "-loggerLevel=ERROR")
	return address
}

// runVMAlert runs rules every second over a server, until the test ends, and
// returns its address. Samples can be read two seconds after they came: the
// delay, 30s by default, is long enough for that.
func runVMAlert(t *testing.T, server, manager string, rules ...string) string {
	t.Helper()
	address := freeAddress(t)
	args := []string{"-httpListenAddr=" + address, "-datasource.url=http://" + server, "-remoteWrite.url=http://" + server, "-remoteRead.url=http://" + server,
		"-evaluationInterval=1s", "-rule.evalDelay=3s", "-group.maxStartDelay=1s", "-loggerLevel=ERROR"}
	if manager == "" {
		args = append(args, "-notifier.blackhole")
	} else {
		args = append(args, "-notifier.url=http://"+manager)
	}
	for _, r := range rules {
		args = append(args, "-rule="+r)
	}
	run(t, address, victoriaMetrics(t, "vmalert"), args...)
	return address
}

// run starts a program of VictoriaMetrics and waits until it serves.
func run(t *testing.T, address, program string, args ...string) {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, cmd) })
	for deadline := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		err := answers("http://" + address + "/health")
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: %v", program, err)
		}
	}
}

func TestEveryRuleIsHealthyOnVictoriaMetricsThatScrapesTheDemo(t *testing.T) {
	config := keptDemo(t)
	defaults, err := filepath.Abs("../../alerts/generated/prometheus/leaderscope-rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(victoriaMetrics(t, "vmalert"), "-dryRun", "-rule="+defaults).CombinedOutput(); err != nil {
		t.Fatalf("vmalert -dryRun: %v\n%s", err, out)
	}
	server := runVictoriaMetrics(t, config)
	vmalert := runVMAlert(t, server, "", evaluatedOften(t, defaults), filepath.Join(filepath.Dir(config), "rules.yml"))
	checkHealthy(t, server, vmalert)
}

// scrapeOnly is a configuration with the scrapes of a pair's.
func scrapeOnly(t *testing.T, targets string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "scrape.yml")
	text := fmt.Sprintf("global: {scrape_interval: 1s, scrape_timeout: 1s}\nscrape_configs:\n- job_name: quickstart\n  static_configs: [%s]\n", targets)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// victoriaMetricsPair is VictoriaMetrics with vmalert in the place of a
// Prometheus.
func victoriaMetricsPair(t *testing.T, manager, config, rules, targets string) *pair {
	t.Helper()
	p := &pair{name: "victoriametrics and " + alertmanagerVersion(t, manager), manager: runAlertmanager(t, manager, config)}
	server := runVictoriaMetrics(t, scrapeOnly(t, targets))
	p.evaluator = runVMAlert(t, server, p.manager, rules)
	return p
}

// lastOf is what the script lists last, the newest.
func lastOf(all []string) string { return all[len(all)-1] }
