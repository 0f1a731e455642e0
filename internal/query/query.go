// Package query builds the PromQL of rules and panels from the catalogue and
// prints it with Prometheus' own printer. An expression that an alert and a
// panel share is a function here or in the alerts package; metric names and
// scope labels enter nowhere else.
package query

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// Expr is a PromQL expression as text. It may hold Grafana variables.
type Expr string

// Scope says which series are read and how they are grouped.
type Scope struct {
	// Labels identify one lock across replicas; lock_name is among them.
	Labels []string
	// Holder is the label that identifies a replica: instance or pod.
	Holder string
	// Reporter are those of Labels that identify the process that reports a lock, and
	// not the lock: an observer has a job and a namespace of its own.
	Reporter []string
	// Matchers are added to every selector of a leaderscope metric.
	Matchers []Matcher
	// TargetMatchers are added to selectors of series without a lock label, such as
	// up.
	TargetMatchers []Matcher
	// Prefix is added to every metric name of the catalogue, for exporters that add a
	// prefix or a namespace.
	Prefix string
	// Histograms are the forms that are read; the zero value reads both.
	Histograms Histograms
}

// Histograms says which forms of histograms are read.
type Histograms int

// The forms. Servers without native histograms refuse the functions that read
// them.
const (
	BothHistograms Histograms = iota
	ClassicHistograms
	NativeHistograms
)

// Either gives the expression of the forms that are read: classic first where
// both are.
func (h Histograms) Either(classic, native Expr) Expr {
	switch h {
	case ClassicHistograms:
		return classic
	case NativeHistograms:
		return native
	default:
		return Op(classic, "or", native)
	}
}

// Matcher restricts a selector.
type Matcher struct {
	Label, Op, Value string
}

// Equal, Unequal, Matches and MatchesNot build matchers.
func Equal(label, value string) Matcher { return Matcher{label, "=", value} }

// Unequal leaves one value out.
func Unequal(label, value string) Matcher { return Matcher{label, "!=", value} }

// Matches keeps values that the anchored expression matches.
func Matches(label, re string) Matcher { return Matcher{label, "=~", re} }

// MatchesNot leaves out values that the anchored expression matches.
func MatchesNot(label, re string) Matcher { return Matcher{label, "!~", re} }

// NoLabel is a label that no series has. A matcher on it enables or disables a whole
// selector: !~"$x" disables it while the variable x is All.
const NoLabel = "__none__"

func (m Matcher) String() string { return m.Label + m.Op + strconv.Quote(m.Value) }

// SingleLock keeps labels that stand for one lock each: with a shared label, two
// tenants with one leader each would look like a split brain. The empty label is
// shared by all locks whose label a View or a relabeling rule dropped.
func SingleLock() Matcher {
	return MatchesNot(catalog.LockName.Name(),
		"|"+catalog.RedactedLabel+"|"+catalog.OverflowLabel+`|.*[`+catalog.FamilyWildcard+`].*`)
}

// Metric selects a metric of the catalogue within the scope.
func (s Scope) Metric(m *catalog.Metric, matchers ...Matcher) Expr {
	scoped := s.TargetMatchers
	if m.PerLock() {
		scoped = s.Matchers
	}
	return Selector(s.Prefix+m.Name(), append(slices.Clone(scoped), matchers...)...)
}

// Bucket selects the classic buckets of a histogram.
func (s Scope) Bucket(m *catalog.Metric, matchers ...Matcher) Expr {
	return Selector(s.Prefix+m.Bucket(), append(slices.Clone(s.Matchers), matchers...)...)
}

// Count selects the number of observations of a histogram.
func (s Scope) Count(m *catalog.Metric, matchers ...Matcher) Expr {
	return Selector(s.Prefix+m.Count(), append(slices.Clone(s.Matchers), matchers...)...)
}

// Sum selects the sum of the observations of a histogram.
func (s Scope) Sum(m *catalog.Metric, matchers ...Matcher) Expr {
	return Selector(s.Prefix+m.Sum(), append(slices.Clone(s.Matchers), matchers...)...)
}

// Up selects the scrape health of the targets in scope.
func (s Scope) Up() Expr { return Selector("up", s.TargetMatchers...) }

// Selector prints name{matchers}.
func Selector(name string, matchers ...Matcher) Expr {
	if len(matchers) == 0 {
		return Expr(name)
	}
	parts := make([]string, len(matchers))
	for i, m := range matchers {
		parts[i] = m.String()
	}
	return Expr(name + "{" + strings.Join(parts, ",") + "}")
}

// By aggregates over everything but the scope labels.
func (s Scope) By(op string, e Expr) Expr { return By(op, s.Labels, e) }

// ByHolder aggregates over everything but the scope labels and the holder.
func (s Scope) ByHolder(op string, e Expr) Expr { return By(op, s.HolderLabels(), e) }

