//go:build integration

package integration

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// alertmanagers are the servers that the script found, as
// ALERTMANAGER_SERVERS=path:path.
func alertmanagers(t *testing.T) []string {
	t.Helper()
	list := filepath.SplitList(os.Getenv("ALERTMANAGER_SERVERS"))
	if len(list) == 0 {
		t.Fatal("ALERTMANAGER_SERVERS names no Alertmanager; run make integration")
	}
	return list
}

// pairs are real pairs of servers, the oldest with the oldest: Prometheus
// evaluates the demo's rules, Alertmanager has the generated configuration as
// it is.
func pairs(t *testing.T, rules, targets string) (all []*pair) {
	t.Helper()
	config := generated(t, "alertmanager")
	managers := alertmanagers(t)
	for i, server := range servers(t) {
		manager := managers[min(i, len(managers)-1)]
		p := &pair{name: version(t, server) + " and " + alertmanagerVersion(t, manager), manager: runAlertmanager(t, manager, config)}
		p.evaluator = runPrometheus(t, server, p.configuration(t, rules, targets))
		all = append(all, p)
	}
	return append(all, victoriaMetricsPair(t, lastOf(managers), config, rules, targets))
}

func alertmanagerVersion(t *testing.T, server string) string {
	t.Helper()
	out, err := exec.Command(server, "--version").CombinedOutput()
	words := strings.Fields(string(out)) // alertmanager, version 0.25.0 (branch: ...
	if err != nil || len(words) < 3 || words[1] != "version" {
		t.Fatalf("%s --version: %v, %s", server, err, out)
	}
	if strings.HasPrefix(words[2], "(") { // built without a version of its own
		return filepath.Base(filepath.Dir(server))
	}
	return "alertmanager-" + words[2]
}

// generated is a file of that format under the default configuration.
func generated(t *testing.T, format string) string {
	t.Helper()
	dir := t.TempDir()
	generate := exec.Command("go", "run", "../../cmd/gen-dashboards", "--out", dir, "--format", format)
	if out, err := generate.CombinedOutput(); err != nil {
		t.Fatalf("gen-dashboards: %v\n%s", err, out)
	}
	found, err := filepath.Glob(filepath.Join(dir, format, "*"))
	if err != nil || len(found) != 1 {
		t.Fatalf("gen-dashboards wrote %v, %v", found, err)
	}
	return found[0]
}

func runAlertmanager(t *testing.T, server, config string) string {
	t.Helper()
	address := freeAddress(t)
	cmd := exec.Command(server, "--config.file="+config, "--storage.path="+t.TempDir(),
		"--web.listen-address="+address, "--cluster.listen-address=", "--log.level=error")
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, cmd) })
	for deadline := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		var ready []alert
		err := get("http://"+address+"/api/v2/alerts", &ready)
		if err == nil {
			return address
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: %v", server, err)
		}
	}
}

// pair evaluates rules, as a Prometheus or a vmalert does, and has an
// Alertmanager; and what they have shown.
type pair struct {
	name      string
	evaluator string // addresses
	manager   string

	mu      sync.Mutex
	fired   map[string]bool // in the evaluator
	reached map[string]bool // in Alertmanager
	muted   map[string]bool // by another alert, there
	poor    map[string]bool // there, without a backend or a text
	now     []string        // alerts in either
}

func (p *pair) configuration(t *testing.T, rules, targets string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "prometheus.yml")
	text := fmt.Sprintf("global: {scrape_interval: 1s, evaluation_interval: 1s}\nrule_files: [%q]\n"+
		"alerting: {alertmanagers: [{static_configs: [{targets: [%q]}]}]}\n"+
		"scrape_configs:\n- job_name: quickstart\n  static_configs: [%s]\n", rules, p.manager, targets)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// alert is one of Alertmanager's API.
type alert struct {
	Labels, Annotations map[string]string
	Status              struct {
		State       string
		InhibitedBy []string
	}
}

// watch asks both servers until the test ends. A server that is busy is asked
// again.
func (p *pair) watch(t *testing.T) {
	p.fired, p.reached, p.muted, p.poor = map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		for {
			p.read()
			select {
			case <-done:
				return
			case <-tick.C:
			}
		}
	}()
	t.Cleanup(func() { close(done); <-stopped })
}

func (p *pair) read() {
	var firing struct {
		Data struct {
			Alerts []struct {
				State  string
				Labels map[string]string
			}
		}
	}
	var sent []alert
	if get("http://"+p.evaluator+"/api/v1/alerts", &firing) != nil || get("http://"+p.manager+"/api/v2/alerts", &sent) != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now = nil
	for _, a := range firing.Data.Alerts {
		if a.State == "firing" {
			p.fired[identity(a.Labels)] = true
			p.now = append(p.now, identity(a.Labels)+" in the evaluator")
		}
	}
	for _, a := range sent {
		p.reached[identity(a.Labels)] = true
		p.now = append(p.now, identity(a.Labels)+" in Alertmanager")
		if a.Status.State == "suppressed" && len(a.Status.InhibitedBy) > 0 {
			p.muted[identity(a.Labels)] = true
		}
		text := a.Annotations["summary"] + a.Annotations["description"]
		if a.Labels["lock_name"] != "" && (a.Labels["backend"] != "etcd" || text == "" || strings.Contains(text, "<error")) {
			p.poor[fmt.Sprintf("%s, backend %q: %s", identity(a.Labels), a.Labels["backend"], text)] = true
		}
	}
}

// identity is the alert's name without the prefix, its severity and its lock.
func identity(labels map[string]string) string {
	return strings.TrimPrefix(labels["alertname"], "LeaderElection") + "/" + labels["severity"] + "/" + labels["lock_name"]
}

// judge waits until everything has resolved, and looks back.
func (p *pair) judge(t *testing.T, expected []string) {
	for deadline := time.Now().Add(patience); ; time.Sleep(200 * time.Millisecond) {
		p.mu.Lock()
		now := p.now
		p.mu.Unlock()
		if len(now) == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("still there %v after the last fault: %v", patience, now)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	t.Logf("fired %v", slices.Sorted(maps.Keys(p.fired)))
	t.Logf("muted %v", slices.Sorted(maps.Keys(p.muted)))
	for a := range p.fired {
		if !p.reached[a] {
			t.Errorf("%s fired and did not reach Alertmanager", a)
		}
	}
	for _, want := range expected {
		if !p.reached[want] {
			t.Errorf("%s did not reach Alertmanager", want)
		}
	}
	for a := range p.poor {
		t.Errorf("poor text or labels: %s", a)
	}
	// Each beside what explains it; nothing explains the others.
	for _, want := range []string{"BackendErrors/warning", "NearLease", "NoLeader"} {
		if !has(p.muted, want) {
			t.Errorf("%s was not muted", want)
		}
	}
	for _, never := range []string{"BackendErrors/critical", "Impostor", "LeaseExceeded", "WorkAfterLoss"} {
		if has(p.muted, never) {
			t.Errorf("%s was muted", never)
		}
	}
}

// has reports whether an alert with that name, or name and severity, is there.
func has(seen map[string]bool, name string) bool {
	for identity := range seen {
		if strings.HasPrefix(identity, name+"/") {
			return true
		}
	}
	return false
}
