package dashboards

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/cog/plugins"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/finish"
	"github.com/leaderscope/leaderscope/internal/panel"
	"github.com/leaderscope/leaderscope/internal/promcheck"
	"github.com/leaderscope/leaderscope/internal/query"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// configurations must all give a good dashboard.
var configurations = map[string]func(*Config){
	"default": func(*Config) {},
	"pods of one team": func(c *Config) {
		c.Scope = Scope{Labels: []string{"team", "lock_name"}, Holder: "pod", Selector: `env="prod",team=~"a|b"`, ScrapeInterval: time.Minute}
		c.UID, c.Title, c.Legend, c.Folder, c.RunbookURL = "fork", "Fork", "{{lock_name}}", "", ""
	},
	"locks alone": func(c *Config) { c.Scope.Labels = []string{"lock_name"} },
	"recorded":    func(c *Config) { c.Recording, c.Scope.Histograms = true, "both" },
}

// boards are the dashboards by the name of their file.
var boards = map[string]func(Config) ([]byte, error){"overview": Overview, "lock": Lock, "backends": Backends}

// built keeps what each board of each configuration is, since dozens of tests read it.
var built sync.Map // name and title to func() ([]byte, error)

func eachBoard(t *testing.T, test func(t *testing.T, name string, cfg Config, out []byte)) {
	for name, build := range boards {
		for title, change := range configurations {
			t.Run(name+"/"+title, func(t *testing.T) {
				cfg := Default()
				change(&cfg)
				once, _ := built.LoadOrStore(name+"/"+title, sync.OnceValues(func() ([]byte, error) { return build(cfg) }))
				out, err := once.(func() ([]byte, error))()
				if err != nil {
					t.Fatal(err)
				}
				test(t, name, cfg, slices.Clone(out))
			})
		}
	}
}

func TestDashboardsAreTheGoldenFiles(t *testing.T) {
	eachBoard(t, func(t *testing.T, name string, cfg Config, out []byte) {
		golden(t, filepath.Join(goldenDir(cfg), "leaderscope", name+".json"), out)
	})
}

func TestProvisioningIsTheGoldenFile(t *testing.T) {
	for title, change := range configurations {
		t.Run(title, func(t *testing.T) {
			cfg := Default()
			change(&cfg)
			out, err := Provisioning(cfg)
			if err != nil {
				t.Fatal(err)
			}
			golden(t, filepath.Join(goldenDir(cfg), "leaderscope.yaml"), out)
		})
	}
}

// goldenDir of the default holds the files that people import.
func goldenDir(cfg Config) string {
	switch {
	case cfg.Recording:
		return filepath.Join("testdata", "recorded")
	case cfg.Scope.Labels[0] == "cluster":
		return "generated/grafana"
	}
	return filepath.Join("testdata", cfg.Scope.Labels[0])
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, got) {
		t.Errorf("%s is not what the code makes%s. If it should be, write the files again: go test ./dashboards -update, then make generate\n(-want +got):\n%s",
			name, changedPanels(want, got), cmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(got), "\n")))
	}
}

// again is how often each board is built again.
var again = 20

func TestDashboardsAreTheSameEachTime(t *testing.T) {
	eachBoard(t, func(t *testing.T, name string, cfg Config, want []byte) {
		for range again {
			got, err := boards[name](cfg)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(want, got) {
				t.Fatal("two builds differ")
			}
		}
	})
}

// The SDK's strict reader knows the fields of every panel and query type. It
// returns a typed nil where all is well, and takes a query for a Prometheus
// query only if its own data source says so.
func TestDashboardsPassTheStrictReader(t *testing.T) {
	eachBoard(t, func(t *testing.T, _ string, _ Config, out []byte) {
		if problems := strictly(out); len(problems) > 0 {
			t.Errorf("strict reading: %v", problems)
		}
		if err := decoded(t, out).sdk.Validate(); err != nil {
			t.Errorf("validate: %v", err)
		}
		for _, field := range []string{"legendFormat", "colorMode", "graphTooltip", "allValue"} {
			if broken := bytes.ReplaceAll(out, []byte(`"`+field+`"`), []byte(`"`+field+`s"`)); len(strictly(broken)) == 0 {
				t.Errorf("strict reading does not notice %ss", field)
			}
		}
	})
}

