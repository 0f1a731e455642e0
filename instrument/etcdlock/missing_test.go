package etcdlock

import (
	"strings"
	"testing"
	"time"

	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/leaderscope/leaderscope/instrument"
)

// An elector that was made without what it needs refuses, and panics nowhere:
// least of all where its caller cannot recover.
func TestWhatIsMissingIsAnErrorOfAcquire(t *testing.T) {
	for name, a := range map[string]instrument.Acquirer{
		"election without a client":   NewElection(nil, "/x", "replica-1", time.Second),
		"mutex without a client":      NewMutex(nil, "/x", time.Second),
		"try mutex without a client":  NewTryMutex(nil, "/x", time.Second),
		"election without a session":  Election(nil, nil, "replica-1"),
		"session without an election": Election(&concurrency.Session{}, nil, "replica-1"),
		"session without a mutex":     Mutex(&concurrency.Session{}, nil),
		"session without a try mutex": TryMutex(&concurrency.Session{}, nil)} {
		t.Run(name, func(t *testing.T) {
			l, err := a.Acquire(t.Context())
			if l != nil || err == nil || !strings.Contains(err.Error(), "nil: pass") {
				t.Errorf("got %v, %v; want an error that says what to pass", l, err)
			}
		})
	}
}
