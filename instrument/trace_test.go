package instrument_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/redact"
)

func TestSpansCarryTheLabelAndTheOutcomeAlone(t *testing.T) {
	spans := tracetest.NewSpanRecorder()
	p := redact.Hash([]byte("0123456789abcdef0123456789abcdef"), "k1")
	m := newMiddleware(t, instrument.WithRedactor(p),
		instrument.WithTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))))
	e := m.Named("tenant-42")
	leaky := fmt.Errorf("tenant-42: %w", errBackend)
	_, _ = e.Acquire(context.Background(), electtest.Fails(leaky))
	renewing := electtest.Wins(instrument.NewLease(nil, instrument.RenewWith(func(context.Context) error { return leaky })))
	_ = e.Run(context.Background(), renewing, func(ctx context.Context, t *instrument.Term) error { return t.Renew(ctx) })

	want := []string{"leader.acquire Error", "leader.acquire Unset", "leader.renew Error", "leader.run Error"}
	var names []string
	for _, span := range spans.Ended() {
		names = append(names, fmt.Sprint(span.Name(), " ", span.Status().Code))
		attrs := map[string]string{}
		for _, a := range span.Attributes() {
			attrs[string(a.Key)] = a.Value.AsString()
		}
		scope := span.InstrumentationScope()
		if scope.Name != "github.com/leaderscope/leaderscope/instrument" || scope.Version != instrument.Version {
			t.Errorf("span %s has scope %+v", span.Name(), scope)
		}
		if attrs["lock.name"] != e.Label() || attrs["leader.outcome"] == "" || len(attrs) != 2 || span.Status().Description != "" || len(span.Events()) != 0 {
			t.Errorf("span %s has attributes %v, status %v, %d events", span.Name(), attrs, span.Status(), len(span.Events()))
		}
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
}