// Of keeps the results of e for the locks of a set of series, which may have further
// labels: aggregating the set first would cost more and is not needed.
func (s Scope) Of(e, set Expr) Expr { return Op(e, "and "+On(s.Labels), set) }

// Without leaves out what e says of the locks that a set of series has.
func (s Scope) Without(e, set Expr) Expr { return Op(e, "unless "+On(s.Labels), set) }

// TargetLabels are the scope labels that scrape targets carry too.
func (s Scope) TargetLabels() []string {
	return slices.DeleteFunc(slices.Clone(s.Labels), func(l string) bool { return l == catalog.LockName.Name() })
}

// HolderLabels tell the replicas of a lock apart.
func (s Scope) HolderLabels() []string {
	if slices.Contains(s.Labels, s.Holder) {
		return s.Labels
	}
	return append(slices.Clone(s.Labels), s.Holder)
}

// By prints op by (labels) (e).
func By(op string, labels []string, e Expr) Expr {
	return Expr(fmt.Sprintf("%s by (%s) (%s)", op, strings.Join(labels, ", "), e))
}

// Over prints function(e[window]), for rate, increase and the _over_time family.
func Over(function string, e Expr, window string) Expr {
	return Expr(fmt.Sprintf("%s(%s[%s])", function, e, window))
}

// OverAgo prints function(e[window] offset ago).
func OverAgo(function string, e Expr, window, ago string) Expr {
	return Expr(fmt.Sprintf("%s(%s[%s] offset %s)", function, e, window, ago))
}

// Subquery prints (e)[window:step].
func Subquery(e Expr, window, step string) Expr {
	return Expr(fmt.Sprintf("(%s)[%s:%s]", e, window, step))
}

// OverSteps prints function((e)[window:step]).
func OverSteps(function string, e Expr, window, step string) Expr {
	return Call(function, Subquery(e, window, step))
}

// Offset prints e offset d.
func Offset(e Expr, d string) Expr { return Expr(fmt.Sprintf("%s offset %s", e, d)) }

// Call prints function(args).
func Call(function string, args ...Expr) Expr {
	parts := make([]string, len(args))
	for i, a := range args {
		parts[i] = string(a)
	}
	return Expr(function + "(" + strings.Join(parts, ", ") + ")")
}

// Op joins two expressions with a binary operator, which may carry its
// matching, as in "unless on (job)". Operands that are not simple are put
// in parentheses.
func Op(left Expr, operator string, right Expr) Expr {
	return Expr(fmt.Sprintf("(%s) %s (%s)", left, operator, right))
}

// Any joins expressions with or; the first that has a result counts.
func Any(all ...Expr) Expr {
	joined := all[0]
	for _, e := range all[1:] {
		joined = Op(joined, "or", e)
	}
	return joined
}

// Number prints a number literal.
func Number(v float64) Expr { return Expr(strconv.FormatFloat(v, 'g', -1, 64)) }

// Text prints a string literal, as label_replace takes it.
func Text(s string) Expr { return Expr(strconv.Quote(s)) }

// On prints "on (labels)", for the matching of a binary operator.
func On(labels []string) string { return "on (" + strings.Join(labels, ", ") + ")" }

// Pretty parses an expression, drops needless parentheses and prints it the
// way Prometheus does. Grafana's interval variables are kept.
func Pretty(e Expr) (string, error) {
	parsed, err := Parse(e)
	if err != nil {
		return "", err
	}
	return restoreVariables(parser.Prettify(unparen(parsed))), nil
}

// Compact prints an expression on one line, with parentheses only where they
// are needed.
func Compact(e Expr) (string, error) {
	parsed, err := Parse(e)
	if err != nil {
		return "", err
	}
	return restoreVariables(unparen(parsed).String()), nil
}

// Parse parses an expression in which Grafana's interval variables stand for
// odd durations that no rule uses.
func Parse(e Expr) (parser.Expr, error) {
	parsed, err := parser.NewParser(parser.Options{}).ParseExpr(replaceVariables(string(e)))
	if err != nil {
		return nil, fmt.Errorf("expression %s: %w", e, err)
	}
	return parsed, nil
}

// The stand-ins are written the way the printer writes them.
var variables = []struct{ variable, standIn string }{
	{"$__rate_interval", "96d7h11m13s"},
	{"$__interval", "82d7h11m13s"},
	{"$__range", "124d7h11m13s"},
}

func replaceVariables(s string) string {
	for _, v := range variables {
		s = strings.ReplaceAll(s, v.variable, v.standIn)
	}
	return s
}

func restoreVariables(s string) string {
	for _, v := range variables {
		s = strings.ReplaceAll(s, v.standIn, v.variable)
	}
	return s
}
