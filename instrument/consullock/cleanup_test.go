package consullock

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/consul/api"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
)

func TestARequestIsRepeatedUntilItHasAnAnswer(t *testing.T) {
	reset, refused := errors.New("connection reset"), api.StatusError{Code: http.StatusForbidden}
	for name, c := range map[string]struct {
		answers []error // the last one again and again
		want    error
		asked   int
		after   time.Duration
	}{
		"at once":             {[]error{nil}, nil, 1, 0},
		"at the third":        {[]error{reset, api.StatusError{Code: 500}, nil}, nil, 3, 300 * time.Millisecond},
		"a refusal":           {[]error{reset, refused}, refused, 2, 100 * time.Millisecond},
		"a lock that is gone": {[]error{instrument.ErrSessionLost}, instrument.ErrSessionLost, 1, 0},
		// At 0, 0.1, 0.3, 0.7, 1.5, 3.1 and 6.3 s, then every 5 s.
		"none before its context ends": {[]error{reset}, context.DeadlineExceeded, 11, 30 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
				defer cancel()
				begun, asked := time.Now(), 0
				err := repeat(ctx, func(context.Context) error {
					asked++
					return c.answers[min(asked, len(c.answers))-1]
				})
				if !errors.Is(err, c.want) || asked != c.asked || time.Since(begun) != c.after {
					t.Errorf("%v after %d requests and %v, want %v after %d and %v", err, asked, time.Since(begun), c.want, c.asked, c.after)
				}
			})
		})
	}
}

// A request without an answer is given up after a second, and made again.
func TestARequestThatHangsIsRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun, asked := time.Now(), []time.Duration{}
		err := repeat(t.Context(), func(ctx context.Context) error {
			if asked = append(asked, time.Since(begun)); len(asked) == 3 {
				return nil
			}
			<-ctx.Done()
			return ctx.Err()
		})
		want := []time.Duration{0, 1100 * time.Millisecond, 2300 * time.Millisecond}
		if err != nil || !slices.Equal(asked, want) {
			t.Errorf("asked at %v, %v, want at %v", asked, err, want)
		}
	})
}

// slow is a lock that is won a minute after it was asked for, and whose release
// gets no answer.
type slow struct{ released []time.Time }

func (l *slow) take(<-chan struct{}) (<-chan struct{}, error) {
	time.Sleep(time.Minute)
	return make(chan struct{}), nil
}

func (l *slow) release(context.Context) error {
	l.released = append(l.released, time.Now())
	return errors.New("connection reset")
}

func TestALockThatWasWonTooLateIsReleasedForTenMinutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		won, l := time.Now().Add(time.Minute), &slow{}
		if _, err := win(ctx, l, func() {}); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if n := len(l.released); n < 100 {
			t.Fatalf("released %d times", n)
		}
		if last := l.released[len(l.released)-1].Sub(won); last > 10*time.Minute || last < 10*time.Minute-repeatAtMost {
			t.Errorf("released for %v", last)
		}
	})
}

// closing is a lock whose client says that it is gone when it releases it.
type closing struct {
	locker
	lost chan struct{}
	err  error
}

func (l closing) release(context.Context) error {
	close(l.lost)
	time.Sleep(time.Second) // the answer of the server takes longer
	return l.err
}

func TestWhatAReleaseTellsIsNoLoss(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want electtest.Series
	}{
		"released":     {nil, electtest.Series{of(catalog.TermsEnded, catalog.Released.String()): 1}},
		"not released": {api.StatusError{Code: http.StatusForbidden}, electtest.Series{of(catalog.TermsEnded, catalog.ReleaseFailed.String()): 1}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e, series := election(t)
				lost := make(chan struct{})
				free := func(context.Context) (*api.KVPair, error) { return &api.KVPair{Key: "leader"}, nil }
				h := &holding{sessions: &Sessions{}, session: "a", lost: lost, holder: free, lock: closing{lost: lost, err: c.err}, stop: func() {}, end: func() {}}
				term, err := e.Acquire(t.Context(), electtest.Wins(instrument.NewLease(h.release, h.options()...)))
				if err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				if err := term.Release(t.Context()); !errors.Is(err, c.err) {
					t.Error(err)
				}
				synctest.Wait()
				s := series()
				for _, cause := range []catalog.EndCause{catalog.Released, catalog.ReleaseFailed, catalog.Lost} {
					if k := of(catalog.TermsEnded, cause.String()); s[k] != c.want[k] {
						t.Errorf("%s is %v, want %v", k, s[k], c.want[k])
					}
				}
			})
		})
	}
}

