package consullock

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/consul/api"

	"github.com/leaderscope/leaderscope/instrument"
)

// TestDetachedCalls plays a call that answers after that long, for a caller who
// gives up after a second.
func TestDetachedCalls(t *testing.T) {
	errBusy, errCaller := errors.New("busy"), errors.New("caller left")
	for _, c := range []struct {
		name  string
		after time.Duration
		err   error
		panic any
		want  string // what the caller gets, and when
		late  string // what takes the result instead, and when
	}{
		{"an answer in time", time.Second / 2, nil, nil, "7 <nil> true after 500ms", ""},
		{"an error in time", time.Second / 2, errBusy, nil, "7 busy true after 500ms", ""},
		{"a panic in time", time.Second / 2, nil, "broken", "panic broken after 500ms", ""},
		{"an answer just after its caller has left", 1200 * time.Millisecond, nil, nil, "7 <nil> true after 1.2s", ""},
		{"an error just after its caller has left", 1200 * time.Millisecond, errBusy, nil, "7 busy true after 1.2s", ""},
		{"an answer that is late", 3 * time.Second, nil, nil, "0 caller left false after 1.25s", "7 <nil> after 3s"},
		{"an error that is late", 3 * time.Second, errBusy, nil, "0 caller left false after 1.25s", "7 busy after 3s"},
		{"a panic that is late", 3 * time.Second, nil, "broken", "0 caller left false after 1.25s", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errCaller)
				defer cancel()
				got, late, done := "", "", 0
				func() {
					defer func() {
						if p := recover(); p != nil {
							got = fmt.Sprint("panic ", p, " after ", time.Since(begun))
						}
					}()
					value, err, returned := detached(ctx, call[int]{
						do: func() (int, error) {
							time.Sleep(c.after)
							if c.panic != nil {
								panic(c.panic)
							}
							return 7, c.err
						},
						late: func(value int, err error) { late = fmt.Sprint(value, " ", err, " after ", time.Since(begun)) },
						done: func() { done++ },
					})
					got = fmt.Sprint(value, " ", err, " ", returned, " after ", time.Since(begun))
				}()
				time.Sleep(5 * time.Second)
				synctest.Wait()
				if got != c.want || late != c.late || done != 1 {
					t.Errorf("got %q, late %q, done %d times; want %q, %q, once", got, late, done, c.want, c.late)
				}
			})
		})
	}
}

func TestACallThatIsLateNeedsNoOtherFunction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err, returned := detached(ctx, call[int]{do: func() (int, error) { time.Sleep(time.Minute); return 7, nil }})
		if !errors.Is(err, context.Canceled) || returned {
			t.Errorf("got %v, %v", err, returned)
		}
		time.Sleep(2 * time.Minute)
	})
}

// roundTrip is a transport that answers all requests alike.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestTheTransportPassesErrorsOn(t *testing.T) {
	refused := errors.New("connection refused")
	s := &Sessions{}
	transport := s.Transport(roundTrip(func(*http.Request) (*http.Response, error) { return nil, refused }))
	for _, path := range []string{"session/create", "session/renew/a", "session/destroy/a", "session/info/a", "kv/orders"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, "http://consul/v1/"+path, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		if resp, err := transport.RoundTrip(r); err != refused || resp != nil {
			t.Errorf("%s: got %v, %v", path, resp, err)
		}
	}
	if len(s.known) != 0 {
		t.Errorf("known: %v", s.known)
	}
}

func TestASessionWithoutATTLDoesNotEndByItself(t *testing.T) {
	s := &Sessions{known: map[string]*session{"a": {sent: time.Now().Add(-time.Hour)}}}
	if s.finished("a") || !s.expiry("a").IsZero() || s.length("a") != 0 {
		t.Errorf("finished: %v, expiry %v, length %v", s.finished("a"), s.expiry("a"), s.length("a"))
	}
}

func TestASessionThatIsUnknownIsWatchedInVain(t *testing.T) {
	s := &Sessions{}
	s.watch("a", instrument.Sink{})()
	if len(s.known) != 0 {
		t.Errorf("known: %v", s.known)
	}
}

func TestALockThatTheClientRefusesLeavesNoSession(t *testing.T) {
	server := newServer(t)
	c, sessions := server.client(t)
	l, err := NewSemaphore(c, sessions, &api.SemaphoreOptions{Prefix: "orders", SessionTTL: seconds}).Acquire(t.Context())
	if l != nil || err == nil || !strings.Contains(err.Error(), "limit must be positive") {
		t.Fatalf("got %v, %v", l, err)
	}
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		server.mu.Lock()
		left := len(server.sessions)
		server.mu.Unlock()
		if left == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d sessions are left", left)
		}
	}
}

// A session without a TTL, or of another client, has no time within which its renewal must
// be answered.
func TestARenewalOfASessionWithoutAKnownTTLHasNoDeadline(t *testing.T) {
	for _, id := range []string{"without a TTL", "unknown"} {
		s := &Sessions{known: map[string]*session{"without a TTL": {sent: time.Now()}}}
		r := httptest.NewRequest(http.MethodPut, "http://consul/v1/session/renew/a", nil)
		bounded, cancel := s.bound(r, id)
		defer cancel()
		if deadline, ok := bounded.Context().Deadline(); ok || bounded.Context().Err() != nil {
			t.Errorf("%s: a deadline of %v, %v", id, deadline, bounded.Context().Err())
		}
	}
}

func TestAnAnswerThatNamesNoSessionCreatesNone(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
		want   int
	}{
		"a session":               {http.StatusOK, `{"ID":"a"}`, 1},
		"no id":                   {http.StatusOK, `{}`, 0},
		"an error that names one": {http.StatusInternalServerError, `{"ID":"a"}`, 0},
		"no JSON":                 {http.StatusOK, `"a"`, 0},
	} {
		s := &Sessions{}
		transport := s.Transport(roundTrip(func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: c.status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(c.body)), Request: r}, nil
		}))
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, "http://consul/v1/session/create", nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := transport.RoundTrip(r); err != nil || len(s.known) != c.want {
			t.Errorf("%s: %d sessions are known, %v", name, len(s.known), err)
		}
	}
}

func TestAConfigurationThatTheClientRefusesIsAnError(t *testing.T) {
	config := api.DefaultConfig()
	config.TLSConfig.CAFile = filepath.Join(t.TempDir(), "missing.pem")
	client, sessions, err := NewClient(config)
	if err == nil || client != nil || sessions != nil {
		t.Errorf("client %v, sessions %v, %v", client, sessions, err)
	}
}
