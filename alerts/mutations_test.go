//go:build mutation

package alerts

import (
	"context"
	"fmt"
	"math"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/leaderscope/leaderscope/internal/promeval"
	"github.com/leaderscope/leaderscope/internal/query"
)

// mutant is a rule that was changed in one place.
type mutant struct {
	rule Rule
	// id begins the ids of the scenarios of its alert.
	id string
	// name says which rule and what was changed, the same in every run.
	name string
	// place is the part that was changed, in full.
	place string
	// equivalent says why no series can show it; mostly empty.
	equivalent string
}

// mutants are made from the syntax tree of a rule: each operator, aggregation,
// function, window, number and matcher in turn, and its hold and keeping.
func mutants(t *testing.T, r Rule) []mutant {
	t.Helper()
	var all []mutant
	add := func(what, place, equivalent string, change func(*Rule)) {
		m := r
		change(&m)
		name := strings.TrimPrefix(r.Name, Prefix) + "/" + r.Severity + r.Variant + ": " + what
		if equivalent == "" {
			equivalent = equivalentByName(name)
		}
		all = append(all, mutant{rule: m, id: letterOf(r), name: name, place: place, equivalent: equivalent})
	}
	original, err := query.Parse(query.Expr(r.Expr))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	parser.Inspect(original, func(n parser.Node, path []parser.Node) error {
		if n == nil {
			return nil
		}
		place := n.String()
		for _, c := range changes(n, path) {
			key := place + " | " + c.name
			if seen[key] {
				continue
			}
			seen[key] = true
			parsed, err := query.Parse(query.Expr(r.Expr))
			if err != nil {
				t.Fatal(err)
			}
			parser.Inspect(parsed, func(m parser.Node, _ []parser.Node) error {
				if m != nil && reflect.TypeOf(m) == reflect.TypeOf(n) && m.String() == place {
					c.apply(m)
				}
				return nil
			})
			changed := parsed.String()
			if _, err := query.Parse(query.Expr(changed)); err != nil {
				continue // no rule, and no server would load it
			}
			add(fmt.Sprintf("%s in %.110s", c.name, place), place, c.equivalent, func(m *Rule) { m.Expr = changed })
		}
		return nil
	})
	for _, hold := range []struct {
		name  string
		field func(*Rule) *model.Duration
	}{{"for", func(m *Rule) *model.Duration { return &m.For }}, {"keepFiringFor", func(m *Rule) *model.Duration { return &m.KeepFiringFor }}} {
		if *hold.field(&r) == 0 {
			continue
		}
		add(hold.name+" halved", "", "", func(m *Rule) { *hold.field(m) /= 2 })
		add(hold.name+" doubled", "", "", func(m *Rule) { *hold.field(m) *= 2 })
	}
	return all
}

// equivalents are mutants that no course of events of the product can show, by
// the beginnings of their names, with the reason.
var equivalents = map[string]string{
	"NoLeader/critical: window 2h0m0s doubled in leader_":                                endTogether,
	"NoLeader/warning: window 2h0m0s doubled in leader_":                                 endTogether,
	"MetricsAbsent/critical: window 3h0m0s doubled in leader_":                           endTogether,
	"JobOverdue/warning: window 48h0m0s doubled in leader_expected_interval_seconds":     endTogether,
	"Flapping/warning: window 15m0s doubled in leader_last_acquired_timestamp_seconds":   noLater,
	"TaskFailing/warning: window 1h0m0s doubled in leader_last_acquired_timestamp_secon": noLater,
	"LockVanished/warning: window 1h0m0s doubled in max by":                              "a lock of which a replica spoke within the hour was there within it",
	"LabelOverflow/warning: max becomes sum":                                             "one folded name is enough, and there are no parts of one",
}

const (
	endTogether = "the series of a replica end together, so the shorter window counts"
	noLater     = "no win is later than the sample that shows it"
)

func equivalentByName(name string) string {
	for beginning, reason := range equivalents {
		if strings.HasPrefix(name, beginning) {
			return reason
		}
	}
	return ""
}

var (
	swappedOperators = map[parser.ItemType]parser.ItemType{
		parser.LAND: parser.LUNLESS, parser.LUNLESS: parser.LAND, parser.LOR: parser.LAND,
		parser.GTR: parser.LSS, parser.LSS: parser.GTR, parser.GTE: parser.LSS, parser.LTE: parser.GTR,
		parser.EQLC: parser.NEQ, parser.ADD: parser.SUB, parser.SUB: parser.ADD, parser.MUL: parser.DIV, parser.DIV: parser.MUL,
	}
	swappedAggregations = map[parser.ItemType][]parser.ItemType{
		parser.SUM: {parser.MAX}, parser.MAX: {parser.MIN, parser.SUM}, parser.MIN: {parser.MAX}, parser.COUNT: {parser.SUM}, parser.GROUP: {parser.COUNT},
	}
)

