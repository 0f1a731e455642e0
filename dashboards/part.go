package dashboards

import (
	"fmt"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/cog/variants"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"

	"github.com/leaderscope/leaderscope/internal/query"
)

// partRef is the query of a panel that says how much of all it shows.
const partRef = "More"

// ofLabel has the number of all there are: a legend can show labels only.
const ofLabel = "of"

// panelWithParts are the builders of panels that show a part of all.
type panelWithParts[B any] interface {
	WithTarget(cog.Builder[variants.Dataquery]) B
	OverrideByQuery(string, []dashboard.DynamicConfigValue) B
}

// counted is a query whose legend has the number that e counts, as {{of}}. It
// asks for the end of the time range alone: each number is a legend of its own.
func counted(e query.Expr, legend string) target {
	return target{ref: partRef, now: true, expr: query.Call("count_values", query.Text(ofLabel), e), legend: legend}
}

// partly adds to a panel of the n "highest" or "lowest" of all an entry of
// the legend that says so, where there are more.
func partly[B panelWithParts[B]](b B, n int, order, things string, all query.Expr) B {
	return b.WithTarget(counted(moreThan(n, all), part(n, order, things))).OverrideByQuery(partRef, wordless(1))
}

func moreThan(n int, all query.Expr) query.Expr {
	return query.Op(countAll(all), ">", query.Number(float64(n)))
}

func part(n int, order, things string) string {
	return fmt.Sprintf("the %d %s of {{%s}} %s", n, order, ofLabel, things)
}

// wordless shows no text for a value, independent of the mappings of the panel.
func wordless(value int) []dashboard.DynamicConfigValue {
	return []dashboard.DynamicConfigValue{fixed(grey), property("mappings", []dashboard.ValueMapping{words(says{value, " ", unseen})})}
}

// first is a value that begins a legend in the order of values.
const first = 1_000_000_000

// highest says of a panel of the greatest of all things, where it is of many
// locks, how many there are.
func (q queries) highest(things string, all query.Expr, b *timeseries.PanelBuilder) *timeseries.PanelBuilder {
	return q.some(b, "highest", things, all, first)
}

// lowest does so of the smallest.
func (q queries) lowest(things string, all query.Expr, b *timeseries.PanelBuilder) *timeseries.PanelBuilder {
	return q.some(b, "lowest", things, all, -first)
}

// some puts the entry first in the legend, and nothing into the drawing.
func (q queries) some(b *timeseries.PanelBuilder, order, things string, all query.Expr, value int) *timeseries.PanelBuilder {
	if q.oneLock {
		return b
	}
	entry := counted(moreThan(drawnLocks, all), part(drawnLocks, order, things))
	entry.expr = query.Op(query.Number(float64(value)), "*", entry.expr)
	return b.WithTarget(entry).OverrideByQuery(partRef, append(wordless(value),
		property("custom.hideFrom", map[string]any{"viz": true, "tooltip": true, "legend": false})))
}
