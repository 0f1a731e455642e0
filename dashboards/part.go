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

// partly adds to a panel of the n "highest" or "lowest" of all an entry of
// the legend that says so, where there are more.
func partly[B interface {
	WithTarget(cog.Builder[variants.Dataquery]) B
	OverrideByQuery(string, []dashboard.DynamicConfigValue) B
}](b B, n int, order, things string, all query.Expr, more ...dashboard.DynamicConfigValue) B {
	return b.WithTarget(target{
		ref: partRef, now: true, expr: query.Call("count_values", query.Text(ofLabel), query.Op(countAll(all), ">", query.Number(float64(n)))),
		legend: fmt.Sprintf("the %d %s of {{%s}} %s", n, order, ofLabel, things),
	}).OverrideByQuery(partRef, append([]dashboard.DynamicConfigValue{
		fixed(grey), property("mappings", []dashboard.ValueMapping{words(says{1, " ", unseen})}),
	}, more...))
}

// highest says of a panel of the greatest of all things, where it is of many
// locks, how many there are.
func (q queries) highest(things string, all query.Expr, b *timeseries.PanelBuilder) *timeseries.PanelBuilder {
	return q.some(b, "highest", things, all)
}

// lowest does so of the smallest.
func (q queries) lowest(things string, all query.Expr, b *timeseries.PanelBuilder) *timeseries.PanelBuilder {
	return q.some(b, "lowest", things, all)
}

func (q queries) some(b *timeseries.PanelBuilder, order, things string, all query.Expr) *timeseries.PanelBuilder {
	if q.oneLock {
		return b
	}
	// Its value is in the legend and nowhere else.
	return partly(b, drawnLocks, order, things, all,
		property("custom.hideFrom", map[string]any{"viz": true, "tooltip": true, "legend": false}))
}
