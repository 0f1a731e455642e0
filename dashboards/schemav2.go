package dashboards

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/grafana/grafana-foundation-sdk/go/resource"

	"github.com/leaderscope/leaderscope/internal/finish"
)

// ManifestsV2 returns the dashboards in the schema of Grafana 13, as resources of its
// API. Earlier versions do not load it. The error is that
// of [Config.Validate].
func ManifestsV2(cfg Config) ([]Named, error) {
	return each(cfg, func(d Named) ([]byte, error) {
		var c classic
		if err := json.Unmarshal(d.Data, &c); err != nil {
			return nil, err
		}
		spec, err := c.v2()
		if err != nil {
			return nil, err
		}
		return finish.Canonical(resource.Manifest{
			ApiVersion: "dashboard.grafana.app/v2",
			Kind:       resource.DashboardKind,
			Metadata:   resource.Metadata{Name: c.UID},
			Spec:       spec,
		})
	})
}

// fields is a JSON object that one schema takes over from the other as it is.
type fields = map[string]any

// classic is what is in a finished dashboard.
type classic struct {
	UID, Title, Description, Timezone, Refresh string

	Tags   []string
	Time   struct{ From, To string }
	Links  []fields
	Panels []classicPanel

	Templating  struct{ List []fields }
	Annotations struct{ List []fields }
}

type classicPanel struct {
	ID              int
	Type            string
	Title           string
	Description     string
	Interval        string
	GridPos         struct{ X, Y, W, H int }
	Options         fields
	FieldConfig     fields
	Targets         []fields
	Transformations []struct {
		ID      string
		Options any
	}
}

// kind is how the newer schema wraps everything.
func kind(name string, spec fields) fields { return fields{"kind": name, "spec": spec} }

func (c classic) v2() (fields, error) {
	elements, layout := c.placed()
	var variables, annotations []any
	for _, v := range c.Templating.List {
		made, err := variableV2(v)
		if err != nil {
			return nil, err
		}
		variables = append(variables, made)
	}
	for _, a := range c.Annotations.List {
		annotations = append(annotations, annotationV2(a))
	}
	return fields{
		"title": c.Title, "description": c.Description, "tags": c.Tags, "links": c.Links,
		"editable": false, "preload": false, "cursorSync": "Crosshair",
		"timeSettings": fields{
			"timezone": c.Timezone, "from": c.Time.From, "to": c.Time.To, "autoRefresh": c.Refresh,
			"autoRefreshIntervals": []string{"5s", "10s", "30s", "1m", "5m", "15m", "30m", "1h"},
			"hideTimepicker":       false, "fiscalYearStartMonth": 0,
		},
		"variables": variables, "annotations": annotations, "elements": elements, "layout": layout,
	}, nil
}

// placed takes the panels apart from where they are: below their row, from
// which the newer schema counts.
func (c classic) placed() (elements, layout fields) {
	elements = fields{}
	var rows, items []any
	top := 0
	for i, p := range c.Panels {
		if p.Type == "row" {
			items, top = nil, p.GridPos.Y+1
			continue
		}
		name := "panel-" + strconv.Itoa(p.ID)
		elements[name] = p.v2()
		items = append(items, kind("GridLayoutItem", fields{
			"x": p.GridPos.X, "y": p.GridPos.Y - top, "width": p.GridPos.W, "height": p.GridPos.H,
			"element": fields{"kind": "ElementReference", "name": name},
		}))
		if last := i+1 == len(c.Panels) || c.Panels[i+1].Type == "row"; last {
			rows = append(rows, kind("RowsLayoutRow", fields{
				"title": c.rowOf(i), "collapse": false, "layout": kind("GridLayout", fields{"items": items}),
			}))
		}
	}
	return elements, kind("RowsLayout", fields{"rows": rows})
}

// rowOf is the title of the row above a panel.
func (c classic) rowOf(panel int) string {
	for _, p := range slices.Backward(c.Panels[:panel]) {
		if p.Type == "row" {
			return p.Title
		}
	}
	return ""
}

func (p classicPanel) v2() fields {
	queries, transformations := []any{}, []any{}
	for _, t := range p.Targets {
		ref := t["refId"]
		delete(t, "refId")
		queries = append(queries, kind("PanelQuery", fields{"refId": ref, "hidden": false, "query": queryV2(t)}))
	}
	for _, t := range p.Transformations {
		transformations = append(transformations, fields{
			"kind": "Transformation", "group": t.ID, "spec": fields{"options": t.Options},
		})
	}
	return kind("Panel", fields{
		"id": p.ID, "title": p.Title, "description": p.Description, "links": []any{},
		"data": kind("QueryGroup", fields{
			"queries": queries, "transformations": transformations, "queryOptions": fields{"interval": p.Interval},
		}),
		"vizConfig": fields{
			"kind": "VizConfig", "group": p.Type, "version": "",
			"spec": fields{"options": p.Options, "fieldConfig": p.FieldConfig},
		},
	})
}

// queryV2 names the data source once, by the variable that chooses it.
func queryV2(spec fields) fields {
	delete(spec, "datasource")
	return fields{
		"kind": "DataQuery", "group": "prometheus", "version": "v0",
		"datasource": fields{"name": "${" + datasourceVariable + "}"}, "spec": spec,
	}
}

func variableV2(v fields) (fields, error) {
	common := fields{
		"name": v["name"], "label": v["label"], "hide": "dontHide", "skipUrlSync": false, "regex": "",
		"options": []any{}, "multi": v["multi"] == true, "includeAll": v["includeAll"] == true, "allowCustomValue": true,
		"current": fields{"text": "", "value": ""},
	}
	for _, optional := range []string{"description", "allValue", "definition", "current"} {
		if v[optional] != nil {
			common[optional] = v[optional]
		}
	}
	switch v["type"] {
	case "datasource":
		common["pluginId"], common["refresh"] = v["query"], "onDashboardLoad"
		return kind("DatasourceVariable", common), nil
	case "query":
		common["refresh"], common["sort"] = "onTimeRangeChanged", "alphabeticalAsc"
		common["query"] = queryV2(fields{"__legacyStringValue": v["query"]})
		return kind("QueryVariable", common), nil
	}
	return nil, fmt.Errorf("variable %v: type %v has no counterpart in schema v2", v["name"], v["type"])
}

// annotationV2 keeps what only Prometheus' annotations have beside the query.
func annotationV2(a fields) fields {
	spec := fields{"enable": a["enable"], "hide": false, "iconColor": a["iconColor"], "name": a["name"]}
	spec["query"] = queryV2(fields{"expr": a["expr"], "refId": "Anno"})
	legacy := fields{}
	for _, name := range []string{"expr", "step", "titleFormat", "textFormat", "tagKeys"} {
		legacy[name] = a[name]
	}
	spec["legacyOptions"] = legacy
	return kind("AnnotationQuery", spec)
}
