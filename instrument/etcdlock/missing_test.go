package etcdlock

import (
	"context"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/leaderscope/leaderscope/instrument"
)

// An elector that was made without what it needs refuses, and panics nowhere:
// least of all where its caller cannot recover.
func TestWhatIsMissingIsAnErrorOfAcquire(t *testing.T) {
	for name, a := range map[string]instrument.Acquirer{
		"election without a client":   NewElection(nil, "/x", "replica-1", time.Second),
		"mutex without a client":      NewMutex(nil, "/x", time.Second),
		"a ttl of nothing":            NewElection(&clientv3.Client{}, "/x", "replica-1", 0),
		"a ttl before now":            NewMutex(&clientv3.Client{}, "/x", -time.Second),
		"try mutex without a client":  NewTryMutex(nil, "/x", time.Second),
		"election without a session":  Election(nil, nil, "replica-1"),
		"session without an election": Election(&concurrency.Session{}, nil, "replica-1"),
		"session without a mutex":     Mutex(&concurrency.Session{}, nil),
		"session without a try mutex": TryMutex(&concurrency.Session{}, nil)} {
		t.Run(name, func(t *testing.T) {
			l, err := a.Acquire(t.Context())
			if l != nil || err == nil || !strings.Contains(err.Error(), ": pass ") {
				t.Errorf("got %v, %v; want an error that says what to pass", l, err)
			}
		})
	}
}

func TestANilContextHasNoEnd(t *testing.T) {
	_, c := server(t)
	session := callersSession(t, c)
	for name, a := range map[string]instrument.Acquirer{
		"election": NewElection(c, "/election", "replica-1", long), "mutex": NewMutex(c, "/mutex", long), "try": NewTryMutex(c, "/try", long),
		"a lease of less than a second": NewMutex(c, "/short", time.Nanosecond),
		"an election of a session":      onASession["election"](session, "/own"),
		"a mutex of a session":          onASession["mutex"](session, "/own mutex"),
		"a mutex of a session, at once": onASession["try mutex"](session, "/own try"),
	} {
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
