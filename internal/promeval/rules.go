package promeval

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/template"
)

// Rule is an alerting rule.
type Rule struct {
	Name, Expr         string
	For, KeepFiringFor time.Duration
	// Labels and Annotations are templates. Labels are expanded when an alert
	// begins to fire, and are taken to stay as they are.
	Labels, Annotations map[string]string
}

// Firing is a stretch of time during which one alert fired. Times are
// counted from the start of the series.
type Firing struct {
	// Labels identify the alert; alertname is among them.
	Labels labels.Labels
	// From is the first evaluation at which it fired.
	From time.Duration
	// To is the first evaluation at which it no longer fired, unless Open.
	To time.Duration
	// Open means that it still fired at the last evaluation.
	Open bool
	// Value is that of the expression at From.
	Value float64
	// Annotations are expanded as of From. A template that fails leaves
	// Prometheus' own error text.
	Annotations map[string]string
}

// Alerts evaluates a rule every step from 0 to end, both included, and
// returns when it fired, in the order of labels and time.
func (s *Store) Alerts(ctx context.Context, r Rule, end, step time.Duration) ([]Firing, error) {
	matrix, done, err := s.evaluate(ctx, r.Expr, end, step)
	if err != nil {
		return nil, err
	}
	defer done()
	var out []Firing
	seen := map[uint64]bool{}
	for _, series := range matrix {
		identity := r.identity(series.Metric)
		if seen[identity.Hash()] {
			return nil, fmt.Errorf("rule %s: two results become the alert %s", r.Name, identity)
		}
		seen[identity.Hash()] = true
		values := make(map[time.Duration]float64, len(series.Floats))
		for _, p := range series.Floats {
			values[time.Duration(p.T)*time.Millisecond] = p.F
		}
		firings := r.firings(values, end, step)
		for i := range firings {
			f := &firings[i]
			found := promql.Sample{Metric: series.Metric, F: values[f.From]}
			f.Labels, f.Value = s.label(ctx, r, identity, found, f.From), found.F
			f.Annotations = s.expand(ctx, r, found, f.From)
		}
		out = append(out, firings...)
	}
	slices.SortStableFunc(out, func(a, b Firing) int { return labels.Compare(a.Labels, b.Labels) })
	return out, nil
}

// Result is what a rule finds at one time, as an alert.
type Result struct {
	Labels labels.Labels
	// Annotations are expanded as of that time.
	Annotations map[string]string
}

// Results evaluates a rule at one time, without its for, and returns the alerts in
// the order of their labels.
func (s *Store) Results(ctx context.Context, r Rule, at time.Duration) ([]Result, error) {
	vector, err := s.Query(ctx, r.Expr, epoch.Add(at))
	if err != nil {
		return nil, err
	}
	var out []Result
	for _, sample := range vector {
		out = append(out, Result{Labels: s.label(ctx, r, r.identity(sample.Metric), sample, at), Annotations: s.expand(ctx, r, sample, at)})
	}
	slices.SortFunc(out, func(a, b Result) int { return labels.Compare(a.Labels, b.Labels) })
	return out, nil
}

func (r Rule) identity(metric labels.Labels) labels.Labels {
	b := labels.NewBuilder(metric)
	b.Del(model.MetricNameLabel)
	for name, value := range r.Labels {
		b.Set(name, value)
	}
	b.Set(labels.AlertName, r.Name)
	return b.Labels()
}

// firings are the stretches in which an alert fires that is found at the keys
// of values.
func (r Rule) firings(values map[time.Duration]float64, end, step time.Duration) []Firing {
	var out []Firing
	var state State
	for at := time.Duration(0); at <= end; at += step {
		before := state.Firing
		_, found := values[at]
		state.Step(r, at, found)
		switch {
		case state.Firing && !before:
			out = append(out, Firing{From: at, Open: true})
		case !state.Firing && before:
			out[len(out)-1].To, out[len(out)-1].Open = at, false
		}
	}
	return out
}

// label fills in the labels that are templates. Empty ones are left out.
func (s *Store) label(ctx context.Context, r Rule, identity labels.Labels, sample promql.Sample, at time.Duration) labels.Labels {
	b := labels.NewBuilder(identity)
	for name, text := range r.Labels {
		if strings.Contains(text, "{{") {
			b.Set(name, s.template(ctx, r, text, sample, at))
		}
	}
	return b.Labels()
}

// expand fills in the annotations the way Prometheus does.
func (s *Store) expand(ctx context.Context, r Rule, sample promql.Sample, at time.Duration) map[string]string {
	out := make(map[string]string, len(r.Annotations))
	for _, name := range slices.Sorted(maps.Keys(r.Annotations)) {
		out[name] = s.template(ctx, r, r.Annotations[name], sample, at)
	}
	return out
}

func (s *Store) template(ctx context.Context, r Rule, text string, sample promql.Sample, at time.Duration) string {
	data := template.AlertTemplateData(sample.Metric.Map(), nil, "", sample)
	text = "{{$labels := .Labels}}{{$externalLabels := .ExternalLabels}}{{$externalURL := .ExternalURL}}{{$value := .Value}}" + text
	result, err := template.NewTemplateExpander(ctx, text, "__alert_"+r.Name, data, model.TimeFromUnixNano(at.Nanoseconds()), s.Query, &url.URL{}, nil).Expand()
	if err != nil {
		return fmt.Sprintf("<error expanding template: %s>", err)
	}
	return result
}
