package natskv

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/instrument/internal/expect"
)

// standby campaigns for the key as replica-2 and returns what it has seen.
func standby(t *testing.T, url string) (seen func() electtest.Series, stop func()) {
	t.Helper()
	m := expect.Middleware(t)
	e := m.Election(expect.Lock, instrument.Hold(), instrument.Backend("nats"))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	elector := NewElection(bucket(t, client(t, url), ttl), "leader", "replica-2")
	go func() {
		defer close(done)
		if term, err := e.Acquire(ctx, elector); err == nil {
			<-ctx.Done()
			_ = term.Release(context.WithoutCancel(ctx))
		}
	}()
	seen = func() electtest.Series {
		return electtest.ReadBackend(m, expect.Lock).Without(
			of(catalog.BackendLastEvent, "nats"), of(catalog.BackendLeaseExpiry, "nats"), of(catalog.BackendVacant, "nats"))
	}
	return seen, func() { cancel(); <-done }
}

var of = electtest.Of

// sees waits until the standby sees that, and reports what it sees otherwise.
func sees(t *testing.T, at string, seen func() electtest.Series, want electtest.Series) {
	t.Helper()
	if !becomes(t, func() bool { return cmp.Equal(want, seen()) }) {
		t.Fatalf("%s (-want +got):\n%s", at, cmp.Diff(want, seen()))
	}
}

// heldBy is what a standby sees of a holder.
func heldBy(holder string, terms float64) electtest.Series {
	return electtest.Series{
		of(catalog.BackendHeld, "nats"): 1, of(catalog.BackendHolderInfo, "nats", holder): 1, of(catalog.BackendTerms, "nats"): terms,
		of(catalog.BackendLeaseDuration, "nats"): ttl.Seconds(), of(catalog.BackendUp, "nats"): 1, of(catalog.IdentityInfo, "replica-2"): 1,
	}
}

// counted is what stays when the standby no longer waits.
func counted(terms float64) electtest.Series {
	return electtest.Series{of(catalog.BackendTerms, "nats"): terms}
}

func TestAStandbySeesWhoHoldsTheKey(t *testing.T) {
	url := embedded(t).ClientURL()
	kv := bucket(t, client(t, url), ttl)
	revision, err := kv.Create(t.Context(), "leader", []byte("replica-1 word"))
	if err != nil {
		t.Fatal(err)
	}
	seen, stop := standby(t, url)
	defer stop()
	sees(t, "a term that it found", seen, heldBy("replica-1", 0))
	if revision, err = kv.Update(t.Context(), "leader", []byte("replica-1 word"), revision); err != nil {
		t.Fatal(err)
	}
	if _, err = kv.Update(t.Context(), "leader", []byte("replica-3 other"), revision); err != nil {
		t.Fatal(err)
	}
	gap := electtest.Series{
		catalog.BackendHandover.Count() + `{backend="nats"}`: 1, catalog.BackendHandover.Sum() + `{backend="nats"}`: 0,
		catalog.BackendHandover.Bucket() + `{backend="nats",le="0.05"}`: 1,
	}
	sees(t, "another that took the key", seen, heldBy("replica-3", 1).With(gap).With(electtest.Series{of(catalog.BackendToken, "nats"): float64(revision + 1)}))
	stop()
	sees(t, "a standby that gave up", seen, counted(1).With(gap))
}

func TestAStandbyThatWinsHasSeenTheGap(t *testing.T) {
	url := embedded(t).ClientURL()
	kv := bucket(t, client(t, url), ttl)
	if _, err := kv.Create(t.Context(), "leader", []byte("replica-1 word")); err != nil {
		t.Fatal(err)
	}
	seen, stop := standby(t, url)
	defer stop()
	sees(t, "a term that it found", seen, heldBy("replica-1", 0))
	if err := kv.Delete(t.Context(), "leader"); err != nil {
		t.Fatal(err)
	}
	if !becomes(t, func() bool { return seen()[of(catalog.BackendTerms, "nats")] == 1 }) {
		t.Fatalf("%v", seen())
	}
	if !becomes(t, func() bool { _, up := seen()[of(catalog.BackendUp, "nats")]; return !up }) {
		t.Errorf("the leader looks on: %v", seen())
	}
	if n := seen()[catalog.BackendHandover.Count()+`{backend="nats"}`]; n != 1 {
		t.Errorf("%v gaps", n)
	}
	if seen()[of(catalog.IdentityInfo, "replica-2")] != 1 {
		t.Errorf("the leader has no identity: %v", seen())
	}
	stop()
	if !becomes(t, func() bool { _, there := seen()[of(catalog.IdentityInfo, "replica-2")]; return !there }) {
		t.Errorf("the identity outlives the term: %v", seen())
	}
}