// change is one kind of change at one place of an expression. Equal parts of a
// rule come from one line of the builder and are changed together.
type change struct {
	name  string
	apply func(parser.Node)
	// equivalent says why no series can show it.
	equivalent string
}

// changes of a place; path are the nodes above it.
func changes(n parser.Node, path []parser.Node) (all []change) {
	add := func(name, equivalent string, apply func(parser.Node)) {
		all = append(all, change{name: name, apply: apply, equivalent: equivalent})
	}
	scale := func(of string, d time.Duration, field func(parser.Node) *time.Duration) {
		add(fmt.Sprintf("%s %s halved", of, d), "", func(n parser.Node) { *field(n) /= 2 })
		add(fmt.Sprintf("%s %s doubled", of, d), "", func(n parser.Node) { *field(n) *= 2 })
	}
	switch n := n.(type) {
	case *parser.BinaryExpr:
		if op, ok := swappedOperators[n.Op]; ok {
			add(fmt.Sprintf("%s becomes %s", n.Op, op), productOfZero(n), func(n parser.Node) { n.(*parser.BinaryExpr).Op = op })
		}
	case *parser.AggregateExpr:
		for _, op := range swappedAggregations[n.Op] {
			add(fmt.Sprintf("%s becomes %s", n.Op, op), sameAggregate(n, op, path), func(n parser.Node) { n.(*parser.AggregateExpr).Op = op })
		}
	case *parser.MatrixSelector:
		scale("window", n.Range, func(n parser.Node) *time.Duration { return &n.(*parser.MatrixSelector).Range })
	case *parser.SubqueryExpr:
		scale("window", n.Range, func(n parser.Node) *time.Duration { return &n.(*parser.SubqueryExpr).Range })
	case *parser.VectorSelector:
		if n.OriginalOffset != 0 {
			scale("offset", n.OriginalOffset, func(n parser.Node) *time.Duration { return &n.(*parser.VectorSelector).OriginalOffset })
		}
		for _, m := range n.LabelMatchers {
			if m.Name != labels.MetricName {
				drop := m.String()
				add("matcher "+drop+" dropped", heldElsewhere(drop, n, path), func(n parser.Node) {
					v := n.(*parser.VectorSelector)
					v.LabelMatchers = slices.DeleteFunc(slices.Clone(v.LabelMatchers), func(m *labels.Matcher) bool { return m.String() == drop })
				})
			}
		}
	case *parser.NumberLiteral:
		if n.Val != 0 && !math.IsInf(n.Val, 0) {
			half := ""
			if n.Val == 0.5 {
				half = "between no event and one there is none"
			}
			add(fmt.Sprintf("%v halved", n.Val), half, func(n parser.Node) { n.(*parser.NumberLiteral).Val /= 2 })
			add(fmt.Sprintf("%v doubled", n.Val), "", func(n parser.Node) { n.(*parser.NumberLiteral).Val *= 2 })
		}
	}
	return all
}

// productOfZero: what is multiplied by 0 may be divided into it.
func productOfZero(n *parser.BinaryExpr) string {
	if timesZero(n) {
		return "0 times is 0 by"
	}
	if inner, ok := bare(n.RHS).(*parser.BinaryExpr); ok && n.Op == parser.ADD && (timesZero(inner) || equalsZero(inner)) {
		return "0 is added or taken away"
	}
	return ""
}

func bare(e parser.Expr) parser.Expr {
	for {
		p, ok := e.(*parser.ParenExpr)
		if !ok {
			return e
		}
		e = p.Expr
	}
}

func equalsZero(n *parser.BinaryExpr) bool {
	zero, ok := n.RHS.(*parser.NumberLiteral)
	return ok && zero.Val == 0 && n.Op == parser.EQLC
}

func timesZero(n *parser.BinaryExpr) bool {
	zero, ok := n.LHS.(*parser.NumberLiteral)
	return ok && zero.Val == 0 && n.Op == parser.MUL
}

// sameAggregate: copies of the series of one replica, which two Prometheus
// servers make, agree; info metrics are always 1; and a set operator looks at
// labels, not at values.
func sameAggregate(n *parser.AggregateExpr, to parser.ItemType, path []parser.Node) string {
	inner := n.Expr.String()
	switch {
	case slices.Contains(n.Grouping, "instance") && to == parser.MIN:
		return "copies of the series of a replica agree"
	case strings.Contains(inner, "_info{") && !strings.Contains(inner, " and ") && to == parser.MIN:
		return "an info metric is 1"
	case slices.Contains(n.Grouping, "instance") && to == parser.SUM && strings.HasPrefix(inner, "leader_elector_info"):
		return "only its presence counts"
	case onlyPresence(n, path):
		return "only its presence counts"
	case to == parser.SUM && isZeroOrNot(path):
		return "a sum of counts is 0 where the greatest is, and 1 where it is cut at 1"
	case n.Op == parser.COUNT && isOne(n.Expr):
		return "a group is 1"
	}
	return ""
}

