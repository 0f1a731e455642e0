package otelmetric_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"testing"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
	sdk "go.opentelemetry.io/otel/sdk/metric"

	"github.com/leaderscope/leaderscope/exporter/otelmetric"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
)

// Wrappers around a provider, as users write them.
type (
	plain struct{ metric.MeterProvider }

	incomparable struct {
		metric.MeterProvider
		_ []string // cannot be compared
	}

	// counting wraps meters too, and passes instruments on.
	counting struct {
		metric.MeterProvider
		meters *int
	}
	countingMeter struct {
		metric.Meter
		_ []string // cannot be compared
	}

	// versioned puts a version into the scope: another place.
	versioned struct{ metric.MeterProvider }
)

// collecting collects whenever it is asked for a meter of another library.
type collecting struct {
	metric.MeterProvider
	collect func()
}

func (c collecting) Meter(name string, opts ...metric.MeterOption) metric.Meter {
	if name != otelmetric.ScopeName {
		c.collect()
	}
	return c.MeterProvider.Meter(name, opts...)
}

func (c counting) Meter(name string, opts ...metric.MeterOption) metric.Meter {
	*c.meters++
	return countingMeter{Meter: c.MeterProvider.Meter(name, opts...)}
}

func (v versioned) Meter(name string, opts ...metric.MeterOption) metric.Meter {
	return v.MeterProvider.Meter(name, append(opts, metric.WithInstrumentationVersion("v1"))...)
}

func counted(p metric.MeterProvider) metric.MeterProvider { return counting{p, new(int)} }

func provider() (*sdk.MeterProvider, sdk.Reader) {
	r := sdk.NewManualReader()
	return sdk.NewMeterProvider(sdk.WithReader(r)), r
}

