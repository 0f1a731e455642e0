package parity

import (
	"slices"
	"testing"

	"github.com/prometheus/otlptranslator"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

func TestPrometheusNamesAreWhatTranslationMakesOfTheOTelNames(t *testing.T) {
	kinds := map[catalog.Kind]otlptranslator.MetricType{
		catalog.Counter: otlptranslator.MetricTypeMonotonicCounter, catalog.UpDownCounter: otlptranslator.MetricTypeNonMonotonicCounter,
		catalog.Gauge: otlptranslator.MetricTypeGauge, catalog.Histogram: otlptranslator.MetricTypeHistogram,
	}
	namer := otlptranslator.NewMetricNamer("", otlptranslator.UnderscoreEscapingWithSuffixes)
	labels := otlptranslator.LabelNamer{}
	for _, m := range catalog.All() {
		got, err := namer.Build(otlptranslator.Metric{Name: m.OTel(), Unit: m.Unit(), Type: kinds[m.Kind()]})
		if err != nil || got != m.Name() {
			t.Errorf("%s becomes %s (%v), the catalogue says %s", m.OTel(), got, err, m.Name())
		}
		for _, l := range append(slices.Clone(m.Labels()), catalog.LockName) {
			if got, err := labels.Build(l.Attribute()); err != nil || got != l.Name() {
				t.Errorf("attribute %s becomes %s (%v), the catalogue says %s", l.Attribute(), got, err, l.Name())
			}
		}
	}
}
