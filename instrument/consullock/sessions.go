package consullock

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/consul/api"

	"github.com/leaderscope/leaderscope/instrument"
)

// Sessions records the sessions of a client: when each was last renewed, and
// for how long. It is safe for concurrent use.
type Sessions struct {
	mu    sync.Mutex
	known map[string]*session
}

type session struct {
	ttl   time.Duration // 0 unknown
	sent  time.Time     // just before the last request that created or renewed it
	sinks []*instrument.Sink
}

// NewClient makes a client and the record of its sessions. The configuration is
// used as in api.NewClient, and not changed.
func NewClient(config *api.Config) (*api.Client, *Sessions, error) {
	if config == nil {
		return nil, nil, errors.New("consullock: the configuration is nil: pass api.DefaultConfig()")
	}
	own := *config
	if own.HttpClient != nil {
		h := *own.HttpClient
		own.HttpClient = &h
	}
	client, err := api.NewClient(&own)
	if err != nil {
		return nil, nil, err
	}
	s := &Sessions{}
	own.HttpClient.Transport = s.Transport(own.HttpClient.Transport)
	return client, s, nil
}

// Transport wraps next, and records the sessions of its requests; nil is
// http.DefaultTransport. NewClient uses it; use it in an http.Client of your own.
func (s *Sessions) Transport(next http.RoundTripper) http.RoundTripper {
	if next == nil {
		next = http.DefaultTransport
	}
	return &transport{next, s}
}

type transport struct {
	http.RoundTripper
	sessions *Sessions
}

// CloseIdleConnections is what http.Client looks for in its transport.
func (t *transport) CloseIdleConnections() {
	if c, ok := t.RoundTripper.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	_, call, ours := strings.Cut(r.URL.Path, "/v1/session/")
	if !ours || r.Method != http.MethodPut {
		return t.RoundTripper.RoundTrip(r)
	}
	call, id, _ := strings.Cut(call, "/")
	sent := time.Now()
	if call == "renew" {
		var stop context.CancelFunc
		r, stop = t.sessions.bound(r, id)
		defer stop() // the answer is read by then
	}
	resp, err := t.RoundTripper.RoundTrip(r)
	if err == nil && call == "renew" {
		peek(resp)
	}
	switch call {
	case "create":
		t.sessions.created(r, resp, err, sent)
	case "renew":
		t.sessions.renewed(id, resp, err, sent)
	case "destroy":
		t.sessions.forget(id)
	}
	return resp, err
}

// bound has a renewal fail that is not answered within a quarter of the TTL: the
// client would wait forever, and neither try again nor tell.
func (s *Sessions) bound(r *http.Request, id string) (*http.Request, context.CancelFunc) {
	ttl := s.length(id)
	if ttl <= 0 {
		return r, func() {}
	}
	ctx, cancel := context.WithTimeout(r.Context(), ttl/4)
	return r.WithContext(ctx), cancel
}

// answer is what Consul says of a session when it is created or renewed.
type answer struct{ ID, TTL string }

func (s *Sessions) created(r *http.Request, resp *http.Response, err error, sent time.Time) {
	var asked, got answer
	if err != nil || resp.StatusCode != http.StatusOK || json.Unmarshal(peek(resp), &got) != nil || got.ID == "" {
		return
	}
	if r.GetBody != nil {
		if body, err := r.GetBody(); err == nil {
			_ = json.NewDecoder(body).Decode(&asked) // without it the first renewal tells
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.prune(sent)
	if s.known == nil {
		s.known = map[string]*session{}
	}
	s.known[got.ID] = &session{ttl: duration(asked.TTL), sent: sent}
}

func (s *Sessions) renewed(id string, resp *http.Response, err error, sent time.Time) {
	var got []answer
	switch {
	case err != nil:
	case resp.StatusCode == http.StatusNotFound:
		err = fmt.Errorf("consullock: session is gone: %w", instrument.ErrSessionLost)
	case resp.StatusCode != http.StatusOK:
		err = fmt.Errorf("consullock: session was not renewed: status %d", resp.StatusCode)
	default:
		_ = json.Unmarshal(peek(resp), &got) // the TTL stays what it was
	}
	s.mu.Lock()
	of := s.known[id]
	if of == nil {
		s.mu.Unlock()
		return
	}
	if err == nil {
		of.sent = sent
		if len(got) > 0 && duration(got[0].TTL) > 0 {
			of.ttl = duration(got[0].TTL)
		}
	}
	renewal, sinks := instrument.Renewal{Sent: sent, Expiry: of.end(), Granted: of.ttl}, slices.Clone(of.sinks)
	s.mu.Unlock()
	for _, sink := range sinks {
		if err != nil {
			sink.RenewalFailedSince(sent, err)
		} else {
			sink.Renewed(renewal)
		}
	}
}

func (s *Sessions) forget(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.known, id)
}

// prune drops sessions that are no longer watched and that the server has dropped: it
// keeps a session for at most twice its TTL. The caller holds mu.
func (s *Sessions) prune(now time.Time) {
	for id, of := range s.known {
		if len(of.sinks) == 0 && of.ttl > 0 && now.Sub(of.sent) > 2*of.ttl {
			delete(s.known, id)
		}
	}
}

// expiry is the end of a session as this client may count on it; zero when
// unknown.
func (s *Sessions) expiry(id string) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	if of := s.known[id]; of != nil {
		return of.end()
	}
	return time.Time{}
}

// length is that of a session's lease, as it was asked for or as Consul told
// with a renewal; zero when unknown.
func (s *Sessions) length(id string) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if of := s.known[id]; of != nil {
		return of.ttl
	}
	return 0
}

// finished reports that a session was ended, or was not renewed for so long that
// Consul has dropped it: after twice its TTL.
func (s *Sessions) finished(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := s.known[id]
	return of == nil || of.ttl > 0 && time.Since(of.sent) > 2*of.ttl
}

func (s *Sessions) has(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known[id] != nil
}

func (of *session) end() time.Time {
	if of.ttl <= 0 {
		return time.Time{}
	}
	return of.sent.Add(of.ttl)
}

// watch tells sink of renewals until the returned function is called.
func (s *Sessions) watch(id string, sink instrument.Sink) (stop func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := s.known[id]
	if of == nil {
		return func() {}
	}
	to := &sink
	of.sinks = append(of.sinks, to)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		of.sinks = slices.DeleteFunc(of.sinks, func(k *instrument.Sink) bool { return k == to })
	}
}

// peek reads a small body and puts it back.
func peek(resp *http.Response) []byte {
	body, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	resp.Body = io.NopCloser(bytes.NewReader(body))
	if err != nil { // the client meets it where it would have
		resp.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), failing{err}))
	}
	return body
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func duration(s string) time.Duration {
	d, _ := time.ParseDuration(s) // 0 unknown
	return d
}
