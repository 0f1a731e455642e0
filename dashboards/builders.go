package dashboards

import (
	"strconv"
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/cog/variants"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/heatmap"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
	"github.com/grafana/grafana-foundation-sdk/go/statetimeline"
	"github.com/grafana/grafana-foundation-sdk/go/table"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"

	"github.com/leaderscope/leaderscope/internal/query"
)

// datasourceVariable is the variable for the data source. A fixed data source would
// work in one installation only.
const datasourceVariable = "datasource"

func datasource() common.DataSourceRef {
	return common.DataSourceRef{Type: cog.ToPtr("prometheus"), Uid: cog.ToPtr("${" + datasourceVariable + "}")}
}

// about has the texts that every kind of panel needs. The finishing pass refuses a
// panel that lacks one.
type about struct {
	id    uint32
	title string
	// description says what is shown, what it means and what to do.
	description string
	unit        string
	// noValue is shown where the metric is missing; 0 is shown as 0.
	noValue       string
	width, height uint32
	steps         []dashboard.Threshold
	targets       []target
}

// target is one query of a panel.
type target struct {
	expr   query.Expr
	legend string
	ref    string // assigned when empty
	format prometheus.PromQueryFormat
	now    bool // evaluated once, at the end of the time range
	// exemplars: the query also returns exemplars, which link a duration to its trace.
	exemplars bool
}

// longestPretty is the length beyond which an expression is printed on one line:
// data sources that use GET have URLs of at most 8 to 16 kB.
const longestPretty = 2500

// Build prints the expression. Its errors have to be BuildErrors: the SDK
// asserts that type.
func (t target) Build() (variants.Dataquery, error) {
	expr, err := query.Pretty(t.expr)
	if err == nil && len(expr) > longestPretty {
		expr, err = query.Compact(t.expr)
	}
	if err != nil {
		return nil, cog.MakeBuildErrors("target", err)
	}
	b := prometheus.NewDataqueryBuilder().Datasource(datasource()).Expr(expr).LegendFormat(t.legend).
		EditorMode(prometheus.QueryEditorModeCode).RefId(t.ref)
	if t.format != "" {
		b.Format(t.format)
	}
	if t.exemplars {
		b.Exemplar(true)
	}
	if t.now {
		return b.Instant().Build()
	}
	return b.Range().Build()
}

// panelBuilder is what the SDK's builders of all panel kinds have in common.
type panelBuilder[B any] interface {
	Id(uint32) B
	Title(string) B
	Description(string) B
	Unit(string) B
	NoValue(string) B
	Span(uint32) B
	Height(uint32) B
	Datasource(common.DataSourceRef) B
	Thresholds(cog.Builder[dashboard.ThresholdsConfig]) B
	WithTarget(cog.Builder[variants.Dataquery]) B
}

func describe[B panelBuilder[B]](b B, a about) B {
	b.Id(a.id).Title(a.title).Description(a.description).Unit(a.unit).NoValue(a.noValue).
		Span(a.width).Height(a.height).Datasource(datasource()).
		Thresholds(dashboard.NewThresholdsConfigBuilder().Mode(dashboard.ThresholdsModeAbsolute).Steps(a.steps))
	for _, t := range a.targets {
		b.WithTarget(t)
	}
	return b
}

// statPanel shows current values, one tile per series. It uses instant queries: the
// last value of a range would continue to show a dead leader.
func statPanel(a about) *stat.PanelBuilder {
	for i := range a.targets {
		a.targets[i].now = true
	}
	return describe(stat.NewPanelBuilder(), a).
		ReduceOptions(common.NewReduceDataOptionsBuilder().Calcs([]string{"lastNotNull"})).
		ColorMode(common.BigValueColorModeBackground).
		GraphMode(common.BigValueGraphModeNone).
		Orientation(common.VizOrientationAuto).
		TextMode(common.BigValueTextModeAuto)
}

// linePanel draws series over time. Grafana interrupts a line at steps without a
// value. Panels set no threshold for that, which would be wrong for other steps.
func linePanel(a about) *timeseries.PanelBuilder { return floatingPanel(a).AxisSoftMin(0) }

