package prom_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"go.opentelemetry.io/otel/trace"

	"github.com/leaderscope/leaderscope/exporter/prom"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/redact"
)

// histogram is the histogram of the only lock.
func histogram(t *testing.T, g prometheus.Gatherer, m *catalog.Metric) *dto.Histogram {
	t.Helper()
	families, err := g.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == m.Name {
			return f.GetMetric()[0].GetHistogram()
		}
	}
	t.Fatalf("no %s", m.Name)
	return nil
}

// runs makes three attempts that take 1, 2 and 4 s.
func runs(ctx context.Context, e *instrument.Election) {
	for _, d := range []time.Duration{s, 2 * s, 4 * s} {
		_, _ = e.Acquire(ctx, electtest.NewElector(electtest.Step{Wait: d, Err: instrument.ErrContended}))
	}
}

func TestHistogramsAreClassicNativeOrBoth(t *testing.T) {
	cases := map[prom.Histograms]struct {
		buckets int
		native  []int64 // deltas of the positive buckets
	}{
		prom.Classic:          {buckets: len(catalog.AcquireDuration.Bounds)},
		prom.Native:           {native: []int64{1, 0, 0}},
		prom.ClassicAndNative: {buckets: len(catalog.AcquireDuration.Bounds), native: []int64{1, 0, 0}},
	}
	for form, want := range cases {
		t.Run(fmt.Sprint(form), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, err := instrument.New()
				if err != nil {
					t.Fatal(err)
				}
				r := prometheus.NewPedanticRegistry()
				if _, err := prom.Register(r, m, prom.WithHistograms(form)); err != nil {
					t.Fatal(err)
				}
				e := m.Election("x")
				if h := histogram(t, r, catalog.AcquireDuration); h.GetSampleCount() != 0 || len(h.GetBucket()) != want.buckets || (h.Schema != nil) != (want.native != nil) {
					t.Errorf("from construction: %v", h)
				}
				runs(context.Background(), e)
				h := histogram(t, r, catalog.AcquireDuration)
				if h.GetSampleCount() != 3 || h.GetSampleSum() != 7 || len(h.GetBucket()) != want.buckets {
					t.Errorf("classic part: %v", h)
				}
				if diff := cmp.Diff(want.native, h.GetPositiveDelta()); diff != "" {
					t.Errorf("native buckets (-want +got):\n%s", diff)
				}
				if want.native != nil && h.GetSchema() != 3 {
					t.Errorf("schema %d, want 3", h.GetSchema())
				}
			})
		})
	}
}

func TestANativeHistogramGoesWithItsLockAndBeginsAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, err := instrument.New()
		if err != nil {
			t.Fatal(err)
		}
		r := prometheus.NewPedanticRegistry()
		c, err := prom.Register(r, m, prom.WithHistograms(prom.Native))
		if err != nil {
			t.Fatal(err)
		}
		e := m.Election("x")
		runs(context.Background(), e)
		e.Forget()
		m.Election("x")
		if h := histogram(t, r, catalog.AcquireDuration); h.GetSampleCount() != 0 {
			t.Errorf("%d observations of a lock that is gone", h.GetSampleCount())
		}
		c.Close()
		c.Close()
		runs(context.Background(), m.Election("x"))
	})
}

func sampled(flags trace.TraceFlags) context.Context {
	return trace.ContextWithSpanContext(context.Background(), trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, TraceFlags: flags,
	}))
}

func TestExemplarsNameTheSampledSpanOfTheOperation(t *testing.T) {
	for _, form := range []prom.Histograms{prom.Classic, prom.Native, prom.ClassicAndNative} {
		t.Run(fmt.Sprint(form), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, err := instrument.New()
				if err != nil {
					t.Fatal(err)
				}
				r := prometheus.NewPedanticRegistry()
				if _, err := prom.Register(r, m, prom.WithHistograms(form), prom.WithExemplars()); err != nil {
					t.Fatal(err)
				}
				e := m.Election("x")
				runs(sampled(0), e)
				if got := exemplarsOf(histogram(t, r, catalog.AcquireDuration)); len(got) > 0 {
					t.Errorf("exemplars of spans that are not sampled: %v", got)
				}
				_, _ = e.Acquire(sampled(trace.FlagsSampled), electtest.NewElector(electtest.Step{Wait: 3 * s, Err: instrument.ErrContended}))
				want := []string{`span_id="0200000000000000" trace_id="01000000000000000000000000000000" 3`}
				if form != prom.Classic {
					want = append(want, want[0]) // in the native list, and beside its classic bucket or +Inf
				}
				if diff := cmp.Diff(want, exemplarsOf(histogram(t, r, catalog.AcquireDuration))); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		})
	}
}

func exemplarsOf(h *dto.Histogram) (found []string) {
	all := h.GetExemplars()
	for _, b := range h.GetBucket() {
		if b.Exemplar != nil {
			all = append(all, b.Exemplar)
		}
	}
	for _, x := range all {
		labels := map[string]string{}
		for _, l := range x.GetLabel() {
			labels[l.GetName()] = l.GetValue()
		}
		found = append(found, fmt.Sprintf("span_id=%q trace_id=%q %v", labels["span_id"], labels["trace_id"], x.GetValue()))
	}
	return found
}

