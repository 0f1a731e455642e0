package alerts

import (
	"github.com/leaderscope/leaderscope/internal/scenario"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/prometheus/common/model"
	"github.com/prometheus/common/promslog"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/promcheck"
	"github.com/leaderscope/leaderscope/internal/promeval"
	"github.com/leaderscope/leaderscope/internal/query"
)

func recordingConfig() Config {
	c := Default()
	c.Recording = true
	return c
}

func recordingsOf(t *testing.T, c Config) []Recording {
	t.Helper()
	recordings, err := Recordings(c)
	if err != nil {
		t.Fatal(err)
	}
	return recordings
}

func TestNothingIsRecordedUnlessAskedFor(t *testing.T) {
	if got := recordingsOf(t, Default()); got != nil {
		t.Errorf("got %v", got)
	}
	got, err := YAML(Default())
	if err != nil || strings.Contains(string(got), "record:") {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestRecordingRulesAreAGroupOfTheirOwn(t *testing.T) {
	c := recordingConfig()
	got, err := YAML(c)
	if err != nil {
		t.Fatal(err)
	}
	groups, errs := rulefmt.Parse(got, false, model.LegacyValidation, parser.NewParser(parser.Options{}), promslog.NewNopLogger())
	if len(errs) > 0 {
		t.Fatalf("no valid rules file: %v", errs)
	}
	if n := len(groups.Groups); n < 2 || groups.Groups[n-1].Name != "leader-election-recording" {
		t.Fatalf("got %d groups", len(groups.Groups))
	}
	plain, err := YAML(Default())
	if err != nil || !strings.HasPrefix(string(got), string(plain)) {
		t.Errorf("the alerts differ from those without recording rules: %v", err)
	}
	recordings := []byte(strings.TrimPrefix(string(got), string(plain)))
	golden := filepath.Join("testdata", "recording.yaml")
	if *update {
		if err := os.WriteFile(golden, recordings, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(recordings)); diff != "" {
		t.Errorf("run go test ./alerts -update if this is meant (-want +got)\n%s", diff)
	}
}

// The window of an alert may be the one of recorded rates.
func TestNothingIsRecordedTwice(t *testing.T) {
	c := recordingConfig()
	c.Alerts.NearLease.Window, c.Alerts.NearLease.Interval = rateScrapes*c.ScrapeInterval, 0
	seen := map[string]bool{}
	for _, r := range recordingsOf(t, c) {
		if seen[r.Name] {
			t.Errorf("%s is there twice", r.Name)
		}
		seen[r.Name] = true
	}
	if n := len(recordingsOf(t, recordingConfig())) - len(seen); n != 2 {
		t.Errorf("%d recordings fewer, want those of near and past leases", n)
	}
}

func TestOtherFormatsCarryTheRecordingRulesOrSayThatTheyDoNot(t *testing.T) {
	c := recordingConfig()
	for name, format := range map[string]func() ([]byte, error){
		"prometheusrule": func() ([]byte, error) { return PrometheusRule(c, Object{Name: "a"}) },
		"mimir":          func() ([]byte, error) { return Mimir(c, "a") },
	} {
		got, err := format()
		if err != nil || strings.Count(string(got), "record: ") != len(recordingsOf(t, c)) {
			t.Errorf("%s: %v\n%s", name, err, got)
		}
	}
	with, err := GrafanaAlerting(c, DefaultGrafanaManaged())
	if err != nil {
		t.Fatal(err)
	}
	without, err := GrafanaAlerting(Default(), DefaultGrafanaManaged())
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(with), withoutRecordings) || strings.Replace(string(with), withoutRecordings, "", 1) != string(without) {
		t.Errorf("got\n%s", with)
	}
}

func TestRecordingRulesPassTheStaticChecks(t *testing.T) {
	variants := variants()
	variants["shared"] = withScope(variants["shared"], "lock_name", "job")
	for name, c := range variants {
		c.Recording = true
		facts, err := c.facts()
		if err != nil {
			t.Fatal(err)
		}
		labels := map[string][]string{}
		for i, r := range facts.Recordings() {
			opts := []promcheck.Option{promcheck.TargetLabels(append(slices.Clone(c.ScopeLabels), c.HolderLabel, "namespace", "job")...), promcheck.Recorded(labels)}
			if strings.HasPrefix(r.Name, "job") || strings.HasPrefix(r.Name, "replica") {
				opts = append(opts, promcheck.AcrossLocks())
			}
			if strings.HasSuffix(r.Name, ":count") {
				opts = append(opts, promcheck.Cumulative())
			}
			for _, problem := range promcheck.Expr(recordingsOf(t, c)[i].Expr, opts...) {
				t.Errorf("%s: %s: %v", name, r.Name, problem)
			}
			if !model.LegacyValidation.IsValidMetricName(r.Name) || strings.Count(r.Name, ":") != 2 {
				t.Errorf("%s: %s is not level:metric:operations", name, r.Name)
			}
			// Rules may read what was recorded before them, and nothing else.
			labels[r.Name] = r.Labels
		}
	}
}

func withScope(c Config, labels ...string) Config {
	c.ScopeLabels = labels
	return c
}

// facts are what panels ask, of the replicas or of what is recorded.
var facts = map[string]func(query.Facts) query.Expr{
	"active":      query.Facts.Active,
	"leaderless":  query.Facts.Leaderless,
	"run":         func(f query.Facts) query.Expr { return f.ActiveIn(catalog.ModeRun) },
	"hold":        func(f query.Facts) query.Expr { return f.ActiveIn(catalog.ModeHold) },
	"claims":      func(f query.Facts) query.Expr { return f.Claims() },
	"crowded":     query.Facts.Crowded,
	"leading":     query.Facts.Leading,
	"error share": query.Facts.ErrorShare,
	"erring":      query.Facts.Erring,
	"near its lease": func(f query.Facts) query.Expr {
		return query.Call("clamp", query.Op(f.NearLeaseLately(), ">", "0.5"), "1", "1")
	},
	"past its lease": query.Facts.OverrunsLately,
	"headroom":       query.Facts.Headroom,
	"lease left":     query.Facts.LeaseLeft,
	"waiting":        query.Facts.Waiting,
	"lease of runs":  query.Facts.RunLease,
	"won":            query.Facts.Won,
	"state":          query.Facts.State,
	"regressed":      ofWindow(query.Facts.Regressed),
	"overruns":       ofWindow(query.Facts.Overruns),
	"near": ofWindow(func(f query.Facts, window string) query.Expr {
		return query.Call("clamp", query.Op(f.NearLeaseWithin(window), ">", "0.5"), "1", "1")
	}),
	"failures": ofWindow(func(f query.Facts, window string) query.Expr { return f.Failures("error", window) }),
	"work after loss": ofWindow(func(f query.Facts, window string) query.Expr {
		return query.Op(f.WorkAfterLoss(window), ">", query.Number(0))
	}),
	"runs": ofWindow(func(f query.Facts, window string) query.Expr { return f.RunAverage(window) }),
}

// ofWindow asks for the shortest window of the replicas, and for one recorded
// value, which has looked back as far.
func ofWindow(fact func(query.Facts, string) query.Expr) func(query.Facts) query.Expr {
	return func(f query.Facts) query.Expr {
		if f.Recorded {
			return fact(f, Default().ScrapeInterval.String())
		}
		return fact(f, f.RateWindow)
	}
}

// In all scenarios, recorded series have the values of the series of the replicas.
func TestWhatIsRecordedIsWhatTheReplicasSay(t *testing.T) {
	c := recordingConfig()
	direct, err := c.facts()
	if err != nil {
		t.Fatal(err)
	}
	recorded := direct
	recorded.Recorded = true
	rules := recordingsOf(t, c)
	step := time.Duration(c.ScrapeInterval)
	type query struct{ direct, recorded string }
	queries := map[string]query{}
	for name, fact := range facts {
		queries[name] = query{string(fact(direct)), string(fact(recorded))}
	}
	for _, s := range scenario.All() {
		t.Run(s.Title(), func(t *testing.T) {
			t.Parallel()
			store, err := promeval.Load(seriesOf(t, s, c), s.Every, promeval.V3)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range rules {
				if err := store.Record(t.Context(), r.Name, r.Expr, s.End, step); err != nil {
					t.Fatal(err)
				}
			}
			margin := 1e-9
			if strings.Contains(s.Load, "{{schema") {
				// Native histograms and what is counted of them are
				// extrapolated each in its own way.
				margin = 0.02
			}
			every := max(step, (s.End / 8).Truncate(step))
			for name, q := range queries {
				want, got := valuesOf(t, store, q.direct, s.End, every), valuesOf(t, store, q.recorded, s.End, every)
				if diff := cmp.Diff(want, got, cmpopts.EquateApprox(margin, 0)); diff != "" {
					t.Errorf("%s: want what the replicas say (-), got what is recorded (+)\n%s", name, diff)
				}
			}
		})
	}
}

// valuesOf are the values of an expression by time and series.
func valuesOf(t *testing.T, store *promeval.Store, expr string, end, every time.Duration) map[string]map[string]float64 {
	t.Helper()
	found, err := store.Values(t.Context(), expr, end, every)
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]map[string]float64{}
	for _, s := range found {
		for _, p := range s.Floats {
			at := (time.Duration(p.T) * time.Millisecond).String()
			if values[at] == nil {
				values[at] = map[string]float64{}
			}
			values[at][s.Metric.String()] = p.F
			if math.IsNaN(p.F) { // a share of no observation
				values[at][s.Metric.String()] = 0
			}
		}
	}
	return values
}

func TestValidateRefusesRecordingsThatWouldNotWork(t *testing.T) {
	cases := map[string]struct {
		change func(*Config)
		want   string
	}{
		"series that come and go": {func(c *Config) {
			c.Group.Interval, c.Alerts.BackendErrors.Recent, c.Alerts.RenewalFailures.Recent = minutes(3), minutes(10), minutes(10)
		},
			"group.interval: 3m is too long for recorded series, which would have gaps; use at most 2m30s, or recording: false"},
		"a selector that recorded series cannot heed": {func(c *Config) { c.Selector = `env="prod"` },
			"recording: the selector matches on env, which recorded series have only if it is among the scope labels cluster, namespace, job, lock_name; add it there, or use recording: false"},
		"a window of an alert that is off": {func(c *Config) { c.Alerts.NearLease = NearLease{} },
			"alerts.nearLease.window: 0s holds fewer than two samples at scrapeInterval 30s; use at least 1m, or recording: false"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			c := recordingConfig()
			test.change(&c)
			if err := c.Validate(); err == nil || err.Error() != test.want {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
			c.Recording = false
			if err := c.Validate(); err != nil {
				t.Errorf("without recordings: %v", err)
			}
		})
	}
}
