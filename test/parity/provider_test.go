package parity

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/otlptranslator"
	otelprom "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/sdk/metric"

	"github.com/leaderscope/leaderscope/exporter/otelmetric"
	"github.com/leaderscope/leaderscope/exporter/otelmetric/otelsetup"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest/scenario"
)

// ownProvider is a provider as users make it, scraped from a registry of its
// own.
func ownProvider(t *testing.T, m *instrument.Middleware, exporter []otelprom.Option, own ...otelmetric.Option) prometheus.Gatherer {
	t.Helper()
	r := prometheus.NewRegistry()
	reader, err := otelprom.New(append(exporter, otelprom.WithRegisterer(r))...)
	if err != nil {
		t.Fatal(err)
	}
	p := metric.NewMeterProvider(metric.WithReader(reader))
	e, err := otelmetric.New(m, append(own, otelmetric.WithMeterProvider(p))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		if err := p.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return r
}

// scopeless takes away what OpenTelemetry's exporter adds by default.
func scopeless(t *testing.T, g prometheus.Gatherer) string {
	t.Helper()
	families, err := g.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var kept []*dto.MetricFamily
	targetInfo, scopes := 0, map[string]int{}
	for _, f := range families {
		if f.GetName() == "target_info" {
			targetInfo++
			continue
		}
		for _, x := range f.GetMetric() {
			var labels []*dto.LabelPair
			for _, l := range x.GetLabel() {
				switch l.GetName() {
				case "otel_scope_name", "otel_scope_version", "otel_scope_schema_url":
					scopes[l.GetName()]++
				default:
					labels = append(labels, l)
				}
			}
			x.Label = labels
		}
		kept = append(kept, f)
	}
	if targetInfo != 1 || len(scopes) != 3 {
		t.Errorf("target_info %d times, scope labels %v", targetInfo, scopes)
	}
	text, err := stored(kept)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// What docs/telemetry.md says of a MeterProvider of your own.
func TestC52AProviderOfOnesOwnGivesTheGoldenSeriesUnderTheseOptions(t *testing.T) {
	want := wanted(t)
	documented := []otelprom.Option{
		otelprom.WithoutScopeInfo(), otelprom.WithoutTargetInfo(), otelprom.WithTranslationStrategy(otlptranslator.UnderscoreEscapingWithSuffixes),
	}
	cases := map[string]func(t *testing.T, m *instrument.Middleware) (read func(*testing.T) string){
		"the documented options": func(t *testing.T, m *instrument.Middleware) func(*testing.T) string {
			g := ownProvider(t, m, documented)
			return func(t *testing.T) string { return scrape(t, g) }
		},
		"with histograms of a Producer": func(t *testing.T, m *instrument.Middleware) func(*testing.T) string {
			g := ownProvider(t, m, append(documented, otelprom.WithProducer(otelsetup.NewHistograms(m))), otelmetric.WithoutHistograms())
			return func(t *testing.T) string { return scrape(t, g) }
		},
		"the defaults, but for scope labels and target_info": func(t *testing.T, m *instrument.Middleware) func(*testing.T) string {
			g := ownProvider(t, m, nil)
			return func(t *testing.T) string { return scopeless(t, g) }
		},
	}
	for name, attach := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMiddleware(t)
				read := attach(t, m)
				if err := scenario.Play(m); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, read(t)); diff != "" {
					t.Errorf("(-golden +got):\n%s", diff)
				}
				time.Sleep(scenario.Length)
			})
		})
	}
}

func TestAStandbyHasTheSameSeriesOnEveryPath(t *testing.T) {
	m := newMiddleware(t)
	native, otel := prometheus.NewPedanticRegistry(), prometheus.NewRegistry()
	register(t, native, m)
	setup(t, m, otelsetup.WithPrometheus(otel))
	own := ownProvider(t, m, nil)
	m.Election("tenant-42/primary", instrument.Hold(), instrument.LeaseDuration(15*time.Second), instrument.Backend("etcd"))
	want := scrape(t, native)
	if diff := cmp.Diff(want, scrape(t, otel)); diff != "" {
		t.Errorf("otelsetup (-client_golang +OpenTelemetry):\n%s", diff)
	}
	if diff := cmp.Diff(want, scopeless(t, own)); diff != "" {
		t.Errorf("otelmetric with the default exporter (-client_golang +OpenTelemetry):\n%s", diff)
	}
}