// isZeroOrNot: what is above asks whether a value is 0, or cuts it at 1.
func isZeroOrNot(path []parser.Node) bool {
	for i := len(path) - 1; i >= 0; i-- {
		switch above := path[i].(type) {
		case *parser.ParenExpr, parser.Expressions, *parser.StepInvariantExpr:
		case *parser.SubqueryExpr:
		case *parser.BinaryExpr:
			return equalsZero(above)
		case *parser.Call:
			if above.Func.Name == "last_over_time" {
				continue
			}
			one, ok := above.Args[len(above.Args)-1].(*parser.NumberLiteral)
			return strings.HasPrefix(above.Func.Name, "clamp") && above.Func.Name != "clamp_min" && ok && one.Val == 1
		default:
			return false
		}
	}
	return false
}

// isOne: the value of every series of e is 1.
func isOne(e parser.Expr) bool {
	a, ok := bare(e).(*parser.AggregateExpr)
	return ok && (a.Op == parser.GROUP || a.Op == parser.MAX && strings.HasPrefix(a.Expr.String(), "leader_elector_info"))
}

// onlyPresence: the value is on the right of a set operator, or of a
// group, with nothing between that looks at it.
func onlyPresence(n parser.Node, path []parser.Node) bool {
	for i := len(path) - 1; i >= 0; i-- {
		switch above := path[i].(type) {
		case *parser.ParenExpr:
		case *parser.BinaryExpr:
			if (above.Op == parser.LAND || above.Op == parser.LUNLESS) && above.RHS == n || timesZero(above) {
				return true
			}
			if !above.Op.IsSetOperator() {
				return false
			}
		case *parser.AggregateExpr:
			if above.Op == parser.GROUP || above.Op == parser.COUNT {
				return true
			}
			return false
		default:
			return false
		}
		n = path[i]
	}
	return false
}

// heldElsewhere: the other side of an operator that matches lock_name has the
// matcher too, so that nothing more can meet it.
func heldElsewhere(matcher string, n parser.Node, path []parser.Node) string {
	if !strings.HasPrefix(matcher, "lock_name") {
		return ""
	}
	for i := len(path) - 1; i >= 0; i-- {
		above, ok := path[i].(*parser.BinaryExpr)
		if !ok || above.Op == parser.LOR || !onLock(above) {
			continue
		}
		other := above.LHS
		if contains(above.LHS, n) {
			other = above.RHS
			if above.Op == parser.LUNLESS {
				continue // what is taken away does not hold the rest
			}
		}
		if holds(other, matcher) {
			return "the other side of " + above.Op.String() + " has the matcher"
		}
	}
	return ""
}

// onLock: the operator compares the label of the lock.
func onLock(n *parser.BinaryExpr) bool {
	return n.VectorMatching == nil || !n.VectorMatching.On || slices.Contains(n.VectorMatching.MatchingLabels, "lock_name")
}

// holds: every result of e has a label that the matcher lets pass.
func holds(e parser.Expr, matcher string) bool {
	switch e := e.(type) {
	case *parser.VectorSelector:
		return slices.ContainsFunc(e.LabelMatchers, func(m *labels.Matcher) bool { return m.String() == matcher })
	case *parser.MatrixSelector:
		return holds(e.VectorSelector, matcher)
	case *parser.SubqueryExpr:
		return holds(e.Expr, matcher)
	case *parser.ParenExpr:
		return holds(e.Expr, matcher)
	case *parser.AggregateExpr:
		return holds(e.Expr, matcher)
	case *parser.Call:
		return slices.ContainsFunc(e.Args, func(a parser.Expr) bool { return holds(a, matcher) })
	case *parser.BinaryExpr:
		left, right := holds(e.LHS, matcher), holds(e.RHS, matcher)
		switch {
		case e.Op == parser.LOR:
			return left && right
		case e.Op == parser.LUNLESS:
			return left
		}
		return left || right && onLock(e)
	}
	return false
}

func contains(root, n parser.Node) (found bool) {
	parser.Inspect(root, func(o parser.Node, _ []parser.Node) error {
		found = found || o == n
		return nil
	})
	return found
}

func letterOf(r Rule) (id string) {
	c := Default()
	c.Alerts.each(func(_ string, a alert) {
		if r.Name == Prefix+a.about().name {
			id = a.about().id
		}
	})
	return id
}

// trial is a scenario that was loaded, with what each rule does in it.
type trial struct {
	scenario scenario
	store    *promeval.Store
	outcome  map[string]string
}

