package otelmetric_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"testing"
	"time"
	"weak"

	sdk "go.opentelemetry.io/otel/sdk/metric"

	"github.com/leaderscope/leaderscope/exporter/otelmetric"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
)

// collected reports whether the collector of garbage takes what p points to.
func collected[T any](p weak.Pointer[T]) bool {
	for range 50 {
		runtime.GC()
		if p.Value() == nil {
			return true
		}
		time.Sleep(time.Millisecond)
	}
	return false
}

func TestNothingKeepsAProviderAliveThatIsNotUsedAnyMore(t *testing.T) {
	cases := map[string]func(t *testing.T, m *instrument.Middleware) (kept any, p weak.Pointer[sdk.MeterProvider]){
		"after Close, the exporter still at hand": func(t *testing.T, m *instrument.Middleware) (any, weak.Pointer[sdk.MeterProvider]) {
			p, _ := provider()
			e := exportTo(t, m, p)
			work(t, m)
			closeIt(t, e)
			return []any{m, e}, weak.Make(p)
		},
		"after Shutdown without Close, once there is another": func(t *testing.T, m *instrument.Middleware) (any, weak.Pointer[sdk.MeterProvider]) {
			p, _ := provider()
			exportTo(t, m, p)
			work(t, m)
			if err := p.Shutdown(context.Background()); err != nil {
				t.Fatal(err)
			}
			next, _ := provider()
			return []any{m, exportTo(t, m, next)}, weak.Make(p)
		},
		"when it is dropped with its middleware": func(t *testing.T, _ *instrument.Middleware) (any, weak.Pointer[sdk.MeterProvider]) {
			p, _ := provider()
			own := newMiddleware(t)
			exportTo(t, own, p)
			work(t, own)
			return nil, weak.Make(p)
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			kept, p := c(t, newMiddleware(t))
			if !collected(p) {
				t.Error("it is still there")
			}
			runtime.KeepAlive(kept)
		})
	}
}

func TestAServiceThatRebuildsItsProviderExportsToTheNewOne(t *testing.T) {
	m := newMiddleware(t)
	var before *otelmetric.Exporter
	for range 3 {
		p, r := provider()
		e := exportTo(t, m, p)
		work(t, m)
		want, got := recorded(m), series(t, r)
		delete(want, "leader.acquire.duration lock.name=x") // counts from New on
		if got["leader.acquire.duration lock.name=x"] != 2 {
			t.Errorf("%v observations since New", got["leader.acquire.duration lock.name=x"])
		}
		delete(got, "leader.acquire.duration lock.name=x")
		if !maps.Equal(want, got) {
			t.Errorf("%v, want %v", got, want)
		}
		if err := p.Shutdown(context.Background()); err != nil {
			t.Fatal(err)
		}
		if before != nil {
			closeIt(t, before) // of a provider that is gone
		}
		before = e
	}
	closeIt(t, before)
}

func TestANilMiddlewareExportsNothing(t *testing.T) {
	p, r := provider()
	e := exportTo(t, nil, p)
	if got := series(t, r); len(got) > 0 {
		t.Errorf("%v", got)
	}
	closeIt(t, e)
	closeIt(t, e)
	closeIt(t, nil) // as after an error
}

func TestANilProviderIsTheGlobalOne(t *testing.T) {
	var none *sdk.MeterProvider
	m := newMiddleware(t)
	for _, o := range []otelmetric.Option{otelmetric.WithMeterProvider(none), otelmetric.WithMeterProvider(nil), nil} {
		e, err := otelmetric.New(m, o)
		if err != nil {
			t.Fatal(err)
		}
		closeIt(t, e)
	}
}

// visit lets tenants come and go: each is tried for once and forgotten.
func visit(m *instrument.Middleware, tenants int) {
	for i := range tenants {
		e := named(m, fmt.Sprintf("tenant-%d", i))
		_, _ = e.Acquire(context.Background(), electtest.Fails(instrument.ErrContended))
		e.Forget()
	}
}

