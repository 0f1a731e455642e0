package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// series are what /metrics shows, by name{label="value"}
// without lock_name; a histogram is there as its count.
type series map[string]float64

func scrape(ctx context.Context, url string) (series, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return parse(resp.Body)
}

func parse(text io.Reader) (series, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(text)
	if err != nil {
		return nil, fmt.Errorf("read /metrics: %w", err)
	}
	all := series{}
	for name, f := range families {
		for _, m := range f.Metric {
			all[name+labels(m)] = value(m)
		}
	}
	return all, nil
}

func labels(m *dto.Metric) (text string) {
	for _, l := range m.Label {
		if l.GetName() != catalog.LockName.Name {
			text += fmt.Sprintf(",%s=%q", l.GetName(), l.GetValue())
		}
	}
	if text == "" {
		return ""
	}
	return "{" + text[1:] + "}"
}

func value(m *dto.Metric) float64 {
	switch {
	case m.Histogram != nil:
		return float64(m.Histogram.GetSampleCount())
	case m.Counter != nil:
		return m.Counter.GetValue()
	case m.Gauge != nil:
		return m.Gauge.GetValue()
	default:
		return m.Untyped.GetValue() // nil has none
	}
}

// sum adds up the series of a metric.
func (s series) sum(metric string) (total float64) {
	for name, v := range s {
		if name == metric || strings.HasPrefix(name, metric+"{") {
			total += v
		}
	}
	return total
}
