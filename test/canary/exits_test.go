package canary

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime/pprof"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/exemplar"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/leaderscope/leaderscope/exporter/otelmetric"
	"github.com/leaderscope/leaderscope/exporter/prom"
	"github.com/leaderscope/leaderscope/exporter/status"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/redact"
	"github.com/leaderscope/leaderscope/redact/rulesfile"
)

// exits are all the ways out of one middleware.
type exits struct {
	m        *instrument.Middleware
	registry *prometheus.Registry // classic histograms with exemplars
	native   *prometheus.Registry // native ones
	otel     *metric.ManualReader
	status   http.Handler
	spans    *tracetest.InMemoryExporter
	tracer   *trace.TracerProvider
	text     bytes.Buffer // logs
	json     bytes.Buffer
	printed  bytes.Buffer
	logged   bytes.Buffer
	errors   bytes.Buffer
	profile  bytes.Buffer
}

func newExits(t *testing.T, opts []instrument.Option) *exits {
	t.Helper()
	e := &exits{registry: prometheus.NewRegistry(), native: prometheus.NewRegistry(), spans: tracetest.NewInMemoryExporter()}
	e.tracer = trace.NewTracerProvider(trace.WithSyncer(e.spans))
	debug := &slog.HandlerOptions{Level: slog.LevelDebug, AddSource: true}
	logger := slog.New(slog.NewMultiHandler(slog.NewTextHandler(&e.text, debug), slog.NewJSONHandler(&e.json, debug)))
	m, err := instrument.New(append(opts, instrument.WithTracerProvider(e.tracer), instrument.WithLogger(logger))...)
	if err != nil {
		t.Fatal(err)
	}
	e.m, e.status = m, status.Handler(m)
	if _, err := prom.Register(e.registry, m, prom.WithExemplars()); err != nil {
		t.Fatal(err)
	}
	if _, err := prom.Register(e.native, m, prom.WithExemplars(), prom.WithHistograms(prom.Native)); err != nil {
		t.Fatal(err)
	}
	e.otel = metric.NewManualReader()
	provider := metric.NewMeterProvider(metric.WithReader(e.otel), metric.WithExemplarFilter(exemplar.AlwaysOnFilter))
	if _, err := otelmetric.New(m, otelmetric.WithMeterProvider(provider)); err != nil {
		t.Fatal(err)
	}
	return e
}

// traced is a context within a sampled span, so that there are exemplars.
func (e *exits) traced(t *testing.T) (context.Context, func()) {
	ctx, span := e.tracer.Tracer("test").Start(withBaggage(t, context.Background()), "request")
	return ctx, func() { span.End() }
}

// handle prints a handle in every way.
func (e *exits) handle(v any) {
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
		fmt.Fprintf(&e.printed, verb+"\n", v)
	}
	fmt.Fprintln(&e.printed, v, []any{v}, struct{ hidden any }{v})
	slog.New(slog.NewTextHandler(&e.logged, nil)).Info("handle", "handle", v)
	slog.New(slog.NewJSONHandler(&e.logged, nil)).Info("handle", "handle", v)
}

// own takes errors of ours, which the caller prints as he likes.
func (e *exits) own(errs []error) {
	for _, err := range errs {
		if err == nil {
			err = errExpected
		}
		fmt.Fprintf(&e.errors, "%v %+v %#v\n", err, err, err)
	}
}

