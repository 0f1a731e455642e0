// Package httpfence carries fencing tokens over HTTP: [Transport] sends the
// token of the caller's term, [Handler] refuses calls whose token is stale.
//
//	client := &http.Client{Transport: httpfence.Transport(nil)}   // the leader
//	mux.Handle("/entries", httpfence.Handler(guard, entries))      // the store
package httpfence

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/leaderscope/leaderscope/instrument/fence"
)

// Transport sends the token of a request's context in [fence.Header]; see
// fence.WithTerm. A request whose context has none is sent unchanged. A nil next
// is http.DefaultTransport.
func Transport(next http.RoundTripper) http.RoundTripper {
	if next == nil {
		next = http.DefaultTransport
	}
	return transport{next}
}

type transport struct{ next http.RoundTripper }

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if token, ok := fence.TokenFrom(r.Context()); ok {
		r = r.Clone(r.Context()) // a RoundTripper must not change its request
		r.Header.Set(fence.Header, fence.Format(token))
	}
	return t.next.RoundTrip(r)
}

// Unwrap is the transport that sends.
func (t transport) Unwrap() http.RoundTripper { return t.next }

// Option configures Handler. Nil options are ignored.
type Option func(*handler)

// AllowMissing admits calls without a token, for a migration in which not all
// clients send one yet. They are counted as missing.
func AllowMissing() Option { return func(h *handler) { h.allowMissing = true } }

// Handler passes calls with an admitted token to next, within guard.Do. A call of
// a newer term ends the contexts and body reads of calls of older terms, and a
// second later their writes of the response; it begins when they have returned.
// A stale call is answered with 409 Conflict. A call without a token is answered
// with 412 Precondition Failed, or passed on with AllowMissing. The response text
// contains the tokens and no lock name. next gets the token with
// fence.TokenFrom.
//
// A nil guard passes every call on. Do not put reads that need no fencing behind
// the handler.
func Handler(guard *fence.Guard, next http.Handler, opts ...Option) http.Handler {
	h := &handler{guard: guard, next: next}
	for _, o := range opts {
		if o != nil {
			o(h)
		}
	}
	return h
}

type handler struct {
	guard        *fence.Guard
	next         http.Handler
	allowMissing bool
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx := fence.Received(r.Context(), r.Header.Values(fence.Header))
	began := false
	err := h.guard.DoContext(ctx, func(ctx context.Context) error {
		began = true
		h.serve(ctx, w, r)
		return nil
	})
	switch {
	case began:
	case errors.Is(err, fence.ErrMissing) && h.allowMissing:
		h.next.ServeHTTP(w, r.WithContext(ctx))
	case errors.Is(err, fence.ErrMissing):
		http.Error(w, "no fencing token: send the token of the term in one "+fence.Header+" header, in decimal digits", http.StatusPreconditionFailed)
	case errors.Is(err, fence.ErrStale):
		http.Error(w, err.Error(), http.StatusConflict)
	default: // the client is gone, or its time is over
		http.Error(w, "the writes of an older term have not ended in time", http.StatusServiceUnavailable)
	}
}

// answering is how long a call that a newer term ended may still write its
// answer.
const answering = time.Second

// serve runs the next handler; a newer term ends its reads of the body and its
// writes of the answer, for which a client that is suspended would keep it
// waiting.
func (h *handler) serve(ctx context.Context, w http.ResponseWriter, r *http.Request) {
	done := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(done)
		if errors.Is(context.Cause(ctx), fence.ErrStale) {
			c := http.NewResponseController(w)
			_, _ = c.SetReadDeadline(time.Unix(1, 0)), c.SetWriteDeadline(time.Now().Add(answering))
		}
	})
	defer func() {
		if !stop() {
			<-done // the connection's next request has other deadlines
		}
	}()
	h.next.ServeHTTP(w, r.WithContext(ctx))
}