func TestConstantLabelsAreOnEverySeries(t *testing.T) {
	for _, form := range []prom.Histograms{prom.Classic, prom.ClassicAndNative} {
		m, err := instrument.New(instrument.WithRedactor(redact.Raw()))
		if err != nil {
			t.Fatal(err)
		}
		r := prometheus.NewPedanticRegistry()
		if _, err := prom.Register(r, m, prom.WithHistograms(form), prom.WithConstLabels(prometheus.Labels{"zone": "b", "app": "a"})); err != nil {
			t.Fatal(err)
		}
		m.Election("x")
		for _, line := range strings.Split(strings.TrimSpace(scrape(t, r)), "\n") {
			if !strings.HasPrefix(line, "#") && (!strings.Contains(line, `app="a"`) || !strings.Contains(line, `zone="b"`)) {
				t.Errorf("%s", line)
			}
		}
	}
}

func TestC55ASecondBuildSharesOrIsAnError(t *testing.T) {
	constant := func(v string) prom.Option { return prom.WithConstLabels(prometheus.Labels{"pool": v}) }
	cases := map[string]struct {
		second []prom.Option
		other  bool // another middleware
		fails  bool
	}{
		"the same middleware and options share":              {second: []prom.Option{constant("a")}},
		"another value of a constant label is refused":       {second: []prom.Option{constant("b")}, fails: true},
		"no constant label is refused":                       {fails: true},
		"native histograms beside classic ones":              {second: []prom.Option{constant("a"), prom.WithHistograms(prom.Native)}, fails: true},
		"exemplars beside none":                              {second: []prom.Option{constant("a"), prom.WithExemplars()}, fails: true},
		"another middleware under the same label":            {second: []prom.Option{constant("a")}, other: true, fails: true},
		"another middleware that a label tells apart":        {second: []prom.Option{constant("b")}, other: true},
		"another middleware with another set of label names": {other: true, fails: true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			m, _ := instrument.New()
			r := prometheus.NewPedanticRegistry()
			first, err := prom.Register(r, m, constant("a"))
			if err != nil {
				t.Fatal(err)
			}
			if c.other {
				m, _ = instrument.New()
			}
			second, err := prom.Register(r, m, c.second...)
			if errors.Is(err, prom.ErrRegistered) != c.fails || (err != nil) != c.fails {
				t.Fatalf("second build: %v", err)
			}
			if !c.fails && (first == second) == c.other {
				t.Errorf("shared: %v", first == second)
			}
			scrape(t, r)
		})
	}
}

func TestAConstantLabelThatIsTakenIsNamed(t *testing.T) {
	m, _ := instrument.New()
	_, err := prom.Register(prometheus.NewRegistry(), m, prom.WithConstLabels(prometheus.Labels{catalog.LockName.Name: "x"}))
	if err == nil || errors.Is(err, prom.ErrRegistered) || !strings.Contains(err.Error(), catalog.LockName.Name) {
		t.Errorf("%v", err)
	}
}

func TestTwoMiddlewaresUnderWrappedRegisterersShareOneRegistry(t *testing.T) {
	r := prometheus.NewPedanticRegistry()
	for _, pool := range []string{"a", "b"} {
		m, _ := instrument.New()
		wrapped := prometheus.WrapRegistererWith(prometheus.Labels{"pool": pool}, r)
		first, err := prom.Register(wrapped, m)
		if err != nil {
			t.Fatal(err)
		}
		if second, err := prom.Register(wrapped, m); err != nil || first != second {
			t.Errorf("built twice: %v", err)
		}
		m.Election("x")
	}
	if n := strings.Count(scrape(t, r), "\nleader_active{"); n != 2 {
		t.Errorf("%d locks, want 2", n)
	}
}

func TestGroupsThatAreLeftOutHaveNoNativeHistogramEither(t *testing.T) {
	m, err := instrument.New(instrument.WithoutSeries(catalog.GroupWaiting))
	if err != nil {
		t.Fatal(err)
	}
	r := prometheus.NewPedanticRegistry()
	if _, err := prom.Register(r, m, prom.WithHistograms(prom.Native)); err != nil {
		t.Fatal(err)
	}
	_, _ = m.Election("x").Acquire(context.Background(), electtest.Fails(instrument.ErrContended))
	if text := scrape(t, r); strings.Contains(text, catalog.AcquireDuration.Name) || !strings.Contains(text, catalog.ExecutionDuration.Name) {
		t.Errorf("%s", text)
	}
}

func TestScrapingWhileRecordingAndForgettingIsSafe(t *testing.T) {
	for _, form := range []prom.Histograms{prom.Classic, prom.ClassicAndNative} {
		m, err := instrument.New(instrument.WithRedactor(redact.Raw()))
		if err != nil {
			t.Fatal(err)
		}
		r := prometheus.NewPedanticRegistry()
		if _, err := prom.Register(r, m, prom.WithHistograms(form), prom.WithExemplars()); err != nil {
			t.Fatal(err)
		}
		var workers sync.WaitGroup
		for w := range 4 {
			workers.Go(func() {
				for i := range 200 {
					e := m.Election(fmt.Sprint("lock-", (w+i)%5))
					_, _ = e.Acquire(sampled(trace.FlagsSampled), electtest.Fails(instrument.ErrContended))
					e.Forget()
				}
			})
		}
		for range 20 {
			scrape(t, r)
		}
		workers.Wait()
	}
}
