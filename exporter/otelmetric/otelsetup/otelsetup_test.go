package otelsetup_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/trace"

	"github.com/leaderscope/leaderscope/exporter/otelmetric/otelsetup"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/redact"
)

// pushed is an exporter that keeps what it is given.
type pushed struct {
	mu        sync.Mutex
	instances []string
	points    map[string]int    // data points of the last push, by metric
	forms     map[string]string // the types of their data
}

func (*pushed) Temporality(k metric.InstrumentKind) metricdata.Temporality {
	return metric.DefaultTemporalitySelector(k)
}

func (*pushed) Aggregation(k metric.InstrumentKind) metric.Aggregation {
	return metric.DefaultAggregationSelector(k)
}

func (p *pushed) Export(_ context.Context, data *metricdata.ResourceMetrics) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	id, _ := data.Resource.Set().Value("service.instance.id")
	p.instances = append(p.instances, id.AsString())
	p.points, p.forms = map[string]int{}, map[string]string{}
	for _, s := range data.ScopeMetrics {
		for _, m := range s.Metrics {
			p.forms[m.Name] = fmt.Sprintf("%T", m.Data)
			switch d := m.Data.(type) {
			case metricdata.Sum[float64]:
				p.points[m.Name] += len(d.DataPoints)
			case metricdata.Gauge[float64]:
				p.points[m.Name] += len(d.DataPoints)
			case metricdata.Histogram[float64]:
				p.points[m.Name] += len(d.DataPoints)
			}
		}
	}
	return nil
}

func (*pushed) ForceFlush(context.Context) error { return nil }
func (*pushed) Shutdown(context.Context) error   { return nil }

