package canary

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"testing"

	"github.com/leaderscope/leaderscope/exporter/status"
	"github.com/leaderscope/leaderscope/instrument"
)

// statuses are the answers of the status handlers, with their headers: of all
// locks, and of each, and of requests that name the lock and are refused.
func (e *exits) statuses(t *testing.T) map[string][]byte {
	t.Helper()
	page, ready := e.status, status.Ready(e.m, status.NotWhileOverrun())
	leader := status.Ready(e.m, status.LeaderOnly(e.m.Named(canary+"/idle")))
	name := url.QueryEscape(canary)
	requests := map[string][]request{
		"status page":  {{page, "GET", "/?format=html"}, {page, "HEAD", "/?format=html"}},
		"status, JSON": {{page, "GET", "/?format=json"}},
		"readiness":    {{ready, "GET", "/"}, {leader, "GET", "/"}, {leader, "POST", "/"}},
		"status, what is refused": {
			{page, "POST", "/" + name}, {page, "GET", "/?format=" + name}, {page, "GET", "/?page=" + name}, {page, "GET", "/?refresh=" + name},
		},
	}
	e.m.Inspect(func(s *instrument.Snapshot) {
		label := "&lock_name=" + url.QueryEscape(s.Label)
		requests["status page, one lock"] = append(requests["status page, one lock"], request{page, "GET", "/?format=html" + label})
		requests["status, JSON, one lock"] = append(requests["status, JSON, one lock"], request{page, "GET", "/?format=json" + label})
	})
	if !slices.Contains(e.labels(), canary) { // else the name is a label
		requests["status, the name asked for"] = []request{{page, "GET", "/?format=html&refresh=7&lock_name=" + name}, {page, "GET", "/?lock_name=" + name}}
	}
	outputs := map[string][]byte{}
	for exit, all := range requests {
		for _, r := range all {
			outputs[exit] = append(outputs[exit], r.answer(t)...)
		}
	}
	return outputs
}

// labels are those that there are now.
func (e *exits) labels() (all []string) {
	e.m.Inspect(func(s *instrument.Snapshot) { all = append(all, s.Label) })
	return all
}

type request struct {
	handler     http.Handler
	method, url string
}

// answer is all that a client gets.
func (r request) answer(t *testing.T) []byte {
	t.Helper()
	w := httptest.NewRecorder()
	r.handler.ServeHTTP(w, httptest.NewRequest(r.method, r.url, nil))
	b, err := httputil.DumpResponse(w.Result(), r.method != http.MethodHead)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
