//go:build unix

package stage

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestAScrapeIsSummedByTheLabelsThatAreAskedFor(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Write([]byte(`# TYPE leader_not_acquired_total counter
leader_not_acquired_total{lock_name="a",reason="contended"} 3
leader_not_acquired_total{lock_name="a",reason="timeout"} 1
leader_not_acquired_total{lock_name="b",reason="contended"} 5
# TYPE leader_active gauge
leader_active{lock_name="a"} 1
# TYPE leader_execution_duration_seconds histogram
leader_execution_duration_seconds_bucket{lock_name="a",le="+Inf"} 2
leader_execution_duration_seconds_sum{lock_name="a"} 7
leader_execution_duration_seconds_count{lock_name="a"} 2
`))
	}))
	defer server.Close()
	m, err := scrape(t.Context(), server.URL)
	if err != nil {
		t.Fatal(err)
	}
	const name = "leader_not_acquired_total"
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"all", m.Of(name), 9},
		{"of a lock", m.Of(name, "lock_name", "a"), 4},
		{"of a lock and a reason", m.Of(name, "lock_name", "a", "reason", "timeout"), 1},
		{"of a lock that is not there", m.Of(name, "lock_name", "c"), 0},
		{"a gauge", m.Of("leader_active"), 1},
		{"a histogram is its count", m.Of("leader_execution_duration_seconds"), 2},
		{"samples", float64(len(m)), 5},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v, want %v", c.what, c.got, c.want)
		}
	}
}
