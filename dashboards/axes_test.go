package dashboards

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"

	"github.com/leaderscope/leaderscope/internal/panel"
)

// axes are the settings of a panel over time that can make it lie.
type axes struct {
	DrawStyle              string
	SpanNulls, InsertNulls any
	AxisSoftMin            *float64
}

func axesOf(t *testing.T, p boardPanel) axes {
	t.Helper()
	raw, err := json.Marshal(p.raw)
	if err != nil {
		t.Fatal(err)
	}
	var of struct {
		FieldConfig struct {
			Defaults struct{ Custom axes }
		}
	}
	if err := json.Unmarshal(raw, &of); err != nil {
		t.Fatal(err)
	}
	return of.FieldConfig.Defaults.Custom
}

// Grafana interrupts a line where a step has no value. A time set for that in
// a panel is wrong for other steps: shorter gaps are drawn over, and of longer
// steps nothing but points is left.
func TestNoPanelDrawsOverAGap(t *testing.T) {
	eachBoard(t, func(t *testing.T, _ string, _ Config, out []byte) {
		for _, p := range decoded(t, out).Panels {
			a := axesOf(t, p)
			for _, setting := range []any{a.SpanNulls, a.InsertNulls} {
				if setting != nil && setting != false {
					t.Errorf("panel %q: spanNulls %v, insertNulls %v", p.Title, a.SpanNulls, a.InsertNulls)
				}
			}
		}
	})
}

// Lines begin at 0, but for the numbers of terms, which are far from it and
// differ by one.
func TestLinesBeginAtZero(t *testing.T) {
	eachBoard(t, func(t *testing.T, _ string, _ Config, out []byte) {
		for _, p := range decoded(t, out).Panels {
			if p.Type != "timeseries" {
				continue
			}
			a := axesOf(t, p)
			if got := a.AxisSoftMin != nil && *a.AxisSoftMin == 0; got == (p.ID == panel.FencingToken) {
				t.Errorf("panel %q begins at 0: %v", p.Title, got)
			}
		}
	})
}

// A window of a rate holds four scrapes. With shorter steps one event would be
// in the windows of several, and make a bar in each.
func TestOneEventMakesOneBar(t *testing.T) {
	eachBoard(t, func(t *testing.T, _ string, cfg Config, out []byte) {
		bars := 0
		for _, p := range decoded(t, out).Panels {
			want := duration(cfg.Scope.ScrapeInterval)
			if p.Type == "row" {
				continue
			}
			if axesOf(t, p).DrawStyle == "bars" {
				want = duration(rateScrapes * cfg.Scope.ScrapeInterval)
				bars++
			}
			if p.Interval != want {
				t.Errorf("panel %q steps by %s, want %s", p.Title, p.Interval, want)
			}
		}
		if bars == 0 {
			t.Error("no panel draws bars")
		}
	})
}

// A variable that changes nothing on a page is not offered there, and one that
// changes a part says which.
func TestTheReplicaVariableIsThereWhereItActs(t *testing.T) {
	eachBoard(t, func(t *testing.T, name string, cfg Config, out []byte) {
		b := decoded(t, out)
		var narrowed []string
		for _, p := range b.Panels {
			if slices.ContainsFunc(p.Targets, func(target boardTarget) bool { return strings.Contains(target.Expr, "$"+cfg.Scope.Holder) }) {
				narrowed = append(narrowed, p.Title)
			}
		}
		var want []string
		offered := slices.ContainsFunc(b.sdk.Templating.List, func(v dashboard.VariableModel) bool { return v.Name == cfg.Scope.Holder })
		if name == "lock" {
			want = []string{"Replicas", "Who led when", "Why terms ended", "Replicas scraped", "Fencing token", "Work after the lock was lost"}
		}
		if diff := cmp.Diff(want, narrowed); diff != "" || offered != (name == "lock") {
			t.Errorf("the variable is offered: %v; panels that heed it (-want +got):\n%s", offered, diff)
		}
	})
}

// A cell without a value is a dash, independent of the text of an empty table.
func TestACellOfATableIsNotTheTextOfAnEmptyOne(t *testing.T) {
	eachBoard(t, func(t *testing.T, _ string, _ Config, out []byte) {
		tables := 0
		for _, p := range decoded(t, out).Panels {
			if p.Type != "table" {
				continue
			}
			tables++
			raw, err := json.Marshal(p.raw)
			if err != nil {
				t.Fatal(err)
			}
			var table struct {
				FieldConfig struct {
					Overrides []struct {
						Matcher    struct{ Options string }
						Properties []struct {
							ID    string
							Value any
						}
					}
				}
				Transformations []struct {
					Options struct{ RenameByName map[string]string }
				}
			}
			if err := json.Unmarshal(raw, &table); err != nil {
				t.Fatal(err)
			}
			dashes := map[string]bool{whereLabel: true} // it is hidden
			for _, o := range table.FieldConfig.Overrides {
				for _, property := range o.Properties {
					if property.ID == "noValue" && property.Value == noCell {
						dashes[o.Matcher.Options] = true
					}
				}
			}
			for _, column := range table.Transformations[1].Options.RenameByName {
				if !dashes[column] {
					t.Errorf("panel %q: an empty cell of %s does not read %s", p.Title, column, noCell)
				}
			}
		}
		if tables != 2 {
			t.Errorf("%d tables, want 2", tables)
		}
	})
}

// A table without rows says what to check: a new installation shows nothing else.
func TestATableOfLocksWithoutRowsSaysWhatToCheck(t *testing.T) {
	every := maps.Clone(boards)
	maps.Copy(every, foreignBoards)
	lists := []int{panel.Locks, panel.BackendLocks, panel.Replicas}
	for name, build := range every {
		for _, recording := range []bool{false, true} {
			cfg := Default()
			cfg.Recording = recording
			out, err := build(cfg)
			if err != nil {
				t.Fatal(err)
			}
			found := 0
			for _, p := range decoded(t, out).Panels {
				if !slices.Contains(lists, p.ID) {
					continue
				}
				found++
				if none := p.FieldConfig.Defaults.NoValue; !strings.Contains(none, "check that") && !strings.Contains(none, "check the") {
					t.Errorf("%s, panel %q: without a row it says %q", name, p.Title, none)
				} else if recording && name == "overview" && !strings.Contains(none, "recording rules") {
					t.Errorf("%s, panel %q: nothing is said of the recording rules: %q", name, p.Title, none)
				}
			}
			if found == 0 {
				t.Errorf("%s lists no locks", name)
			}
		}
	}
}