func TestASessionWhoseEndFailsIsEndedByTheNextRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked []string
		config := api.DefaultConfig()
		config.HttpClient = &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			asked = append(asked, r.URL.Path)
			if len(asked) <= 2 {
				return nil, errors.New("connection reset")
			}
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("true")), Request: r}, nil
		})}
		c, err := api.NewClient(config)
		if err != nil {
			t.Fatal(err)
		}
		keep(c, "a", "10s", &api.WriteOptions{}).end()
		time.Sleep(time.Minute)
		synctest.Wait()
		const path = "/v1/session/destroy/a"
		if want := []string{path, path, path}; !slices.Equal(asked, want) {
			t.Errorf("asked %q, want %q", asked, want)
		}
	})
}

// asking is a lock that is released only in a context.
type asking struct{ locker }

func (asking) release(ctx context.Context) error { return ctx.Err() }

func TestALockIsReleasedWithoutAContext(t *testing.T) {
	h := &holding{lock: asking{}, stop: func() {}, end: func() {}}
	var none context.Context
	if err := h.release(none); err != nil {
		t.Error(err)
	}
}

func TestASessionIsKnownWhileTheServerMayKeepIt(t *testing.T) {
	now := time.Now()
	ago := func(d time.Duration) *session { return &session{ttl: time.Minute, sent: now.Add(-d)} }
	watched := ago(3 * time.Minute)
	watched.sinks = []*instrument.Sink{{}}
	s := &Sessions{known: map[string]*session{
		"new": ago(0), "of a minute": ago(time.Minute), "of two": ago(2 * time.Minute), "of three": ago(3 * time.Minute),
		"watched": watched, "without a TTL": {sent: now.Add(-time.Hour)},
	}}
	s.prune(now)
	if got, want := slices.Sorted(maps.Keys(s.known)), []string{"new", "of a minute", "of two", "watched", "without a TTL"}; !slices.Equal(got, want) {
		t.Errorf("known: %q, want %q", got, want)
	}
}

func TestWhatTheServerSaysOfASessionIsBelievedIfItCanBeRead(t *testing.T) {
	for name, c := range map[string]struct {
		method, call, body string
		want               time.Duration // 0: it is not known
	}{
		"a longer TTL":             {http.MethodPut, "renew", `[{"ID":"a","TTL":"20s"}]`, 20 * time.Second},
		"no TTL":                   {http.MethodPut, "renew", `[{"ID":"a"}]`, 10 * time.Second},
		"a TTL that is none":       {http.MethodPut, "renew", `[{"ID":"a","TTL":"soon"}]`, 10 * time.Second},
		"nothing":                  {http.MethodPut, "renew", `[]`, 10 * time.Second},
		"no JSON":                  {http.MethodPut, "renew", `<html>`, 10 * time.Second},
		"that it is ended":         {http.MethodPut, "destroy", `true`, 0},
		"about it, being asked":    {http.MethodGet, "destroy", `true`, 10 * time.Second},
		"something of another key": {http.MethodPut, "info", `[]`, 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			s := &Sessions{known: map[string]*session{"a": {ttl: 10 * time.Second, sent: time.Now()}}}
			transport := s.Transport(roundTrip(func(r *http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(c.body)), Request: r}, nil
			}))
			r, err := http.NewRequestWithContext(t.Context(), c.method, "http://consul/v1/session/"+c.call+"/a", nil)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := transport.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			if body, err := io.ReadAll(resp.Body); err != nil || string(body) != c.body {
				t.Errorf("the client reads %q, %v", body, err)
			}
			if got := s.length("a"); got != c.want {
				t.Errorf("a TTL of %v, want %v", got, c.want)
			}
		})
	}
}

func TestASessionThatTheServerDoesNotMakeIsAnErrorOfTheBackend(t *testing.T) {
	s := newServer(t)
	c, sessions := s.client(t)
	s.setDown(true)
	e, series := election(t)
	if _, err := e.Acquire(t.Context(), NewLock(c, sessions, &api.LockOptions{Key: "leader", SessionTTL: seconds})); err == nil {
		t.Error("it was acquired")
	}
	if r := series(); r[reason(instrument.BackendError)] != 1 {
		t.Errorf("%v", r)
	}
}
