package panels

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/prometheus/model/labels"
	"go.yaml.in/yaml/v3"

	"github.com/leaderscope/leaderscope/alerts"
	"github.com/leaderscope/leaderscope/dashboards"
	"github.com/leaderscope/leaderscope/internal/condition"
	"github.com/leaderscope/leaderscope/internal/panel"
	"github.com/leaderscope/leaderscope/internal/promeval"
	"github.com/leaderscope/leaderscope/internal/query"
	"github.com/leaderscope/leaderscope/internal/scenario"
)

// every is the distance between the scenarios that are played.
var every = 1

// play evaluates the rules over a scenario and leaves the series of their alerts.
func play(t *testing.T, s scenario.Scenario) (*promeval.Store, []promeval.Firing) {
	t.Helper()
	c := alerts.Default()
	series, err := s.Series(scenario.Form{MetricPrefix: c.MetricPrefix, HolderLabel: c.HolderLabel})
	if err != nil {
		t.Fatal(err)
	}
	store, err := s.Store(series, promeval.V3)
	if err != nil {
		t.Fatal(err)
	}
	all, err := rules()
	if err != nil {
		t.Fatal(err)
	}
	fired, err := s.Run(t.Context(), all, store)
	if err != nil {
		t.Fatal(err)
	}
	store.RecordAlerts(fired, s.End, scenario.Step)
	return store, fired
}

// rules are those of the default configuration.
var rules = sync.OnceValues(func() (all []promeval.Rule, err error) {
	made, err := alerts.Rules(alerts.Default())
	for _, r := range made {
		all = append(all, promeval.Rule{
			Name: r.Name, Expr: r.Expr, For: time.Duration(r.For), KeepFiringFor: time.Duration(r.KeepFiringFor), Labels: r.Labels,
		})
	}
	return all, err
})

// recordings are the recording rules that the dashboards' state reads, in the order
// of the file, by the names of their series.
var recordings = sync.OnceValues(func() (read [][2]string, err error) {
	cfg := alerts.Default()
	cfg.Recording = true
	text, err := alerts.YAML(cfg)
	if err != nil {
		return nil, err
	}
	var file struct {
		Groups []struct {
			Rules []struct{ Record, Expr string }
		}
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		return nil, err
	}
	needed := query.RecordedState
	for _, g := range slices.Backward(file.Groups) {
		for _, r := range slices.Backward(g.Rules) {
			if r.Record != "" && strings.Contains(needed, r.Record) {
				read, needed = append(read, [2]string{r.Record, r.Expr}), needed+r.Expr
			}
		}
	}
	slices.Reverse(read)
	return read, nil
})

// record adds the series of the recording rules.
func record(t *testing.T, store *promeval.Store, end time.Duration) {
	t.Helper()
	all, err := recordings()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all {
		if err := store.Record(t.Context(), r[0], r[1], end, scenario.Step); err != nil {
			t.Fatal(err)
		}
	}
}

// No lock whose alert fires reads as if all were well, and no other is red, at
// any evaluation of any scenario: on the overview, in its table and its tiles, recorded
// and not, and on the dashboard of the lock.
func TestTheStateOfALockIsThatOfItsAlerts(t *testing.T) {
	if every > 1 {
		t.Logf("one scenario of %d is played; without the race detector all are", every)
	}
	recorded := dashboards.Default()
	recorded.Recording = true
	exprs := map[string]string{
		"recorded table": expression(t, dashboards.Overview, recorded, panel.Locks, "State"),
		"recorded tiles": tiles(t, recorded),
		"table":          expression(t, dashboards.Overview, dashboards.Default(), panel.Locks, "State"),
		"tiles":          tiles(t, dashboards.Default()),
		"lock":           expression(t, dashboards.Lock, dashboards.Default(), panel.State, "A"),
	}
	for i, s := range scenario.Everywhere(scenario.All()) {
		if i%every != 0 {
			continue
		}
		t.Run(s.Title(), func(t *testing.T) {
			t.Parallel()
			store, fired := play(t, s)
			record(t, store, s.End)
			step := max(scenario.Step, s.End/40/scenario.Step*scenario.Step)
			shown := map[string]map[time.Duration]map[string]*condition.Condition{}
			for where, expr := range exprs {
				states := statesOf(t, store, expr, s.End, step)
				shown[where] = states
				for at := time.Duration(0); at <= s.End; at += step {
					alerted := firingAt(fired, at)
					for lock, worst := range alerted {
						if got := states[at][lock]; got == nil || got.State() < worst.State() {
							t.Errorf("%s, %v: %s reads %q while its alert says %q", where, at, lock, text(got), worst.Text)
						}
					}
					for lock, got := range states[at] {
						if got.Pages && (alerted[lock] == nil || !alerted[lock].Pages) {
							t.Errorf("%s, %v: %s is red, %q, and no alert pages", where, at, lock, got.Text)
						}
					}
				}
			}
			for where, states := range shown {
				if diff := cmp.Diff(shown["table"], states, cmp.Comparer(func(a, b *condition.Condition) bool { return a == b })); diff != "" {
					t.Errorf("the table (-) and %s (+) disagree\n%s", where, diff)
				}
			}
		})
	}
}

