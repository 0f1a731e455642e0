//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leaderscope/leaderscope/examples/internal/stage"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
)

const every = 100 * time.Millisecond

// scripted is an outbox that gives these batches, one after another, and
// writes down what is noted.
type scripted struct {
	mu      sync.Mutex
	batches [][]webhook
	err     error // of the next take
	stolen  bool  // claims have gone to another
	takes   int
	notes   []string
}

func (s *scripted) take(ctx context.Context, n int) ([]webhook, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.takes++
	if err := errors.Join(s.err, ctx.Err()); err != nil {
		s.err = nil
		return nil, err
	}
	if len(s.batches) == 0 {
		return nil, nil
	}
	b := s.batches[0]
	s.batches = s.batches[1:]
	return b, nil
}

func (s *scripted) delivered(ctx context.Context, w webhook) (bool, error) {
	return s.note(ctx, "%d delivered", w.id)
}

func (s *scripted) refused(ctx context.Context, w webhook, again time.Duration) (bool, error) {
	return s.note(ctx, "%d refused, again after %v", w.id, again)
}

func (s *scripted) giveUp(context.Context) (int, error) { return 0, nil }

func (s *scripted) note(ctx context.Context, format string, args ...any) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return false, err
	}
	s.notes = append(s.notes, fmt.Sprintf(format, args...))
	return !s.stolen, nil
}

func (s *scripted) noted() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	slices.Sort(s.notes)
	return s.notes
}

func newPoller(t *testing.T, o outbox, lock instrument.Acquirer, deliver func(context.Context, webhook) error) (*poller, *instrument.Middleware) {
	t.Helper()
	m, err := instrument.New()
	if err != nil {
		t.Fatal(err)
	}
	return &poller{election: m.Election(lockName, instrument.Hold()), lock: lock, outbox: o, deliver: deliver, every: every}, m
}

func free() instrument.Acquirer { return electtest.Wins(instrument.NewLease(nil)) }

func TestWhatBecameOfEachWebhookIsNoted(t *testing.T) {
	refuse := func(_ context.Context, w webhook) error {
		if w.id == 2 {
			return errors.New("answered 500")
		}
		return nil
	}
	for _, c := range []struct {
		name   string
		stolen bool
		want   noted
	}{
		{"under its claim", false, noted{Delivered: 2, Refused: 1}},
		{"and not counted when another has the claim", true, noted{Late: 3}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := &scripted{batches: [][]webhook{{{id: 1, attempts: 1}, {id: 2, attempts: 3}, {id: 3, attempts: 1}}}, stolen: c.stolen}
			p, _ := newPoller(t, o, free(), refuse)
			if n, err := p.poll(t.Context()); n != 3 || err != nil {
				t.Errorf("polled %d, error %v", n, err)
			}
			if diff := cmp.Diff([]string{"1 delivered", "2 refused, again after 300ms", "3 delivered"}, o.noted()); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
			if p.noted != c.want {
				t.Errorf("counted %+v, want %+v", p.noted, c.want)
			}
		})
	}
}

func TestADeliveryThatIsCutShortIsLeftToItsClaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		o := &scripted{batches: [][]webhook{{{id: 1}}}}
		p, m := newPoller(t, o, free(), func(ctx context.Context, _ webhook) error {
			cancel()
			<-ctx.Done()
			return ctx.Err()
		})
		p.campaign(ctx)
		if got := o.noted(); len(got) > 0 {
			t.Errorf("noted %q, and that is unknown", got)
		}
		if got := electtest.Read(m, lockName)[electtest.Of(catalog.ExecutionFailures, "error")]; got != 0 {
			t.Errorf("being told to stop counts as %v failures", got)
		}
	})
}

func TestADeliveryThatWasMadeIsNotedWhenTheTermHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		o := &scripted{batches: [][]webhook{{{id: 1}}}}
		p, _ := newPoller(t, o, free(), func(context.Context, webhook) error {
			cancel()
			return nil
		})
		p.campaign(ctx)
		if diff := cmp.Diff([]string{"1 delivered"}, o.noted()); diff != "" {
			t.Errorf("notes (-want +got):\n%s", diff)
		}
	})
}

