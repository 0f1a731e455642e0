package status_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leaderscope/leaderscope/exporter/status"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest/scenario"
	"github.com/leaderscope/leaderscope/redact"
)

var update = flag.Bool("update", false, "write the golden files again")

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
		t.Errorf("%s differs; if this is meant, run go test ./exporter/status -update (-want +got):\n%s", name, diff)
	}
}

// play goes through every state: an overrun, a leader with a waiting attempt,
// a standby that sees another leader, and a lock that is only watched.
func play(t *testing.T, m *instrument.Middleware, show func()) {
	t.Helper()
	sees := instrument.BackendView{State: instrument.BackendHeld, Holder: "pod-2"}
	m.Election("ledger", instrument.Hold(), instrument.Backend("kubernetes")).ObserveBackend(sees)
	m.Election("store", instrument.WatchOnly(), instrument.Backend("etcd")).ObserveBackend(instrument.BackendView{State: instrument.BackendVacant})

	job := m.Election("nightly", instrument.LeaseDuration(10*s), instrument.Backend("redis"), instrument.Family("reports"))
	for _, wait := range []time.Duration{1 * s, 2500 * time.Millisecond, 12 * s} {
		term := acquire(t, job, instrument.NewLease(nil))
		time.Sleep(wait)
		release(t, term)
	}
	lost := acquire(t, job, instrument.NewLease(nil))
	time.Sleep(s)
	lost.Sink().Lost(nil)

	lead := m.Election("orders", instrument.Hold(), instrument.LeaseDuration(15*s), instrument.Backend("etcd"))
	leads := acquire(t, lead, renewable())
	overrun := acquire(t, m.Election("<b>late</b>", instrument.Hold(), instrument.LeaseDuration(4*s)), renewable())
	waiting := lead.Begin(context.Background())
	time.Sleep(6500 * time.Millisecond)
	working, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		_ = leads.Work(context.Background(), func(context.Context, *instrument.Term) error { <-working; return nil })
	}()
	time.Sleep(s)
	show()
	close(working)
	<-done
	waiting.NotAcquired(instrument.ErrContended)
	release(t, leads)
	release(t, overrun)
}

func TestTheStatusIsTheGoldenOne(t *testing.T) {
	for file, url := range map[string]string{
		"status.json": "/status?format=json", "status.html": "/status?format=html",
		"lock.json": "/status?format=json&lock_name=nightly", "lock.html": "/status?format=html&lock_name=nightly&refresh=0",
	} {
		bubble(t, file, func(t *testing.T) {
			m := newMiddleware(t)
			h := status.Handler(m, status.WithInstance("replica-1"))
			play(t, m, func() {
				r := get(t, h, url)
				body := text(t, r)
				if golden(t, file, body); r.StatusCode != http.StatusOK || r.Header.Get("Content-Length") != strconv.Itoa(len(body)) {
					t.Errorf("status %d, length %s of %d", r.StatusCode, r.Header.Get("Content-Length"), len(body))
				}
			})
		})
	}
}

func TestWhatHasNothingToShowIsShownToo(t *testing.T) {
	closed := newMiddleware(t)
	acquire(t, closed.Election("x"), renewable())
	_ = closed.Close()
	for name, m := range map[string]*instrument.Middleware{"nil": nil, "closed": closed, "without locks": newMiddleware(t)} {
		bubble(t, name, func(t *testing.T) { // for its clock
			h := status.Handler(m, nil)
			want := `{"schema":1,"time":"2000-01-01T00:00:00.000Z","telemetry_faults":0,"terms_kept":10,"totals":{"locks":0,"leading":0,"overrun":0,"pending":0},"page":1,"pages":1,"locks":[]}`
			if diff := cmp.Diff(want, compact(t, text(t, get(t, h, "/")))); diff != "" {
				t.Error(diff)
			}
			if page := text(t, get(t, h, "/?format=html")); !strings.Contains(page, "This process has no locks") {
				t.Error(page)
			}
			if r := get(t, status.Ready(m, status.NotWhileOverrun()), "/"); r.StatusCode != http.StatusOK {
				t.Errorf("ready: %d", r.StatusCode)
			}
		})
	}
}

func compact(t *testing.T, text string) string {
	t.Helper()
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.Replace(strings.TrimSpace(line), `": `, `":`, 1))
	}
	if !json.Valid([]byte(text)) {
		t.Errorf("no JSON: %s", text)
	}
	return b.String()
}

