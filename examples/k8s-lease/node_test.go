//go:build unix

package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/leaderscope/leaderscope/examples/internal/stage"
	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// gathered is what /metrics show.
func gathered(t *testing.T, g prometheus.Gatherer) stage.Metrics {
	t.Helper()
	page := httptest.NewRecorder()
	promhttp.HandlerFor(g, promhttp.HandlerOpts{}).ServeHTTP(page, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	m, err := stage.Parse(page.Body)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestAfterAGracefulStopOursIsZeroAndClientGosIsNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said []string
		n, err := newNode("node-1", fake.NewClientset(), "default", "lease", func(what string) { said = append(said, what) })
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- n.run(ctx) }()
		time.Sleep(5*retryPeriod + retryPeriod/2) // between two renewals
		leading := gathered(t, n.metrics())
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		gone := gathered(t, n.metrics())
		for _, c := range []struct {
			when   string
			shown  stage.Metrics
			metric string
			want   float64
		}{
			{"while it leads", leading, catalog.Active.Name(), 1},
			{"while it leads", leading, catalog.Running.Name(), 1},
			{"while it leads", leading, clientGo, 1},
			{"after the stop", gone, catalog.Active.Name(), 0},
			{"after the stop", gone, catalog.Running.Name(), 0},
			{"after the stop", gone.Select(catalog.TermsEnded.Name(), "cause", "released"), catalog.TermsEnded.Name(), 1},
			{"after the stop", gone, clientGo, 1}, // client-go does not tell its hook
		} {
			if got := c.shown.Of(c.metric); got != c.want {
				t.Errorf("%s %s is %v, want %v", c.when, c.metric, got, c.want)
			}
		}
		if got := strings.Join(said, " "); got != "leads stopped leading" {
			t.Errorf("the node said %q", got)
		}
	})
}
