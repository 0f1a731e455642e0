package dashboards

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/leaderscope/leaderscope/internal/finish"
)

// board is a finished dashboard as a reader of its JSON sees it.
type board struct {
	Panels      []boardPanel
	Annotations struct {
		List []struct{ Name, Expr string }
	}
	sdk finish.Dashboard
}

type boardPanel struct {
	ID              int
	Type            string
	Title           string
	Targets         []boardTarget
	Interval        string
	Transformations []struct {
		ID      string
		Options struct{ IndexByName map[string]float64 }
	}
	FieldConfig struct {
		Defaults  struct{ NoValue string }
		Overrides []struct {
			Matcher    struct{ ID string }
			Properties []struct{ ID string }
		}
	}
	raw any
}

type boardTarget struct {
	RefID   string `json:"refId"`
	Expr    string
	Legend  string `json:"legendFormat"`
	Instant bool
}

func decoded(t *testing.T, out []byte) board {
	t.Helper()
	var b board
	var raw struct{ Panels []any }
	for _, into := range []any{&b, &raw, &b.sdk} {
		if err := json.Unmarshal(out, into); err != nil {
			t.Fatal(err)
		}
	}
	for i := range b.Panels {
		b.Panels[i].raw = raw.Panels[i]
	}
	return b
}

func (b board) panel(id int) boardPanel {
	return b.Panels[slices.IndexFunc(b.Panels, func(p boardPanel) bool { return p.ID == id })]
}

// expr is the query of a panel by its refId.
func (p boardPanel) expr(ref string) string {
	for _, t := range p.Targets {
		if t.RefID == ref {
			return t.Expr
		}
	}
	return ""
}

// expressions are all PromQL expressions by where they stand.
func (b board) expressions() map[string]string {
	all := map[string]string{}
	for _, p := range b.Panels {
		for _, t := range p.Targets {
			all[fmt.Sprintf("panel %q, query %s", p.Title, t.RefID)] = t.Expr
		}
	}
	for _, a := range b.Annotations.List {
		all["annotation "+a.Name] = a.Expr
	}
	return all
}

func encoded(t *testing.T, v any) []byte {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// visit calls back for every key of a JSON value.
func visit(v any, f func(key string, value any)) {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			f(k, e)
			visit(e, f)
		}
	case []any:
		for _, e := range v {
			visit(e, f)
		}
	}
}

// changedPanels says in which panels two dashboards differ; nothing of what is
// no dashboard.
func changedPanels(want, got []byte) string {
	before, after := panelsByTitle(want), panelsByTitle(got)
	var all []string
	for _, title := range slices.Sorted(maps.Keys(after)) {
		switch old, had := before[title]; {
		case !had:
			all = append(all, fmt.Sprintf("panel %q is new", title))
		case old != after[title]:
			all = append(all, fmt.Sprintf("panel %q differs", title))
		}
	}
	for _, title := range slices.Sorted(maps.Keys(before)) {
		if _, has := after[title]; !has {
			all = append(all, fmt.Sprintf("panel %q is gone", title))
		}
	}
	if all == nil {
		return ""
	}
	return ": " + strings.Join(all, ", ")
}

// panelsByTitle are the panels of a dashboard but for their places, which move
// with every panel above them.
func panelsByTitle(data []byte) map[string]string {
	var b struct{ Panels []map[string]any }
	if json.Unmarshal(data, &b) != nil {
		return nil
	}
	all := map[string]string{}
	for _, p := range b.Panels {
		if p["type"] == "row" {
			continue
		}
		delete(p, "gridPos")
		text, _ := json.Marshal(p) // it was JSON
		all[fmt.Sprint(p["title"])] = string(text)
	}
	return all
}

func TestADifferenceNamesItsPanels(t *testing.T) {
	board := func(panels string) []byte { return []byte(`{"panels": [` + panels + `]}`) }
	const kept, moved, changed = `{"title":"a","gridPos":{"y":1}}`, `{"title":"a","gridPos":{"y":9}}`, `{"title":"a","unit":"s"}`
	cases := map[string]struct {
		want, got []byte
		says      string
	}{
		"none":               {board(kept), board(kept), ""},
		"a panel that moved": {board(kept), board(moved), ""},
		"a panel that differs, one that is new, one that is gone": {
			board(kept + `,{"title":"c"}`), board(changed + `,{"title":"b"}`), `: panel "a" differs, panel "b" is new, panel "c" is gone`},
		"what is no dashboard": {[]byte("a: b"), []byte("a: c"), ""},
	}
	for name, c := range cases {
		if got := changedPanels(c.want, c.got); got != c.says {
			t.Errorf("%s: got %q, want %q", name, got, c.says)
		}
	}
}
