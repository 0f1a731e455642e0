package scenario

import (
	"fmt"
	"math"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/promeval"
)

// defaultLabels are the labels of series that do not say otherwise.
var defaultLabels = map[string]string{"job": "a", catalog.LockName.Name(): "x"}

// Form is how a configuration wants series to look.
type Form struct {
	// MetricPrefix comes before the names of the catalogue.
	MetricPrefix string
	// HolderLabel names a replica, beside instance.
	HolderLabel string
	// Labels are those of every series that says nothing else: they match the
	// selector, see [Example].
	Labels map[string]string
}

// Series reads Load.
func (s Scenario) Series(f Form) ([]promeval.Series, error) {
	load := s.Load
	if !s.Alone {
		load = bystander(f.Labels) + load
	}
	var out []promeval.Series
	for line := range strings.Lines(load) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		end := strings.IndexByte(line, ' ')
		if i := strings.Index(line, "} "); i >= 0 {
			end = i + 1
		}
		lset, err := parser.NewParser(parser.Options{}).ParseMetric(line[:end])
		if err != nil {
			return nil, fmt.Errorf("scenario %s: %s: %w", s.Title(), line, err)
		}
		nameless := strings.Contains(line[:end], catalog.LockName.Name()+`=""`)
		values := raise(s.Raised, line[:end], strings.TrimSpace(line[end:]))
		out = append(out, promeval.Series{Selector: selector(f.MetricPrefix, complete(lset, nameless, f.HolderLabel, f.Labels)), Values: values})
	}
	return out, nil
}

// raise adds to a counter that is there from the beginning, up to its reset. Of
// counters by reason, cause or result, which are parts of others, it adds a
// tenth.
func raise(by float64, series, values string) string {
	name, _, _ := strings.Cut(series, "{")
	m, known := catalog.ByName(name)
	if !known || m.Kind() != catalog.Counter && m.Kind() != catalog.Histogram {
		return values
	}
	if m.NumLabels() > 0 {
		by /= 10
	}
	entries := strings.Fields(values)
	last := math.Inf(-1)
	for i, e := range entries {
		v := entry.FindStringSubmatch(e)
		switch {
		case v == nil && i == 0:
			return values
		case v == nil:
			continue
		}
		first, step, n := number(v[1]), number(v[2]), number(v[3])
		if first < last {
			break
		}
		last = first + step*n
		entries[i] = strconv.FormatFloat(first+by, 'f', -1, 64) + strings.TrimPrefix(e, v[1])
	}
	return strings.Join(entries, " ")
}

// entry is one of values, unless it is a gap: first, step and repetitions.
var entry = regexp.MustCompile(`^([+-]?[0-9.]+)([+-][0-9.]+)?(?:x([0-9]+))?$`)

// number is 0 where there is none.
func number(s string) float64 {
	n, _ := strconv.ParseFloat(s, 64)
	return n
}

// Since moves the values of a series of Unix times to a beginning other than 0.
func Since(begin time.Duration, series, values string) string {
	name, _, _ := strings.Cut(series, "{")
	if !strings.HasSuffix(name, "_timestamp_seconds") {
		return values
	}
	entries := strings.Fields(values)
	for i, e := range entries {
		if v := entry.FindStringSubmatch(e); v != nil {
			entries[i] = strconv.FormatFloat(number(v[1])+begin.Seconds(), 'f', -1, 64) + strings.TrimPrefix(e, v[1])
		}
	}
	return strings.Join(entries, " ")
}

// bystander is a lock of another job, as far as the selector leaves the choice.
func bystander(examples map[string]string) string {
	lset := labels.NewBuilder(labels.FromStrings("instance", "bystander"))
	for _, l := range []string{"job", catalog.LockName.Name()} {
		if examples[l] == "" {
			lset.Set(l, "bystander")
		}
	}
	return catalog.Active.Name() + lset.Labels().String() + " 0x700\n"
}

// complete adds the labels that a series of a scenario does not give. A
// nameless one says by an empty label that its lock has no name.
func complete(lset labels.Labels, nameless bool, holder string, examples map[string]string) labels.Labels {
	name := lset.Get(model.MetricNameLabel)
	metric, known := catalog.ByName(name)
	b := labels.NewBuilder(lset)
	add := func(label, value string) {
		ofLocks := label == catalog.LockName.Name()
		if b.Get(label) == "" && (!ofLocks || known && metric.PerLock() && !nameless) {
			b.Set(label, value)
		}
	}
	add(holder, lset.Get("instance"))
	for label, value := range examples {
		add(label, value)
	}
	for label, value := range defaultLabels {
		add(label, value)
	}
	return b.Labels()
}

// selector has the prefix of an exporter before names of the catalogue.
func selector(prefix string, lset labels.Labels) string {
	name, rest := lset.Get(model.MetricNameLabel), labels.NewBuilder(lset).Del(model.MetricNameLabel).Labels()
	if _, known := catalog.ByName(name); known {
		name = prefix + name
	}
	return name + rest.String()
}

// Example are labels that match all matchers. The error names a matcher for
// which no value was found.
func Example(matchers []*labels.Matcher) (map[string]string, error) {
	out := map[string]string{}
	for _, m := range matchers {
		value, ok := example(m, append(matchersOf(matchers, m.Name), m))
		if !ok {
			return nil, fmt.Errorf("selector: no value of %s was found that matches %s, so no tests can be written", m.Name, m)
		}
		out[m.Name] = value
	}
	return out, nil
}

func matchersOf(all []*labels.Matcher, label string) (own []*labels.Matcher) {
	for _, m := range all {
		if m.Name == label {
			own = append(own, m)
		}
	}
	return own
}

// example finds a value that matches all matchers of one label.
func example(m *labels.Matcher, all []*labels.Matcher) (string, bool) {
	candidates := append([]string{defaultLabels[m.Name], m.Value}, m.SetMatches()...)
	if re, err := syntax.Parse(m.Value, syntax.Perl); err == nil {
		candidates = append(candidates, shortest(re.Simplify()))
	}
	candidates = append(candidates, "b", "example")
next:
	for _, value := range candidates {
		for _, other := range all {
			if value == "" || !other.Matches(value) {
				continue next
			}
		}
		return value, true
	}
	return "", false
}

// shortest is a short text that an expression without look-around matches.
func shortest(re *syntax.Regexp) string {
	switch re.Op {
	case syntax.OpLiteral:
		return string(re.Rune)
	case syntax.OpCharClass:
		return string(re.Rune[:1])
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return "x"
	case syntax.OpCapture, syntax.OpPlus, syntax.OpAlternate:
		return shortest(re.Sub[0])
	case syntax.OpConcat:
		var out strings.Builder
		for _, sub := range re.Sub {
			out.WriteString(shortest(sub))
		}
		return out.String()
	default:
		return ""
	}
}
