// Package finish turns a dashboard as the Grafana SDK builds it into the JSON
// that ships: numbers what the SDK leaves unnumbered, refuses what it lets
// through, and writes one canonical form.
package finish

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
)

const (
	gridWidth = 24
	// firstRow is the id of the first row. Panels stay below, so that adding
	// a row changes no panel's id.
	firstRow = 1000
	// maxUID is Grafana's limit on the length of a uid.
	maxUID = 40
)

// Dashboard is the classic schema: what every Grafana loads, those before 13
// alone. The SDK prefers the schema that only the newest know.
type Dashboard = dashboard.Dashboard //lint:ignore SA1019 as said above

// JSON finishes a dashboard: rows are numbered from 1000, queries without a
// refId get the next free letter, and the result is indented JSON with sorted
// keys, unescaped PromQL and a newline at the end. All defects are reported
// in one error.
func JSON(d Dashboard) ([]byte, error) {
	f := &finisher{ids: map[uint32]string{}, titles: map[string]bool{}}
	f.dashboard(&d)
	if err := errors.Join(f.problems...); err != nil {
		return nil, err
	}
	return Canonical(d)
}

type finisher struct {
	problems []error
	ids      map[uint32]string
	titles   map[string]bool
	placed   []place
	rows     uint32
}

// place is the part of the grid that a panel takes.
type place struct {
	title      string
	x, y, w, h uint32
}

func (f *finisher) fail(format string, args ...any) {
	f.problems = append(f.problems, fmt.Errorf(format, args...))
}

func (f *finisher) dashboard(d *Dashboard) {
	if d.Uid == nil || *d.Uid == "" || len(*d.Uid) > maxUID {
		f.fail("dashboard: uid must have 1 to %d characters", maxUID)
	}
	if text(d.Title) == "" {
		f.fail("dashboard: title is empty")
	}
	if d.Id != nil {
		f.fail("dashboard: id is set; Grafana gives it")
	}
	for i := range d.Panels {
		if row := d.Panels[i].RowPanel; row != nil {
			f.row(row)
			continue
		}
		f.panel(d.Panels[i].Panel)
	}
	f.variables(d)
	// The SDK's default hides links and annotation switches in a menu.
	for i := range d.Links {
		d.Links[i].Placement = nil
	}
	for i := range d.Annotations.List {
		d.Annotations.List[i].Placement = nil
	}
}

func (f *finisher) row(r *dashboard.RowPanel) {
	r.Id = firstRow + f.rows
	f.rows++
	if text(r.Title) == "" {
		f.fail("row %d: title is empty", r.Id)
	}
	f.place("row "+text(r.Title), r.GridPos)
	for i := range r.Panels {
		f.panel(&r.Panels[i])
	}
}

func (f *finisher) panel(p *dashboard.Panel) {
	title := text(p.Title)
	if title == "" || text(p.Description) == "" {
		f.fail("panel %q: title and description must say something", title)
	}
	if f.titles[title] {
		f.fail("panel %q: a second panel has this title", title)
	}
	f.titles[title] = true
	f.id(title, p.Id)
	if p.FieldConfig == nil || text(p.FieldConfig.Defaults.Unit) == "" {
		f.fail("panel %q: unit is missing", title)
	}
	if p.FieldConfig != nil && (p.FieldConfig.Defaults.Thresholds == nil || len(p.FieldConfig.Defaults.Thresholds.Steps) == 0) {
		f.fail("panel %q: thresholds are missing", title)
	}
	if p.FieldConfig != nil && text(p.FieldConfig.Defaults.NoValue) == "" {
		f.fail("panel %q: text for no value is missing", title)
	}
	if text(p.Interval) == "" {
		f.fail("panel %q: least interval is missing", title)
	}
	f.place(title, p.GridPos)
	f.targets(title, p)
	f.options(title, p.Options)
}

// options refuses choices that were never made: the SDK writes an empty
// string for them, which Grafana takes for none of its values.
func (f *finisher) options(title string, options any) {
	raw, err := json.Marshal(options)
	if err != nil {
		f.fail("panel %q: %w", title, err)
		return
	}
	var decoded map[string]any
	if err := json.Unmarshal(raw, &decoded); err != nil {
		f.fail("panel %q: %w", title, err)
	}
	for _, key := range slices.Sorted(maps.Keys(decoded)) {
		if decoded[key] == "" {
			f.fail("panel %q: option %s is empty", title, key)
		}
	}
}

func (f *finisher) id(title string, id *uint32) {
	switch {
	case id == nil || *id < 1 || *id >= firstRow:
		f.fail("panel %q: id must be from 1 to %d", title, firstRow-1)
	case f.ids[*id] != "":
		f.fail("panel %q: id %d is that of %q", title, *id, f.ids[*id])
	default:
		f.ids[*id] = title
	}
}

func (f *finisher) place(title string, g *dashboard.GridPos) {
	if g == nil || g.W < 1 || g.H < 1 || g.X+g.W > gridWidth {
		f.fail("panel %q: not on the grid", title)
		return
	}
	p := place{title, g.X, g.Y, g.W, g.H}
	for _, o := range f.placed {
		if p.x < o.x+o.w && o.x < p.x+p.w && p.y < o.y+o.h && o.y < p.y+p.h {
			f.fail("panel %q: lies over %q", title, o.title)
		}
	}
	f.placed = append(f.placed, p)
}

func (f *finisher) targets(title string, p *dashboard.Panel) {
	if len(p.Targets) == 0 {
		f.fail("panel %q: no query", title)
	}
	refs := map[string]bool{}
	for i := range p.Targets {
		t, ok := p.Targets[i].(prometheus.Dataquery)
		if !ok {
			f.fail("panel %q: query %d is a %T, not Prometheus'", title, i+1, p.Targets[i])
			continue
		}
		ref := text(t.RefId)
		if ref == "" {
			ref = string(rune('A' + i))
		}
		if refs[ref] {
			f.fail("panel %q: two queries are called %s", title, ref)
		}
		refs[ref] = true
		if t.Expr == "" {
			f.fail("panel %q: query %s is empty", title, ref)
		}
		if t.Datasource == nil || text(t.Datasource.Type) != "prometheus" || text(t.Datasource.Uid) == "" {
			f.fail("panel %q: query %s has no Prometheus data source", title, ref)
		}
		t.RefId = &ref
		p.Targets[i] = t
	}
}

func (f *finisher) variables(d *Dashboard) {
	names := map[string]bool{}
	for _, v := range d.Templating.List {
		if names[v.Name] {
			f.fail("variable %s: defined twice", v.Name)
		}
		names[v.Name] = true
		if v.Type == dashboard.VariableTypeQuery && (v.Datasource == nil || text(v.Datasource.Uid) == "") {
			f.fail("variable %s: no data source", v.Name)
		}
	}
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// Canonical returns JSON with sorted keys, unescaped < and >, and a newline at the
// end. The SDK's own encoders always escape < and >, hence the second pass.
func Canonical(v any) ([]byte, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var plain any
	if err := d.Decode(&plain); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(plain); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
