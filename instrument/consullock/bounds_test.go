package consullock

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/consul/api"

	"github.com/leaderscope/leaderscope/instrument"
)

// sessionOf is the record of a session s of ten seconds that was renewed that long ago.
func sessionOf(ago time.Duration) *Sessions {
	return &Sessions{known: map[string]*session{"s": {ttl: 10 * time.Second, sent: time.Now().Add(-ago)}}}
}

func TestARenewalHasAQuarterOfTheTTL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, c := range map[string]struct {
			id   string
			want time.Duration // 0: no bound
		}{
			"of a known session":    {"s", 2500 * time.Millisecond},
			"of one that is not":    {"other", 0},
			"of one without a name": {"", 0},
		} {
			asked, err := http.NewRequestWithContext(t.Context(), http.MethodPut, "http://consul/v1/session/renew/"+c.id, nil)
			if err != nil {
				t.Fatal(err)
			}
			r, stop := sessionOf(0).bound(asked, c.id)
			var got time.Duration
			if end, bounded := r.Context().Deadline(); bounded {
				got = time.Until(end)
			}
			if got != c.want {
				t.Errorf("%s: %v, want %v", name, got, c.want)
			}
			stop()
		}
	})
}

// After a loss Consul is asked who holds the lock: for as long as the lease may run, and
// no longer than a request may take.
func TestTheQuestionAfterALossEndsWithTheLease(t *testing.T) {
	for name, c := range map[string]struct {
		sessions func() *Sessions
		want     time.Duration
	}{
		"a lease that ends sooner":     {func() *Sessions { return sessionOf(9700 * time.Millisecond) }, 300 * time.Millisecond},
		"a lease that has just begun":  {func() *Sessions { return sessionOf(0) }, askTimeout},
		"a lease whose end is unknown": {func() *Sessions { return &Sessions{} }, askTimeout},
		"a lease that has ended":       {func() *Sessions { return sessionOf(11 * time.Second) }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &holding{sessions: c.sessions(), session: "s", holder: func(ctx context.Context) (*api.KVPair, error) {
					<-ctx.Done() // no answer
					return nil, ctx.Err()
				}}
				asked := time.Now()
				if err := h.why(t.Context()); err != errUnwatched {
					t.Errorf("%v, want that the holder is unknown", err)
				}
				if got := time.Since(asked); got != c.want {
					t.Errorf("it was asked for %v, want %v", got, c.want)
				}
			})
		})
	}
}

func TestASessionThatIsNotKnownCanBeWatched(t *testing.T) {
	s := &Sessions{}
	stop := s.watch("s", instrument.Sink{})
	if s.has("s") {
		t.Error("it is known now")
	}
	stop()
}

// A session that was not renewed for twice its TTL is forgotten once no lock watches it.
func TestASessionIsKeptWhileItIsWatched(t *testing.T) {
	s := sessionOf(0)
	first, second := s.watch("s", instrument.Sink{}), s.watch("s", instrument.Sink{})
	late := time.Now().Add(21 * time.Second)
	first()
	if s.prune(late); !s.has("s") {
		t.Error("it was forgotten while it was watched")
	}
	second()
	if s.prune(late); s.has("s") {
		t.Error("it is kept without a watcher")
	}
}
