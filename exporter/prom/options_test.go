package prom_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"weak"

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
		if f.GetName() == m.Name() {
			return f.GetMetric()[0].GetHistogram()
		}
	}
	t.Fatalf("no %s", m.Name())
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
		prom.Classic:          {buckets: len(catalog.AcquireDuration.Bounds())},
		prom.Native:           {native: []int64{1, 0, 0}},
		prom.ClassicAndNative: {buckets: len(catalog.AcquireDuration.Bounds()), native: []int64{1, 0, 0}},
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
				if text := scrape(t, r); strings.Contains(text, catalog.AcquireDuration.Name()) {
					t.Errorf("before the first observation:\n%s", text)
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
		exporter := register(t, r, m, prom.WithHistograms(prom.Native))
		e := m.Election("x")
		runs(context.Background(), e)
		e.Forget()
		e = m.Election("x")
		if text := scrape(t, r); strings.Contains(text, catalog.AcquireDuration.Name()) {
			t.Errorf("observations of a lock that is gone:\n%s", text)
		}
		runs(context.Background(), e)
		if h := histogram(t, r, catalog.AcquireDuration); h.GetSampleCount() != 3 {
			t.Errorf("%d observations, want 3", h.GetSampleCount())
		}
		closeIt(t, exporter)

		// A closed one no longer listens: another one starts again.
		runs(context.Background(), e)
		defer closeIt(t, register(t, r, m, prom.WithHistograms(prom.Native)))
		runs(context.Background(), e)
		if h := histogram(t, r, catalog.AcquireDuration); h.GetSampleCount() != 3 {
			t.Errorf("%d observations since it was registered again, want 3", h.GetSampleCount())
		}
	})
}

func TestANativeHistogramThatCameLateBeginsWithItsOwnFirstObservation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, r := newMiddleware(t), prometheus.NewPedanticRegistry()
		e := m.Election("x")
		runs(context.Background(), e)
		defer closeIt(t, register(t, r, m, prom.WithHistograms(prom.Native)))
		if text := scrape(t, r); strings.Contains(text, catalog.AcquireDuration.Name()) {
			t.Errorf("before an observation:\n%s", text)
		}
		runs(context.Background(), e)
		if h := histogram(t, r, catalog.AcquireDuration); h.GetSampleCount() != 3 {
			t.Errorf("%d observations, want 3", h.GetSampleCount())
		}
	})
}

func TestNothingKeepsARegistryAliveAfterClose(t *testing.T) {
	m := newMiddleware(t)
	for _, form := range []prom.Histograms{prom.Classic, prom.Native} {
		registry, exporter := func() (weak.Pointer[prometheus.Registry], *prom.Exporter) {
			r := prometheus.NewRegistry()
			e := register(t, r, m, prom.WithHistograms(form), prom.WithExemplars())
			_, _ = m.Election("x").Acquire(context.Background(), electtest.Fails(instrument.ErrContended))
			scrape(t, r)
			closeIt(t, e)
			return weak.Make(r), e
		}()
		for range 50 {
			if runtime.GC(); registry.Value() == nil {
				break
			}
			time.Sleep(time.Millisecond)
		}
		if registry.Value() != nil {
			t.Errorf("%s: it is still there", form)
		}
		runtime.KeepAlive(exporter)
	}
	runtime.KeepAlive(m)
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
				if m.Faults() != 0 {
					t.Errorf("%d faults", m.Faults())
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
			m.Election("x")
			labels := map[bool]int{false: 1, true: 2}[c.other && !c.fails]
			if n := strings.Count(scrape(t, r), "\nleader_redaction_overflows_total{"); n != labels {
				t.Errorf("exported %d times, want %d", n, labels)
			}
			closeIt(t, first)
			if !c.fails {
				closeIt(t, second)
			}
			if text := scrape(t, r); text != "" {
				t.Errorf("after all are closed:\n%s", text)
			}
		})
	}
}

func TestAConstantLabelThatNoSeriesCanHaveIsNamedInEveryForm(t *testing.T) {
	label := func(name string) prometheus.Labels { return prometheus.Labels{name: "x"} }
	for _, form := range []prom.Histograms{prom.Classic, prom.Native, prom.ClassicAndNative} {
		for _, name := range []string{"le", "quantile", "__x", "", "lock.name", catalog.LockName.Name(), catalog.NotAcquired.Labels()[0].Name(), catalog.ElectorInfo.Labels()[1].Name()} {
			for way, c := range map[string]struct {
				registerer prometheus.Registerer
				constant   prometheus.Labels
			}{
				"by option":  {registerer: prometheus.NewRegistry(), constant: label(name)},
				"by wrapper": {registerer: prometheus.WrapRegistererWith(label(name), prometheus.NewRegistry())},
			} {
				_, err := prom.Register(c.registerer, newMiddleware(t), prom.WithHistograms(form), prom.WithConstLabels(c.constant))
				if err == nil || errors.Is(err, prom.ErrRegistered) || !strings.Contains(err.Error(), fmt.Sprintf("%q", name)) {
					t.Errorf("%s %q %s: %v", form, name, way, err)
				}
			}
		}
	}
}

func TestARegistererWithAPrefixIsRefusedAndLeavesNothingBehind(t *testing.T) {
	r, m := prometheus.NewPedanticRegistry(), newMiddleware(t)
	_, err := prom.Register(prometheus.WrapRegistererWithPrefix("app_", r), m)
	if err == nil || errors.Is(err, prom.ErrRegistered) || !strings.Contains(err.Error(), `"app_"`) {
		t.Errorf("%v", err)
	}
	defer closeIt(t, register(t, r, m)) // as the error says
	if text := scrape(t, r); strings.Contains(text, "app_") || !strings.Contains(text, "\nleader_redaction_info{") {
		t.Error(text)
	}
}

func TestAFormOfHistogramsThatDoesNotExistIsAnError(t *testing.T) {
	for _, form := range []prom.Histograms{-1, 3} {
		if _, err := prom.Register(prometheus.NewRegistry(), newMiddleware(t), prom.WithHistograms(form)); err == nil || !strings.Contains(err.Error(), fmt.Sprint(int(form))) {
			t.Errorf("%v: %v", form, err)
		}
	}
	got := fmt.Sprint(prom.Classic, prom.Native, prom.ClassicAndNative, prom.Histograms(7))
	if want := "classic native classic and native Histograms(7)"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestTwoMiddlewaresUnderWrappedRegisterersShareOneRegistry(t *testing.T) {
	r := prometheus.NewPedanticRegistry()
	for _, pool := range []string{"a", "b"} {
		m := newMiddleware(t)
		wrapped := prometheus.WrapRegistererWith(prometheus.Labels{"pool": pool}, r)
		first, second := register(t, wrapped, m), register(t, wrapped, m)
		m.Election("x")
		closeIt(t, first)
		defer closeIt(t, second)
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
	_ = m.Election("x").Run(context.Background(), electtest.Wins(instrument.NewLease(nil)), func(context.Context, *instrument.Term) error { return nil })
	if text := scrape(t, r); strings.Contains(text, catalog.AcquireDuration.Name()) || !strings.Contains(text, catalog.ExecutionDuration.Name()) {
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
					e := named(m, fmt.Sprint("lock-", (w+i)%5))
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
