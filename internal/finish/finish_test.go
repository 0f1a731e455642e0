package finish

import (
	"strings"
	"testing"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/cog/variants"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
)

// good is a dashboard of one row and two panels that nothing is wrong with.
func good() Dashboard {
	return Dashboard{
		Uid: cog.ToPtr("uid"), Title: cog.ToPtr("title"),
		Links: []dashboard.DashboardLink{{Title: "l", Placement: cog.ToPtr(dashboard.DashboardLinkPlacementInControlsMenu)}},
		Panels: []dashboard.PanelOrRowPanel{
			{RowPanel: &dashboard.RowPanel{Type: "row", Title: cog.ToPtr("row"), GridPos: &dashboard.GridPos{W: 24, H: 1}}},
			{Panel: panel(1, "one", 0)},
			{Panel: panel(2, "two", 12)},
		},
	}
}

func panel(id uint32, title string, x uint32) *dashboard.Panel {
	return &dashboard.Panel{
		Type: "stat", Id: &id, Title: &title, Description: cog.ToPtr("says"), Interval: cog.ToPtr("30s"),
		GridPos: &dashboard.GridPos{X: x, Y: 1, W: 12, H: 8},
		Options: map[string]any{"orientation": "auto"},
		FieldConfig: &dashboard.FieldConfigSource{Defaults: dashboard.FieldConfig{
			Unit: cog.ToPtr("short"), NoValue: cog.ToPtr("no data"),
			Thresholds: &dashboard.ThresholdsConfig{Steps: []dashboard.Threshold{{Color: "green"}}},
		}},
		Targets: []variants.Dataquery{query("a > 1"), query("b")},
	}
}

func query(expr string) prometheus.Dataquery {
	return prometheus.Dataquery{Expr: expr, Datasource: &common.DataSourceRef{Type: cog.ToPtr("prometheus"), Uid: cog.ToPtr("${datasource}")}}
}

func TestFinishingNumbersAndSorts(t *testing.T) {
	out, err := JSON(good())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"id": 1000`, `"refId": "A"`, `"refId": "B"`, `"expr": "a > 1"`} {
		if !strings.Contains(string(out), want) {
			t.Errorf("lacks %s:\n%s", want, out)
		}
	}
	if strings.Contains(string(out), "inControlsMenu") {
		t.Error("the link is still hidden in a menu")
	}
	if !strings.HasSuffix(string(out), "}\n") || strings.HasSuffix(string(out), "\n\n") {
		t.Error("not one newline at the end")
	}
}

func TestFinishingRefusesWhatTheSDKLetsThrough(t *testing.T) {
	cases := map[string]struct {
		spoil func(d *Dashboard, p *dashboard.Panel)
		want  string
	}{
		"no uid":               {func(d *Dashboard, _ *dashboard.Panel) { d.Uid = nil }, "dashboard: uid must have 1 to 40 characters"},
		"a long uid":           {func(d *Dashboard, _ *dashboard.Panel) { d.Uid = cog.ToPtr(strings.Repeat("u", 41)) }, "dashboard: uid must have 1 to 40 characters"},
		"no dashboard title":   {func(d *Dashboard, _ *dashboard.Panel) { d.Title = nil }, "dashboard: title is empty"},
		"an id of Grafana's":   {func(d *Dashboard, _ *dashboard.Panel) { d.Id = cog.ToPtr(int64(1)) }, "dashboard: id is set; Grafana gives it"},
		"a panel without id":   {func(_ *Dashboard, p *dashboard.Panel) { p.Id = nil }, `panel "two": id must be from 1 to 999`},
		"an id twice":          {func(_ *Dashboard, p *dashboard.Panel) { p.Id = cog.ToPtr(uint32(1)) }, `panel "two": id 1 is that of "one"`},
		"a title twice":        {func(_ *Dashboard, p *dashboard.Panel) { p.Title = cog.ToPtr("one") }, `panel "one": a second panel has this title`},
		"no description":       {func(_ *Dashboard, p *dashboard.Panel) { p.Description = nil }, `panel "two": title and description must say something`},
		"no unit":              {func(_ *Dashboard, p *dashboard.Panel) { p.FieldConfig.Defaults.Unit = nil }, `panel "two": unit is missing`},
		"no thresholds":        {func(_ *Dashboard, p *dashboard.Panel) { p.FieldConfig.Defaults.Thresholds = nil }, `panel "two": thresholds are missing`},
		"no text for no value": {func(_ *Dashboard, p *dashboard.Panel) { p.FieldConfig.Defaults.NoValue = nil }, `panel "two": text for no value is missing`},
		"no interval":          {func(_ *Dashboard, p *dashboard.Panel) { p.Interval = nil }, `panel "two": least interval is missing`},
		"off the grid":         {func(_ *Dashboard, p *dashboard.Panel) { p.GridPos.X = 13 }, `panel "two": not on the grid`},
		"over another panel":   {func(_ *Dashboard, p *dashboard.Panel) { p.GridPos.X = 11 }, `panel "two": lies over "one"`},
		"an option not chosen": {func(_ *Dashboard, p *dashboard.Panel) { p.Options = map[string]any{"orientation": ""} }, `panel "two": option orientation is empty`},
		"no query":             {func(_ *Dashboard, p *dashboard.Panel) { p.Targets = nil }, `panel "two": no query`},
		"an empty query":       {func(_ *Dashboard, p *dashboard.Panel) { p.Targets[1] = query("") }, `panel "two": query B is empty`},
		"a query of any source": {func(_ *Dashboard, p *dashboard.Panel) { p.Targets[1] = prometheus.Dataquery{Expr: "a"} },
			`panel "two": query B has no Prometheus data source`},
		"two queries of one name": {func(_ *Dashboard, p *dashboard.Panel) {
			q := query("b")
			q.RefId = cog.ToPtr("A")
			p.Targets[1] = q
		}, `panel "two": two queries are called A`},
		"a variable twice": {func(d *Dashboard, _ *dashboard.Panel) {
			d.Templating.List = []dashboard.VariableModel{{Name: "v", Type: "custom"}, {Name: "v", Type: "custom"}}
		}, "variable v: defined twice"},
		"a variable of any source": {func(d *Dashboard, _ *dashboard.Panel) {
			d.Templating.List = []dashboard.VariableModel{{Name: "v", Type: dashboard.VariableTypeQuery}}
		}, "variable v: no data source"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			d := good()
			c.spoil(&d, d.Panels[2].Panel)
			if _, err := JSON(d); err == nil || err.Error() != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}