func TestTenantsThatComeAndGo(t *testing.T) {
	const live = "live"
	cases := map[string]struct {
		provider  []sdk.Option
		options   []otelmetric.Option
		reported  int
		histogram bool // the live tenant's
	}{
		"with the SDK's limit histograms are folded, and that is reported": {
			provider: []sdk.Option{sdk.WithCardinalityLimit(otelmetric.DefaultCardinalityLimit)}, reported: 1,
		},
		"with a limit that is lifted nothing is": {
			provider: []sdk.Option{sdk.WithCardinalityLimit(0)}, options: []otelmetric.Option{otelmetric.WithCardinalityLimit(0)}, histogram: true,
		},
		"with a limit above them nothing is": {
			provider: []sdk.Option{sdk.WithCardinalityLimit(4000)}, options: []otelmetric.Option{otelmetric.WithCardinalityLimit(4000)}, histogram: true,
		},
		"without histograms counters and gauges are all there": {options: []otelmetric.Option{otelmetric.WithoutHistograms()}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			errs := handled(t)
			m, r := newMiddleware(t), sdk.NewManualReader()
			p := sdk.NewMeterProvider(append(c.provider, sdk.WithReader(r))...)
			e, err := otelmetric.New(m, append(c.options, otelmetric.WithMeterProvider(p))...)
			if err != nil {
				t.Fatal(err)
			}
			defer closeIt(t, e)
			visit(m, 3000)
			contend(m.Named(live), 1)
			want, got := recorded(m), map[string]float64{}
			for s, v := range series(t, r) {
				if _, ok := want[s]; ok {
					got[s] = v
				}
			}
			if !c.histogram {
				delete(want, catalog.AcquireDuration.OTel()+" lock.name="+live)
			}
			if !maps.Equal(want, got) {
				t.Errorf("the live tenant has %v, want %v", got, want)
			}
			if n := e.Locks(); n != 1 {
				t.Errorf("%d locks kept, want the live one", n)
			}
			if got := errs(); len(got) != c.reported || len(got) > 0 && !errors.Is(got[0], otelmetric.ErrCardinality) {
				t.Errorf("handled %v, want %d", got, c.reported)
			}
		})
	}
}

func TestMoreLiveLocksThanTheSDKHasRoomForAreReported(t *testing.T) {
	errs := handled(t)
	m := newMiddleware(t) // 256 labels of 8 reasons each
	_, _, r := export(t, m, sdk.WithCardinalityLimit(otelmetric.DefaultCardinalityLimit))
	for i := range 249 {
		named(m, fmt.Sprintf("lock-%d", i))
	}
	collect(t, r)
	if got := errs(); len(got) > 0 {
		t.Errorf("249 locks: %v", got)
	}
	named(m, "one more")
	collect(t, r)
	collect(t, r)
	if got := errs(); len(got) != 1 || !errors.Is(got[0], otelmetric.ErrCardinality) {
		t.Errorf("250 locks: %v", got)
	}
}

// A label counts once, however often it comes back, and the limit is the first
// number that is reported.
func TestALimitIsReportedOnceItIsReached(t *testing.T) {
	for name, c := range map[string]struct {
		limit, labels int
		reported      int
	}{
		"below":        {limit: 9, labels: 8},
		"reached":      {limit: 9, labels: 9, reported: 1},
		"beyond":       {limit: 9, labels: 20, reported: 1},
		"of one":       {limit: 1, labels: 1, reported: 1},
		"none":         {limit: 0, labels: 20},
		"less than no": {limit: -1, labels: 20},
	} {
		t.Run(name, func(t *testing.T) {
			errs := handled(t)
			m := newMiddleware(t, instrument.WithoutSeries(catalog.GroupWaiting))
			p, _ := provider()
			e, err := otelmetric.New(m, otelmetric.WithMeterProvider(p), otelmetric.WithCardinalityLimit(c.limit))
			if err != nil {
				t.Fatal(err)
			}
			defer closeIt(t, e)
			for range 3 {
				for i := range c.labels {
					e := named(m, fmt.Sprint("lock-", i))
					term, err := e.Acquire(context.Background(), electtest.Wins(instrument.NewLease(nil)))
					if err != nil || term.Release(context.Background()) != nil {
						t.Fatal(err)
					}
					e.Forget()
				}
			}
			if got := errs(); len(got) != c.reported || len(got) > 0 && !errors.Is(got[0], otelmetric.ErrCardinality) {
				t.Errorf("handled %v, want %d", got, c.reported)
			}
		})
	}
}
