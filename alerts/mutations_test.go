package alerts

import (
	"context"
	"fmt"
	"os"
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
}

// mutants are made from the syntax tree of a rule: each operator, aggregation,
// function, window, number and matcher in turn, and its hold and keeping.
func mutants(t *testing.T, r Rule) []mutant {
	t.Helper()
	var all []mutant
	add := func(what string, change func(*Rule)) {
		m := r
		change(&m)
		name := strings.TrimPrefix(r.Name, Prefix) + "/" + r.Severity + r.Variant + ": " + what
		all = append(all, mutant{rule: m, id: letterOf(r), name: name})
	}
	for i := 0; ; i++ {
		parsed, err := query.Parse(query.Expr(r.Expr))
		if err != nil {
			t.Fatal(err)
		}
		what := mutate(parsed, i)
		if what == "" {
			break
		}
		changed := parsed.String()
		if _, err := query.Parse(query.Expr(changed)); err != nil {
			continue // no rule, and no server would load it
		}
		add(fmt.Sprintf("%d %s", i, what), func(m *Rule) { m.Expr = changed })
	}
	for _, hold := range []struct {
		name  string
		field func(*Rule) *model.Duration
	}{{"for", func(m *Rule) *model.Duration { return &m.For }}, {"keepFiringFor", func(m *Rule) *model.Duration { return &m.KeepFiringFor }}} {
		if *hold.field(&r) == 0 {
			continue
		}
		add(hold.name+" halved", func(m *Rule) { *hold.field(m) /= 2 })
		add(hold.name+" doubled", func(m *Rule) { *hold.field(m) *= 2 })
	}
	return all
}

var (
	swappedOperators = map[parser.ItemType][]parser.ItemType{
		parser.LAND: {parser.LUNLESS}, parser.LUNLESS: {parser.LAND}, parser.LOR: {parser.LAND},
		parser.GTR: {parser.LSS, parser.GTE}, parser.LSS: {parser.GTR, parser.LTE}, parser.GTE: {parser.GTR, parser.LSS}, parser.LTE: {parser.LSS, parser.GTR},
		parser.EQLC: {parser.NEQ}, parser.ADD: {parser.SUB}, parser.SUB: {parser.ADD}, parser.MUL: {parser.DIV}, parser.DIV: {parser.MUL},
	}
	swappedAggregations = map[parser.ItemType][]parser.ItemType{
		parser.SUM: {parser.MAX, parser.COUNT}, parser.MAX: {parser.MIN, parser.SUM}, parser.MIN: {parser.MAX},
		parser.COUNT: {parser.SUM, parser.MAX}, parser.GROUP: {parser.COUNT},
	}
	swappedFunctions = map[string][]string{
		"increase": {"resets", "delta"}, "delta": {"increase"}, "resets": {"changes"}, "last_over_time": {"max_over_time", "min_over_time"},
		"max_over_time": {"min_over_time", "last_over_time"}, "min_over_time": {"max_over_time"}, "count_over_time": {"last_over_time"},
		"clamp_min": {"clamp_max"}, "clamp_max": {"clamp_min"},
	}
)