func newMiddleware(t *testing.T, opts ...instrument.Option) *instrument.Middleware {
	t.Helper()
	m, err := instrument.New(append([]instrument.Option{instrument.WithRedactor(redact.Raw())}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func shutdown(t *testing.T, p *otelsetup.Pipeline) {
	t.Helper()
	if err := p.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
}

// named is the handle of a name that is made at run time.
func named(m *instrument.Middleware, name string, opts ...instrument.ElectionOption) *instrument.Election {
	return m.Named(name, opts...)
}

func contend(ctx context.Context, m *instrument.Middleware, name string) {
	_, _ = named(m, name).Acquire(ctx, electtest.Fails(instrument.ErrContended))
}

func gather(t *testing.T, g prometheus.Gatherer) map[string]*dto.MetricFamily {
	t.Helper()
	families, err := g.Gather()
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]*dto.MetricFamily{}
	for _, f := range families {
		byName[f.GetName()] = f
	}
	return byName
}

func TestAPipelineWithoutAnExporterIsAnError(t *testing.T) {
	if _, err := otelsetup.Setup(newMiddleware(t), otelsetup.WithPush(nil, 0), nil); err == nil {
		t.Error("want an error")
	}
}

func TestC55ASecondPipelineOnOneRegistererIsRefusedUntilTheFirstIsShutDown(t *testing.T) {
	m, r := newMiddleware(t), prometheus.NewRegistry()
	first, err := otelsetup.Setup(m, otelsetup.WithPrometheus(r))
	if err != nil {
		t.Fatal(err)
	}
	contend(context.Background(), m, "x")
	if _, err := otelsetup.Setup(m, otelsetup.WithPrometheus(r)); err == nil {
		t.Error("a second pipeline must be refused")
	}
	attempts := func() float64 {
		return gather(t, r)[catalog.Attempts.Name()].GetMetric()[0].GetCounter().GetValue()
	}
	if got := attempts(); got != 1 {
		t.Errorf("%v attempts after the refusal", got)
	}
	shutdown(t, first)
	again, err := otelsetup.Setup(m, otelsetup.WithPrometheus(r))
	if err != nil {
		t.Fatal(err)
	}
	defer shutdown(t, again)
	contend(context.Background(), m, "x")
	if got := attempts(); got != 2 {
		t.Errorf("%v attempts after building again", got)
	}
}

func TestShutdownSendsTheLastValuesAndElectionsGoOn(t *testing.T) {
	m, out := newMiddleware(t), &pushed{}
	p, err := otelsetup.Setup(m, otelsetup.WithPush(out, time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	contend(context.Background(), m, "x")
	shutdown(t, p)
	if len(out.instances) != 1 || out.points[catalog.Attempts.OTel()] != 1 {
		t.Errorf("pushed %d times, %v", len(out.instances), out.points)
	}
	contend(context.Background(), m, "x")
	if got := electtest.Read(m, "x")[electtest.Of(catalog.Attempts)]; got != 2 {
		t.Errorf("%v attempts", got)
	}
}

func TestC56EveryReplicaHasAnIdentity(t *testing.T) {
	named := resource.NewSchemaless(attribute.String("service.name", "orders"))
	identified := resource.NewSchemaless(attribute.String("service.instance.id", "pod-7"))
	cases := map[string]struct {
		options []otelsetup.Option
		want    string // "" is a random one
	}{
		"a random one by default":                  {options: []otelsetup.Option{otelsetup.WithResource(named)}},
		"the one that it is given":                 {options: []otelsetup.Option{otelsetup.WithResource(named), otelsetup.WithInstance("pod-3")}, want: "pod-3"},
		"the resource's before anything else":      {options: []otelsetup.Option{otelsetup.WithResource(identified), otelsetup.WithInstance("pod-3")}, want: "pod-7"},
		"a random one beside what the SDK detects": {},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			out := &pushed{}
			for range 2 {
				p, err := otelsetup.Setup(newMiddleware(t), append(c.options, otelsetup.WithPush(out, time.Hour))...)
				if err != nil {
					t.Fatal(err)
				}
				shutdown(t, p)
			}
			a, b := out.instances[0], out.instances[1]
			switch {
			case c.want != "" && (a != c.want || b != c.want):
				t.Errorf("instances %q and %q, want %q", a, b, c.want)
			case c.want == "" && (len(a) != 36 || a == b):
				t.Errorf("instances %q and %q, want two random ones", a, b)
			}
		})
	}
}

func TestNativeHistogramsHaveTheResolutionOfExporterProm(t *testing.T) {
	m, r := newMiddleware(t), prometheus.NewRegistry()
	p, err := otelsetup.Setup(m, otelsetup.WithPrometheus(r), otelsetup.WithNativeHistograms())
	if err != nil {
		t.Fatal(err)
	}
	defer shutdown(t, p)
	m.Election("idle")
	contend(context.Background(), m, "x")
	other, err := p.MeterProvider().Meter("other").Float64Histogram("other")
	if err != nil {
		t.Fatal(err)
	}
	other.Record(context.Background(), 1)
	families := gather(t, r)
	if h := families["other"].GetMetric()[0].GetHistogram(); h.Schema != nil {
		t.Errorf("the view took a histogram that is not its own: %v", h)
	}
	found := families[catalog.AcquireDuration.Name()].GetMetric()
	if len(found) != 1 || found[0].GetLabel()[0].GetValue() != "x" { // the idle one has no observation
		t.Fatalf("%v", found)
	}
	if h := found[0].GetHistogram(); h.GetSchema() != 3 || len(h.GetBucket()) > 0 || h.GetSampleCount() != 1 || len(h.GetPositiveSpan()) != 1 {
		t.Errorf("%v", h)
	}
}

func TestExemplarsAreThereOnlyWhenAskedFor(t *testing.T) {
	span := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, TraceFlags: trace.FlagsSampled})
	for name, want := range map[string]int{"off": 0, "on": 1} {
		t.Run(name, func(t *testing.T) {
			m, r := newMiddleware(t), prometheus.NewRegistry()
			options := []otelsetup.Option{otelsetup.WithPrometheus(r)}
			if want > 0 {
				options = append(options, otelsetup.WithExemplars())
			}
			p, err := otelsetup.Setup(m, options...)
			if err != nil {
				t.Fatal(err)
			}
			defer shutdown(t, p)
			contend(trace.ContextWithSpanContext(context.Background(), span), m, "x")
			found := 0
			for _, b := range gather(t, r)[catalog.AcquireDuration.Name()].GetMetric()[0].GetHistogram().GetBucket() {
				if b.Exemplar != nil {
					found++
				}
			}
			if found != want {
				t.Errorf("%d exemplars, want %d", found, want)
			}
		})
	}
}

// kept is an exporter that keeps the histograms of the last push.
type kept struct {
	pushed
	aggregation metric.Aggregation
	exemplars   int
}

func (k *kept) Aggregation(i metric.InstrumentKind) metric.Aggregation {
	if k.aggregation == nil {
		return metric.DefaultAggregationSelector(i)
	}
	return k.aggregation
}

func (k *kept) Export(_ context.Context, data *metricdata.ResourceMetrics) error {
	k.exemplars = 0
	for _, s := range data.ScopeMetrics {
		for _, m := range s.Metrics {
			switch d := m.Data.(type) {
			case metricdata.Histogram[float64]:
				k.exemplars += len(d.DataPoints[0].Exemplars)
			case metricdata.ExponentialHistogram[float64]:
				k.exemplars += len(d.DataPoints[0].Exemplars)
			}
		}
	}
	return nil
}

