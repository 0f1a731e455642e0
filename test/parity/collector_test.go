//go:build integration

package parity

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// repeater answers every scrape with the same text, as a collector hands out
// what a dead process last pushed.
func repeater(t *testing.T, text string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		fmt.Fprint(w, text)
	}))
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

func TestC35ADeadLeaderThatACollectorRepeatsIsVoidOnceItsLeaseHasEnded(t *testing.T) {
	dead, alive := prometheus.NewRegistry(), prometheus.NewRegistry()
	a, b := newMiddleware(t), newMiddleware(t)
	register(t, dead, a)
	register(t, alive, b)
	(&replica{election: elect(a)}).win(t)
	last := scrape(t, dead)
	time.Sleep(lease) // the backend gives the lock to no other before
	defer (&replica{election: elect(b)}).lead(t)()

	// The second job loses the series that says when leases end.
	targets := fmt.Sprintf("static_configs: [{targets: [%q], labels: {instance: pod-a}}, {targets: [%q], labels: {instance: pod-b}}]",
		repeater(t, last), strings.TrimPrefix(serve(t, map[string]*prometheus.Registry{"metrics": alive}).URL, "http://"))
	s := startPrometheus(t, rules(t)+"scrape_configs:\n"+
		"  - {job_name: careful, "+targets+"}\n"+
		"  - {job_name: careless, "+targets+fmt.Sprintf(", metric_relabel_configs: [{source_labels: [__name__], regex: %s, action: drop}]}\n", catalog.LeaseExpiry.Name()))

	for _, job := range []string{"careful", "careless"} {
		s.becomes(t, fmt.Sprintf(`sum(%s{job=%q})`, catalog.Active.Name(), job), "2")
	}
	fired := func(job string) string {
		return fmt.Sprintf(`count(max_over_time(ALERTS{alertname="LeaderElectionSplitBrain",alertstate="firing",job=%q}[1h])) or vector(0)`, job)
	}
	s.becomes(t, fired("careless"), "1")
	time.Sleep(5 * time.Second) // another window of the rule
	if got := s.value(t, fired("careful")); got != "0" {
		t.Error("SplitBrain fired for a lease that had ended")
	}
}
