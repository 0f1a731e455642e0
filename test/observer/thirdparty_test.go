//go:build integration

package observer

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/leaderscope/leaderscope/test/deploy"
	"github.com/leaderscope/leaderscope/test/server"
)

// deadline is what a page may take from the death of the leader on.
const deadline = 150 * time.Second

// A program without instrumentation, as client-go ships it, with a lease of
// 60 s: its leader is killed. One lock has no other candidate, and pages; the
// other has, and does not.
func TestAThirdPartyProgramThatLosesItsLeaderPages(t *testing.T) {
	prometheus := prometheusOf(t)
	c := newCluster(t)
	program, config := builtExample(t), c.kubeconfig(t, server.KubernetesToken)
	candidate := func(lock, id string) *exec.Cmd {
		return started(t, program, "-kubeconfig", config, "-lease-lock-namespace", "default", "-lease-lock-name", lock, "-id", id)
	}
	lonely, first := candidate("lonely", "a"), candidate("pair", "a")
	for _, lock := range []string{"default/lonely", "default/pair"} {
		eventually(t, "a leads "+lock, func() bool { _, holder := c.lock(t, "kubernetes", lock); return holder == "a" })
	}
	candidate("pair", "b")
	pages := newPager(t)
	scrapes := scrapedBy(t, prometheus, "leader-observer", []string{strings.TrimPrefix(c.process.url, "http://")}, rulesOfTheChart(t), pages.URL)
	eventually(t, "Prometheus scrapes", func() bool { return scrapes.Load() >= 2 })

	died := time.Now()
	for _, leader := range []*exec.Cmd{lonely, first} {
		_ = leader.Process.Kill()
		_ = leader.Wait()
	}
	for pages.firing() == nil && time.Since(died) < deadline {
		time.Sleep(100 * time.Millisecond)
	}
	t.Logf("paged %v after the leader died", time.Since(died).Round(100*time.Millisecond))
	want := map[string]string{"LeaderElectionVacant default/lonely": "critical"}
	if diff := cmp.Diff(want, pages.firing()); diff != "" {
		t.Fatalf("after %v: %s", time.Since(died), diff)
	}
	if _, holder := c.lock(t, "kubernetes", "default/pair"); holder != "b" {
		t.Errorf("the pair is led by %q", holder)
	}
}

// prometheusOf is the first server that the script found, or one that is there.
func prometheusOf(t *testing.T) string {
	t.Helper()
	if all := filepath.SplitList(os.Getenv("PROMETHEUS_SERVERS")); len(all) > 0 {
		return all[0]
	}
	if path, err := exec.LookPath("prometheus"); err == nil {
		return path
	}
	built, _ := filepath.Glob("../../.cache/bin/prometheus-*/prometheus")
	if len(built) == 0 && os.Getenv("LEADERSCOPE_ALL_SERVERS") != "" {
		t.Fatal("no Prometheus; run scripts/integration, which builds it")
	}
	if len(built) == 0 {
		t.Skip("SKIPPED no Prometheus: scripts/integration builds it")
	}
	return built[0]
}

func builtExample(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "leader-election")
	if out, err := exec.Command("go", "build", "-o", path, "k8s.io/client-go/examples/leader-election").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return path
}

// started runs a program until the test ends.
func started(t *testing.T, path string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(path, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd
}

// scrapedBy has Prometheus scrape addresses under one job, evaluate rules as they are,
// and send to pager. It returns the number of scrapes.
func scrapedBy(t *testing.T, prometheus, job string, addresses []string, rules, pager string) *atomic.Int64 {
	t.Helper()
	scrapes := new(atomic.Int64)
	var targets []string
	for _, address := range addresses {
		proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: address})
		front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { scrapes.Add(1); proxy.ServeHTTP(w, r) }))
		t.Cleanup(front.Close)
		targets = append(targets, strconv.Quote(strings.TrimPrefix(front.URL, "http://")))
	}
	dir := t.TempDir()
	config := fmt.Sprintf(`
global: {scrape_interval: 5s, evaluation_interval: 5s}
rule_files: [rules.yaml]
scrape_configs: [{job_name: %q, static_configs: [{targets: [%s]}]}]
alerting: {alertmanagers: [{static_configs: [{targets: [%q]}]}]}
`, job, strings.Join(targets, ", "), strings.TrimPrefix(pager, "http://"))
	for name, text := range map[string]string{"prometheus.yml": config, "rules.yaml": rules} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	started(t, prometheus, "--config.file="+filepath.Join(dir, "prometheus.yml"), "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address=127.0.0.1:0")
	return scrapes
}

// rulesOfTheChart are the groups of its PrometheusRule.
func rulesOfTheChart(t *testing.T) string {
	t.Helper()
	documents, err := deploy.Helm("")
	if err != nil {
		t.Fatal(err)
	}
	for _, document := range documents {
		var o struct {
			Kind string         `json:"kind"`
			Spec map[string]any `json:"spec"`
		}
		if err := yaml.Unmarshal(document, &o); err != nil {
			t.Fatal(err)
		}
		if o.Kind == "PrometheusRule" {
			text, err := yaml.Marshal(o.Spec)
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		}
	}
	t.Fatal("the chart has no rules")
	return ""
}

// pager stands for Alertmanager.
type pager struct {
	*httptest.Server
	mu    sync.Mutex
	fires map[string]string // "alert lock": severity
}

func newPager(t *testing.T) *pager {
	p := &pager{fires: map[string]string{}}
	p.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var alerts []struct {
			Labels map[string]string
			EndsAt time.Time
		}
		if err := json.NewDecoder(r.Body).Decode(&alerts); err != nil {
			t.Error(err)
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, a := range alerts {
			name := a.Labels["alertname"] + " " + a.Labels["lock_name"]
			if a.EndsAt.After(time.Now()) {
				p.fires[name] = a.Labels["severity"]
			} else {
				delete(p.fires, name)
			}
		}
	}))
	t.Cleanup(p.Close)
	return p
}

// firing are the alerts that fire, or nil.
func (p *pager) firing() map[string]string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.fires) == 0 {
		return nil
	}
	all := map[string]string{}
	for name, severity := range p.fires {
		all[name] = severity
	}
	return all
}