func TestEachExporterGetsExemplarsInItsForm(t *testing.T) {
	span := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, TraceFlags: trace.FlagsSampled})
	exponential := metric.AggregationBase2ExponentialHistogram{MaxSize: 160, MaxScale: 20}
	for name, c := range map[string]struct {
		scraped bool
		pushes  []metric.Aggregation // nil is explicit
		native  bool
	}{
		"a push":                         {pushes: []metric.Aggregation{nil}},
		"a push of exponential ones":     {pushes: []metric.Aggregation{exponential}},
		"both":                           {pushes: []metric.Aggregation{exponential, nil}},
		"both, the other way round":      {pushes: []metric.Aggregation{nil, exponential}},
		"a scrape":                       {scraped: true},
		"a scrape beside an exponential": {scraped: true, pushes: []metric.Aggregation{exponential}},
		"a native scrape beside a push":  {scraped: true, pushes: []metric.Aggregation{nil}, native: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, r := newMiddleware(t), prometheus.NewRegistry()
				options := []otelsetup.Option{otelsetup.WithExemplars()}
				if c.native {
					options = append(options, otelsetup.WithNativeHistograms())
				}
				if c.scraped {
					options = append(options, otelsetup.WithPrometheus(r))
				}
				var exporters []*kept
				for _, a := range c.pushes {
					k := &kept{aggregation: a}
					exporters = append(exporters, k)
					options = append(options, otelsetup.WithPush(k, time.Hour))
				}
				p := set(t, m, options...)
				// Two buckets of the catalogue, and one of client_golang's default.
				for _, wait := range []time.Duration{20 * time.Second, 100 * time.Second} {
					_, _ = named(m, "x").Acquire(trace.ContextWithSpanContext(context.Background(), span), electtest.NewElector(electtest.Step{Wait: wait, Err: instrument.ErrContended}))
				}
				if c.scraped {
					h := gather(t, r)[catalog.AcquireDuration.Name()].GetMetric()[0].GetHistogram()
					found := len(h.GetExemplars())
					for _, b := range h.GetBucket() {
						if b.Exemplar != nil {
							found++
						}
					}
					if found != 2 {
						t.Errorf("scraped %d exemplars", found)
					}
				}
				shutdown(t, p)
				for i, k := range exporters {
					if k.exemplars != 2 {
						t.Errorf("pushed %d exemplars to exporter %d", k.exemplars, i)
					}
				}
			})
		})
	}
}

func TestC53AFullMiddlewareKeepsEveryLockAndReason(t *testing.T) {
	cases := map[string]struct {
		labels int
		middle []instrument.Option
	}{
		"under the default cap":      {labels: instrument.DefaultMaxLabels},
		"under a cap lifted to 1000": {labels: 1000, middle: []instrument.Option{instrument.WithMaxLabels(1000)}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			m, r := newMiddleware(t, c.middle...), prometheus.NewRegistry()
			p, err := otelsetup.Setup(m, otelsetup.WithPrometheus(r))
			if err != nil {
				t.Fatal(err)
			}
			defer shutdown(t, p)
			for i := range c.labels + 10 {
				contend(context.Background(), m, fmt.Sprintf("lock-%d", i))
			}
			series := gather(t, r)[catalog.NotAcquired.Name()].GetMetric()
			if want := (c.labels + 1) * catalog.Reasons; len(series) != want {
				t.Errorf("%d series, want %d", len(series), want)
			}
			total := 0.0
			for _, s := range series {
				total += s.GetCounter().GetValue()
				if !slices.ContainsFunc(s.GetLabel(), func(l *dto.LabelPair) bool { return strings.HasPrefix(l.GetName(), "reason") }) {
					t.Errorf("no reason: %v", s)
				}
			}
			if total != float64(c.labels+10) {
				t.Errorf("%v attempts, want %d", total, c.labels+10)
			}
		})
	}
}

func TestSeriesArePushedOnceInEachInterval(t *testing.T) {
	for name, c := range map[string]struct {
		interval time.Duration
		pushes   int // in two minutes and a second
	}{
		"every quarter of a minute": {15 * time.Second, 8},
		"the SDK's minute":          {0, 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				out := &pushed{}
				p, err := otelsetup.Setup(newMiddleware(t), otelsetup.WithPush(out, c.interval), otelsetup.WithInstance("pod-1"))
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(2*time.Minute + time.Second)
				synctest.Wait()
				out.mu.Lock()
				pushes := len(out.instances)
				out.mu.Unlock()
				if pushes != c.pushes {
					t.Errorf("%d pushes, want %d", pushes, c.pushes)
				}
				shutdown(t, p)
			})
		})
	}
}
