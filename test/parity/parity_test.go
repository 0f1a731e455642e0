package parity

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/leaderscope/leaderscope/exporter/otelmetric/otelsetup"
	"github.com/leaderscope/leaderscope/exporter/prom"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest/scenario"
)

// golden is the one file that both exporters are compared with; the tests of
// exporter/prom write it.
const golden = "../../exporter/prom/testdata/scenario.prom"

func newMiddleware(t *testing.T, opts ...instrument.Option) *instrument.Middleware {
	t.Helper()
	m, err := instrument.New(append([]instrument.Option{instrument.WithRedactor(scenario.Redactor())}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// setup makes an OpenTelemetry pipeline that ends with the test.
func setup(t *testing.T, m *instrument.Middleware, opts ...otelsetup.Option) *otelsetup.Pipeline {
	t.Helper()
	p, err := otelsetup.Setup(m, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return p
}

func register(t *testing.T, r prometheus.Registerer, m *instrument.Middleware, opts ...prom.Option) {
	t.Helper()
	if _, err := prom.Register(r, m, opts...); err != nil {
		t.Fatal(err)
	}
}

func scrape(t *testing.T, g prometheus.Gatherer) string {
	t.Helper()
	text, err := exposition(g)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func wanted(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	want, err := storedText(text)
	if err != nil {
		t.Fatal(err)
	}
	return want
}

func TestC52BothExportersGiveTheGoldenSeriesOfOneScenario(t *testing.T) {
	want := wanted(t)
	synctest.Test(t, func(t *testing.T) {
		m := newMiddleware(t)
		native, otel := prometheus.NewPedanticRegistry(), prometheus.NewRegistry()
		register(t, native, m)
		setup(t, m, otelsetup.WithPrometheus(otel))
		if err := scenario.Play(m); err != nil {
			t.Fatal(err)
		}
		for name, g := range map[string]prometheus.Gatherer{"client_golang": native, "OpenTelemetry": otel} {
			got := scrape(t, g)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-golden +got):\n%s", name, diff)
			}
			for _, secret := range scenario.Secrets {
				if strings.Contains(got, secret) {
					t.Errorf("%s: the exposition contains %q", name, secret)
				}
			}
		}
		time.Sleep(scenario.Length)
	})
}

func TestNativeHistogramsAreTheSameFromBothExporters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMiddleware(t)
		native, otel := prometheus.NewPedanticRegistry(), prometheus.NewRegistry()
		register(t, native, m, prom.WithHistograms(prom.Native))
		setup(t, m, otelsetup.WithPrometheus(otel), otelsetup.WithNativeHistograms())
		if err := scenario.Play(m); err != nil {
			t.Fatal(err)
		}
		want := nativeHistograms(t, native)
		if len(want) != 7 { // of five for each of three locks, those that were observed
			t.Errorf("%d histograms from client_golang", len(want))
		}
		if diff := cmp.Diff(want, nativeHistograms(t, otel)); diff != "" {
			t.Errorf("(-client_golang +OpenTelemetry):\n%s", diff)
		}
		time.Sleep(scenario.Length)
	})
}

// nativeHistograms are the stored parts of each native histogram.
func nativeHistograms(t *testing.T, g prometheus.Gatherer) map[string]string {
	t.Helper()
	families, err := g.Gather()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, f := range families {
		for _, x := range f.GetMetric() {
			h := x.GetHistogram()
			if h == nil {
				continue
			}
			if len(h.GetBucket()) > 0 || h.Schema == nil {
				t.Errorf("%s is no native histogram: %v", f.GetName(), h)
			}
			found[f.GetName()+" "+x.GetLabel()[0].GetValue()] = fmt.Sprintf("count %d sum %v schema %d zero %d up to %v buckets %v",
				h.GetSampleCount(), h.GetSampleSum(), h.GetSchema(), h.GetZeroCount(), h.GetZeroThreshold(), filled(h))
		}
	}
	return found
}

// filled are the buckets that hold something, by index; how the empty ones
// between them are written is the exporter's business.
func filled(h *dto.Histogram) map[int32]int64 {
	buckets := map[int32]int64{}
	var index int32
	var count int64
	deltas := h.GetPositiveDelta()
	for _, span := range h.GetPositiveSpan() {
		index += span.GetOffset()
		for range span.GetLength() {
			count += deltas[0]
			deltas = deltas[1:]
			if count > 0 {
				buckets[index] = count
			}
			index++
		}
	}
	return buckets
}
