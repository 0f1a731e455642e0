package alerts

import (
	"fmt"
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/query"
)

// scope returns what the rules read and group by.
func (c Config) scope() (query.Scope, error) {
	matchers, err := parseSelector(c.Selector)
	if err != nil {
		return query.Scope{}, err
	}
	onTarget := slices.DeleteFunc(slices.Clone(matchers), func(m query.Matcher) bool { return m.Label == catalog.LockName.Name() })
	return query.Scope{
		Labels: c.ScopeLabels, Reporter: c.ReporterLabels, Holder: c.HolderLabel, Matchers: matchers, TargetMatchers: onTarget,
		Prefix: c.MetricPrefix, Histograms: c.Histograms.read(),
	}, nil
}

// read is the form that expressions read.
func (h Histograms) read() query.Histograms {
	switch h {
	case Both:
		return query.BothHistograms
	case Native:
		return query.NativeHistograms
	default:
		return query.ClassicHistograms
	}
}

// parseSelector reads the selector and refuses labels that only some series have.
func parseSelector(s string) ([]query.Matcher, error) {
	parsed, err := parseMatchers(s)
	if err != nil {
		return nil, err
	}
	var out []query.Matcher
	for _, m := range parsed {
		if m.Name == model.MetricNameLabel || seriesLabels()[m.Name] {
			return nil, fmt.Errorf("selector: %s matches on %s, which some series lack; use labels of the targets, or %s", s, m.Name, catalog.LockName.Name())
		}
		// It becomes part of templates, and of Helm charts.
		if strings.Contains(m.Value, "{{") || strings.Contains(m.Value, "}}") {
			return nil, fmt.Errorf("selector: %s contains double braces, which alert templates would expand; write them as [{][{]", m)
		}
		out = append(out, query.Matcher{Label: m.Name, Op: m.Type.String(), Value: m.Value})
	}
	return out, nil
}

// parseMatchers reads label matchers, with or without braces.
func parseMatchers(s string) ([]*labels.Matcher, error) {
	braced := strings.TrimSpace(s)
	if braced == "" {
		return nil, nil
	}
	if !strings.HasPrefix(braced, "{") {
		braced = "{" + braced + "}"
	}
	parsed, err := parser.NewParser(parser.Options{}).ParseMetricSelector(braced)
	if err != nil {
		return nil, fmt.Errorf("selector: %s is not a valid list of label matchers (%w); write it as in job=~\"a|b\"", s, err)
	}
	return parsed, nil
}

// seriesLabels are the labels that only some of the metrics carry.
func seriesLabels() map[string]bool {
	only := map[string]bool{labels.BucketLabel: true}
	for _, m := range catalog.All() {
		for _, l := range m.Labels() {
			only[l.Name()] = true
		}
	}
	return only
}
