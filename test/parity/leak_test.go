package parity

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/leaderscope/leaderscope/exporter/otelmetric/otelsetup"
	"github.com/leaderscope/leaderscope/exporter/prom"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
)

// outlets collects what leaves the process, by the way it leaves.
type outlets struct {
	mu     sync.Mutex
	out    map[string]*bytes.Buffer
	logged chan struct{} // one for each log line
}

func newOutlets() *outlets {
	return &outlets{out: map[string]*bytes.Buffer{}, logged: make(chan struct{}, 10)}
}

func (o *outlets) add(way string, what []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.out[way] == nil {
		o.out[way] = &bytes.Buffer{}
	}
	o.out[way].Write(what)
}

// Write takes log lines.
func (o *outlets) Write(line []byte) (int, error) {
	o.add("logs", line)
	o.logged <- struct{}{}
	return len(line), nil
}

// scrape asks a registry for every format that Prometheus negotiates.
func (o *outlets) scrape(way string, r *prometheus.Registry) {
	handler := promhttp.HandlerFor(r, promhttp.HandlerOpts{EnableOpenMetrics: true})
	for format, accept := range map[string]string{
		"text":        "text/plain",
		"OpenMetrics": "application/openmetrics-text; version=1.0.0",
		"protobuf":    "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited",
	} {
		req := httptest.NewRequest(http.MethodGet, "/metrics", nil)
		req.Header.Set("Accept", accept)
		rec := httptest.NewRecorder()
		handler.ServeHTTP(rec, req)
		o.add(way+" "+format, rec.Body.Bytes())
	}
}

// collector is an OTLP endpoint that keeps what it is sent.
func (o *outlets) collector(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		o.add("OTLP", body)
	}))
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

func TestARawLockNameLeavesTheProcessByNoWay(t *testing.T) {
	const canary = "canary-4711"
	ways, spans := newOutlets(), tracetest.NewSpanRecorder()
	m := newMiddleware(t, instrument.WithLogger(slog.New(slog.NewJSONHandler(ways, nil))),
		instrument.WithTracerProvider(trace.NewTracerProvider(trace.WithSpanProcessor(spans))))
	native, otel := prometheus.NewRegistry(), prometheus.NewRegistry()
	register(t, native, m, prom.WithHistograms(prom.ClassicAndNative), prom.WithExemplars())
	push, err := otlpmetrichttp.New(context.Background(), otlpmetrichttp.WithEndpoint(ways.collector(t)), otlpmetrichttp.WithInsecure())
	if err != nil {
		t.Fatal(err)
	}
	p, err := otelsetup.Setup(m, otelsetup.WithPrometheus(otel), otelsetup.WithPush(push, time.Hour), otelsetup.WithExemplars())
	if err != nil {
		t.Fatal(err)
	}

	e := m.Named(canary+"/orders", instrument.LeaseDuration(time.Minute))
	_, _ = e.Acquire(context.Background(), electtest.Fails(errors.New("no answer about "+canary)))
	_ = e.Run(context.Background(), electtest.Wins(instrument.NewLease(nil)), func(context.Context, *instrument.Term) error {
		return errors.New("no disk for " + canary)
	})
	ways.scrape("client_golang", native)
	ways.scrape("OpenTelemetry", otel)
	if err := p.Shutdown(context.Background()); err != nil {
		t.Fatal(err)
	}
	for _, s := range tracetest.SpanStubsFromReadOnlySpans(spans.Ended()) {
		ways.add("spans", fmt.Appendf(nil, "%+v", s))
	}
	ways.add("the handle's text", fmt.Appendf(nil, "%v %+v", e, e.Label()))

	for range 2 { // gained, released: written by another goroutine
		<-ways.logged
	}
	if len(ways.out) != 10 { // three formats of two registries, OTLP, logs, spans, text
		t.Errorf("%d ways out were looked at", len(ways.out))
	}
	for way, out := range ways.out {
		if !strings.Contains(out.String(), e.Label()) {
			t.Errorf("%s: no sign of the lock at all", way)
		}
		if strings.Contains(out.String(), canary) {
			t.Errorf("%s carries the raw name", way)
		}
	}
}