func TestAStandbyThatIsCutOffKnowsNothing(t *testing.T) {
	s := embedded(t)
	kv := bucket(t, client(t, s.ClientURL()), ttl)
	if _, err := kv.Create(t.Context(), "leader", []byte("replica-1 word")); err != nil {
		t.Fatal(err)
	}
	seen, stop := standby(t, s.ClientURL())
	defer stop()
	sees(t, "before", seen, heldBy("replica-1", 0))
	s.Shutdown()
	blind := electtest.Series{of(catalog.BackendUp, "nats"): 0, of(catalog.BackendTerms, "nats"): 0, of(catalog.IdentityInfo, "replica-2"): 1}
	if !becomes(t, func() bool { return cmp.Equal(blind, seen()) || cmp.Equal(counted(0), seen()) }) {
		t.Errorf("%v", seen())
	}
}

// script is a watch that shows that.
type script struct {
	jetstream.KeyValueEntry
	value    string
	revision uint64
	gone     bool
}

func (s script) Value() []byte    { return []byte(s.value) }
func (s script) Revision() uint64 { return s.revision }
func (s script) Operation() jetstream.KeyValueOp {
	if s.gone {
		return jetstream.KeyValueDelete
	}
	return jetstream.KeyValuePut
}

func TestWhatAWatchShowsOfTheKey(t *testing.T) {
	none := counted(0)
	up := none.With(electtest.Series{of(catalog.BackendUp, "nats"): 1})
	vacant := up.With(electtest.Series{of(catalog.BackendHeld, "nats"): 0})
	a := up.With(electtest.Series{of(catalog.BackendHeld, "nats"): 1, of(catalog.BackendHolderInfo, "nats", "a b"): 1})
	token := func(n float64) electtest.Series { return electtest.Series{of(catalog.BackendToken, "nats"): n} }
	first := func(n float64) electtest.Series {
		return electtest.Series{of(catalog.BackendTerms, "nats"): n}
	}
	for name, c := range map[string]struct {
		ttl  time.Duration
		show func(w *witness)
		want electtest.Series
	}{
		"nothing was there":        {0, func(w *witness) { w.sees(nil, true, false) }, vacant},
		"a key was there":          {0, func(w *witness) { w.sees(script{value: "a b x", revision: 3}, true, false); w.sees(nil, true, true) }, a},
		"a key of another elector": {0, func(w *witness) { w.sees(script{value: "ab", revision: 3}, true, false) }, up.With(electtest.Series{of(catalog.BackendHeld, "nats"): 1, of(catalog.BackendHolderInfo, "nats", "ab"): 1})},
		"a term that began before our eyes": {0, func(w *witness) {
			w.sees(nil, true, false)
			w.sees(script{value: "a b x", revision: 4}, true, false)
			w.sees(script{value: "a b x", revision: 5}, true, true)
		}, a.With(token(4)).With(first(1))},
		"the same holder again": {0, func(w *witness) {
			w.sees(script{value: "a b x", revision: 4}, true, false)
			w.sees(nil, true, true)
			w.sees(script{gone: true}, true, true)
			w.sees(script{value: "a b y", revision: 9}, true, true)
		}, a.With(token(9)).With(first(1))},
		"the watch has ended": {0, func(w *witness) { w.sees(script{value: "a b x"}, true, false); w.sees(nil, false, true) }, up.With(electtest.Series{of(catalog.BackendUp, "nats"): 0})},
		"a watch that is opened again shows a term that began meanwhile": {0, func(w *witness) {
			w.sees(nil, true, false)
			w.sees(nil, false, false)
			w.sees(script{value: "a b x", revision: 9}, true, false)
			w.sees(nil, true, true)
		}, a.With(first(1))},
		"nobody looks":            {0, func(w *witness) { w.sees(script{value: "a b x"}, true, false); w.leaves() }, none},
		"nothing was ever shown":  {0, func(w *witness) { w.wins("a", 3); w.leaves() }, electtest.Series{}},
		"a key without updates":   {time.Nanosecond, func(w *witness) { w.sees(script{value: "a b x"}, true, false); time.Sleep(time.Microsecond) }, up.With(electtest.Series{of(catalog.BackendUp, "nats"): 0})},
		"a key of a limited life": {time.Hour, func(w *witness) { w.sees(script{value: "a b x"}, true, false) }, a.With(electtest.Series{of(catalog.BackendLeaseDuration, "nats"): 3600})},
	} {
		t.Run(name, func(t *testing.T) {
			m := expect.Middleware(t)
			w := &witness{election: m.Election(expect.Lock, instrument.Backend("nats")), ttl: c.ttl}
			c.show(w)
			got := electtest.ReadBackend(m, expect.Lock).Without(of(catalog.BackendLastEvent, "nats"), of(catalog.BackendLeaseExpiry, "nats"), of(catalog.BackendVacant, "nats"))
			for key := range got { // how long a gap was is the core's business
				if metric, ok := catalog.ByName(keyName(key)); ok && metric == catalog.BackendHandover {
					delete(got, key)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func keyName(key string) string {
	for i := range key {
		if key[i] == '{' {
			return key[:i]
		}
	}
	return key
}
