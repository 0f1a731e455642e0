package httpfence_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leaderscope/leaderscope/instrument/fence"
	"github.com/leaderscope/leaderscope/instrument/fence/httpfence"
)

// connection is a writer whose deadline takes a second to be set.
type connection struct {
	*httptest.ResponseRecorder
	deadline time.Time
}

func (c *connection) SetReadDeadline(to time.Time) error {
	time.Sleep(time.Second)
	c.deadline = to
	return nil
}

func request(ctx context.Context, token uint64) *http.Request {
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/entries", nil)
	r.Header.Set(fence.Header, fence.Format(token))
	return r
}

// The next request on the connection sets a deadline of its own, which the one
// of this request must not follow.
func TestOnlyANewerTermEndsTheReadsOfACallAndBeforeTheCallHasReturned(t *testing.T) {
	for name, c := range map[string]struct {
		end   func(guard *fence.Guard, leave context.CancelFunc)
		cause error
		took  time.Duration
	}{
		"a newer term":       {func(g *fence.Guard, _ context.CancelFunc) { _ = g.Check(6) }, fence.ErrStale, time.Second},
		"the client is gone": {func(_ *fence.Guard, leave context.CancelFunc) { leave() }, context.Canceled, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				guard := fence.New(nil)
				var cause error
				h := httpfence.Handler(guard, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
					<-r.Context().Done()
					cause = context.Cause(r.Context())
				}))
				ctx, leave := context.WithCancel(t.Context())
				defer leave()
				w := &connection{ResponseRecorder: httptest.NewRecorder()}
				returned := make(chan struct{})
				go func() {
					defer close(returned)
					h.ServeHTTP(w, request(ctx, 3))
				}()
				synctest.Wait()
				ended := time.Now()
				c.end(guard, leave)
				<-returned
				if took := time.Since(ended); took != c.took {
					t.Errorf("it returned after %v, want %v", took, c.took)
				}
				if !errors.Is(cause, c.cause) {
					t.Errorf("the handler's context ended with %v, want %v", cause, c.cause)
				}
				if want := c.took > 0; w.deadline.IsZero() == want || want && !w.deadline.Before(time.Now()) {
					t.Errorf("reads end at %v", w.deadline)
				}
			})
		})
	}
}

func TestACallThatCannotWaitForOlderWritesIsToldToComeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		h := httpfence.Handler(fence.New(nil), http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			calls++
			time.Sleep(time.Minute) // and does not look at its context
		}))
		go h.ServeHTTP(httptest.NewRecorder(), request(t.Context(), 3))
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		w := httptest.NewRecorder()
		h.ServeHTTP(w, request(ctx, 6))
		const want = "the writes of an older term have not ended in time\n"
		if w.Code != http.StatusServiceUnavailable || w.Body.String() != want || calls != 1 {
			t.Errorf("%d %q after %d calls, want 503 %q after one", w.Code, w.Body, calls, want)
		}
		time.Sleep(time.Minute)
	})
}

func TestTheTransportThatSendsIsTheDefaultOneUnlessAnotherIsGiven(t *testing.T) {
	type wrapper interface{ Unwrap() http.RoundTripper }
	other := &http.Transport{}
	for want, next := range map[http.RoundTripper]http.RoundTripper{http.DefaultTransport: nil, other: other} {
		w, ok := httpfence.Transport(next).(wrapper)
		if !ok || w.Unwrap() != want {
			t.Errorf("%T sends by another than %v", w, want)
		}
	}
}
