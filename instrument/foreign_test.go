package instrument_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/redact"
)

// unlabelled is a redactor without labels for constants, which answers badly.
type unlabelled struct{ label redact.Label }

func (u unlabelled) Label(string) redact.Label { return u.label }
func (unlabelled) Info() redact.Info {
	return redact.Info{Policy: "own", KeyID: "k\n", KeyCheck: "c\n"}
}

func TestWhateverARedactorAnswersIsMadeALabel(t *testing.T) {
	long := strings.Repeat("n", redact.MaxLabelSize+1)
	for name, c := range map[string]struct {
		label redact.Label
		text  string
		lost  bool // alerts about single locks are off for it
	}{
		"a label":               {redact.Label{Text: "a"}, "a", false},
		"none":                  {redact.Label{}, "redacted", true},
		"an invalid one":        {redact.Label{Text: "a\n\xff"}, "a__", false},
		"a long one":            {redact.Label{Text: long}, redact.Valid(long), false},
		"a shared one":          {redact.Label{Text: "a", Shared: true}, "a*", true},
		"a family":              {redact.Label{Text: "a-*"}, "a-*", true},
		"a shared family":       {redact.Label{Text: "a-*", Shared: true}, "a-*", true},
		"the overflow's":        {redact.Label{Text: "overflow"}, "overflow", true},
		"that of redacted ones": {redact.Label{Text: "redacted", Shared: true}, "redacted", true},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMiddleware(t, instrument.WithRedactor(unlabelled{c.label}))
			one, two := m.Election("constant"), m.Named("made")
			text, collisions := c.text, uint64(0)
			if !c.lost { // two names have one label, whose end makes room for the mark
				text, collisions = registryForm(c.text), 1
			}
			if one.Label() != text || two.Label() != text || m.Collisions() != collisions {
				t.Errorf("labels %q and %q, want %q; %d collisions", one.Label(), two.Label(), text, m.Collisions())
			}
			info := `leader_redaction_info{policy="custom",key_id="k_",key_check="c_"}`
			if got := electtest.ReadProcess(m); got[info] != 1 {
				t.Errorf("%v", got)
			}
		})
	}
}

// registryForm is how a label is shown that stands for two names.
func registryForm(text string) string {
	return text[:min(len(text), redact.MaxLabelSize-1)] + "*"
}

// tracing is a provider whose tracer, span or end panics.
type tracing struct {
	noop.TracerProvider
	at string
}
type tracingTracer struct {
	noop.Tracer
	at string
}
type tracingSpan struct {
	noop.Span
	at string
}

func (p tracing) Tracer(string, ...trace.TracerOption) trace.Tracer {
	if p.at == "tracer" {
		panic(p.at)
	}
	return tracingTracer{at: p.at}
}

func (p tracingTracer) Start(ctx context.Context, _ string, _ ...trace.SpanStartOption) (context.Context, trace.Span) {
	if p.at == "start" {
		panic(p.at)
	}
	return ctx, tracingSpan{at: p.at}
}

func (p tracingSpan) End(...trace.SpanEndOption) {
	if p.at == "end" {
		panic(p.at)
	}
}

func TestATracerThatPanicsCostsTheSpanAndNotTheCall(t *testing.T) {
	for at, faults := range map[string]uint64{"never": 0, "tracer": 1, "start": 2, "end": 2} {
		t.Run(at, func(t *testing.T) {
			m := newMiddleware(t, instrument.WithTracerProvider(tracing{at: at}))
			ran := false
			err := m.Election("x").Run(context.Background(), electtest.NewElector(), func(ctx context.Context, _ *instrument.Term) error {
				ran = ctx != nil
				return nil
			})
			if err != nil || !ran || m.Faults() != faults {
				t.Errorf("run: %v, ran %v, %d faults", err, ran, m.Faults())
			}
		})
	}
}

func TestAGroupThatIsLeftOutIsNotHandedOut(t *testing.T) {
	m := newMiddleware(t, instrument.WithoutSeries(catalog.GroupWaiting))
	_, _ = m.Election("x").Acquire(context.Background(), electtest.Fails(errBackend))
	seen := map[catalog.Group]bool{}
	m.Collect(func(s *instrument.Sample) { seen[s.Metric.Group()] = true })
	if seen[catalog.GroupWaiting] || !seen[catalog.GroupCore] || m.Exports(catalog.AcquireDuration) != (catalog.AcquireDuration.Group() != catalog.GroupWaiting) || !m.Exports(catalog.Active) {
		t.Errorf("handed out: %v", seen)
	}
	detach := m.Attach(func(string) instrument.Observer { return nil })
	_, _ = m.Election("x").Acquire(context.Background(), electtest.Fails(errBackend))
	if detach(); m.Faults() != 0 {
		t.Errorf("%d faults of no observer", m.Faults())
	}
}

