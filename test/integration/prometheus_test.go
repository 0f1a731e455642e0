//go:build integration

package integration

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// patience bounds what a loaded machine may take.
const patience = 2 * time.Minute

// servers are the Prometheus servers that the script found, as
// PROMETHEUS_SERVERS=path:path.
func servers(t *testing.T) []string {
	t.Helper()
	list := filepath.SplitList(os.Getenv("PROMETHEUS_SERVERS"))
	if len(list) == 0 {
		t.Fatal("PROMETHEUS_SERVERS names no Prometheus; run make integration")
	}
	return list
}

func TestEveryRuleIsHealthyOnARealPrometheusThatScrapesTheDemo(t *testing.T) {
	config := keptDemo(t)
	defaults, err := filepath.Abs("../../alerts/generated/prometheus/leaderscope-rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, server := range servers(t) {
		t.Run(version(t, server), func(t *testing.T) {
			promtool := filepath.Join(filepath.Dir(server), "promtool")
			if out, err := exec.Command(promtool, "check", "rules", defaults).CombinedOutput(); err != nil {
				t.Fatalf("promtool check rules: %v\n%s", err, out)
			}
			address := startPrometheus(t, server, config, evaluatedOften(t, defaults))
			checkHealthy(t, address, address)
		})
	}
}

// checkHealthy waits until all rules were evaluated, by the server itself or
// by an evaluator beside it, over healthy replicas.
func checkHealthy(t *testing.T, server, evaluator string) {
	t.Helper()
	rules := healthyRules(t, server, evaluator)
	if rules < 20 {
		t.Errorf("%d rules, want those of the demo and the defaults", rules)
	}
	if n := query(t, server, `count(count by (lock_name) (leader_active))`); n != "2" {
		t.Errorf("%s locks scraped, want 2", n)
	}
	if n := query(t, server, `sum(ALERTS{alertname=~"LeaderElection.*",alertstate="firing"}) or vector(0)`); n != "0" {
		t.Errorf("%s alerts fire on healthy replicas", n)
	}
	t.Logf("%d rules healthy", rules)
}

var configLine = regexp.MustCompile(`--config\.file=(\S+)`)

// keptDemo starts the quickstart, plays its healthy phase and leaves it
// running; it returns the Prometheus configuration that the demo printed.
func keptDemo(t *testing.T) string {
	t.Helper()
	demo := exec.Command(buildDemo(t), "-keep", "-phases", "1", "-report", "")
	out, err := demo.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	demo.Stderr = os.Stderr
	if err := demo.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, demo) })
	found := make(chan string, 1)
	go func() {
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if m := configLine.FindStringSubmatch(lines.Text()); m != nil {
				found <- m[1]
			}
		}
	}()
	select {
	case file := <-found:
		return file
	case <-time.After(patience):
		t.Fatal("the demo printed no Prometheus configuration")
		return ""
	}
}

func buildDemo(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "quickstart")
	build := exec.Command("go", "build", "-o", bin, ".")
	build.Dir = "../../examples/quickstart"
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the demo: %v\n%s", err, out)
	}
	return bin
}

func stop(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Errorf("stop %s: %v", cmd.Path, err)
	}
	_ = cmd.Wait() // being told to stop is an error of its own
}

// startPrometheus runs a server with the demo's configuration and the default
// rules beside the demo's.
func startPrometheus(t *testing.T, server, config, rules string) string {
	t.Helper()
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	withDefaults := strings.Replace(string(text), "rule_files: [", fmt.Sprintf("rule_files: [%q, ", rules), 1)
	if withDefaults == string(text) {
		t.Fatalf("the demo's configuration lists no rule_files:\n%s", text)
	}
	file := filepath.Join(dir, "prometheus.yml")
	if err := os.WriteFile(file, []byte(withDefaults), 0o600); err != nil {
		t.Fatal(err)
	}
	return runPrometheus(t, server, file)
}

