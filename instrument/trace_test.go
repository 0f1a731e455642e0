package instrument_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/redact"
)

// spans is a provider that keeps everything that was said of spans that ended.
// It stands for the SDK, which the root module does not require.
type spans struct {
	noop.TracerProvider
	mu    sync.Mutex
	ended []*recordedSpan
}

type spanTracer struct {
	noop.Tracer
	to    *spans
	scope string
}

type recordedSpan struct {
	noop.Span
	to          *spans
	scope, name string
	attributes  map[string]string
	code        codes.Code
	description string
	events      int
}

func (s *spans) Tracer(name string, opts ...trace.TracerOption) trace.Tracer {
	config := trace.NewTracerConfig(opts...)
	return spanTracer{to: s, scope: name + " " + config.InstrumentationVersion()}
}

func (t spanTracer) Start(ctx context.Context, name string, opts ...trace.SpanStartOption) (context.Context, trace.Span) {
	s := &recordedSpan{to: t.to, scope: t.scope, name: name, attributes: map[string]string{}}
	config := trace.NewSpanStartConfig(opts...)
	s.SetAttributes(config.Attributes()...)
	return trace.ContextWithSpan(ctx, s), s
}

func (s *recordedSpan) IsRecording() bool                       { return true }
func (s *recordedSpan) AddEvent(string, ...trace.EventOption)   { s.events++ }
func (s *recordedSpan) RecordError(error, ...trace.EventOption) { s.events++ }
func (s *recordedSpan) SetName(name string)                     { s.name = name }
func (s *recordedSpan) SetStatus(c codes.Code, description string) {
	s.code, s.description = c, description
}

func (s *recordedSpan) SetAttributes(all ...attribute.KeyValue) {
	for _, a := range all {
		s.attributes[string(a.Key)] = a.Value.AsString()
	}
}

func (s *recordedSpan) End(...trace.SpanEndOption) {
	s.to.mu.Lock()
	defer s.to.mu.Unlock()
	s.to.ended = append(s.to.ended, s)
}

func TestSpansCarryTheLabelAndTheOutcomeAlone(t *testing.T) {
	var recorded spans
	p := redact.Hash([]byte("0123456789abcdef0123456789abcdef"), "k1")
	m := newMiddleware(t, instrument.WithRedactor(p), instrument.WithTracerProvider(&recorded))
	e := m.Named("tenant-42")
	leaky := fmt.Errorf("tenant-42: %w", errBackend)
	_, _ = e.Acquire(context.Background(), electtest.Fails(leaky))
	renewing := electtest.Wins(instrument.NewLease(nil, instrument.RenewWith(func(context.Context) error { return leaky })))
	_ = e.Run(context.Background(), renewing, func(ctx context.Context, t *instrument.Term) error { return t.Renew(ctx) })

	want := []string{"leader.acquire Error", "leader.acquire Unset", "leader.renew Error", "leader.run Error"}
	var names []string
	for _, span := range recorded.ended {
		names = append(names, fmt.Sprint(span.name, " ", span.code))
		if want := "github.com/leaderscope/leaderscope/instrument " + instrument.Version; span.scope != want {
			t.Errorf("span %s has scope %s, want %s", span.name, span.scope, want)
		}
		attrs := span.attributes
		if attrs["lock.name"] != e.Label() || attrs["leader.outcome"] == "" || len(attrs) != 2 || span.description != "" || span.events != 0 {
			t.Errorf("span %s has attributes %v, description %q, %d events", span.name, attrs, span.description, span.events)
		}
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
}
