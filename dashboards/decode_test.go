package dashboards

import (
	"encoding/json"
	"fmt"
	"slices"
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
	Transformations []struct{ ID string }
	FieldConfig     struct {
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
