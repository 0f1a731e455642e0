//go:build integration

package alerts

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/common/model"

	"github.com/leaderscope/leaderscope/alerts/internal/unittest"
	"github.com/leaderscope/leaderscope/internal/scenario"
)

// engine is a tool that runs unit tests of rules.
type engine struct {
	name, program string
	tool          unittest.Tool
	// table is what the tool runs of a table under a configuration.
	table func(c Config, table []scenario.Scenario) []scenario.Scenario
	test  []string
	// lint checks the rules too; empty: the tool has no such command.
	lint []string
	// newest is the engine that the rules' own tests stand for.
	newest bool
}

// engines are what scripts/integration brings: PROMETHEUS_SERVERS=path:path,
// the oldest first, beside which promtool lies, and VICTORIAMETRICS=folder.
func engines(t *testing.T) (all []engine) {
	t.Helper()
	servers, folder := filepath.SplitList(os.Getenv("PROMETHEUS_SERVERS")), os.Getenv("VICTORIAMETRICS")
	if len(servers) < 2 || folder == "" {
		t.Fatal("PROMETHEUS_SERVERS names no two Prometheus that promtool lies beside, or VICTORIAMETRICS no folder with vmalert-tool; run make integration-prometheus")
	}
	for i, server := range servers {
		program := filepath.Join(filepath.Dir(server), "promtool")
		all = append(all, engine{
			name: version(t, program), program: program, tool: unittest.Promtool, table: ofPrometheus, newest: i == len(servers)-1,
			test: []string{"test", "rules"}, lint: []string{"check", "rules", "--lint=all", "--lint-fatal"},
		})
	}
	return append(all, engine{name: "vmalert-tool", program: filepath.Join(folder, "vmalert-tool"), tool: unittest.VMAlertTool, table: ofVictoriaMetrics, test: []string{"unittest", "-files"}})
}

func ofPrometheus(_ Config, table []scenario.Scenario) []scenario.Scenario {
	return scenario.Everywhere(table)
}

func ofVictoriaMetrics(c Config, table []scenario.Scenario) []scenario.Scenario {
	return scenario.ForVictoriaMetrics(table, reflect.DeepEqual(c, Default()))
}

// version is that of a promtool, or its folder where it was built without one.
func version(t *testing.T, promtool string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), promtool, "--version").Output()
	words := strings.Fields(string(out)) // promtool, version 2.42.0 (branch: ...
	if err != nil || len(words) < 3 {
		t.Fatalf("%s --version: %v, %s", promtool, err, out)
	}
	if strings.HasPrefix(words[2], "(") {
		return "promtool of " + filepath.Base(filepath.Dir(promtool))
	}
	return "promtool " + words[2]
}

// The whole table takes about five minutes of a processor in each tool: its
// shares run side by side. ENGINE_SHARES says how many of them each tool runs,
// each tool others; without it, all.
const shares = 8

// chosen are the shares that the tool of that number runs.
func chosen(t *testing.T, tool int, all [][]scenario.Scenario) [][]scenario.Scenario {
	t.Helper()
	text := os.Getenv("ENGINE_SHARES")
	if text == "" {
		return all
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > shares {
		t.Fatalf("ENGINE_SHARES is %q; use a number from 1 to %d", text, shares)
	}
	t.Logf("each tool runs %d of %d shares of the table; ENGINE_SHARES=%[2]d runs all", n, shares)
	var some [][]scenario.Scenario
	for i := range n {
		some = append(some, all[(tool*n+i)%len(all)])
	}
	return some
}

func TestEnginesAgreeWithTheScenarios(t *testing.T) {
	other := Default()
	other.ScrapeInterval, other.HolderLabel, other.Selector = model.Duration(15*time.Second), "pod", `job=~"orders|billing",cluster=~"eu-.+"`
	other.ScopeLabels, other.MetricPrefix = []string{"namespace", "job", "lock_name"}, "shop_"
	other.Alerts.NoLeader.Critical.For = model.Duration(45 * time.Second)
	other.Alerts.Flapping.Enabled = false
	native := Default()
	native.Histograms = Both
	splits := slices.DeleteFunc(scenario.All(), func(s scenario.Scenario) bool { return !strings.HasPrefix(s.ID, "S") })
	special := slices.DeleteFunc(scenario.All(), func(s scenario.Scenario) bool { return !s.Native && !s.Extrapolated })
	all := engines(t)
	var spent spending
	t.Run("tables", func(t *testing.T) {
		for i, e := range all {
			e.run(t, "default configuration", Default(), chosen(t, i, share(scenario.All(), shares)), &spent)
			e.run(t, "other scope, selector, holder and prefix, split brains", other, share(splits, 1), &spent)
			if e.newest {
				e.table = func(_ Config, table []scenario.Scenario) []scenario.Scenario { return table }
				e.run(t, "native histograms and extrapolated increases", native, share(special, 1), &spent)
			} else {
				for _, s := range special {
					t.Logf("%s skips %s: native histograms %t, extrapolated increases %t", e.name, s.Title(), s.Native, s.Extrapolated)
				}
			}
		}
	})
	for name, d := range spent.by {
		t.Logf("%s: %s", name, d.Round(time.Second))
	}
}

// share deals scenarios out so that the shares take about the same time.
func share(table []scenario.Scenario, n int) [][]scenario.Scenario {
	table = slices.Clone(table)
	slices.SortStableFunc(table, func(a, b scenario.Scenario) int { return cmp.Compare(b.End, a.End) })
	out := make([][]scenario.Scenario, n)
	for i, s := range table {
		out[i%n] = append(out[i%n], s)
	}
	return out
}

// run makes a subtest of each share.
func (e engine) run(t *testing.T, table string, c Config, parts [][]scenario.Scenario, spent *spending) {
	rules, err := YAML(c)
	for i, part := range parts {
		t.Run(fmt.Sprintf("%s/%s %d", e.name, table, i+1), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, filepath.Join(dir, "rules.yaml"), rules, err)
			tests, err := unitTests(e.tool, c, "rules.yaml", e.table(c, part))
			write(t, filepath.Join(dir, "tests.yaml"), tests, err)
			if e.lint != nil {
				e.execute(t, dir, append(e.lint, "rules.yaml")...)
			}
			begin := time.Now()
			e.execute(t, dir, append(e.test, "tests.yaml")...)
			spent.add(e.name, time.Since(begin))
			t.Logf("%d scenarios", bytes.Count(tests, []byte("\n  - name: ")))
		})
	}
}

func (e engine) execute(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), e.program, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "TMPDIR="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s %v: %v\n%s", e.program, args, err, out)
	}
}

// spending is what each engine took, all shares together.
type spending struct {
	mu sync.Mutex
	by map[string]time.Duration
}

func (s *spending) add(name string, d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.by == nil {
		s.by = map[string]time.Duration{}
	}
	s.by[name] += d
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
