package parity

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// exposition is what a scrape of g stores, as text: families in order of their
// names, labels without a value left out, since Prometheus leaves them out.
func exposition(g prometheus.Gatherer) (string, error) {
	families, err := g.Gather()
	if err != nil {
		return "", err
	}
	return stored(families)
}

// storedText does the same to an exposition that is text already.
func storedText(text []byte) (string, error) {
	p := expfmt.NewTextParser(model.UTF8Validation)
	parsed, err := p.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		return "", fmt.Errorf("parse exposition: %w", err)
	}
	return stored(slices.SortedFunc(values(parsed), func(a, b *dto.MetricFamily) int {
		return bytes.Compare([]byte(a.GetName()), []byte(b.GetName()))
	}))
}

func values(m map[string]*dto.MetricFamily) func(func(*dto.MetricFamily) bool) {
	return func(yield func(*dto.MetricFamily) bool) {
		for _, f := range m {
			if !yield(f) {
				return
			}
		}
	}
}

func stored(families []*dto.MetricFamily) (string, error) {
	var b bytes.Buffer
	for _, f := range families {
		for _, m := range f.GetMetric() {
			m.Label = slices.DeleteFunc(slices.Clone(m.GetLabel()), func(l *dto.LabelPair) bool { return l.GetValue() == "" })
		}
		if _, err := expfmt.MetricFamilyToText(&b, f); err != nil {
			return "", err
		}
	}
	return b.String(), nil
}
