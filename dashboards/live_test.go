//go:build integration

package dashboards

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestEveryQueryRunsOnAPrometheus asks every query of every panel, variable
// and annotation, as Grafana would, of a Prometheus that scraped the
// quickstart through its faults and has the recording rules of the default
// configuration, and wants data of those that must have some. make integration
// does all of it; by hand:
//
//	LEADERSCOPE_PROMETHEUS=http://127.0.0.1:9090 go test -tags integration ./dashboards -run Prometheus
//
// LEADERSCOPE_SPAN is how far back it looks, 10m unless it is set, and
// LEADERSCOPE_END the Unix time from which, now unless it is set.
func TestEveryQueryRunsOnAPrometheus(t *testing.T) {
	address := os.Getenv("LEADERSCOPE_PROMETHEUS")
	if address == "" {
		t.Fatal("LEADERSCOPE_PROMETHEUS is not set: no Prometheus to ask; run make integration")
	}
	p := prometheusAt(t, address)
	locks := p.values(t, `label_values(leader_elector_info, lock_name)`)
	if len(locks) == 0 {
		t.Fatal("no lock is known there")
	}
	for name, build := range boards {
		for _, recording := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, recorded %v", name, recording), func(t *testing.T) {
				cfg := Default()
				cfg.Recording = recording
				out, err := build(cfg)
				if err != nil {
					t.Fatal(err)
				}
				p.wantData(t, out, locks)
			})
		}
	}
}

// wantData adds up over the locks: what one lacks another may have.
func (p liveServer) wantData(t *testing.T, out []byte, locks []string) {
	results := map[string]int{}
	for _, lock := range locks {
		for where, n := range p.ask(t, out, lock) {
			results[where] += n
		}
	}
	empty := 0
	for where, n := range results {
		if n > 0 {
			continue
		}
		empty++
		if strings.HasSuffix(where, ", query "+partRef) {
			continue // there are few locks
		}
		if !slices.ContainsFunc(mayBeEmpty, func(e string) bool { return strings.HasPrefix(where, e) }) {
			t.Errorf("%s has no data", where)
		}
	}
	t.Logf("%d queries of %d locks, %d without data", len(results), len(locks), empty)
}

// mayBeEmpty are the queries for what the quickstart has not, or not now.
var mayBeEmpty = []string{
	"variable cluster", "variable namespace",
	`panel "Without a leader", query Firing`, `panel "Too many leaders", query Firing`, `panel "Works without lock"`,
	`panel "Alerts firing"`, `panel "Failover time and overlap"`, `panel "Held by"`,
	`panel "Leaders claimed", query Crowded`,
	`panel "Lease left now"`, `panel "Locks", query Leader`, `panel "Locks", query Headroom`, `panel "Locks", query Left`,
	`panel "Replicas", query Headroom`,
	`panel "Terms gained and ended", query Regressed`, `panel "Fencing token", query Regressed`,
	`panel "Share of the lease used", query Native`,
	`panel "As declared", query Cadence`, `panel "Time since the last run against the cadence", query Expected`,
	`panel "Time that renewals took"`, // etcd's client renews by itself
	// The etcd of the quickstart tells of each change, and of no end of a lease.
	`panel "Without a holder", query Firing`, `panel "Leads but is not the holder"`, `panel "Poll interval"`, `panel "Age of the last renewal`,
	`panel "Locks in the backends", query Renewed`, `panel "Who held which lock", query Free`, `panel "Handover duration"`,
}

type liveServer struct {
	address string
	end     time.Time
	span    time.Duration
}

func prometheusAt(t *testing.T, address string) liveServer {
	span := 10 * time.Minute
	if text := os.Getenv("LEADERSCOPE_SPAN"); text != "" {
		var err error
		if span, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
	}
	end := time.Now()
	if text := os.Getenv("LEADERSCOPE_END"); text != "" {
		seconds, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		end = time.Unix(seconds, 0)
	}
	return liveServer{address: strings.TrimSuffix(address, "/"), end: end, span: span}
}

// ask returns the number of series by query.
func (p liveServer) ask(t *testing.T, out []byte, lock string) map[string]int {
	results := map[string]int{}
	b := decoded(t, out)
	for _, panel := range b.Panels {
		for _, target := range panel.Targets {
			results[fmt.Sprintf("panel %q, query %s", panel.Title, target.RefID)] = p.query(t, target.Expr, lock, target.Instant)
		}
	}
	for _, a := range b.Annotations.List {
		results["annotation "+a.Name] = p.query(t, a.Expr, lock, false)
	}
	for _, v := range b.sdk.Templating.List {
		if v.Definition != nil {
			results["variable "+v.Name] = len(p.values(t, p.filled(*v.Definition, lock)))
		}
	}
	return results
}

// filled puts in place of the variables what Grafana would.
func (p liveServer) filled(expr, lock string) string {
	expr = strings.ReplaceAll(expr, `="$lock_name"`, "="+strconv.Quote(lock))
	for _, l := range append(Default().Scope.Labels, Default().Scope.Holder) {
		expr = strings.ReplaceAll(expr, `"$`+l+`"`, `".*"`)
	}
	seconds := strconv.Itoa(int(p.span.Seconds())) + "s"
	return strings.NewReplacer("$__rate_interval", "60s", "$__range", seconds, "$__interval", "15s").Replace(expr)
}

func (p liveServer) query(t *testing.T, expr, lock string, instant bool) int {
	form := url.Values{"query": {p.filled(expr, lock)}}
	path := "/api/v1/query_range"
	if instant {
		path = "/api/v1/query"
		form.Set("time", unix(p.end))
	} else {
		form.Set("start", unix(p.end.Add(-p.span)))
		form.Set("end", unix(p.end))
		form.Set("step", "15")
	}
	var data struct{ Result []any }
	p.get(t, path, form, &data)
	return len(data.Result)
}

var labelValues = regexp.MustCompile(`^label_values\((.*), (\w+)\)$`)

// values answers label_values(selector, label).
func (p liveServer) values(t *testing.T, definition string) []string {
	m := labelValues.FindStringSubmatch(definition)
	if m == nil {
		t.Fatalf("%q is no list of label values", definition)
	}
	var values []string
	p.get(t, "/api/v1/label/"+m[2]+"/values", url.Values{
		"match[]": {m[1]}, "start": {unix(p.end.Add(-p.span))}, "end": {unix(p.end)},
	}, &values)
	return values
}

func unix(at time.Time) string { return strconv.FormatFloat(float64(at.UnixMilli())/1000, 'f', 3, 64) }

func (p liveServer) get(t *testing.T, path string, form url.Values, into any) {
	t.Helper()
	r, err := http.Get(p.address + path + "?" + form.Encode())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	answer := struct {
		Status, Error string
		Data          any
	}{Data: into}
	if err := json.NewDecoder(r.Body).Decode(&answer); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	if answer.Status != "success" {
		t.Errorf("%s %s: %s", path, form.Get("query"), answer.Error)
	}
}