const (
	asPage  = "text/html; charset=utf-8"
	asJSON  = "application/json"
	asPlain = "text/plain; charset=utf-8"
)

// once answers like its handler, and reports an answer that begins twice.
type once struct {
	t testing.TB
	http.Handler
}

func (o once) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := &counted{ResponseWriter: w}
	o.Handler.ServeHTTP(c, r)
	if c.headers != 1 {
		o.t.Errorf("%s: %d headers were written", r.URL, c.headers)
	}
}

type counted struct {
	http.ResponseWriter
	headers int
}

func (c *counted) WriteHeader(code int) {
	c.headers++
	c.ResponseWriter.WriteHeader(code)
}

func TestTheClientChoosesTheFormat(t *testing.T) {
	h := status.Handler(newMiddleware(t))
	for name, c := range map[string]struct {
		url    string
		accept []string
		want   string
		code   int
	}{
		"no preference":               {"/", nil, asJSON, 200},
		"an empty preference":         {"/", []string{""}, asJSON, 200},
		"anything":                    {"/", []string{"*/*"}, asJSON, 200},
		"a browser":                   {"/", []string{"text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8"}, asPage, 200},
		"a program":                   {"/", []string{"application/json"}, asJSON, 200},
		"either, a little more":       {"/", []string{"application/json;q=0.4, text/html;q=0.5"}, asPage, 200},
		"either, a little less":       {"/", []string{"application/json;q=0.5, text/html;q=0.4"}, asJSON, 200},
		"either, as two headers":      {"/", []string{"application/json;q=0.4", "text/html"}, asPage, 200},
		"any text":                    {"/", []string{"text/*"}, asPage, 200},
		"any application":             {"/", []string{"application/*"}, asJSON, 200},
		"in capital letters":          {"/", []string{"TEXT/HTML"}, asPage, 200},
		"anything but JSON":           {"/", []string{"*/*, application/json;q=0"}, asPage, 200},
		"the specific range wins":     {"/", []string{"text/html;q=0.1, text/*;q=0.9, application/json;q=0.5"}, asJSON, 200},
		"neither":                     {"/", []string{"image/png"}, asPlain, 406},
		"neither, by refusal":         {"/", []string{"text/html;q=0, application/json;q=0.0"}, asPlain, 406},
		"a quality that is none":      {"/", []string{"text/html;q=NaN, text/html;q=2, text/html;q=-1, text/html;q=x"}, asJSON, 200},
		"a quality too high":          {"/", []string{"text/html;q=2, application/json;q=0.9"}, asJSON, 200},
		"a quality that is no number": {"/", []string{"text/html;q=x, text/html"}, asPage, 200},
		"nothing that can be read":    {"/", []string{"????, ;;;"}, asJSON, 200},
		"the address decides":         {"/?format=json", []string{"text/html"}, asJSON, 200},
		"the address, for a page":     {"/?format=html", []string{"image/png"}, asPage, 200},
		"an unknown format":           {"/?format=xml", nil, asPlain, 400},
		"no such page":                {"/?page=0", nil, asPlain, 400},
		"a page that is no number":    {"/?page=one", nil, asPlain, 400},
		"a page far beyond":           {"/?page=1000000", nil, asJSON, 200},
		"a page just too far":         {"/?page=1000001", nil, asPlain, 400},
		"a page too far":              {"/?page=9223372036854775807", nil, asPlain, 400},
		"a refresh too long":          {"/?refresh=3601", nil, asPlain, 400},
		"a refresh of the past":       {"/?refresh=-1", nil, asPlain, 400},
		"an address that is broken":   {"/?%zz&format=html", nil, asPage, 200},
	} {
		t.Run(name, func(t *testing.T) {
			var headers [][2]string
			for _, a := range c.accept {
				headers = append(headers, [2]string{"Accept", a})
			}
			r := get(t, once{t, h}, c.url, headers...)
			if got := r.Header.Get("Content-Type"); got != c.want || r.StatusCode != c.code {
				t.Errorf("%d %s, want %d %s", r.StatusCode, got, c.code, c.want)
			}
		})
	}
}