func strictly(out []byte) (problems cog.BuildErrors) {
	plugins.RegisterDefaultPlugins()
	var d finish.Dashboard
	errors.As(d.UnmarshalJSONStrict(out), &problems)
	return problems
}

// cumulative are the panels that read counters as they are: uses of a lease by
// two counters whose deltas are subtracted, and a histogram that has just begun.
var cumulative = []int{panel.NearLease, panel.Overruns, panel.BackendHandover}

// acrossLocks are the panels that speak of all chosen locks at once.
var acrossLocks = []int{
	panel.Leaderless, panel.Crowded, panel.NearLease, panel.BackendTrouble,
	panel.Transitions, panel.Outcomes, panel.LeaseUsage, panel.Renewals, panel.Instrumentation, panel.Scraped, panel.Unseen, panel.Alerts, panel.AlertTimeline, panel.Endings,
	panel.BackendFree, panel.BackendWatched, panel.BackendReporters,
	panel.FencingChecks,
}

func TestEveryExpressionPassesTheStaticChecks(t *testing.T) {
	eachBoard(t, func(t *testing.T, _ string, cfg Config, out []byte) {
		onTargets := append(slices.Clone(cfg.Scope.Labels), cfg.Scope.Holder, "env", "team")
		common := []promcheck.Option{promcheck.TargetLabels(onTargets...), promcheck.Recorded(recordedLabels(cfg))}
		b := decoded(t, out)
		for _, a := range b.Annotations.List {
			opts := slices.Clone(common)
			if a.Name == "Replica started" {
				opts = append(opts, promcheck.AcrossLocks())
			}
			for _, problem := range promcheck.Expr(a.Expr, opts...) {
				t.Errorf("annotation %s: %v", a.Name, problem)
			}
		}
		for _, p := range b.Panels {
			opts := slices.Clone(common)
			if slices.Contains(acrossLocks, p.ID) {
				opts = append(opts, promcheck.AcrossLocks())
			}
			if slices.Contains(cumulative, p.ID) {
				opts = append(opts, promcheck.Cumulative())
			}
			for _, target := range p.Targets {
				if target.RefID == "More" {
					opts = append(slices.Clone(opts), promcheck.AcrossLocks())
				}
				for _, problem := range promcheck.Expr(target.Expr, opts...) {
					t.Errorf("panel %q, query %s: %v", p.Title, target.RefID, problem)
				}
			}
		}
	})
}

func TestEverySelectorHeedsTheChosenLocks(t *testing.T) {
	eachBoard(t, func(t *testing.T, _ string, cfg Config, out []byte) {
		for where, expr := range decoded(t, out).expressions() {
			parsed, err := query.Parse(query.Expr(expr))
			if err != nil {
				t.Fatalf("%s: %v", where, err)
			}
			parser.Inspect(parsed, func(n parser.Node, _ []parser.Node) error {
				s, ok := n.(*parser.VectorSelector)
				if !ok {
					return nil
				}
				m, known := catalog.ByName(s.Name)
				for _, l := range cfg.Scope.Labels {
					if l == catalog.LockName.Name() && !(known && m.PerLock()) && !strings.Contains(s.Name, ":") {
						continue
					}
					if ofStores := m == catalog.FencingChecks || m == catalog.FencingHighestToken; ofStores && l == "job" {
						continue // a store may be another job
					}
					if mayLead := m == catalog.Active || m == catalog.ElectorInfo; mayLead && l == "job" && matchesAcrossJobs(cfg, expr) {
						continue // another job may lead the lock
					}
					if !slices.ContainsFunc(s.LabelMatchers, func(m *labels.Matcher) bool { return m.Name == l && m.Value == "$"+l }) {
						t.Errorf("%s: %s ignores $%s", where, s.Name, l)
					}
				}
				return nil
			})
		}
	})
}

