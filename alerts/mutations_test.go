//go:build mutation

package alerts

import (
	"context"
	"fmt"
	"github.com/leaderscope/leaderscope/internal/scenario"
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

func letterOf(r Rule) (id string) {
	c := Default()
	c.Alerts.each(func(_ string, a alert) {
		if r.Name == Prefix+a.about().Alert {
			id = a.about().id
		}
	})
	return id
}

// trial is a scenario that was loaded, with what each rule does in it.
type trial struct {
	scenario scenario.Scenario
	store    *promeval.Store
	outcome  map[string]string
}

func trials(t *testing.T) []trial {
	t.Helper()
	var all []trial
	for _, s := range scenario.All() {
		store, err := promeval.Load(seriesOf(t, s, Default()), s.Every, promeval.V3)
		if err != nil {
			t.Fatal(err)
		}
		tr := trial{scenario: s, store: store, outcome: map[string]string{}}
		for _, r := range rulesOf(t, configOf(s)) {
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
	fired, err := tr.store.Alerts(ctx, bare, tr.scenario.End, scenario.Step)
	if err != nil {
		return err.Error()
	}
	return scenario.Describe(fired)
}

// Rules that are changed in one place do something else in some scenario.
// What is equivalent is listed with its reason.
func TestScenariosNoticeNearlyEveryMutationOfTheRules(t *testing.T) {
	only := regexp.MustCompile(os.Getenv("MUTANT_ALERT"))
	all := trials(t)
	var pending []mutant
	tried := map[string]bool{}
	for _, c := range []Config{Default(), configOf(scenario.Scenario{Native: true})} {
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
				!fires && tr.scenario.Letters() != m.id && tr.scenario.Letters() != "C",
				tr.scenario.Native && !native && usesHistograms(m.rule):
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