func TestEveryAnswerHasSafeHeaders(t *testing.T) {
	m := newMiddleware(t)
	pages, ready := status.Handler(m), status.Ready(m, status.LeaderOnly(nil))
	for name, c := range map[string]struct {
		handler     http.Handler
		method, url string
		code        int
		allow, vary string
	}{
		"page":                    {pages, "GET", "/?format=html", 200, "", "Accept"},
		"JSON":                    {pages, "GET", "/", 200, "", "Accept"},
		"HEAD":                    {pages, "HEAD", "/", 200, "", "Accept"},
		"POST":                    {pages, "POST", "/", 405, "GET, HEAD", ""},
		"OPTIONS":                 {pages, "OPTIONS", "/", 405, "GET, HEAD", ""},
		"a method of no standard": {pages, "get", "/", 405, "GET, HEAD", ""},
		"a bad address":           {pages, "GET", "/?page=x", 400, "", "Accept"},
		"not ready":               {ready, "GET", "/", 503, "", ""},
		"not ready, HEAD":         {ready, "HEAD", "/", 503, "", ""},
		"ready, DELETE":           {ready, "DELETE", "/", 405, "GET, HEAD", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := ask(once{t, c.handler}, c.method, c.url)
			policy, _, _ := strings.Cut(r.Header.Get("Content-Security-Policy"), ";")
			got := []string{strconv.Itoa(r.StatusCode), r.Header.Get("Allow"), r.Header.Get("Vary"), r.Header.Get("Cache-Control"), policy,
				r.Header.Get("X-Content-Type-Options"), r.Header.Get("X-Frame-Options"), r.Header.Get("Referrer-Policy"), r.Header.Get("Cross-Origin-Resource-Policy")}
			want := []string{strconv.Itoa(c.code), c.allow, c.vary, "no-store", "default-src 'none'", "nosniff", "DENY", "no-referrer", "same-origin"}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			if body := text(t, r); (c.method == "HEAD") != (body == "") || r.Header.Get("Content-Length") == "0" {
				t.Errorf("length %s, body %q", r.Header.Get("Content-Length"), body)
			}
		})
	}
}

func TestOptionsAreBounded(t *testing.T) {
	for name, c := range map[string]struct {
		opts    []status.Option
		terms   int
		refresh string // of the page; empty: it does not reload
	}{
		"by default":             {nil, 10, "10"},
		"few terms":              {[]status.Option{status.WithTerms(1)}, 1, "10"},
		"no terms":               {[]status.Option{status.WithTerms(0), status.WithTerms(-5)}, 10, "10"},
		"too many terms":         {[]status.Option{status.WithTerms(1 << 40)}, status.MaxTerms, "10"},
		"a refresh":              {[]status.Option{status.WithRefresh(90 * s)}, 10, "90"},
		"a refresh of a moment":  {[]status.Option{status.WithRefresh(1)}, 10, "1"},
		"a refresh of a century": {[]status.Option{status.WithRefresh(1 << 62)}, 10, "3600"},
		"no refresh":             {[]status.Option{status.WithRefresh(0)}, 10, ""},
		"less than no refresh":   {[]status.Option{status.WithRefresh(-s)}, 10, ""},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMiddleware(t)
			h := status.Handler(m, c.opts...)
			status.Handler(m, status.WithTerms(20)) // another one's number is not this one's
			for range 100 {
				release(t, acquire(t, m.Election("x"), renewable()))
			}
			d := decode(t, get(t, h, "/"))
			page := text(t, get(t, h, "/?format=html"))
			_, rest, _ := strings.Cut(page, `<meta http-equiv="refresh" content="`)
			refresh, _, _ := strings.Cut(rest, `"`)
			if d.TermsKept != c.terms || len(d.Locks[0].Ended) != c.terms || refresh != c.refresh {
				t.Errorf("%d kept, %d shown, refresh %q", d.TermsKept, len(d.Locks[0].Ended), refresh)
			}
		})
	}
}

// decoded is what tests read of the JSON.
type decoded struct {
	Time      string `json:"time"`
	TermsKept int    `json:"terms_kept"`
	Totals    struct{ Locks, Leading, Overrun, Pending int }
	Page      int
	Pages     int
	Locks     []struct {
		LockName string `json:"lock_name"`
		State    string
		Shared   bool
		Active   int
		Headroom *float64         `json:"lease_headroom_seconds"`
		Open     []map[string]any `json:"open_terms"`
		Omitted  int              `json:"open_terms_omitted"`
		Ended    []struct {
			Cause string
			Held  float64 `json:"held_seconds"`
		} `json:"ended_terms"`
	}
}