// matchesAcrossJobs says whether an expression joins the locks of the chosen jobs to
// the same locks of other jobs.
func matchesAcrossJobs(cfg Config, expr string) bool {
	same := query.Scope{Labels: cfg.Scope.Labels}.SameLock()
	return strings.Contains(strings.Join(strings.Fields(expr), " "), same)
}

func TestLeadershipIsReadByLock(t *testing.T) {
	got := decoded(t, overview(t)).panel(panel.Leaders).Targets
	flat := strings.Join(strings.Fields(got[0].Expr), " ")
	if !regexp.MustCompile(`max by \([a-z_, ]*lock_name\) \( ?leader_active\{`).MatchString(flat) {
		t.Errorf("got %s", flat)
	}
}

func TestNoTwoPanelsAreAlike(t *testing.T) {
	eachBoard(t, func(t *testing.T, _ string, _ Config, out []byte) {
		seen := map[string]string{}
		for _, p := range decoded(t, out).Panels {
			queries := ""
			for _, target := range p.Targets {
				queries += target.Expr + "\n"
			}
			if other, ok := seen[queries]; ok && queries != "" {
				t.Errorf("panel %q asks what %q asks", p.Title, other)
			}
			seen[queries] = p.Title
		}
	})
}

func TestTheDashboardsLeadToEachOther(t *testing.T) {
	for name := range boards {
		out, err := boards[name](Default())
		if err != nil {
			t.Fatal(err)
		}
		for _, other := range []string{"overview", "lock", "backends"} {
			link := `"url": "/d/leaderscope-` + other + `"`
			if strings.Contains(string(out), link) != (other != name) {
				t.Errorf("%s: want links to all others, and %s is wrong", name, link)
			}
		}
	}
	for what, row := range map[string]string{
		"table": `/d/leaderscope-lock?${datasource:queryparam}${__data.fields[\"where\"]}&var-lock_name=${__value.raw:percentencode}&${__url_time_range}`,
		"tile":  `/d/leaderscope-lock?${datasource:queryparam}${__field.labels.where}&var-lock_name=${__field.labels.lock_name:percentencode}&${__url_time_range}`,
	} {
		if !strings.Contains(string(overview(t)), row) {
			t.Errorf("the %s lacks %s", what, row)
		}
	}
}

// However many locks there are, a panel over time tells few apart; one lock's
// panels leave nothing out.
func TestPanelsOverTimeDrawFewLocks(t *testing.T) {
	ranked := regexp.MustCompile(`(top|bottom)k ?\(`)
	for name, build := range boards {
		out, err := build(Default())
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range decoded(t, out).Panels {
			for _, target := range p.Targets {
				if target.RefID == partRef {
					continue
				}
				across := slices.Contains(acrossLocks, p.ID) && target.RefID != "Regressed"
				over := (p.Type == "timeseries" || p.Type == "state-timeline") && !across
				if got := ranked.MatchString(target.Expr); over && got != (name != "lock") {
					t.Errorf("%s, panel %q, query %s: draws few lines: %v; on a dashboard of many locks, wrap a query that has a line for each in q.most or q.least, "+
						"or list the panel in acrossLocks if it adds them up; on that of one lock, leave nothing out", name, p.Title, target.RefID, got)
				}
			}
		}
	}
}

