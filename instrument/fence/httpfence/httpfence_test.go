package httpfence_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/instrument/fence"
	"github.com/leaderscope/leaderscope/instrument/fence/httpfence"
)

// store is a service that owns a resource; what it wrote is in its log.
type store struct {
	*httptest.Server
	client *http.Client
	log    []string
	m      *instrument.Middleware
}

func newStore(t *testing.T, opts ...httpfence.Option) *store {
	t.Helper()
	m, err := instrument.New()
	if err != nil {
		t.Fatal(err)
	}
	s := &store{m: m}
	guard := fence.New(m.Election("tenant-secret", instrument.WatchOnly()))
	s.Server = httptest.NewServer(httpfence.Handler(guard, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		entry, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, "unread", http.StatusInternalServerError)
			return
		}
		word := "none"
		if token, ok := fence.TokenFrom(r.Context()); ok {
			word = fence.Format(token)
		}
		s.log = append(s.log, word+" "+string(entry))
	}), opts...))
	t.Cleanup(s.Close)
	s.client = &http.Client{Transport: httpfence.Transport(s.Client().Transport)}
	return s
}

// post returns the status and the text of the answer.
func (s *store) post(t *testing.T, ctx context.Context, body io.Reader, header ...string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL, body)
	if err != nil {
		t.Fatal(err)
	}
	for _, value := range header {
		r.Header.Add(fence.Header, value)
	}
	resp, err := s.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	return strings.TrimSpace(resp.Status + " " + string(text))
}

func (s *store) shows(t *testing.T, admitted, stale, missing int, highest float64) {
	t.Helper()
	want := electtest.Series{
		electtest.Of(catalog.FencingChecks, "admitted"): float64(admitted),
		electtest.Of(catalog.FencingChecks, "stale"):    float64(stale),
		electtest.Of(catalog.FencingChecks, "missing"):  float64(missing),
	}
	if highest >= 0 {
		want[electtest.Of(catalog.FencingHighestToken)] = highest
	}
	if diff := cmp.Diff(want, electtest.Read(s.m, "tenant-secret")); diff != "" {
		t.Error(diff)
	}
}

const (
	stale3  = "409 Conflict leaderscope: fencing token 3 is stale, the store has seen 6; stop the work of this term and campaign again"
	missing = "412 Precondition Failed no fencing token: send the token of the term in one X-Fencing-Token header, in decimal digits"
)

func TestACallCarriesTheTokenOfItsTermAndAStaleOneIsRefused(t *testing.T) {
	s := newStore(t)
	term := func(token uint64) context.Context { return fence.WithToken(t.Context(), token) }
	for i, c := range []struct {
		ctx    context.Context
		header []string
		want   string
	}{
		{term(3), nil, "200 OK"},
		{term(6), nil, "200 OK"},
		{term(3), nil, stale3},
		{t.Context(), nil, missing},
		{t.Context(), []string{"six"}, missing},
		{t.Context(), []string{"6", "7"}, missing}, // which of them is meant?
		{t.Context(), []string{"3"}, stale3},
		{term(6), []string{"9"}, "200 OK"}, // the term's own token, not one that was set by hand
	} {
		if diff := cmp.Diff(c.want, s.post(t, c.ctx, strings.NewReader("entry"), c.header...)); diff != "" {
			t.Errorf("call %d: %s", i, diff)
		}
	}
	if diff := cmp.Diff([]string{"3 entry", "6 entry", "6 entry"}, s.log); diff != "" {
		t.Error(diff)
	}
	s.shows(t, 3, 2, 3, 6)
}

func TestCallsWithoutATokenPassWhileClientsLearnToSendOne(t *testing.T) {
	s := newStore(t, httpfence.AllowMissing(), nil)
	for i, c := range []struct{ header, want string }{{"6", "200 OK"}, {"", "200 OK"}, {"3", stale3}, {"6", "200 OK"}} {
		if diff := cmp.Diff(c.want, s.post(t, t.Context(), strings.NewReader("entry"), c.header)); diff != "" {
			t.Errorf("call %d: %s", i, diff)
		}
	}
	if diff := cmp.Diff([]string{"6 entry", "none entry", "6 entry"}, s.log); diff != "" {
		t.Error(diff)
	}
	s.shows(t, 2, 1, 1, 6)
}