// mutate changes the i-th place of an expression and says how; empty: there
// are fewer places.
func mutate(root parser.Expr, i int) (what string) {
	next := func() bool { i--; return i == -1 }
	parser.Inspect(root, func(n parser.Node, _ []parser.Node) error {
		switch n := n.(type) {
		case *parser.BinaryExpr:
			for _, op := range swappedOperators[n.Op] {
				if next() {
					what = fmt.Sprintf("%s becomes %s", n.Op, op)
					n.Op = op
					if op.IsSetOperator() {
						n.VectorMatching.Card = parser.CardManyToMany
					}
					return nil
				}
			}
			for _, side := range []bool{true, false} {
				if n.Op.IsSetOperator() && next() {
					what = fmt.Sprintf("one side of %s is dropped: %s", n.Op, map[bool]string{true: "left", false: "right"}[side])
					if side {
						n.LHS = n.RHS
					} else {
						n.RHS = n.LHS
					}
					n.Op = parser.LOR
				}
			}
		case *parser.AggregateExpr:
			for _, op := range swappedAggregations[n.Op] {
				if next() {
					what = fmt.Sprintf("%s becomes %s", n.Op, op)
					n.Op = op
					return nil
				}
			}
		case *parser.Call:
			for _, f := range swappedFunctions[n.Func.Name] {
				if next() {
					what = n.Func.Name + " becomes " + f
					n.Func = parser.Functions[f]
					return nil
				}
			}
		case *parser.MatrixSelector:
			what = scaled(&n.Range, "window", next, what)
		case *parser.SubqueryExpr:
			what = scaled(&n.Range, "window", next, what)
			what = scaled(&n.Step, "step", next, what)
		case *parser.VectorSelector:
			if n.OriginalOffset != 0 {
				what = scaled(&n.OriginalOffset, "offset", next, what)
			}
			for k, m := range n.LabelMatchers {
				if m.Name == labels.MetricName {
					continue
				}
				if next() {
					what = "matcher " + m.String() + " is dropped"
					n.LabelMatchers = slices.Delete(slices.Clone(n.LabelMatchers), k, k+1)
					return nil
				}
			}
		case *parser.NumberLiteral:
			if n.Val != 0 && next() {
				what, n.Val = fmt.Sprintf("%v is halved", n.Val), n.Val/2
			}
			if n.Val != 0 && next() {
				what, n.Val = fmt.Sprintf("%v is doubled", n.Val), n.Val*2
			}
		}
		return nil
	})
	return what
}

func scaled(d *time.Duration, of string, next func() bool, what string) string {
	if next() {
		what, *d = fmt.Sprintf("%s %s is halved", of, *d), *d/2
	}
	if next() {
		what, *d = fmt.Sprintf("%s %s is doubled", of, *d), *d*2
	}
	return what
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
	if testing.Short() {
		t.Log("only the mutants of one rule in five, because of -short")
	}
	all := trials(t)
	var pending []mutant
	seen := 0
	for _, c := range []Config{Default(), scenario{native: true}.config()} {
		for _, r := range rulesOf(t, c) {
			if c.Histograms == Both && !strings.Contains(r.Expr, "histogram_") {
				continue // the same as with classic histograms
			}
			if seen++; testing.Short() && seen%5 != 0 {
				continue
			}
			pending = append(pending, mutants(t, r)...)
		}
	}
	survivors := make([]string, len(pending))
	var work sync.WaitGroup
	slots := make(chan struct{}, 2)
	for i, m := range pending {
		work.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			if !noticed(t.Context(), all, m) {
				survivors[i] = m.name
			}
		})
	}
	work.Wait()
	survivors = slices.DeleteFunc(survivors, func(s string) bool { return s == "" })
	excused := 0
	var unexcused []string
	for _, s := range survivors {
		if equivalent(s) {
			excused++
		} else {
			unexcused = append(unexcused, s)
		}
	}
	killed := len(pending) - len(survivors)
	t.Logf("%d mutants, %d equivalent, %d killed, %d survive", len(pending), excused, killed, len(unexcused))
	if path := os.Getenv("MUTANT_SURVIVORS"); path != "" {
		if err := os.WriteFile(path, []byte(strings.Join(unexcused, "\n")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if share := float64(killed) / float64(len(pending)-excused); share < 0.95 {
		t.Errorf("%.1f %% of the mutants that are not equivalent are noticed, want 95 %%; survivors:\n%s", 100*share, strings.Join(unexcused, "\n"))
	}
}

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

// usesHistograms: the rule is another one where native histograms are read.
func usesHistograms(r Rule) bool {
	return strings.Contains(r.Expr, "_count") || strings.Contains(r.Expr, "_sum")
}

// equivalents are changes that no series can show, by a part of their name.
var equivalents = map[string]string{}

func equivalent(name string) bool {
	for part := range equivalents {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}

func scenarioTitled(t *testing.T, beginning string) scenario {
	t.Helper()
	for _, s := range scenarios() {
		if s.id == beginning || strings.HasPrefix(s.title(), beginning) {
			return s
		}
	}
	t.Fatalf("no scenario %s", beginning)
	return scenario{}
}
