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
	"github.com/leaderscope/leaderscope/internal/condition"
	"github.com/leaderscope/leaderscope/internal/panel"
	"github.com/leaderscope/leaderscope/internal/query"
)

// column is one query of the table and how its values are shown.
type column struct {
	ref   string
	title string
	expr  query.Expr
	// before and labels are columns that the query brings as labels, before and
	// after that of its value, or instead of one.
	before, labels []heading
	style          []dashboard.DynamicConfigValue
}

// heading makes a column of a label of the result.
type heading struct {
	label, title string
	style        []dashboard.DynamicConfigValue
}

// locksTable lists the locks, those in trouble first. Its frames are merged by
// the scope labels, so each query gives one row per lock.
func (q queries) locksTable() *table.PanelBuilder {
	columns := q.columns()
	return q.styled(columns, tablePanel(about{
		id: panel.Locks, title: "Locks",
		description: "One row per lock, the worst first. If the name is a hash, Family shows the kind of lock, and " +
			"gen-dashboards label prints the hash of a name. Headroom is the time until the lease ends, shown while the lock is held. " +
			"– means unknown, not 0. The name of a lock links to its dashboard.",
		unit: units.Short, noValue: q.whatToCheck(), width: 24, height: 9,
		steps:   []dashboard.Threshold{base(grey)},
		targets: targetsOf(columns),
	})).
		SortBy([]cog.Builder[common.TableSortByFieldState]{common.NewTableSortByFieldStateBuilder().DisplayName("State").Desc(true)})
}

// whatToCheck is what a new installation shows in place of locks.
func (q queries) whatToCheck() string {
	text := "no lock is reported: check the data source and the labels chosen above, that services use the instrumentation, and that Prometheus scrapes them"
	if q.facts.Recorded {
		text += "; check that the recording rules are loaded"
	}
	return text
}

// noCell stands for what a row lacks. The text of an empty table would stand
// there otherwise.
const noCell = "–"

// styled merges the frames of a table by the labels that they share, and
// gives its columns their order, titles and looks.
func (q queries) styled(columns []column, b *table.PanelBuilder) *table.PanelBuilder {
	b.MinWidth(70).Transformations([]dashboard.DataTransformerConfig{
		{Id: "merge", Options: map[string]any{}},
		{Id: "organize", Options: q.arrangement(columns)},
	})
	// Grafana 13 reads the second, earlier ones the first.
	b.OverrideByName(whereLabel, []dashboard.DynamicConfigValue{property("custom.hidden", true), property("custom.hideFrom", map[string]any{"viz": true})})
	for _, l := range q.otherLabels() {
		b.OverrideByName(titleOf(l), []dashboard.DynamicConfigValue{property("custom.minWidth", 105), property("noValue", noCell)})
	}
	for _, c := range columns {
		if c.title != "" {
			b.OverrideByName(c.title, append([]dashboard.DynamicConfigValue{property("noValue", noCell)}, c.style...))
		}
		for _, h := range slices.Concat(c.before, c.labels) {
			b.OverrideByName(h.title, append([]dashboard.DynamicConfigValue{property("noValue", noCell)}, h.style...))
		}
	}
	return b
}

func (q queries) columns() []column {
	t := q.cfg.Thresholds
	info := append(slices.Clone(q.locks.Labels), "mode", "backend", "family")
	columns := []column{
		{ref: "State", title: "State", expr: q.located(q.facts.State()), style: stateStyle(), labels: []heading{
			{label: catalog.LockName.Name(), title: "Lock", style: []dashboard.DynamicConfigValue{
				property("custom.minWidth", lockWidth), property("links", []any{q.rowLink()})}}, familyHeading()}},
		{ref: "Leader", expr: q.facts.AnyLeader(), labels: []heading{{label: q.cfg.Scope.Holder, title: "Leader", style: []dashboard.DynamicConfigValue{width(130)}}}},
		{ref: "Leaders", title: "Leaders", expr: q.facts.Claims(), style: []dashboard.DynamicConfigValue{width(75)}},
		{ref: "Allowed", title: "Allowed", expr: q.facts.Allowed(), style: []dashboard.DynamicConfigValue{width(75)}},
		{ref: "Headroom", title: "Headroom", expr: q.facts.Headroom(), style: []dashboard.DynamicConfigValue{
			width(90), property("unit", units.Seconds), property("decimals", 1)}},
		{ref: "Left", title: "Lease left", expr: q.facts.LeaseLeft(), style: []dashboard.DynamicConfigValue{
			width(90), property("unit", units.PercentUnit), property("decimals", 0), textColored(),
			// Unknown takes the base colour and is not red.
			steps(base(grey), from(-1e6, red), from(0, orange), from(t.Headroom, green))}},
		{ref: "Errors", title: "Backend errors", expr: q.facts.ErrorShare(), style: []dashboard.DynamicConfigValue{
			width(125), property("unit", units.PercentUnit), property("decimals", 0), textColored(),
			steps(base(grey), from(t.ErrorShare, orange), from(t.ErrorShareCritical, red))}},
		{ref: "Acquired", title: "Last acquired", expr: query.Op(
			q.locks.By("max", q.locks.Metric(catalog.LastAcquired)), "*", query.Number(1000)), style: []dashboard.DynamicConfigValue{
			width(125), property("unit", units.DateTimeFromNow)}},
		// Replicas may disagree on these labels during a roll-out: one of
		// them, or merging would multiply the rows.
		{ref: "Info", expr: q.locks.By("topk", "1, "+query.By("max", info, q.locks.Metric(catalog.ElectorInfo))),
			labels: infoHeadings()[1:]},
	}
	if q.cfg.Aliases {
		alias := heading{label: query.AliasLabel, title: "Alias", style: []dashboard.DynamicConfigValue{width(150)}}
		columns = slices.Insert(columns, 1, column{ref: "Alias", expr: query.Aliased(q.facts.Active()), labels: []heading{alias}})
	}
	return columns
}

