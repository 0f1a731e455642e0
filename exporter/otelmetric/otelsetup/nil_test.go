package otelsetup_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/leaderscope/leaderscope/exporter/otelmetric/otelsetup"
)

// What is nil exports nothing or is refused by name, and never panics.
func TestNilIsNoPipelineAndNoExporter(t *testing.T) {
	var exporter *pushed
	for name, opts := range map[string][]otelsetup.Option{
		"alone":            {otelsetup.WithPush(exporter, time.Second)},
		"beside another":   {otelsetup.WithPush(&pushed{}, time.Second), otelsetup.WithPush(exporter, time.Second)},
		"beside a scraper": {otelsetup.WithPrometheus(prometheus.NewRegistry()), otelsetup.WithPush(exporter, time.Second)},
	} {
		p, err := otelsetup.Setup(nil, opts...)
		if p != nil || err == nil || !strings.Contains(err.Error(), "nil *otelsetup_test.pushed") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := otelsetup.Checked(exporter); got != exporter {
		t.Errorf("a nil exporter became %T", got)
	}

	var p *otelsetup.Pipeline
	counter, err := p.MeterProvider().Meter("test").Int64Counter("test")
	if err != nil {
		t.Error(err)
	}
	counter.Add(context.Background(), 1)
	if err := p.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
	var h *otelsetup.Histograms
	if data, err := h.Produce(context.Background()); data != nil || err != nil {
		t.Errorf("a nil producer has %v and fails with %v", data, err)
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
}