func trials(t *testing.T) []trial {
	t.Helper()
	var all []trial
	for _, s := range scenarios() {
		store, err := promeval.Load(seriesOf(t, s, Default()), s.every, promeval.V3)
		if err != nil {
			t.Fatal(err)
		}
		tr := trial{scenario: s, store: store, outcome: map[string]string{}}
		for _, r := range rulesOf(t, s.config()) {
			tr.outcome[ruleKey(r)] = tr.judge(t.Context(), r)
		}
		all = append(all, tr)
	}
	return all
}

func ruleKey(r Rule) string { return r.Name + "/" + r.Severity + r.Variant }

// judge is what a rule does, with the values that its texts would show.
func (tr trial) judge(ctx context.Context, r Rule) string {
	bare := r.evaluated()
	bare.Annotations = nil
	bare.Labels = map[string]string{"severity": r.Severity}
	fired, err := tr.store.Alerts(ctx, bare, tr.scenario.end, evaluationStep)
	if err != nil {
		return err.Error()
	}
	return describe(fired)
}

// Rules that are changed in one place do something else in some scenario.
// What is equivalent is listed with its reason.
func TestScenariosNoticeNearlyEveryMutationOfTheRules(t *testing.T) {
	only := regexp.MustCompile(os.Getenv("MUTANT_ALERT"))
	all := trials(t)
	var pending []mutant
	tried := map[string]bool{}
	for _, c := range []Config{Default(), scenario{native: true}.config()} {
		for _, r := range rulesOf(t, c) {
			if c.Histograms == Both && !strings.Contains(r.Expr, "histogram_") {
				continue // the same as with classic histograms
			}
			if !only.MatchString(ruleKey(r)) {
				continue
			}
			for _, m := range mutants(t, r) {
				if key := m.name + m.place; !tried[key] { // what both forms of histograms share is tried once
					tried[key] = true
					pending = append(pending, m)
				}
			}
		}
	}
	days := longJobsStore(t)
	survivors := make([]string, len(pending))
	var work sync.WaitGroup
	slots := make(chan struct{}, 2)
	for i, m := range pending {
		work.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			if m.equivalent == "" && !noticed(t.Context(), all, m) && !ladderNotices(t.Context(), days, m) {
				survivors[i] = m.name
			}
		})
	}
	work.Wait()
	survivors = slices.DeleteFunc(survivors, func(s string) bool { return s == "" })
	excused := 0
	for _, m := range pending {
		if m.equivalent != "" {
			excused++
		}
	}
	killed := len(pending) - excused - len(survivors)
	t.Logf("%d mutants, %d equivalent, %d killed, %d survive", len(pending), excused, killed, len(survivors))
	if path := os.Getenv("MUTANT_SURVIVORS"); path != "" {
		if err := os.WriteFile(path, []byte(strings.Join(survivors, "\n")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if share := float64(killed) / float64(len(pending)-excused); share < noticedShare {
		t.Errorf("%.1f %% of the mutants that are not equivalent are noticed, want %.0f %%; survivors:\n%s", 100*share, 100*noticedShare, strings.Join(survivors, "\n"))
	}
}

// noticedShare is what the scenarios reach. It may only grow.
const noticedShare = 0.98

// noticed asks the scenarios in which the rule fires, then those about its
// alert and the cases from the field.
func noticed(ctx context.Context, all []trial, m mutant) bool {
	key := ruleKey(m.rule)
	native := strings.Contains(m.rule.Expr, "histogram_")
	for _, fires := range []bool{true, false} {
		for _, tr := range all {
			want := tr.outcome[key]
			switch {
			case (want != "") != fires,
				!fires && !strings.HasPrefix(tr.scenario.id, m.id) && !strings.HasPrefix(tr.scenario.id, "C"),
				tr.scenario.native && !native && usesHistograms(m.rule):
				continue
			}
			if tr.judge(ctx, m.rule) != want {
				return true
			}
		}
	}
	return false
}

// ladderNotices asks the jobs of days, which are too long for scenarios.
func ladderNotices(ctx context.Context, store *promeval.Store, m mutant) bool {
	if m.rule.Name != Prefix+"JobOverdue" {
		return false
	}
	_, due := longJobs()
	got, err := overdue(ctx, store, m.rule)
	if err != nil || got != "" && len(strings.Split(got, "\n")) != len(due) {
		return true
	}
	for _, line := range strings.Split(got, "\n") {
		lock, value, _ := strings.Cut(line, " = ")
		if fmt.Sprint(due[lock].Seconds()) != value {
			return true
		}
	}
	return false
}

// usesHistograms: the rule is another one where native histograms are read.
func usesHistograms(r Rule) bool {
	return strings.Contains(r.Expr, "_count") || strings.Contains(r.Expr, "_sum")
}