// The store's server runs under a term of its own, whose context it gives to
// every request.
func TestTheTokenOfTheStoresOwnProcessDoesNotStandInForThatOfTheCaller(t *testing.T) {
	for _, c := range []struct {
		name string
		opts []httpfence.Option
		want string // of calls without a token
		log  []string
	}{
		{"all calls need one", nil, missing, []string{"6 entry"}},
		{"calls without one pass", []httpfence.Option{httpfence.AllowMissing()}, "200 OK", []string{"6 entry", "none entry", "none entry"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStore(t, c.opts...)
			inner := s.Config.Handler
			s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				inner.ServeHTTP(w, r.WithContext(fence.WithToken(r.Context(), 9)))
			})
			var got []string
			for _, header := range [][]string{{"6"}, {"3"}, nil, {"-6"}} {
				got = append(got, s.post(t, t.Context(), strings.NewReader("entry"), header...))
			}
			if diff := cmp.Diff([]string{"200 OK", stale3, c.want, c.want}, got); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(c.log, s.log); diff != "" {
				t.Error(diff)
			}
			s.shows(t, 1, 1, 2, 6)
		})
	}
}

// The leader was suspended after half of a request: its call was admitted, and
// would hold the successor back for as long as it sleeps.
func TestACallThatIsHalfSentDoesNotHoldTheSuccessorBack(t *testing.T) {
	s := newStore(t)
	body, half := io.Pipe()
	older := make(chan string, 1)
	go func() { older <- s.post(t, fence.WithToken(t.Context(), 3), body) }()
	if _, err := half.Write([]byte("half of an ent")); err != nil {
		t.Fatal(err)
	}
	for electtest.Read(s.m, "tenant-secret")[electtest.Of(catalog.FencingChecks, "admitted")] == 0 {
		time.Sleep(time.Millisecond) // the request is on its way
	}
	if got := s.post(t, fence.WithToken(t.Context(), 6), strings.NewReader("entry")); got != "200 OK" {
		t.Errorf("the successor: %s", got)
	}
	if got := <-older; got != "500 Internal Server Error unread" {
		t.Errorf("the older: %s", got)
	}
	_ = half.Close()
	if diff := cmp.Diff([]string{"6 entry"}, s.log); diff != "" {
		t.Error(diff)
	}
	s.shows(t, 2, 0, 0, 6)
}

// The leader was suspended before it has read the answer: the handler waits for
// room, and its context is not looked at.
func TestACallWhoseAnswerIsNotReadDoesNotHoldTheSuccessorBack(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		t.Run(fmt.Sprint("HTTP/2 ", http2), func(t *testing.T) {
			answers := make(chan struct{}, 1)
			s := httptest.NewUnstartedServer(httpfence.Handler(fence.New(nil), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if token, _ := fence.TokenFrom(r.Context()); token != 3 {
					return
				}
				answers <- struct{}{}
				for part := make([]byte, 1<<20); ; {
					if _, err := w.Write(part); err != nil {
						return
					}
				}
			})))
			s.EnableHTTP2 = http2
			s.StartTLS()
			t.Cleanup(s.Close)
			call := func(token uint64) *http.Response {
				r, err := http.NewRequestWithContext(fence.WithToken(t.Context(), token), http.MethodPost, s.URL, nil)
				if err != nil {
					t.Fatal(err)
				}
				resp, err := (&http.Client{Transport: httpfence.Transport(s.Client().Transport)}).Do(r)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = resp.Body.Close() })
				return resp
			}
			older := call(3)
			<-answers
			if resp := call(6); resp.StatusCode != http.StatusOK || resp.ProtoMajor == 2 != http2 {
				t.Errorf("the successor: %s %s", resp.Proto, resp.Status)
			}
			if _, err := io.Copy(io.Discard, older.Body); err == nil {
				t.Error("the older: a whole answer")
			}
			if resp := call(7); resp.StatusCode != http.StatusOK {
				t.Errorf("on a connection that is used again: %s", resp.Status)
			}
		})
	}
}

func TestTheClientsRequestIsNotChanged(t *testing.T) {
	r := httptest.NewRequestWithContext(fence.WithToken(t.Context(), 3), http.MethodPost, "/", nil)
	var sent http.Header
	next := roundTripper(func(r *http.Request) (*http.Response, error) {
		sent = r.Header
		return &http.Response{}, nil
	})
	if _, err := httpfence.Transport(next).RoundTrip(r); err != nil {
		t.Fatal(err)
	}
	if sent.Get("X-Fencing-Token") != "3" || len(r.Header) != 0 {
		t.Errorf("sent %v, the caller's is %v", sent, r.Header)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestWithoutAGuardEveryCallPasses(t *testing.T) {
	h := httpfence.Handler(nil, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	if w.Code != http.StatusTeapot {
		t.Error(w.Code)
	}
}