func TestOptionsOfALaterCallAreComparedWithTheFirst(t *testing.T) {
	one := classified(instrument.Contended, errHeld)
	comparable := instrument.Classify(mute{1})
	for name, c := range map[string]struct {
		first, later []instrument.ElectionOption
		same         bool
	}{
		"none":                           {nil, nil, true},
		"the same":                       {[]instrument.ElectionOption{instrument.Hold(), instrument.LeaseDuration(s)}, []instrument.ElectionOption{instrument.LeaseDuration(s), nil, instrument.Hold()}, true},
		"another length":                 {[]instrument.ElectionOption{instrument.LeaseDuration(s)}, []instrument.ElectionOption{instrument.LeaseDuration(2 * s)}, false},
		"a length too many":              {nil, []instrument.ElectionOption{instrument.LeaseDuration(s)}, false},
		"another end":                    {[]instrument.ElectionOption{instrument.StopAtLeaseEnd(), instrument.Hold()}, []instrument.ElectionOption{instrument.Hold()}, false},
		"a family":                       {[]instrument.ElectionOption{instrument.Family("f")}, nil, true},
		"another family":                 {[]instrument.ElectionOption{instrument.Family("f")}, []instrument.ElectionOption{instrument.Family("g")}, false},
		"another backend":                {[]instrument.ElectionOption{instrument.Backend("f")}, []instrument.ElectionOption{instrument.Backend("g")}, false},
		"a family that was not named":    {nil, []instrument.ElectionOption{instrument.Family("f")}, false},
		"a classifier that is a func":    {[]instrument.ElectionOption{one}, []instrument.ElectionOption{one}, true},
		"a classifier too few":           {[]instrument.ElectionOption{one, instrument.Hold()}, []instrument.ElectionOption{instrument.Hold()}, false},
		"a classifier too many":          {[]instrument.ElectionOption{one}, []instrument.ElectionOption{one, one}, false},
		"a classifier of another type":   {[]instrument.ElectionOption{one}, []instrument.ElectionOption{comparable}, false},
		"a classifier that is the same":  {[]instrument.ElectionOption{comparable}, []instrument.ElectionOption{comparable}, true},
		"a classifier of another value":  {[]instrument.ElectionOption{comparable}, []instrument.ElectionOption{instrument.Classify(mute{2})}, false},
		"the second of another value":    {[]instrument.ElectionOption{comparable, comparable}, []instrument.ElectionOption{comparable, instrument.Classify(mute{2})}, false},
		"values that make no sense":      {nil, []instrument.ElectionOption{instrument.LeaseDuration(0), instrument.ExpectEvery(0), instrument.MaxLeaders(0)}, true},
		"the smallest that make sense":   {[]instrument.ElectionOption{instrument.LeaseDuration(1), instrument.ExpectEvery(1), instrument.MaxLeaders(1)}, []instrument.ElectionOption{instrument.LeaseDuration(1), instrument.ExpectEvery(1)}, true},
		"an interval that was not named": {nil, []instrument.ElectionOption{instrument.ExpectEvery(1)}, false},
		"a length that was not named":    {nil, []instrument.ElectionOption{instrument.LeaseDuration(1)}, false},
		"a hundred years":                {nil, []instrument.ElectionOption{instrument.LeaseDuration(876_000 * time.Hour)}, false},
		"more than a hundred years":      {nil, []instrument.ElectionOption{instrument.LeaseDuration(876_000*time.Hour + 1)}, true},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMiddleware(t, instrument.WithLogger(slog.New(slog.DiscardHandler)))
			first := m.Election("x", c.first...)
			for range 2 {
				if later := m.Election("x", c.later...); later != first {
					t.Error("another handle")
				}
			}
			if (m.Faults() == 0) != c.same {
				t.Errorf("%d faults", m.Faults())
			}
		})
	}
}

// mute is a classifier that can be compared and has no opinion.
type mute struct{ n int }

func (mute) Classify(error) (instrument.Reason, bool) { return 0, false }
