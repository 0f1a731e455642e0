package natskv

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

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

// unasked is a bucket that must not be asked.
type unasked struct{ jetstream.KeyValue }

func TestARequestThatWaitsForItsTurnEndsWithItsContext(t *testing.T) {
	b := newStore(unasked{})
	if err := b.take(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, request := range map[string]func() error{
		"create": func() error { _, err := b.create(ctx, "leader", nil); return err },
		"get":    func() error { _, err := b.get(ctx, "leader"); return err },
		"ttl":    func() error { _, err := b.ttl(ctx); return err },
	} {
		if err := request(); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
	b.give()
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
