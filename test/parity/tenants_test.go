package parity

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/leaderscope/leaderscope/exporter/otelmetric"
	"github.com/leaderscope/leaderscope/exporter/otelmetric/otelsetup"
	"github.com/leaderscope/leaderscope/exporter/prom"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/redact"
)

// electionOf is the handle of a name that is made at run time.
func electionOf(m *instrument.Middleware, name string, opts ...instrument.ElectionOption) *instrument.Election {
	return m.Named(name, opts...)
}

// live is the tenant that stays.
const live = "live"

// tenants come one after another; each runs once and is forgotten.
func tenants(t *testing.T, m *instrument.Middleware, from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		e := electionOf(m, fmt.Sprintf("tenant-%d", i), instrument.LeaseDuration(time.Minute))
		exercise(t, e)
		e.Forget()
	}
}

// exercise fills every histogram of a lock.
func exercise(t *testing.T, e *instrument.Election) {
	t.Helper()
	renewed := instrument.RenewWith(func(context.Context) error { return nil })
	err := e.Run(context.Background(), electtest.Wins(instrument.NewLease(nil, renewed)), func(ctx context.Context, term *instrument.Term) error {
		return term.Renew(ctx)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// path is one way out of the process: which series it has for which locks.
type path struct {
	name string
	read func(t *testing.T) []string
}

// registryPath reads a registry: the families with the labels of each series,
// histograms as one.
func registryPath(name string, g prometheus.Gatherer) path {
	return path{name, func(t *testing.T) []string {
		families, err := g.Gather()
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		for _, f := range families {
			for _, x := range f.GetMetric() {
				labels := map[string]string{}
				for _, l := range x.GetLabel() {
					if l.GetValue() != "" {
						labels[l.GetName()] = l.GetValue()
					}
				}
				found = append(found, fmt.Sprint(f.GetName(), labels))
			}
		}
		return found
	}}
}

// last is an exporter that keeps what was pushed last.
type last struct {
	metric.Exporter
	data metricdata.ResourceMetrics
}

func (*last) Temporality(k metric.InstrumentKind) metricdata.Temporality {
	return metric.DefaultTemporalitySelector(k)
}

func (*last) Aggregation(k metric.InstrumentKind) metric.Aggregation {
	return metric.DefaultAggregationSelector(k)
}

func (l *last) Export(_ context.Context, data *metricdata.ResourceMetrics) error {
	l.data = *data
	return nil
}

func (*last) ForceFlush(context.Context) error { return nil }
func (*last) Shutdown(context.Context) error   { return nil }

// pushPath writes what was pushed by the names of a scrape.
func pushPath(name string, p *otelsetup.Pipeline, l *last) path {
	return path{name, func(t *testing.T) []string {
		if err := p.MeterProvider().ForceFlush(context.Background()); err != nil {
			t.Fatal(err)
		}
		var found []string
		for _, s := range l.data.ScopeMetrics {
			for _, m := range s.Metrics {
				for _, set := range sets(m.Data) {
					labels := map[string]string{}
					for _, kv := range set.ToSlice() {
						labels[strings.ReplaceAll(string(kv.Key), ".", "_")] = kv.Value.AsString()
					}
					found = append(found, fmt.Sprint(prometheusName(m.Name), labels))
				}
			}
		}
		return found
	}}
}

// prometheusName is the name of a metric in a scrape.
func prometheusName(otel string) string {
	for _, m := range catalog.All() {
		if m.OTel() == otel {
			return m.Name()
		}
	}
	return otel
}

func sets(a metricdata.Aggregation) (all []attribute.Set) {
	switch d := a.(type) {
	case metricdata.Sum[float64]:
		for _, p := range d.DataPoints {
			all = append(all, p.Attributes)
		}
	case metricdata.Gauge[float64]:
		for _, p := range d.DataPoints {
			all = append(all, p.Attributes)
		}
	case metricdata.Histogram[float64]:
		for _, p := range d.DataPoints {
			all = append(all, p.Attributes)
		}
	case metricdata.ExponentialHistogram[float64]:
		for _, p := range d.DataPoints {
			all = append(all, p.Attributes)
		}
	}
	return all
}

// paths attaches every exporter to one middleware.
func paths(t *testing.T, m *instrument.Middleware) []path {
	t.Helper()
	var all []path
	for _, form := range []prom.Histograms{prom.Classic, prom.Native, prom.ClassicAndNative} {
		r := prometheus.NewPedanticRegistry()
		register(t, r, m, prom.WithHistograms(form), prom.WithExemplars())
		all = append(all, registryPath("client_golang, "+form.String(), r))
	}
	for name, option := range map[string]otelsetup.Option{"explicit": nil, "exponential": otelsetup.WithNativeHistograms(), "exemplars": otelsetup.WithExemplars()} {
		r, l := prometheus.NewRegistry(), &last{}
		p := setup(t, m, option, otelsetup.WithPrometheus(r), otelsetup.WithPush(l, time.Hour))
		all = append(all, registryPath("OpenTelemetry, scraped, "+name, r), pushPath("OpenTelemetry, pushed, "+name, p, l))
	}
	return all
}

func TestAfter3000TenantsTheLiveOneHasAllItsSeriesOnEveryPath(t *testing.T) {
	fresh, used := newMiddleware(t, instrument.WithRedactor(redact.Raw())), newMiddleware(t, instrument.WithRedactor(redact.Raw()))
	r := prometheus.NewPedanticRegistry()
	register(t, r, fresh)
	exercise(t, electionOf(fresh, live, instrument.LeaseDuration(time.Minute)))
	want := slices.Sorted(slices.Values(registryPath("", r).read(t)))
	if len(want) < 40 {
		t.Fatalf("only %d series", len(want))
	}

	all := paths(t, used)
	tenants(t, used, 0, 3000)
	exercise(t, electionOf(used, live, instrument.LeaseDuration(time.Minute)))
	for _, p := range all {
		if diff := cmp.Diff(want, slices.Sorted(slices.Values(p.read(t)))); diff != "" {
			t.Errorf("%s (-client_golang without tenants +after 3000):\n%s", p.name, diff)
		}
	}
}

func TestMemoryIsFlatWhileTenantsComeAndGo(t *testing.T) {
	const rounds, most = 3000, 64 // bytes of each tenant that is gone
	m := newMiddleware(t, instrument.WithRedactor(redact.Raw()))
	all := paths(t, m)
	if _, err := otelmetric.New(m, otelmetric.WithMeterProvider(metric.NewMeterProvider(metric.WithReader(metric.NewManualReader()))), otelmetric.WithoutHistograms()); err != nil {
		t.Fatal(err)
	}
	heap := func() int64 {
		for _, p := range all {
			p.read(t)
			p.read(t) // the SDK keeps the collection before
		}
		for range 3 {
			runtime.GC()
		}
		var s runtime.MemStats
		runtime.ReadMemStats(&s)
		return int64(s.HeapAlloc)
	}
	tenants(t, m, 0, rounds)
	before := heap()
	tenants(t, m, rounds, 2*rounds)
	grown := float64(heap()-before) / rounds
	t.Logf("%.1f bytes for each tenant that is gone", grown)
	if grown > most {
		t.Errorf("%.1f bytes for each tenant that is gone, want at most %d", grown, most)
	}
}