func decode(t testing.TB, r *http.Response) (d decoded) {
	t.Helper()
	if err := json.NewDecoder(r.Body).Decode(&d); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestTheScenarioOfTheExportersShowsNoSecret(t *testing.T) {
	bubble(t, "hashed", func(t *testing.T) {
		m := newMiddleware(t, instrument.WithRedactor(scenario.Redactor()))
		h := status.Handler(m)
		if err := scenario.Play(m); err != nil {
			t.Fatal(err)
		}
		for _, url := range []string{"/", "/?format=html"} {
			body := text(t, get(t, h, url))
			for _, secret := range scenario.Secrets {
				if strings.Contains(body, secret) {
					t.Errorf("%s contains %q", url, secret)
				}
			}
		}
		time.Sleep(scenario.Length)
	})
}

func TestOneLabelCanBeAskedFor(t *testing.T) {
	m := newMiddleware(t, instrument.WithRedactor(redact.Constant(redact.Exact("a b&c"), redact.Exact("x"))))
	h := status.Handler(m)
	acquire(t, m.Named("a b&c"), renewable())
	m.Named("x")
	gone := m.Named("secret-name")
	for label, want := range map[string]int{"a+b%26c": 1, "x": 1, "redacted": 1, "secret-name": 0, "a": 0, "": 3} {
		d := decode(t, get(t, h, "/?lock_name="+label))
		if len(d.Locks) != want || d.Totals.Locks != 3 || d.Totals.Leading != 1 {
			t.Errorf("%q: %d locks, totals %+v", label, len(d.Locks), d.Totals)
		}
	}
	page := text(t, get(t, h, "/?format=html&lock_name=secret-name"))
	if strings.Contains(page, "secret") || !strings.Contains(page, "No lock has this label here") {
		t.Error(page)
	}
	gone.Forget()
	if d := decode(t, get(t, h, "/?lock_name=redacted")); len(d.Locks) != 0 || d.Totals.Locks != 2 {
		t.Errorf("after it was forgotten: %+v", d)
	}
}

func TestThePageTurnsItsRefreshOffAndOn(t *testing.T) {
	for name, c := range map[string]struct {
		usual      time.Duration
		asked, off string // the query, and what its link asks for
	}{
		"on":                 {5 * s, "", "?format=html&refresh=0"},
		"off":                {5 * s, "&refresh=0", "?format=html"},
		"another":            {5 * s, "&refresh=7", "?format=html&refresh=0"},
		"never on":           {0, "", "?format=html&refresh=10"},
		"on though never on": {0, "&refresh=7", "?format=html"},
	} {
		t.Run(name, func(t *testing.T) {
			page := text(t, get(t, status.Handler(newMiddleware(t), status.WithRefresh(c.usual)), "/?format=html"+c.asked))
			if links := hrefs(t, page); !slices.Contains(links, c.off) {
				t.Errorf("%q is not among %q", c.off, links)
			}
		})
	}
}

func TestPagesLinkToTheirNeighbours(t *testing.T) {
	for locks, want := range map[int][]string{
		status.PageSize:       {""},
		status.PageSize + 1:   {"2", "1"},
		2*status.PageSize + 1: {"2", "1 3", "2"},
	} {
		m := newMiddleware(t, instrument.WithMaxLabels(locks))
		for i := range locks {
			m.Named(fmt.Sprint(i))
		}
		for i, neighbours := range want {
			var got []string
			for _, e := range elements(t, text(t, get(t, status.Handler(m), fmt.Sprintf("/?format=html&page=%d", i+1)))) {
				if rel := e.attrs["rel"]; rel != "prev" && rel != "next" {
					continue
				}
				address, err := url.Parse(e.attrs["href"])
				if err != nil {
					t.Fatal(err)
				}
				n := address.Query().Get("page")
				if n == "" {
					n = "1"
				}
				got = append(got, n)
			}
			if got := strings.Join(got, " "); got != neighbours {
				t.Errorf("page %d of %d locks links to pages %q, want %q", i+1, locks, got, neighbours)
			}
		}
	}
}

func TestAHandlerServesBelowAnyPath(t *testing.T) {
	m := newMiddleware(t)
	m.Election("a")
	m.Election("b")
	mux := http.NewServeMux()
	mux.Handle("/debug/leader/", http.StripPrefix("/debug/leader", status.Handler(m)))
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, httptest.NewRequest("GET", "/debug/leader/?format=html", nil))
	if links := hrefs(t, w.Body.String()); len(links) == 0 {
		t.Error("no links")
	} else {
		for _, l := range links {
			if !strings.HasPrefix(l, "?") {
				t.Errorf("link %q leaves the address of the page", l)
			}
		}
	}
}
