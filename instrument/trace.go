package instrument

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

const (
	scopeName          = "github.com/leaderscope/leaderscope/instrument"
	outcomeAcquired    = "acquired"
	outcomeUnsupported = "unsupported" // a lease that cannot be renewed on demand
)

func newTracer(m *Middleware, p trace.TracerProvider) trace.Tracer {
	defer m.contain(func() {})
	return p.Tracer(scopeName, trace.WithInstrumentationVersion(Version))
}

// span is a started span, or nothing without a tracer.
type span struct {
	m    *Middleware
	span trace.Span
}

// startSpan starts a span that carries the label. A tracer that panics costs
// the span, never the call.
func (m *Middleware) startSpan(ctx context.Context, name string, e *Election) (traced context.Context, s span) {
	if m.spans == nil || m.locks.Closed() {
		return ctx, span{}
	}
	defer m.contain(func() { traced, s = ctx, span{} })
	traced, started := m.spans.Start(ctx, name, trace.WithAttributes(attribute.String(catalog.LockName.Attribute(), e.Label())))
	return traced, span{m, started}
}

// end records the outcome, a word of a closed set. Error texts stay out: they
// may carry the lock's name.
func (s span) end(outcome string) {
	if s.span == nil {
		return
	}
	defer s.m.contain(func() {})
	s.span.SetAttributes(attribute.String(catalog.SpanOutcome, outcome))
	if outcome == catalog.BackendError.String() || outcome == catalog.Panicked.String() || outcome == catalog.RenewalError.String() {
		s.span.SetStatus(codes.Error, "")
	}
	s.span.End()
}

func (s span) endBody(failure catalog.FailureCause, failed bool) {
	if failed {
		s.end(failure.String())
		return
	}
	s.end("ok")
}