func exportTo(t *testing.T, m *instrument.Middleware, p metric.MeterProvider) *otelmetric.Exporter {
	t.Helper()
	e, err := otelmetric.New(m, otelmetric.WithMeterProvider(p))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func closeIt(t *testing.T, e *otelmetric.Exporter) {
	t.Helper()
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

// ended checks that nothing is exported any longer, but for the histograms that
// the SDK cannot forget.
func ended(t *testing.T, r sdk.Reader) {
	t.Helper()
	for _, x := range collect(t, r) {
		if byOTel(x.Name).Kind() != catalog.Histogram {
			t.Errorf("%s is still there", x.Name)
		}
	}
}

// work is an attempt that fails, and a term that stays.
func work(t *testing.T, m *instrument.Middleware) {
	t.Helper()
	contend(m.Election("x"), 1)
	if _, err := m.Election("x").Acquire(context.Background(), electtest.Wins(instrument.NewLease(nil))); err != nil {
		t.Fatal(err)
	}
}

func TestWrappersOfOneProviderAreOnePlaceInAnyOrder(t *testing.T) {
	wrap := map[string]func(metric.MeterProvider) metric.MeterProvider{
		"the provider":          func(p metric.MeterProvider) metric.MeterProvider { return p },
		"a comparable wrapper":  func(p metric.MeterProvider) metric.MeterProvider { return plain{p} },
		"a wrapper of a slice":  func(p metric.MeterProvider) metric.MeterProvider { return incomparable{MeterProvider: p} },
		"a wrapper of meters":   counted,
		"a wrapper of wrappers": func(p metric.MeterProvider) metric.MeterProvider { return plain{incomparable{MeterProvider: p}} },
	}
	for first, a := range wrap {
		for second, b := range wrap {
			t.Run(first+", then "+second, func(t *testing.T) {
				m, other := newMiddleware(t), newMiddleware(t)
				p, r := provider()
				one, two := exportTo(t, m, a(p)), exportTo(t, m, b(p))
				work(t, m)
				equal(t, m, r)
				if _, err := otelmetric.New(other, otelmetric.WithMeterProvider(b(p))); !errors.Is(err, otelmetric.ErrOtherMiddleware) {
					t.Errorf("another middleware: %v", err)
				}
				closeIt(t, one)
				work(t, m)
				equal(t, m, r)
				closeIt(t, two)
				ended(t, r)
			})
		}
	}
}

func TestDifferentProvidersBothExport(t *testing.T) {
	for name, wrap := range map[string]func(metric.MeterProvider) metric.MeterProvider{
		"by themselves": func(p metric.MeterProvider) metric.MeterProvider { return p },
		"wrapped alike": func(p metric.MeterProvider) metric.MeterProvider { return plain{p} },
		"wrapped in what cannot be compared": func(p metric.MeterProvider) metric.MeterProvider {
			return plain{incomparable{MeterProvider: p}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMiddleware(t)
			p, r := provider()
			q, s := provider()
			one, two := exportTo(t, m, wrap(p)), exportTo(t, m, wrap(q))
			work(t, m)
			equal(t, m, r)
			equal(t, m, s)
			closeIt(t, one)
			work(t, m)
			equal(t, m, s)
			closeIt(t, two)
		})
	}
}

func TestTwoMiddlewaresMayHaveAProviderThatDoesNothing(t *testing.T) {
	handled(t) // what the second provider refuses
	for _, p := range []metric.MeterProvider{noop.NewMeterProvider(), refusing{}} {
		for range 2 {
			m := newMiddleware(t)
			defer closeIt(t, exportTo(t, m, p))
			work(t, m)
		}
	}
}

func TestAProviderOfNewInstrumentsEachTimeIsOnePlaceStill(t *testing.T) {
	var calls []string
	m, p := newMiddleware(t), binding{calls: &calls}
	defer closeIt(t, exportTo(t, m, p))
	defer closeIt(t, exportTo(t, m, p))
	contend(m.Election("x"), 1)
	if len(calls) != 1 {
		t.Errorf("recorded %d times: %v", len(calls), calls)
	}
}

func TestAWrapperThatAddsToTheScopeIsAnotherPlace(t *testing.T) {
	m := newMiddleware(t)
	p, r := provider()
	defer closeIt(t, exportTo(t, m, p))
	defer closeIt(t, exportTo(t, m, versioned{p}))
	work(t, m)
	found := 0
	for _, x := range collect(t, r) {
		if x.Name == "leader.active" {
			found++
		}
	}
	if found != 2 {
		t.Errorf("%d times, want once for each scope", found)
	}
}

// The global provider can be set once in a process, so each order runs in
// its own process.
var orders = map[string]func(t *testing.T, m *instrument.Middleware){
	"before and after Set": func(t *testing.T, m *instrument.Middleware) {
		p, r := provider()
		first := exportTo(t, m, nil)
		otel.SetMeterProvider(p)
		second := exportTo(t, m, nil)
		work(t, m)
		equal(t, m, r)
		closeIt(t, first)
		work(t, m)
		equal(t, m, r)
		closeIt(t, second)
		ended(t, r)
	},
	"before Set only": func(t *testing.T, m *instrument.Middleware) {
		p, r := provider()
		defer closeIt(t, exportTo(t, m, nil))
		otel.SetMeterProvider(p)
		work(t, m) // the first observation after Set is counted
		equal(t, m, r)
	},
	"before Set, then with the provider itself, then Set": func(t *testing.T, m *instrument.Middleware) {
		p, r := provider()
		first, second := exportTo(t, m, nil), exportTo(t, m, p)
		otel.SetMeterProvider(p)
		work(t, m)
		equal(t, m, r)
		equal(t, m, r)
		closeIt(t, second) // the first takes over
		contend(m.Election("x"), 1)
		want := recorded(m)
		if got := series(t, r); !maps.Equal(want, got) {
			t.Errorf("after the one that reported was closed: %v, want %v", got, want)
		}
		closeIt(t, first)
		ended(t, r)
	},
	"the provider itself, then before Set, collected first": func(t *testing.T, m *instrument.Middleware) {
		p, r := provider()
		first, second := exportTo(t, m, p), exportTo(t, m, nil)
		work(t, m)
		equal(t, m, r)
		otel.SetMeterProvider(plain{p})
		equal(t, m, r) // nothing was observed in between
		work(t, m)
		equal(t, m, r)
		closeIt(t, first)
		closeIt(t, second)
	},
	"wrappers of the stand-in": func(t *testing.T, m *instrument.Middleware) {
		p, r := provider()
		global := otel.GetMeterProvider()
		defer closeIt(t, exportTo(t, m, incomparable{MeterProvider: global}))
		defer closeIt(t, exportTo(t, m, counted(global)))
		defer closeIt(t, exportTo(t, m, plain{p}))
		otel.SetMeterProvider(incomparable{MeterProvider: p})
		defer closeIt(t, exportTo(t, m, counted(global)))
		defer closeIt(t, exportTo(t, m, nil))
		work(t, m)
		equal(t, m, r)
	},
	"Set twice": func(t *testing.T, m *instrument.Middleware) {
		p, r := provider()
		q, s := provider()
		defer closeIt(t, exportTo(t, m, nil))
		otel.SetMeterProvider(p) // the stand-in goes here for good
		otel.SetMeterProvider(q)
		defer closeIt(t, exportTo(t, m, nil))
		defer closeIt(t, exportTo(t, m, p))
		work(t, m)
		equal(t, m, r)
		equal(t, m, s)
	},
	"Set to another provider": func(t *testing.T, m *instrument.Middleware) {
		p, r := provider()
		q, s := provider()
		defer closeIt(t, exportTo(t, m, nil))
		defer closeIt(t, exportTo(t, m, q))
		otel.SetMeterProvider(p)
		work(t, m)
		equal(t, m, r)
		equal(t, m, s)
	},
	"two middlewares meet when it is Set": func(t *testing.T, m *instrument.Middleware) {
		errs := handled(t)
		p, r := provider()
		late := newMiddleware(t)
		defer closeIt(t, exportTo(t, late, nil))
		first := exportTo(t, m, p)
		otel.SetMeterProvider(p)
		work(t, m)
		work(t, late)
		equal(t, m, r)
		equal(t, m, r)
		if got := errs(); len(got) != 1 || !errors.Is(got[0], otelmetric.ErrOtherMiddleware) {
			t.Errorf("handled %v", got)
		}
		closeIt(t, first)
		contend(late.Election("x"), 1)
		if got := series(t, r)["leader.attempts lock.name=x"]; got != 3 {
			t.Errorf("%v attempts of the other, once it has the place", got)
		}
	},
	"another middleware after Set": func(t *testing.T, m *instrument.Middleware) {
		p, _ := provider()
		defer closeIt(t, exportTo(t, m, nil))
		otel.SetMeterProvider(p)
		if _, err := otelmetric.New(newMiddleware(t)); !errors.Is(err, otelmetric.ErrOtherMiddleware) {
			t.Errorf("%v", err)
		}
	},
	"collections while it is being Set": func(t *testing.T, m *instrument.Middleware) {
		p, r := provider()
		defer closeIt(t, exportTo(t, m, nil))
		defer closeIt(t, exportTo(t, m, p))
		for i := range 16 { // other libraries, whose meters are handed over before and after ours
			otel.Meter(fmt.Sprint("other-", i))
		}
		work(t, m)
		otel.SetMeterProvider(collecting{p, func() { equal(t, m, r) }})
		equal(t, m, r)
	},
	"Set while collecting and recording": func(t *testing.T, m *instrument.Middleware) {
		p, r := provider()
		first, second := exportTo(t, m, nil), exportTo(t, m, p)
		work(t, m)
		done := make(chan struct{})
		go func() {
			defer close(done)
			for range 200 {
				contend(m.Election("x"), 1)
			}
		}()
		go otel.SetMeterProvider(p)
		for range 200 {
			if active := series(t, r)["leader.active lock.name=x"]; active != 1 {
				t.Fatalf("%v leaders, want 1", active)
			}
		}
		<-done
		equal(t, m, r)
		closeIt(t, first)
		closeIt(t, second)
	},
}

const orderVariable = "LEADERSCOPE_TEST_ORDER"

func TestTheGlobalProviderIsOnePlaceInAnyOrder(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(orders)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := []string{"-test.run=^TestOneOrder$", "-test.v"}
			if dir := os.Getenv("GOCOVERDIR"); dir != "" {
				args = append(args, "-test.gocoverdir="+dir)
			}
			cmd := exec.Command(os.Args[0], args...)
			cmd.Env = append(os.Environ(), orderVariable+"="+name)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// TestOneOrder is what each of these processes runs.
func TestOneOrder(t *testing.T) {
	order, ok := orders[os.Getenv(orderVariable)]
	if !ok {
		t.Skip("runs within TestTheGlobalProviderIsOnePlaceInAnyOrder")
	}
	order(t, newMiddleware(t))
}