func TestNothingNamesADataSource(t *testing.T) {
	eachBoard(t, func(t *testing.T, _ string, _ Config, out []byte) {
		var all any
		if err := json.Unmarshal(out, &all); err != nil {
			t.Fatal(err)
		}
		seen := 0
		visit(all, func(key string, value any) {
			if key != "datasource" {
				return
			}
			seen++
			if diff := cmp.Diff(map[string]any{"type": "prometheus", "uid": "${datasource}"}, value); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
		if seen < 40 {
			t.Errorf("only %d data sources", seen)
		}
		if strings.Contains(string(out), "${DS_") || strings.Contains(string(out), "__inputs") {
			t.Error("a placeholder that only the import dialog fills")
		}
	})
}

func TestRatesUseGrafanasInterval(t *testing.T) {
	fixed := regexp.MustCompile(`\[([0-9]+[smhd])[\]:]`)
	allowed := map[int][]string{
		panel.NearLease: {"30m"}, panel.BackendTrouble: {"10m"}, panel.Locks: {"15m", "10m"}, panel.Leaders: {"15m"},
		panel.BackendErrors: {"10m"}, panel.Instrumentation: {"1h"}, panel.Scraped: {"1h"},
		panel.State: {"15m"}, panel.Holder: {"15m"}, panel.Unseen: {"1h"},
	}
	eachBoard(t, func(t *testing.T, _ string, _ Config, out []byte) {
		for _, p := range decoded(t, out).Panels {
			for _, target := range p.Targets {
				for _, m := range fixed.FindAllStringSubmatch(target.Expr, -1) {
					if !slices.Contains(allowed[p.ID], m[1]) {
						t.Errorf("panel %q looks at a fixed %s", p.Title, m[1])
					}
				}
			}
		}
	})
}

// Ids that Grafana 13 knows; a wrong one is ignored in silence.
func TestOnlyKnownIdsAreUsed(t *testing.T) {
	known := map[string][]string{
		"unit":           {"none", "short", "s", "percentunit", "cpm", "dateTimeFromNow"},
		"calcs":          {"lastNotNull", "max", "min"},
		"matcher":        {"byName", "byFrameRefID", "byRegexp"},
		"transformation": {"merge", "organize"},
		"property": {"noValue", "unit", "decimals", "color", "thresholds", "mappings", "links",
			"custom.width", "custom.minWidth", "custom.align", "custom.cellOptions", "custom.lineWidth", "custom.lineStyle",
			"custom.drawStyle", "custom.pointSize", "custom.hidden", "custom.hideFrom"},
		"panel": {"row", "stat", "timeseries", "state-timeline", "heatmap", "table"},
	}
	check := func(kind, id string) {
		if !slices.Contains(known[kind], id) {
			t.Errorf("%s %q is not among the known ones", kind, id)
		}
	}
	eachBoard(t, func(t *testing.T, _ string, _ Config, out []byte) {
		for _, p := range decoded(t, out).Panels {
			check("panel", p.Type)
			for _, tr := range p.Transformations {
				check("transformation", tr.ID)
			}
			for _, o := range p.FieldConfig.Overrides {
				check("matcher", o.Matcher.ID)
				for _, prop := range o.Properties {
					check("property", prop.ID)
				}
			}
			visit(p.raw, func(key string, value any) {
				switch v := value.(type) {
				case string:
					if key == "unit" {
						check("unit", v)
					}
				case []any:
					if key == "calcs" {
						for _, c := range v {
							check("calcs", c.(string))
						}
					}
				}
			})
		}
	})
}

// recordings are the rules that a configuration of the alerts would make.
func recordings(cfg Config) []query.Recording {
	return query.Facts{Scope: query.Scope{Labels: cfg.Scope.Labels, Holder: cfg.Scope.Holder}, Limits: cfg.limits()}.Recordings()
}

func recordedLabels(cfg Config) map[string][]string {
	labels := map[string][]string{}
	for _, r := range recordings(cfg) {
		labels[r.Name] = r.Labels
	}
	return labels
}

func overview(t *testing.T) []byte {
	t.Helper()
	out, err := Overview(Default())
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A data source may ask by GET, and servers refuse long addresses.
func TestEveryQueryFitsIntoAnAddress(t *testing.T) {
	eachBoard(t, func(t *testing.T, _ string, _ Config, out []byte) {
		for where, expr := range decoded(t, out).expressions() {
			if n := len(url.QueryEscape(expr)); n > 7500 {
				t.Errorf("%s takes %d bytes in an address", where, n)
			}
		}
	})
}
