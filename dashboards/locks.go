package dashboards

import (
	"slices"
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/table"
	"github.com/grafana/grafana-foundation-sdk/go/units"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/panel"
	"github.com/leaderscope/leaderscope/internal/query"
)

// column is one query of the table and how its values are shown.
type column struct {
	ref   string
	title string
	expr  query.Expr
	// labels are columns that the query brings as labels instead of a value.
	labels []heading
	style  []dashboard.DynamicConfigValue
}

// heading gives a label of the result its title and width in pixels.
type heading struct {
	label, title string
	width        int
}

// locksTable lists the locks, those in trouble first. Its frames are merged by
// the scope labels, so each query gives one row per lock.
func (q queries) locksTable() *table.PanelBuilder {
	columns := q.columns()
	b := tablePanel(about{
		id: panel.Locks, title: "Locks",
		description: "One row per lock, the worst first. A name may be a hash: Family says what kind of lock it is, and " +
			"gen-dashboards label turns a name into its hash. Headroom is the time until the lease ends, shown while the lock is held; " +
			"– means unknown, not 0. Follow a name to see that lock alone.",
		unit: units.Short, noValue: "–", width: 24, height: 9,
		steps:   []dashboard.Threshold{base(grey)},
		targets: targetsOf(columns),
	}).
		MinWidth(70).
		SortBy([]cog.Builder[common.TableSortByFieldState]{common.NewTableSortByFieldStateBuilder().DisplayName("State").Desc(true)}).
		Transformations([]dashboard.DataTransformerConfig{
			{Id: "merge", Options: map[string]any{}},
			{Id: "organize", Options: q.arrangement(columns)},
		}).
		OverrideByName("Lock", []dashboard.DynamicConfigValue{property("links", []any{q.filterLink()}), property("custom.minWidth", 190)})
	for _, c := range columns {
		if len(c.style) > 0 {
			b.OverrideByName(c.title, c.style)
		}
		for _, h := range c.labels {
			b.OverrideByName(h.title, []dashboard.DynamicConfigValue{width(h.width)})
		}
	}
	return b
}

func (q queries) columns() []column {
	t := q.cfg.Thresholds
	info := append(slices.Clone(q.locks.Labels), "mode", "backend", "family")
	return []column{
		{ref: "State", title: "State", expr: q.state(), style: stateStyle()},
		{ref: "Leader", expr: q.holder(), labels: []heading{{q.cfg.Scope.Holder, "Leader", 160}}},
		{ref: "Leaders", title: "Leaders", expr: q.claims(), style: []dashboard.DynamicConfigValue{width(80)}},
		{ref: "Allowed", title: "Allowed", expr: q.allowed(), style: []dashboard.DynamicConfigValue{width(80)}},
		{ref: "Headroom", title: "Headroom", expr: q.headroom(), style: []dashboard.DynamicConfigValue{
			width(90), property("unit", units.Seconds), property("decimals", 1)}},
		{ref: "Left", title: "Lease left", expr: q.leaseLeft(), style: []dashboard.DynamicConfigValue{
			width(90), property("unit", units.PercentUnit), property("decimals", 0), textColored(),
			// Unknown takes the base colour and is not red.
			steps(base(grey), from(-1e6, red), from(0, orange), from(t.Headroom, green))}},
		{ref: "Errors", title: "Backend errors", expr: q.errorShare(), style: []dashboard.DynamicConfigValue{
			width(125), property("unit", units.PercentUnit), property("decimals", 0), textColored(),
			steps(base(grey), from(t.ErrorShare, orange), from(t.ErrorShareCritical, red))}},
		{ref: "Acquired", title: "Last acquired", expr: query.Op(
			q.locks.By("max", q.locks.Metric(catalog.LastAcquired)), "*", query.Number(1000)), style: []dashboard.DynamicConfigValue{
			width(125), property("unit", units.DateTimeFromNow)}},
		// Replicas may disagree on these labels during a roll-out: one of
		// them, or merging would multiply the rows.
		{ref: "Info", expr: q.locks.By("topk", "1, "+query.By("max", info, q.locks.Metric(catalog.ElectorInfo))),
			labels: []heading{{"family", "Family", 150}, {"mode", "Mode", 60}, {"backend", "Backend", 90}}},
	}
}

// States of a lock, the worst has the greatest number.
const (
	stateFine = iota
	stateErrors
	stateNearLease
	statePastLease
	stateCrowded
	stateLeaderless
)

// state is the worst that can be said of a lock: or takes its left side first.
func (q queries) state() query.Expr {
	lease := duration(q.cfg.Thresholds.LeaseWindow)
	worst := mark(stateLeaderless, q.leaderless())
	for _, s := range []query.Expr{
		mark(stateCrowded, q.crowded()),
		mark(statePastLease, query.Op(q.overruns(lease), ">", query.Number(0.5))),
		mark(stateNearLease, query.Op(q.nearLease(lease), ">", query.Number(0.5))),
		mark(stateErrors, q.erring()),
		mark(stateFine, q.active()),
	} {
		worst = query.Op(worst, "or", s)
	}
	return worst
}

// mark gives all series of e one value.
func mark(state int, e query.Expr) query.Expr {
	return query.Op(query.Op(query.Number(0), "*", e), "+", query.Number(float64(state)))
}

func stateStyle() []dashboard.DynamicConfigValue {
	return []dashboard.DynamicConfigValue{
		property("mappings", []dashboard.ValueMapping{words(
			says{stateFine, "fine", green},
			says{stateErrors, "backend errors", orange},
			says{stateNearLease, "near its lease", orange},
			says{statePastLease, "past its lease", red},
			says{stateCrowded, "too many leaders", red},
			says{stateLeaderless, "no leader", red},
		)}),
		property("custom.cellOptions", map[string]any{"type": "color-background", "mode": "basic"}),
		width(140), property("custom.align", "left"),
	}
}

func width(pixels int) dashboard.DynamicConfigValue { return property("custom.width", pixels) }

func textColored() dashboard.DynamicConfigValue {
	return property("custom.cellOptions", map[string]any{"type": "color-text"})
}

func targetsOf(columns []column) []target {
	targets := make([]target, len(columns))
	for i, c := range columns {
		targets[i] = target{ref: c.ref, expr: c.expr}
	}
	return targets
}

// arrangement orders and names the columns of the merged frames. A value is
// called after its query.
func (q queries) arrangement(columns []column) map[string]any {
	order, names, hidden := map[string]any{}, map[string]any{}, map[string]any{"Time": true}
	show := func(field, title string) {
		order[field] = len(order)
		names[field] = title
	}
	show("Value #State", "State")
	show(catalog.LockName.Name, "Lock")
	for _, c := range columns {
		for _, h := range c.labels {
			show(h.label, h.title)
		}
		if c.title == "" {
			hidden["Value #"+c.ref] = true
		} else if c.title != "State" {
			show("Value #"+c.ref, c.title)
		}
	}
	for _, l := range q.locks.TargetLabels() {
		show(l, titleOf(l))
	}
	return map[string]any{"excludeByName": hidden, "indexByName": order, "renameByName": names}
}

func titleOf(label string) string { return strings.ToUpper(label[:1]) + label[1:] }

// filterLink shows the dashboard for one lock.
func (q queries) filterLink() map[string]any {
	return map[string]any{
		"title": "Show this lock alone",
		"url":   "/d/" + q.cfg.UID + "?${datasource:queryparam}&${__url_time_range}&var-" + catalog.LockName.Name + "=${__value.raw:percentencode}",
	}
}
