package consullock

import (
	"strings"
	"testing"

	"github.com/hashicorp/consul/api"

	"github.com/leaderscope/leaderscope/instrument"
)

// An elector that was made without what it needs refuses, and panics nowhere:
// least of all where its caller cannot recover.
func TestWhatIsMissingIsAnErrorOfAcquire(t *testing.T) {
	client, sessions, err := NewClient(api.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := NewClient(nil); err == nil || !strings.Contains(err.Error(), "nil: pass") {
		t.Errorf("a client without a configuration: %v", err)
	}
	for name, a := range map[string]instrument.Acquirer{
		"lock without a client":      NewLock(nil, sessions, &api.LockOptions{Key: "x"}),
		"lock without sessions":      NewLock(client, nil, &api.LockOptions{Key: "x"}),
		"lock without options":       NewLock(client, sessions, nil),
		"semaphore without a client": NewSemaphore(nil, sessions, &api.SemaphoreOptions{Prefix: "x", Limit: 3}),
		"semaphore without sessions": NewSemaphore(client, nil, &api.SemaphoreOptions{Prefix: "x", Limit: 3}),
		"semaphore without options":  NewSemaphore(client, sessions, nil),
		"no lock":                    Lock(client, sessions, nil, "x"),
		"own lock without sessions":  Lock(client, nil, &api.Lock{}, "x"),
		"own lock without a client":  Lock(nil, sessions, &api.Lock{}, "x")} {
		t.Run(name, func(t *testing.T) {
			l, err := a.Acquire(t.Context())
			if l != nil || err == nil || !strings.Contains(err.Error(), "nil: pass") {
				t.Errorf("got %v, %v; want an error that says what to pass", l, err)
			}
		})
	}
}
