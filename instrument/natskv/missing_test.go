package natskv

import (
	"context"
	"strings"
	"testing"

	"github.com/leaderscope/leaderscope/instrument"
)

// An elector that was made without what it needs refuses, and panics nowhere:
// least of all where its caller cannot recover.
func TestWhatIsMissingIsAnErrorOfAcquire(t *testing.T) {
	for name, a := range map[string]instrument.Acquirer{
		"election": NewElection(nil, "x", "replica-1"),
		"try":      NewTryElection(nil, "x", "replica-1")} {
		t.Run(name, func(t *testing.T) {
			l, err := a.Acquire(t.Context())
			if l != nil || err == nil || !strings.Contains(err.Error(), "nil: pass") {
				t.Errorf("got %v, %v; want an error that says what to pass", l, err)
			}
		})
	}
}

func TestANilContextHasNoEnd(t *testing.T) {
	kv := bucket(t, client(t, embedded(t).ClientURL()), ttl)
	for name, a := range map[string]instrument.Acquirer{"election": NewElection(kv, "election", "replica-1"), "try": NewTryElection(kv, "try", "replica-1")} {
		t.Run(name, func(t *testing.T) {
			var none context.Context
			lease, err := a.Acquire(none)
			if err != nil {
				t.Fatal(err)
			}
			if err := lease.Release(none); err != nil {
				t.Error(err)
			}
			if err := acquire(t, a).Release(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}
