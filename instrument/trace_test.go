package instrument_test

import (
	"context"
	"errors"
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

// The outcome of a span is what the series count.
func TestSpansSayWhatTheSeriesSay(t *testing.T) {
	gone := make(chan struct{})
	close(gone)
	for name, c := range map[string]struct {
		try     func(e *instrument.Election)
		want    []string
		changed electtest.Series
	}{
		"a lease that was lost before it was won": {
			func(e *instrument.Election) {
				_, _ = e.Acquire(context.Background(), electtest.Wins(instrument.NewLease(nil, instrument.LostOn(gone))))
			},
			[]string{"leader.acquire session_lost Unset"},
			electtest.Series{"leader_attempts_total": 1, `leader_not_acquired_total{reason="session_lost"}`: 1},
		},
		"a body under such a lease": {
			func(e *instrument.Election) {
				_ = e.Run(context.Background(), electtest.Wins(instrument.NewLease(nil, instrument.LostOn(gone))),
					func(ctx context.Context, _ *instrument.Term) error { return ctx.Err() })
			},
			[]string{"leader.acquire session_lost Unset", "leader.run ok Unset"},
			electtest.Series{"leader_attempts_total": 1, `leader_not_acquired_total{reason="session_lost"}`: 1, `leader_releases_total{result="ok"}`: 1},
		},
		"a lease that cannot be renewed": {
			func(e *instrument.Election) {
				term, _ := e.Acquire(context.Background(), electtest.Wins(&learning{renew: func(context.Context) error { return fmt.Errorf("%w here", errors.ErrUnsupported) }}))
				_ = term.Renew(context.Background())
			},
			[]string{"leader.acquire acquired Unset", "leader.renew unsupported Unset"},
			electtest.Series{"leader_attempts_total": 1, "leader_acquired_total": 1, "leader_active": 1},
		},
		"a lease whose renewal panics": {
			func(e *instrument.Election) {
				term, _ := e.Acquire(context.Background(), electtest.Wins(&learning{renew: func(context.Context) error { panic("renew") }}))
				defer func() { _ = recover() }()
				_ = term.Renew(context.Background())
			},
			[]string{"leader.acquire acquired Unset", "leader.renew error Error"},
			electtest.Series{"leader_attempts_total": 1, "leader_acquired_total": 1, "leader_active": 1, `leader_renewals_total{result="error"}`: 1},
		},
	} {
		bubble(t, name, func(t *testing.T) {
			var recorded spans
			m := newMiddleware(t, instrument.WithTracerProvider(&recorded))
			c.try(m.Election("x"))
			var got []string
			for _, span := range recorded.ended {
				got = append(got, fmt.Sprint(span.name, " ", span.attributes["leader.outcome"], " ", span.code))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			expect(t, m, "x", "after", zero.With(c.changed))
		})
	}
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
