//go:build integration

package integration

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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

// TestAlertsOfTheDemoReachAlertmanagerAndResolve plays all faults of the demo
// and their end before real pairs of servers, the oldest with the oldest:
// Prometheus evaluates the demo's rules, Alertmanager has the generated
// configuration as it is.
func TestAlertsOfTheDemoReachAlertmanagerAndResolve(t *testing.T) {
	dir := t.TempDir()
	played := wholeDemoFrom(t, dir)
	rules := soonResolved(t, waitForFile(t, filepath.Join(dir, "*", "rules.yml")))
	var targets []string
	for _, name := range []string{"replica-1", "replica-2", "replica-3", "replica-4"} {
		targets = append(targets, fmt.Sprintf("{targets: [%q], labels: {instance: %q}}", relay(t, dir, name), name))
	}
	config := generated(t, "alertmanager")
	var pairs []*pair
	managers := alertmanagers(t)
	for i, server := range servers(t) {
		manager := managers[min(i, len(managers)-1)]
		p := &pair{name: version(t, server) + " and " + alertmanagerVersion(t, manager), manager: runAlertmanager(t, manager, config)}
		p.evaluator = runPrometheus(t, server, p.configuration(t, rules, strings.Join(targets, ", ")))
		pairs = append(pairs, p)
	}
	pairs = append(pairs, victoriaMetricsPair(t, lastOf(managers), config, rules, strings.Join(targets, ", ")))
	for _, p := range pairs {
		p.watch(t)
	}
	var expected []string
	select {
	case l := <-played:
		expected = l.expected()
	case <-time.After(wholeDemo):
		t.Fatal("the demo does not come to its end")
	}
	for _, p := range pairs {
		t.Run(p.name, func(t *testing.T) { p.judge(t, expected) })
	}
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

// locks are the labels of the demo's locks.
type locks struct{ held, job string }

var leftRunning = regexp.MustCompile(`^ *held lock (\S+), job lock (\S+)$`)

// expected are the alerts that the phases of the demo set off.
func (l locks) expected() []string {
	return []string{
		"BackendErrors/critical/" + l.held, "BackendErrors/critical/" + l.job, "BackendErrors/warning/" + l.held, "BackendErrors/warning/" + l.job,
		"JobOverdue/warning/" + l.job, "LeaseExceeded/critical/" + l.held, "LeaseExceeded/critical/" + l.job, "LowHeadroom/warning/" + l.job,
		"NearLease/warning/" + l.job, "NoLeader/critical/" + l.held, "SplitBrain/critical/" + l.held,
		"WorkAfterLoss/critical/" + l.held, "WorkAfterLoss/critical/" + l.job,
	}
}

// wholeDemoFrom plays every phase, recovery included, and sends the locks when
// the replicas are left running.
func wholeDemoFrom(t *testing.T, dir string) <-chan locks {
	t.Helper()
	demo := exec.Command(buildDemo(t), "-keep")
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
	played := make(chan locks, 1)
	go func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if m := leftRunning.FindStringSubmatch(lines.Text()); m != nil {
				played <- locks{held: m[1], job: m[2]}
			}
		}
	}()
	return played
}

// relay passes on the /metrics of a replica below dir, wherever it is, and
// answers as a dead one while there is none. Prometheus scrapes a target that
// it has just learned of up to five seconds late, and some faults are shorter.
func relay(t *testing.T, dir, name string) string {
	t.Helper()
	quiet := log.New(io.Discard, "", 0)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var replica struct{ Metrics string }
		found, _ := filepath.Glob(filepath.Join(dir, "*", name+".json")) // the pattern is well formed
		if len(found) == 1 {
			if text, err := os.ReadFile(found[0]); err == nil {
				_ = json.Unmarshal(text, &replica) // it may be half written
			}
		}
		if replica.Metrics == "" {
			http.Error(w, name+" is not there", http.StatusServiceUnavailable)
			return
		}
		proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: replica.Metrics})
		proxy.ErrorLog = quiet
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

var minutes = regexp.MustCompile(`(keep_firing_for: )\d+m`)

// soonResolved is a copy of the demo's rules in which what the demo does not
// expect to fire, and leaves at its default, does not go on for minutes.
func soonResolved(t *testing.T, rules string) string {
	t.Helper()
	text, err := os.ReadFile(rules)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "rules.yml")
	if err := os.WriteFile(file, minutes.ReplaceAll(text, []byte("${1}3s")), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
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
			p.look()
			select {
			case <-done:
				return
			case <-tick.C:
			}
		}
	}()
	t.Cleanup(func() { close(done); <-stopped })
}

func (p *pair) look() {
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
	for _, never := range []string{"BackendErrors/critical", "LeaseExceeded", "SplitBrain", "WorkAfterLoss"} {
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