// ourErrors are those that this module makes, asked for with the canary
// wherever a text goes in.
func ourErrors(t *testing.T, e *exits) (errs []error) {
	t.Helper()
	add := func(_ any, err error) { errs = append(errs, err) }
	add(instrument.New(instrument.WithMaxLabels(0)))
	add(instrument.New(instrument.WithRedactor(redact.Constant(redact.Template(canary)))))
	add(instrument.New(instrument.WithRedactor(redact.Raw(redact.Exact(canary).Hashed()))))
	add(nil, redact.Hash([]byte(canary), "k1").Err())
	add(nil, redact.Hash(key, canary).Err())
	add(nil, redact.Hash(key, "k1", redact.Template(canary+"{")).Err())
	add(nil, redact.Constant(redact.Exact(canary)).WithSecondary(key, "k1").Err())
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte(canary), 0o600); err != nil {
		t.Fatal(err)
	}
	add(redact.ReadKeyFile(file))
	for _, rules := range []string{
		canary, "rules: " + canary, "rules:\n- exact: " + canary, "rules:\n- template: " + canary, "rules:\n- exact: [" + canary + "]\n  policy: " + canary,
		"rules:\n- exact: [" + canary, "rules:\n- exact: [" + canary + ", " + canary + "]", canary + ": 1", "rules: [{template: 'a', exact: [" + canary + "]}]",
	} {
		add(rulesfile.Parse("rules.yaml", []byte(rules)))
	}
	other, err := instrument.New()
	if err != nil {
		t.Fatal(err)
	}
	other.Named(canary)
	add(prom.Register(e.registry, other))
	for _, err := range []error{instrument.ErrLost, instrument.ErrReleased, instrument.ErrLeaseEnded, instrument.ErrNoLease, instrument.ErrGaveUp, instrument.ErrUnknown} {
		add(nil, err)
	}
	return errs
}

// collect returns what came out of each exit.
func (e *exits) collect(t *testing.T) map[string][]byte {
	t.Helper()
	e.handle(e.m)
	outputs := map[string][]byte{
		"logs, text": e.text.Bytes(), "logs, JSON": e.json.Bytes(),
		"printed handles": e.printed.Bytes(), "logged handles": e.logged.Bytes(), "errors": e.errors.Bytes(),
		"spans": encode(t, e.spans.GetSpans()),
	}
	const protobuf = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited"
	outputs["HTTP page, text"] = page(t, e.registry, "text/plain;version=0.0.4")
	outputs["HTTP page, OpenMetrics"] = page(t, e.registry, "application/openmetrics-text;version=1.0.0")
	outputs["HTTP page, protobuf"] = page(t, e.registry, protobuf)
	outputs["HTTP page, protobuf with native histograms"] = page(t, e.native, protobuf)
	if !bytes.Contains(outputs["HTTP page, OpenMetrics"], []byte(`# {span_id="`)) {
		t.Error("no exemplars on the page, so nothing is proved of them")
	}
	var otel metricdata.ResourceMetrics
	if err := e.otel.Collect(context.Background(), &otel); err != nil {
		t.Fatal(err)
	}
	if !hasExemplars(otel) {
		t.Error("no exemplars, so nothing is proved of them")
	}
	outputs["OpenTelemetry metrics"] = encode(t, otel)
	outputs["profiles"] = e.profile.Bytes()
	maps.Copy(outputs, e.statuses(t))
	return outputs
}

// goroutines takes the profile of all goroutines, with their labels.
func (e *exits) goroutines(t *testing.T) {
	t.Helper()
	if err := pprof.Lookup("goroutine").WriteTo(&e.profile, 1); err != nil {
		t.Error(err)
	}
}

// page is what a scrape gets.
func page(t *testing.T, from prometheus.Gatherer, accept string) []byte {
	t.Helper()
	h := promhttp.HandlerFor(from, promhttp.HandlerOpts{EnableOpenMetrics: true, EnableOpenMetricsTextCreatedSamples: true})
	r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
	r.Header.Set("Accept", accept)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		t.Errorf("a scrape as %s has status %d", accept, w.Code)
	}
	return w.Body.Bytes()
}

// encode shows all that a value holds, as printed and as JSON.
func encode(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Appendf(text, "\n%+v\n", v)
}

func hasExemplars(rm metricdata.ResourceMetrics) bool {
	for _, scope := range rm.ScopeMetrics {
		for _, m := range scope.Metrics {
			if h, ok := m.Data.(metricdata.Histogram[float64]); ok {
				for _, p := range h.DataPoints {
					if len(p.Exemplars) > 0 {
						return true
					}
				}
			}
		}
	}
	return false
}