func TestATableThatCannotBeReadEndsTheTermAndNotTheCampaign(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(10*every, cancel)
		o := &scripted{err: errors.New("connection reset")}
		p, m := newPoller(t, o, free(), nil)
		p.campaign(ctx)
		if diff := cmp.Diff(map[string]stage.Count{lockName: {Runs: 2, Failures: 1}}, p.tally.Counts()); diff != "" {
			t.Errorf("counted (-want +got):\n%s", diff)
		}
		if got := electtest.Read(m, lockName)[electtest.Of(catalog.ExecutionFailures, "error")]; got != 1 {
			t.Errorf("exported %v failures, want 1", got)
		}
	})
}

func TestOnlyTheLeaderPolls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		server := electtest.NewMemory()
		first, second := &scripted{}, &scripted{}
		a, _ := newPoller(t, first, server.Acquirer(lockName, time.Second, true), nil)
		b, m := newPoller(t, second, server.Acquirer(lockName, time.Second, true), nil)
		leading, resign := context.WithCancel(ctx)
		var nodes sync.WaitGroup
		nodes.Go(func() { a.campaign(leading) })
		synctest.Wait()
		nodes.Go(func() { b.campaign(ctx) })
		time.Sleep(10 * every)
		synctest.Wait()
		if first.takes < 10 || second.takes != 0 {
			t.Errorf("the leader polled %d times, the standby %d times", first.takes, second.takes)
		}
		resign()
		time.Sleep(20 * every)
		synctest.Wait()
		before := first.takes
		time.Sleep(10 * every)
		synctest.Wait()
		if r := electtest.Read(m, lockName); first.takes != before || second.takes < 10 || r[electtest.Of(catalog.Active)] != 1 {
			t.Errorf("after the resignation: the old leader polled %d times more, the new one %d times", first.takes-before, second.takes)
		}
		cancel()
		nodes.Wait()
	})
}

func TestAWebhookIsPostedWithItsKey(t *testing.T) {
	answer := http.StatusOK
	var got string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = r.Method + " " + r.Header.Get("Idempotency-Key") + " " + string(body)
		w.WriteHeader(answer)
	}))
	defer server.Close()
	post := deliverer(server.Client())
	w := webhook{id: 42, url: server.URL, payload: "{}"}
	if err := post(t.Context(), w); err != nil || got != "POST 42 {}" {
		t.Errorf("error %v, received %q", err, got)
	}
	answer = http.StatusServiceUnavailable
	if err := post(t.Context(), w); err == nil {
		t.Error("an answer of 503 is no delivery")
	}
	if err := post(t.Context(), webhook{url: "::"}); err == nil {
		t.Error("an address that is none is no delivery")
	}
}

func TestACommandLineThatMakesNoSenseIsRefused(t *testing.T) {
	right := config{name: "a", postgres: "postgres://127.0.0.1", claim: time.Second, every: every, limit: 1}
	if err := right.check(); err != nil {
		t.Error(err)
	}
	for want, change := range map[string]func(*config){
		"--node a: a node needs --postgres DSN": func(c *config) { c.postgres = "" },
		"--claim 0s: want 100ms or more":        func(c *config) { c.claim = 0 },
		"--every 0s: want 1ms or more":          func(c *config) { c.every = 0 },
		"--limit 0: want 1 or more":             func(c *config) { c.limit = 0 },
	} {
		c := right
		change(&c)
		if got := fmt.Sprint(c.check()); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if _, err := open("postgres://u:secret@127.0.0.1:port/d", "public"); fmt.Sprint(err) != "--postgres: not a DSN such as postgres://user@127.0.0.1:5432/database" {
		t.Errorf("a DSN that is none: %v", err)
	}
}