// floatingPanel is a linePanel of values that are far from 0 and close to each
// other.
func floatingPanel(a about) *timeseries.PanelBuilder {
	return describe(timeseries.NewPanelBuilder(), a).
		Legend(common.NewVizLegendOptionsBuilder().
			ShowLegend(true).DisplayMode(common.LegendDisplayModeList).Placement(common.LegendPlacementBottom)).
		Tooltip(common.NewVizTooltipOptionsBuilder().Mode(common.TooltipDisplayModeMulti).Sort(common.SortOrderDescending)).
		ColorScheme(dashboard.NewFieldColorBuilder().Mode(dashboard.FieldColorModeIdShades).FixedColor(blue)).
		DrawStyle(common.GraphDrawStyleLine).LineWidth(1).FillOpacity(0).ShowPoints(common.VisibilityModeAuto)
}

// limitPanel is a linePanel that draws its thresholds.
func limitPanel(a about) *timeseries.PanelBuilder {
	return linePanel(a).ThresholdsStyle(
		common.NewGraphThresholdsStyleConfigBuilder().Mode(common.GraphThresholdsStyleModeDashed))
}

// barPanel draws events: a bar means that something happened. Its steps are at least
// as long as the window of a rate, so that one event is one bar. The legend starts
// with the series with the most events.
func (q queries) barPanel(a about) *timeseries.PanelBuilder {
	return ranking(linePanel(a), "max").DrawStyle(common.GraphDrawStyleBars).FillOpacity(80).LineWidth(0).Interval(q.eventWindow())
}

// ranking gives a panel with many series a scrolling legend that starts with the
// worst: those with the greatest "max", or the smallest "min".
func ranking(b *timeseries.PanelBuilder, calc string) *timeseries.PanelBuilder {
	return b.Legend(common.NewVizLegendOptionsBuilder().
		ShowLegend(true).DisplayMode(common.LegendDisplayModeTable).Placement(common.LegendPlacementBottom).
		Calcs([]string{calc}).SortBy(strings.ToUpper(calc[:1]) + calc[1:]).SortDesc(calc == "max"))
}

// series is a line with a fixed colour, by its legend, so that its colour does not
// depend on the other lines.
type series struct {
	name, color string
	// downwards: its values are drawn below 0.
	downwards bool
}

// A line of problems is grey until there is one.
func (s series) colors() []dashboard.DynamicConfigValue {
	switch {
	case s.color != red && s.color != darkRed:
		return []dashboard.DynamicConfigValue{fixed(s.color)}
	case s.downwards:
		return []dashboard.DynamicConfigValue{byExtreme("min"), steps(base(s.color), from(-least, grey))}
	default:
		return []dashboard.DynamicConfigValue{byExtreme("max"), steps(base(grey), from(least, s.color))}
	}
}

// least is above 0, and below every rate that is not.
const least = 1e-9

// byExtreme gives a whole line the colour of its greatest or smallest value.
func byExtreme(calc string) dashboard.DynamicConfigValue {
	return property("color", map[string]any{"mode": "thresholds", "seriesBy": calc})
}

func colored(b *timeseries.PanelBuilder, lines ...series) *timeseries.PanelBuilder {
	for _, l := range lines {
		b.OverrideByName(l.name, l.colors())
	}
	return b
}

// timelinePanel draws the state of each series over time.
func timelinePanel(a about) *statetimeline.PanelBuilder {
	return describe(statetimeline.NewPanelBuilder(), a).
		Legend(common.NewVizLegendOptionsBuilder().
			ShowLegend(true).DisplayMode(common.LegendDisplayModeList).Placement(common.LegendPlacementBottom)).
		Tooltip(common.NewVizTooltipOptionsBuilder().Mode(common.TooltipDisplayModeSingle).Sort(common.SortOrderNone)).
		ShowValue(common.VisibilityModeNever).MergeValues(true).RowHeight(0.8).LineWidth(0).FillOpacity(80)
}

// bucketPanel draws a classic histogram over time.
func bucketPanel(a about) *heatmap.PanelBuilder {
	for i := range a.targets {
		a.targets[i].format = prometheus.PromQueryFormatHeatmap
	}
	return describe(heatmap.NewPanelBuilder(), a).
		Calculate(false).
		YAxis(heatmap.NewYAxisConfigBuilder().Unit(a.unit)).
		Color(heatmap.NewHeatmapColorOptionsBuilder().
			Mode(heatmap.HeatmapColorModeScheme).Scheme("Blues").Fill("dark-blue").
			Scale(heatmap.HeatmapColorScaleExponential).Exponent(0.5).Steps(64)).
		Tooltip(heatmap.NewHeatmapTooltipBuilder().Mode(common.TooltipDisplayModeSingle).ShowColorScale(true)).
		ShowLegend()
}

