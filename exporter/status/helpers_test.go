package status_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/redact"
)

const s = time.Second

func newMiddleware(t testing.TB, opts ...instrument.Option) *instrument.Middleware {
	t.Helper()
	quiet := instrument.WithLogger(slog.New(slog.DiscardHandler))
	m, err := instrument.New(append([]instrument.Option{instrument.WithRedactor(redact.Raw()), quiet}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// renewable is a lease that its holder can renew.
func renewable() instrument.Lease {
	return instrument.NewLease(nil, instrument.RenewWith(func(context.Context) error { return nil }))
}

func acquire(t testing.TB, e *instrument.Election, l instrument.Lease) *instrument.Term {
	t.Helper()
	term, err := e.Acquire(context.Background(), electtest.Wins(l))
	if err != nil {
		t.Fatal(err)
	}
	return term
}

func release(t testing.TB, term *instrument.Term) {
	t.Helper()
	if err := term.Release(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// get asks the handler; each header is a name and a value.
func get(t testing.TB, h http.Handler, url string, headers ...[2]string) *http.Response {
	t.Helper()
	return ask(h, http.MethodGet, url, headers...)
}

func ask(h http.Handler, method, url string, headers ...[2]string) *http.Response {
	r := httptest.NewRequest(method, url, nil)
	for _, header := range headers {
		r.Header.Add(header[0], header[1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func text(t testing.TB, r *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func bubble(t *testing.T, name string, f func(t *testing.T)) {
	t.Run(name, func(t *testing.T) { synctest.Test(t, f) })
}