// runPrometheus runs a server until the test ends and returns its address.
func runPrometheus(t *testing.T, server, config string) string {
	t.Helper()
	address := freeAddress(t)
	cmd := exec.Command(server, "--config.file="+config, "--storage.tsdb.path="+t.TempDir(), "--web.listen-address="+address, "--log.level=error")
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, cmd) })
	return address
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// evaluatedOften is a copy of rules in which no group waits for minutes.
func evaluatedOften(t *testing.T, rules string) string {
	t.Helper()
	text, err := os.ReadFile(rules)
	if err != nil {
		t.Fatal(err)
	}
	rarely := regexp.MustCompile(`(?m)^    interval: \d+m$`)
	if !rarely.Match(text) {
		t.Fatalf("%s has no group that waits for minutes: load it as it is", rules)
	}
	file := filepath.Join(t.TempDir(), "rules.yaml")
	if err := os.WriteFile(file, rarely.ReplaceAll(text, []byte("    interval: 5s")), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// healthyRules waits until every rule was evaluated well at least once, and
// every target was scraped, and returns the number of rules.
func healthyRules(t *testing.T, server, evaluator string) int {
	t.Helper()
	return waitForRules(t, evaluator, func() bool { return query(t, server, `count(up{job="quickstart"} == 1)`) == "3" })
}

// waitForRules waits until every rule was evaluated well at least once and
// also holds, and returns the number of rules.
func waitForRules(t *testing.T, evaluator string, also func() bool) int {
	t.Helper()
	var why string
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(500 * time.Millisecond) {
		n, unhealthy := rulesNow(evaluator)
		if unhealthy == "" && also() {
			return n
		}
		why = unhealthy
	}
	t.Fatalf("rules: %s", why)
	return 0
}

func rulesNow(address string) (n int, unhealthy string) {
	var answer struct {
		Data struct {
			Groups []struct {
				Rules []struct{ Name, Health, LastError, LastEvaluation string }
			}
		}
	}
	if err := get("http://"+address+"/api/v1/rules", &answer); err != nil {
		return 0, err.Error()
	}
	for _, g := range answer.Data.Groups {
		for _, r := range g.Rules {
			n++
			switch {
			case r.Health != "ok":
				unhealthy = fmt.Sprintf("%s is %s: %s", r.Name, r.Health, r.LastError)
			case strings.HasPrefix(r.LastEvaluation, "0001-"): // vmalert takes such a rule for well
				unhealthy = r.Name + " was not evaluated yet"
			}
		}
	}
	if n == 0 {
		unhealthy = "none loaded yet"
	}
	return n, unhealthy
}

// query returns the value of a query with one result; empty when there is none.
func query(t *testing.T, address, expr string) string {
	t.Helper()
	var answer struct {
		Data struct {
			Result []struct{ Value [2]any }
		}
	}
	if err := get("http://"+address+"/api/v1/query?query="+url.QueryEscape(expr), &answer); err != nil || len(answer.Data.Result) == 0 {
		return ""
	}
	return fmt.Sprint(answer.Data.Result[0].Value[1])
}

func get(address string, into any) error {
	body, err := fetch(address)
	if err != nil {
		return err
	}
	return json.Unmarshal(body, into)
}

// answers reports whether an address is served.
func answers(address string) error {
	_, err := fetch(address)
	return err
}

func fetch(address string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", resp.Status, body)
	}
	return body, err
}

func version(t *testing.T, server string) string {
	t.Helper()
	out, err := exec.Command(server, "--version").CombinedOutput()
	if err != nil {
		t.Fatalf("%s --version: %v", server, err)
	}
	fields := strings.Fields(string(out))
	if len(fields) < 3 || fields[0] != "prometheus," {
		t.Fatalf("%s is no Prometheus: %s", server, out)
	}
	if strings.HasPrefix(fields[2], "(") { // built without a version of its own
		return filepath.Base(filepath.Dir(server))
	}
	return fields[2]
}