// tablePanel shows values of now, one row per lock.
func tablePanel(a about) *table.PanelBuilder {
	for i := range a.targets {
		a.targets[i].now, a.targets[i].format = true, prometheus.PromQueryFormatTable
	}
	return describe(table.NewPanelBuilder(), a).
		ShowHeader(true).
		CellHeight(common.TableCellHeightSm).
		// The SDK's own reader refuses the null that is written without this.
		Footer(common.NewTableFooterOptionsBuilder().Show(false).Reducer([]string{"sum"}))
}

// The colours. Red means that action is needed, orange that the state should be checked;
// blue and grey are neutral.
const (
	green  = "green"
	orange = "orange"
	red    = "red"
	// darkRed is red beside red.
	darkRed = "dark-red"
	blue    = "blue"
	grey    = "text"
	unseen  = "transparent"
)

// base is the colour below every threshold, from starts one.
func base(color string) dashboard.Threshold { return dashboard.Threshold{Color: color} }

func from(value float64, color string) dashboard.Threshold {
	return dashboard.Threshold{Value: &value, Color: color}
}

// plain is for panels without thresholds.
func plain() []dashboard.Threshold { return []dashboard.Threshold{base(blue)} }

func fixed(color string) dashboard.DynamicConfigValue {
	return dashboard.DynamicConfigValue{Id: "color", Value: map[string]any{"mode": "fixed", "fixedColor": color}}
}

func property(id string, value any) dashboard.DynamicConfigValue {
	return dashboard.DynamicConfigValue{Id: id, Value: value}
}

func steps(s ...dashboard.Threshold) dashboard.DynamicConfigValue {
	return property("thresholds", map[string]any{"mode": "absolute", "steps": s})
}

// says maps a value to a text and a colour.
type says struct {
	value int
	text  string
	color string
}

func words(entries ...says) dashboard.ValueMapping {
	options := map[string]dashboard.ValueMappingResult{}
	for i, e := range entries {
		options[strconv.Itoa(e.value)] = dashboard.ValueMappingResult{Text: &e.text, Color: &e.color, Index: cog.ToPtr(int32(i))}
	}
	return dashboard.ValueMapping{ValueMap: &dashboard.ValueMap{Type: dashboard.MappingTypeValueToText, Options: options}}
}

// below gives every value below 0 a text and a colour.
func below(text, color string) dashboard.ValueMapping {
	return dashboard.ValueMapping{RangeMap: &dashboard.RangeMap{
		Type: dashboard.MappingTypeRangeToText,
		Options: dashboard.DashboardRangeMapOptions{
			To: cog.ToPtr(-0.5), Result: dashboard.ValueMappingResult{Text: &text, Color: &color},
		},
	}}
}

// withoutPrefix shows what comes after a prefix.
func withoutPrefix(prefix string) dashboard.ValueMapping {
	return dashboard.ValueMapping{RegexMap: &dashboard.RegexMap{
		Type: dashboard.MappingTypeRegexToText,
		Options: dashboard.DashboardRegexMapOptions{
			Pattern: "/^" + prefix + "(.+)$/", Result: dashboard.ValueMappingResult{Text: cog.ToPtr("$1")},
		},
	}}
}

// colors gives texts their colours.
func colors(of map[string]string) dashboard.ValueMapping {
	options := map[string]dashboard.ValueMappingResult{}
	for text, color := range of {
		options[text] = dashboard.ValueMappingResult{Color: &color}
	}
	return dashboard.ValueMapping{ValueMap: &dashboard.ValueMap{Type: dashboard.MappingTypeValueToText, Options: options}}
}

// several gives every value from 2 up a colour and a text; without a text it
// keeps its number.
func several(text, color string) dashboard.ValueMapping {
	result := dashboard.ValueMappingResult{Color: &color}
	if text != "" {
		result.Text = &text
	}
	return dashboard.ValueMapping{RangeMap: &dashboard.RangeMap{
		Type:    dashboard.MappingTypeRangeToText,
		Options: dashboard.DashboardRangeMapOptions{From: cog.ToPtr(2.0), Result: result},
	}}
}
