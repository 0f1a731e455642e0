package prom_test

import (
	"context"
	"errors"
	"flag"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/leaderscope/leaderscope/exporter/prom"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/instrument/electtest/scenario"
	"github.com/leaderscope/leaderscope/redact"
)

var update = flag.Bool("update", false, "write the golden files again")

const s = time.Second

func hashed(t *testing.T) *redact.Policy {
	t.Helper()
	p := scenario.Redactor()
	return p
}

func newRegistry(t *testing.T, opts ...instrument.Option) (*instrument.Middleware, *prometheus.Registry) {
	t.Helper()
	m, err := instrument.New(opts...)
	if err != nil {
		t.Fatal(err)
	}
	r := prometheus.NewPedanticRegistry()
	if _, err := prom.Register(r, m); err != nil {
		t.Fatal(err)
	}
	return m, r
}

// named is the handle of a name that is made at run time.
func named(m *instrument.Middleware, name string, opts ...instrument.ElectionOption) *instrument.Election {
	return m.Named(name, opts...)
}

func register(t *testing.T, r prometheus.Registerer, m *instrument.Middleware, opts ...prom.Option) *prom.Exporter {
	t.Helper()
	e, err := prom.Register(r, m, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func closeIt(t *testing.T, e *prom.Exporter) {
	t.Helper()
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

func scrape(t *testing.T, g prometheus.Gatherer) string {
	t.Helper()
	rec := httptest.NewRecorder()
	promhttp.HandlerFor(g, promhttp.HandlerOpts{ErrorHandling: promhttp.HTTPErrorOnError}).
		ServeHTTP(rec, httptest.NewRequest("GET", "/metrics", nil))
	if rec.Code != 200 {
		t.Fatalf("scrape: %d %s", rec.Code, rec.Body)
	}
	return rec.Body.String()
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs; if this is meant, run go test ./exporter/prom -update (-want +got):\n%s", name, diff)
	}
}

func TestOneScriptedScenarioGivesTheGoldenExposition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, r := newRegistry(t, instrument.WithRedactor(hashed(t)))
		if err := scenario.Play(m); err != nil {
			t.Fatal(err)
		}
		text := scrape(t, r)
		golden(t, "scenario.prom", text)
		for _, secret := range scenario.Secrets {
			if strings.Contains(text, secret) {
				t.Errorf("the exposition contains %q", secret)
			}
		}
		time.Sleep(scenario.Length)
	})
}

func TestAStandbyShowsCountersAndGaugesAtZeroAndPromlintIsSilent(t *testing.T) {
	m, r := newRegistry(t, instrument.WithRedactor(hashed(t)))
	m.Election("tenant-42/primary", instrument.Hold(), instrument.LeaseDuration(15*s), instrument.Backend("etcd"))
	golden(t, "standby.prom", scrape(t, r))
	problems, err := testutil.GatherAndLint(r)
	if err != nil || len(problems) > 0 {
		t.Errorf("promlint: %v %v", problems, err)
	}
}

func TestC23ErrorTextsNeverLeaveTheProcess(t *testing.T) {
	m, r := newRegistry(t)
	e := m.Named("tenant-42/orders")
	for i := range 500 {
		err := &netError{port: 40000 + i}
		_, _ = e.Acquire(context.Background(), electtest.Fails(err))
	}
	text := scrape(t, r)
	if want := `leader_not_acquired_total{lock_name="redacted",reason="backend_error"} 500`; !strings.Contains(text, want) {
		t.Errorf("want %s in\n%s", want, text)
	}
	for _, secret := range []string{"tenant", "orders", "hunter2", "10.0.0.1"} {
		if strings.Contains(text, secret) {
			t.Errorf("the exposition contains %q", secret)
		}
	}
}

type netError struct{ port int }

func (e *netError) Error() string {
	return "dial postgres://app:hunter2@10.0.0.1/tenant-42/orders: refused"
}
func (e *netError) Timeout() bool   { return false }
func (e *netError) Temporary() bool { return false }

func TestC55BuildingTwiceOnOneRegistryLosesNothing(t *testing.T) {
	m := newMiddleware(t)
	r := prometheus.NewPedanticRegistry()
	first, second := register(t, r, m), register(t, r, m)
	for _, e := range []*instrument.Election{m.Election("x"), m.Election("x")} {
		for range 5 {
			_, _ = e.Acquire(context.Background(), electtest.Fails(instrument.ErrContended))
		}
	}
	ten := `leader_attempts_total{lock_name="x"} 10`
	shows := func(when, want string) {
		t.Helper()
		if text := scrape(t, r); !strings.Contains(text, want) || want == "" && text != "" {
			t.Errorf("%s: want %q in\n%s", when, want, text)
		}
	}
	shows("built twice", ten)
	if _, err := prom.Register(r, newMiddleware(t)); !errors.Is(err, prom.ErrRegistered) {
		t.Errorf("another middleware: %v", err)
	}
	closeIt(t, first)
	closeIt(t, first) // closing again is no second share
	shows("one of two closed", ten)
	closeIt(t, second)
	shows("both closed", "")
	other := newMiddleware(t)
	closeIt(t, register(t, r, other)) // there is room now
	defer closeIt(t, register(t, r, m))
	shows("built again", ten)
}

func newMiddleware(t *testing.T, opts ...instrument.Option) *instrument.Middleware {
	t.Helper()
	m, err := instrument.New(append([]instrument.Option{instrument.WithRedactor(redact.Raw())}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestANilMiddlewareExportsNothing(t *testing.T) {
	r := prometheus.NewPedanticRegistry()
	e := register(t, r, nil)
	if text := scrape(t, r); text != "" {
		t.Error(text)
	}
	closeIt(t, e)
	closeIt(t, e)
	closeIt(t, nil)       // as after an error
	register(t, nil, nil) // nothing is registered
}

func TestAHostileNameDoesNotBreakTheScrape(t *testing.T) {
	m, r := newRegistry(t, instrument.WithRedactor(redact.Raw()))
	for _, name := range []string{"", "a\xffb", "a\nb", `a"b\`, strings.Repeat("x", 10000), "overflow"} {
		named(m, name, instrument.Backend("b\xff"), instrument.Family("\x00"))
	}
	if n := strings.Count(scrape(t, r), "\nleader_active{"); n != 6 {
		t.Errorf("%d locks, want 6", n)
	}
}
