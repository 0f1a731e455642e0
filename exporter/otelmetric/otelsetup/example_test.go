package otelsetup_test

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/leaderscope/leaderscope/exporter/otelmetric"
	"github.com/leaderscope/leaderscope/exporter/otelmetric/otelsetup"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/redact"
)

// Metrics, traces and logs of one election. All three carry the label of the
// lock, never its name, so that one leads to the others.
func Example() {
	policy := redact.Hash([]byte("a key of 32 bytes, shared by all"), "k1")
	spans := tracetest.NewSpanRecorder() // in a service: an exporter
	logs := newLines(2)                  // in a service: slog.Default()
	m, err := instrument.New(
		instrument.WithRedactor(policy),
		instrument.WithTracerProvider(trace.NewTracerProvider(trace.WithSpanProcessor(spans))),
		instrument.WithLogger(slog.New(logs)),
	)
	if err != nil {
		panic(err)
	}
	registry := prometheus.NewRegistry()
	pipeline, err := otelsetup.Setup(m, otelsetup.WithPrometheus(registry), otelsetup.WithExemplars())
	if err != nil {
		panic(err)
	}
	defer pipeline.Shutdown(context.Background())

	orders := m.Election("tenant-42/orders")
	err = orders.Run(context.Background(), instrument.AcquirerFunc(obtain), func(context.Context, *instrument.Term) error {
		return nil
	})
	if err != nil {
		panic(err)
	}

	for _, s := range spans.Ended() {
		fmt.Println("span:", s.Name(), s.Attributes()[0].Value.AsString())
	}
	for _, line := range logs.wait() {
		fmt.Println("log:", line)
	}
	fmt.Println("label:", orders)
	families, err := registry.Gather()
	if err != nil {
		panic(err)
	}
	for _, f := range families {
		if f.GetName() == catalog.Acquired.Name() {
			fmt.Println("metric:", f.GetName(), f.GetMetric()[0].GetLabel()[0].GetValue(), f.GetMetric()[0].GetCounter().GetValue())
		}
	}
	// Output:
	// span: leader.acquire k1:13de0793bea18988
	// span: leader.run k1:13de0793bea18988
	// log: leadership gained, lock_name=k1:13de0793bea18988
	// log: leadership released, lock_name=k1:13de0793bea18988
	// label: k1:13de0793bea18988
	// metric: leader_acquired_total k1:13de0793bea18988 1
}

func obtain(context.Context) (instrument.Lease, error) {
	return instrument.NewLease(func(context.Context) error { return nil }), nil
}

// lines is a slog.Handler that keeps each message with its lock.
type lines struct{ found chan string }

func newLines(n int) *lines { return &lines{make(chan string, n)} }

func (*lines) Enabled(context.Context, slog.Level) bool { return true }
func (l *lines) WithAttrs([]slog.Attr) slog.Handler     { return l }
func (l *lines) WithGroup(string) slog.Handler          { return l }

// Handle implements slog.Handler.
func (l *lines) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == catalog.LockName.Name() {
			l.found <- r.Message + ", " + a.String()
		}
		return true
	})
	return nil
}

// wait returns the lines once all are there: the middleware writes them from
// a goroutine of its own.
func (l *lines) wait() []string {
	var all []string
	for range cap(l.found) {
		all = append(all, <-l.found)
	}
	return all
}

// A MeterProvider of your own, with histograms that forget the locks that are
// gone.
func ExampleNewHistograms() {
	m, err := instrument.New(instrument.WithRedactor(redact.Raw()))
	if err != nil {
		panic(err)
	}
	histograms := otelsetup.NewHistograms(m)
	defer histograms.Close()
	reader := metric.NewManualReader(metric.WithProducer(histograms)) // in a service: NewPeriodicReader(otelsetup.Checked(exporter), ...)
	provider := metric.NewMeterProvider(metric.WithReader(reader))
	exporter, err := otelmetric.New(m, otelmetric.WithMeterProvider(provider), otelmetric.WithoutHistograms())
	if err != nil {
		panic(err)
	}
	defer exporter.Close()

	for _, tenant := range []*instrument.Election{m.Election("tenant-1"), m.Election("tenant-2")} {
		term, err := tenant.Acquire(context.Background(), instrument.AcquirerFunc(obtain))
		if err != nil {
			panic(err)
		}
		if err := term.Release(context.Background()); err != nil {
			panic(err)
		}
	}
	var data metricdata.ResourceMetrics
	if err := reader.Collect(context.Background(), &data); err != nil {
		panic(err)
	}
	for _, s := range data.ScopeMetrics {
		for _, x := range s.Metrics {
			if h, ok := x.Data.(metricdata.Histogram[float64]); ok {
				fmt.Println(x.Name, len(h.DataPoints), "locks")
			}
		}
	}
	// Output:
	// leader.acquire.duration 2 locks
	// leader.execution.duration 2 locks
}