// familyHeading stands beside the name where there are many locks: the name may be a hash.
func familyHeading() heading {
	return heading{label: query.FamilyLabel, title: "Family", style: []dashboard.DynamicConfigValue{width(110)}}
}

func infoHeadings() []heading {
	return []heading{
		familyHeading(),
		{label: "mode", title: "Mode", style: []dashboard.DynamicConfigValue{width(60)}},
		{label: "backend", title: "Backend", style: []dashboard.DynamicConfigValue{width(90)}},
	}
}

// stateWords maps the states of a lock to names. Red is an alert that pages; orange
// is an alert that warns, or a state that may be temporary.
func stateWords() dashboard.ValueMapping {
	var all []says
	for i, c := range condition.States() {
		all = append(all, says{i, c.Text, stateColor(c)})
	}
	return words(all...)
}

func stateColor(c *condition.Condition) string {
	switch {
	case c.Pages:
		return red
	case c.State() >= condition.Trouble:
		return orange
	case c == condition.Led:
		return green
	case c == condition.Running, c == condition.LedElsewhere:
		return blue
	}
	return unseen
}

func stateStyle() []dashboard.DynamicConfigValue {
	return []dashboard.DynamicConfigValue{
		property("mappings", []dashboard.ValueMapping{stateWords()}),
		property("custom.cellOptions", map[string]any{"type": "color-background", "mode": "basic"}),
		width(140), property("custom.align", "left"),
	}
}

// lockWidth holds the label of a lock: a short name, and the 16 digits of a hash.
const lockWidth = 265

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
	for i, c := range columns {
		for _, h := range c.before {
			show(h.label, h.title)
		}
		value := "Value #" + c.ref
		if len(columns) == 1 {
			value = "Value" // Grafana numbers the values of several queries
		}
		if c.title == "" {
			hidden[value] = true
		} else {
			show(value, c.title)
		}
		for _, h := range c.labels {
			show(h.label, h.title)
		}
		if i == 0 { // a name says which lock together with these
			for _, l := range slices.Backward(q.otherLabels()) {
				show(l, titleOf(l))
			}
		}
	}
	show(whereLabel, whereLabel)
	if q.oneLock {
		hidden[q.lock] = true
	}
	return map[string]any{"excludeByName": hidden, "indexByName": order, "renameByName": names}
}

func titleOf(label string) string { return strings.ToUpper(label[:1]) + label[1:] }

// lockLink leads to the dashboard of one lock, or shows that lock alone. Both are variables of Grafana:
// its name, and what [queries.located] says of the row.
func (q queries) lockLink(name, where string) map[string]any {
	return map[string]any{
		"title": "Show this lock",
		"url": "/d/" + q.drill.UID + "?${" + datasourceVariable + ":queryparam}" + where +
			"&var-" + q.lock + "=" + name + "&${__url_time_range}",
	}
}

// rowLink is that of a row of a table, from the column of the lock.
func (q queries) rowLink() map[string]any {
	return q.lockLink("${__value.raw:percentencode}", `${__data.fields["`+whereLabel+`"]}`)
}

// whereLabel has the part of a link that chooses the labels of a row.
const whereLabel = "where"

// located adds it to each series: a link cannot leave out by itself a label
// that a series lacks.
func (q queries) located(e query.Expr, labels ...string) query.Expr {
	return query.By("max", slices.Concat(q.locks.Labels, labels, []string{whereLabel}), q.locating(e))
}

// locating leaves the parts of the link as labels beside it.
func (q queries) locating(e query.Expr) query.Expr {
	const none = "_" // begins no label of a user
	args := []query.Expr{query.Text(whereLabel), query.Text("&"), query.Text(none)}
	if len(q.otherLabels()) == 0 {
		args = append(args, query.Text(none)) // two leave an & between them: a label is never empty
	}
	for _, l := range q.otherLabels() {
		part := none + l
		args = append(args, query.Text(part))
		e = query.Call("label_replace", e, query.Text(part), query.Text("var-"+l+"=$1"), query.Text(l), query.Text("(.+)"))
	}
	return query.Call("label_join", append([]query.Expr{e}, args...)...)
}