// tiles are the states in the first row of the overview, of all locks.
func tiles(t *testing.T, cfg dashboards.Config) string {
	t.Helper()
	return strings.Replace(expression(t, dashboards.Overview, cfg, panel.Leaders, "A"), "topk(9,", "(", 1)
}

func text(c *condition.Condition) string {
	if c == nil {
		return "nothing"
	}
	return c.Text
}

// statesOf is the state of each lock at each step, by its labels.
func statesOf(t *testing.T, store *promeval.Store, expr string, end, step time.Duration) map[time.Duration]map[string]*condition.Condition {
	t.Helper()
	found, err := store.Values(t.Context(), expr, end, step)
	if err != nil {
		t.Fatal(err)
	}
	states := map[time.Duration]map[string]*condition.Condition{}
	for _, series := range found {
		lock := lockOf(series.Metric)
		for _, p := range series.Floats {
			at, n := time.Duration(p.T)*time.Millisecond, int(p.F)
			if states[at] == nil {
				states[at] = map[string]*condition.Condition{}
			}
			if states[at][lock] != nil || p.F != float64(n) || n < 0 || n >= len(condition.States()) {
				t.Fatalf("%v: a state of %s is %v", at, lock, p.F)
			}
			states[at][lock] = condition.States()[n]
		}
	}
	return states
}

// firingAt is the worst condition of each lock whose alert fires.
func firingAt(fired []promeval.Firing, at time.Duration) map[string]*condition.Condition {
	worst := map[string]*condition.Condition{}
	for _, f := range fired {
		if at < f.From || !f.Open && at >= f.To || f.Labels.Get("lock_name") == "" {
			continue
		}
		name := strings.TrimPrefix(f.Labels.Get(labels.AlertName), panel.AlertPrefix)
		alone := func(c *condition.Condition) bool { return c.Alert == name && !c.Warns }
		i := slices.IndexFunc(condition.States(), func(c *condition.Condition) bool {
			return c.Alert == name && c.Warns && f.Labels.Get("severity") == "warning"
		})
		if i < 0 {
			i = slices.IndexFunc(condition.States(), alone)
		}
		lock := lockOf(f.Labels)
		if old := worst[lock]; old == nil || old.State() < i {
			worst[lock] = condition.States()[i]
		}
	}
	return worst
}

func lockOf(l labels.Labels) string {
	var own []string
	for _, name := range dashboards.Default().Scope.Labels {
		if v := l.Get(name); v != "" {
			own = append(own, fmt.Sprintf("%s=%q", name, v))
		}
	}
	return strings.Join(own, ",")
}

// expression is a query of a panel with every variable at All, except those to keep.
func expression(t *testing.T, build func(dashboards.Config) ([]byte, error), cfg dashboards.Config, id int, ref string, keep ...string) string {
	t.Helper()
	out, err := build(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		Panels []struct {
			ID      int
			Targets []struct {
				RefID string `json:"refId"`
				Expr  string
			}
		}
	}
	if err := json.Unmarshal(out, &board); err != nil {
		t.Fatal(err)
	}
	for _, p := range board.Panels {
		for _, target := range p.Targets {
			if p.ID == id && target.RefID == ref {
				expr := strings.NewReplacer(`="$lock_name"`, `=~".*"`, "$__range", "20m", "$__rate_interval", "2m").Replace(target.Expr)
				for _, l := range append(slices.Clone(cfg.Scope.Labels), cfg.Scope.Holder) {
					if slices.Contains(keep, l) {
						continue
					}
					expr = strings.ReplaceAll(expr, `"$`+l+`"`, `".*"`)
				}
				return expr
			}
		}
	}
	t.Fatalf("no query %s of panel %d", ref, id)
	return ""
}
