// Package status serves the state of the elections of one process: a page and JSON
// (Handler), and a readiness check (Ready).
//
//	m, err := instrument.New()
//	http.Handle("/status", status.Handler(m)) // a page for people, JSON for programs
//	http.Handle("/ready", status.Ready(m))    // a readiness check
//
// It shows labels according to the redaction policy, and never a lock's name.
//
// For the state of several replicas use metrics and dashboards; this package reads
// one Middleware. docs/status.md has the schema of the JSON.
package status

import (
	"bytes"
	"net/http"
	"strconv"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/redact"
)

const (
	// DefaultTerms is how many ended terms are kept of each label.
	DefaultTerms = 10
	// MaxTerms is the largest number of ended terms that WithTerms keeps.
	MaxTerms = instrument.MaxKeptTerms
	// DefaultRefresh is the time after which the page loads itself again.
	DefaultRefresh = 10 * time.Second
	// PageSize is the largest number of locks in one answer.
	PageSize = 256
	// MaxOpenTerms is the largest number of open terms of a label in one
	// answer: those whose lease ends first.
	MaxOpenTerms = 10
)

// Option configures a Handler. Nil options are ignored.
type Option func(*handler)

// WithTerms sets how many ended terms of each label are kept, by default
// DefaultTerms. More than MaxTerms means MaxTerms, and less than 1 changes nothing.
// Two handlers of one Middleware share the kept terms; each shows its own number.
func WithTerms(n int) Option {
	return func(h *handler) {
		if n >= 1 {
			h.terms = min(n, MaxTerms)
		}
	}
}

// WithRefresh sets the time after which the page loads itself again, in whole
// seconds of at least 1; 0 and less turn it off. A reader changes it by
// ?refresh=SECONDS.
func WithRefresh(d time.Duration) Option {
	return func(h *handler) {
		h.refresh = 0
		if d > 0 {
			h.refresh = min(max(int(d/time.Second), 1), maxRefresh)
		}
	}
}

// WithInstance names this process on the page and in the JSON, for example by the
// name of its pod. It is made valid like a label, and it must not contain anything
// that labels hide.
func WithInstance(name string) Option {
	return func(h *handler) { h.instance = redact.Valid(name) }
}

// Handler serves the status of m. A client whose Accept header prefers
// text/html gets the page, any other JSON; ?format=html and ?format=json
// override it. The response is complete before it is written, so that a slow
// client blocks only its own response; limit it with the server's WriteTimeout.
//
// From the first Handler on, m keeps the last terms of each label. A nil
// Middleware has no locks. The handler is safe for concurrent use and has
// nothing to close.
func Handler(m *instrument.Middleware, opts ...Option) http.Handler {
	h := &handler{m: m, terms: DefaultTerms, refresh: int(DefaultRefresh / time.Second)}
	for _, o := range opts {
		if o != nil {
			o(h)
		}
	}
	m.KeepTerms(h.terms)
	return h
}

type handler struct {
	m        *instrument.Middleware
	terms    int
	refresh  int // seconds; 0 never
	instance string
}

// ServeHTTP implements http.Handler.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !begin(w, r) {
		return
	}
	w.Header().Set("Vary", "Accept")
	q, problem := parseQuery(r.URL.Query(), h.refresh)
	if problem != "" {
		plain(w, r, http.StatusBadRequest, problem)
		return
	}
	format := q.format
	if format == "" {
		format = preferred(r.Header.Values("Accept"))
	}
	var body bytes.Buffer
	var err error
	switch format {
	case formatHTML:
		w.Header().Set("Content-Type", typeHTML+"; charset=utf-8")
		err = h.writePage(&body, q)
	case formatJSON:
		w.Header().Set("Content-Type", typeJSON)
		err = h.writeJSON(&body, q)
	default:
		plain(w, r, http.StatusNotAcceptable, "the client accepts neither text/html nor application/json")
		return
	}
	if err != nil { // templates and types are the package's own
		plain(w, r, http.StatusInternalServerError, "the status could not be written")
		return
	}
	answer(w, r, http.StatusOK, body.Bytes())
}

// begin sets the headers of every answer and refuses methods that change
// something.
func begin(w http.ResponseWriter, r *http.Request) bool {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", securityPolicy)
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer") // addresses have labels in them
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return true
	}
	h.Set("Allow", "GET, HEAD")
	plain(w, r, http.StatusMethodNotAllowed, "only GET and HEAD are allowed")
	return false
}

// plain answers in one line. What the client sent is not repeated: it may
// be a lock's name.
func plain(w http.ResponseWriter, r *http.Request, code int, problem string) {
	w.Header().Set("Content-Type", typeText)
	answer(w, r, code, []byte(problem+"\n"))
}

func answer(w http.ResponseWriter, r *http.Request, code int, body []byte) {
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(code)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // a reader that has gone needs no answer
	}
}
