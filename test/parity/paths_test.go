//go:build integration

package parity

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"

	"github.com/leaderscope/leaderscope/exporter/otelmetric/otelsetup"
	"github.com/leaderscope/leaderscope/exporter/prom"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest/scenario"
)

// The jobs are the three ways, and one that is broken on purpose.
const (
	clientGolang = "client_golang"
	otelScrape   = "opentelemetry"
	otelPush     = "otlp"
	renamed      = "renamed"
)

// moving are the metrics whose value depends on when they are read.
var moving = []string{catalog.LeaseHeadroom.Name(), catalog.LeaseExpiry.Name()}

func TestC52ThreePathsIntoOnePrometheusStoreTheSameSeries(t *testing.T) {
	cases := map[string]struct {
		prom      prom.Histograms
		otel      []otelsetup.Option
		exemplars string // the series that carry them
	}{
		"classic histograms": {exemplars: catalog.AcquireDuration.Bucket()},
		"native histograms": {
			prom: prom.Native, otel: []otelsetup.Option{otelsetup.WithNativeHistograms()},
			exemplars: catalog.AcquireDuration.Name(),
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			tracer := trace.NewTracerProvider()
			m := newMiddleware(t, instrument.WithTracerProvider(tracer))
			registries := map[string]*prometheus.Registry{clientGolang: prometheus.NewRegistry(), otelScrape: prometheus.NewRegistry()}
			server := startPrometheus(t, scrapeConfig(serve(t, registries), c.prom == prom.Native))

			register(t, registries[clientGolang], m, prom.WithHistograms(c.prom), prom.WithExemplars())
			setup(t, m, append(c.otel, otelsetup.WithPrometheus(registries[otelScrape]), otelsetup.WithPush(server.push(t), time.Second),
				otelsetup.WithResource(resource.NewSchemaless(attribute.String("service.name", otelPush))), otelsetup.WithExemplars())...)
			if err := scenario.PlayIn(m, 20*time.Millisecond); err != nil {
				t.Fatal(err)
			}

			reference := map[string]string{}
			wait(t, "the three sets of series", func() string {
				reference = server.series(t, clientGolang)
				for _, job := range []string{otelScrape, otelPush} {
					if diff := cmp.Diff(reference, server.series(t, job)); diff != "" {
						return fmt.Sprintf("%d series, %s and %s differ (-%s +%s):\n%s", len(reference), clientGolang, job, clientGolang, job, diff)
					}
				}
				if len(reference) < 50 {
					return fmt.Sprintf("only %d series", len(reference))
				}
				return ""
			})
			t.Logf("%d series, 0 differences between %s, %s and %s", len(reference), clientGolang, otelScrape, otelPush)

			if diff := cmp.Diff(reference, server.series(t, renamed)); strings.Count(diff, catalog.Releases.Name()) == 0 {
				t.Errorf("a renamed metric goes unnoticed")
			}
			wait(t, "exemplars of each path", func() string { return server.missingExemplars(t, c.exemplars) })
		})
	}
}

// serve answers scrapes of each registry under its name.
func serve(t *testing.T, registries map[string]*prometheus.Registry) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	for name, r := range registries {
		mux.Handle("/"+name, promhttp.HandlerFor(r, promhttp.HandlerOpts{EnableOpenMetrics: true, ErrorHandling: promhttp.HTTPErrorOnError}))
	}
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func scrapeConfig(s *httptest.Server, native bool) string {
	target := strings.TrimPrefix(s.URL, "http://")
	job := func(name, path, more string) string {
		return fmt.Sprintf("  - {job_name: %s, metrics_path: /%s, scrape_native_histograms: %v, static_configs: [{targets: [%q]}]%s}\n", name, path, native, target, more)
	}
	rename := fmt.Sprintf(", metric_relabel_configs: [{source_labels: [__name__], regex: %s, target_label: __name__, replacement: leader_freed_total}]", catalog.Releases.Name())
	return "scrape_configs:\n" + job(clientGolang, clientGolang, "") + job(otelScrape, otelScrape, "") + job(renamed, clientGolang, rename)
}

// series are the stored series of a job with their values, job and instance
// aside. Values that move with the time of reading are left out.
func (s prometheusServer) series(t *testing.T, job string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, r := range s.query(t, fmt.Sprintf(`{__name__=~"leader_.*",job=%q}`, job)) {
		name := r.Metric["__name__"]
		delete(r.Metric, "job")
		delete(r.Metric, "instance")
		value := fmt.Sprint(r.Value[1])
		if r.Histogram[1] != nil {
			histogram, err := json.Marshal(r.Histogram[1])
			if err != nil {
				t.Fatal(err)
			}
			value = string(histogram)
		}
		if slices.Contains(moving, name) {
			value = "moves"
		}
		var labels []string
		for _, l := range slices.Sorted(maps.Keys(r.Metric)) {
			labels = append(labels, fmt.Sprintf("%s=%q", l, r.Metric[l]))
		}
		found[strings.Join(labels, ",")] = value
	}
	return found
}

// missingExemplars names the jobs without an exemplar that has a trace.
func (s prometheusServer) missingExemplars(t *testing.T, metric string) string {
	t.Helper()
	now := time.Now()
	body, err := s.get("/api/v1/query_exemplars", url.Values{
		"query": {metric}, "start": {fmt.Sprint(now.Add(-5 * time.Minute).Unix())}, "end": {fmt.Sprint(now.Add(time.Minute).Unix())},
	})
	if err != nil {
		return err.Error()
	}
	var answer struct {
		Data []struct {
			SeriesLabels map[string]string
			Exemplars    []struct{ Labels map[string]string }
		}
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return err.Error()
	}
	missing := []string{clientGolang, otelScrape, otelPush}
	for _, series := range answer.Data {
		for _, x := range series.Exemplars {
			if len(x.Labels["trace_id"]) == 32 && len(x.Labels["span_id"]) == 16 {
				missing = slices.DeleteFunc(missing, func(job string) bool { return job == series.SeriesLabels["job"] })
			}
			for _, secret := range scenario.Secrets {
				if strings.Contains(fmt.Sprint(x.Labels), secret) {
					t.Errorf("an exemplar carries %q", secret)
				}
			}
		}
	}
	if len(missing) > 0 {
		return fmt.Sprintf("%s has none from %v", metric, missing)
	}
	return ""
}
