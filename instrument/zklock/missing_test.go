package zklock

import (
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/leaderscope/leaderscope/instrument"
)

// An elector that was made without what it needs refuses, and panics nowhere:
// least of all where its caller cannot recover.
func TestWhatIsMissingIsAnErrorOfAcquire(t *testing.T) {
	for name, a := range map[string]instrument.Acquirer{
		"election without a connection": NewElection(nil, &Session{}, "/x", "replica-1", nil),
		"election without a session":    NewElection(&zk.Conn{}, nil, "/x", "replica-1", nil),
		"lock without a connection":     Lock(nil, &Session{}, &zk.Lock{}, "/x"),
		"lock without a session":        Lock(&zk.Conn{}, nil, &zk.Lock{}, "/x"),
		"no lock":                       Lock(&zk.Conn{}, &Session{}, nil, "/x")} {
		t.Run(name, func(t *testing.T) {
			l, err := a.Acquire(t.Context())
			if l != nil || err == nil || !strings.Contains(err.Error(), "nil: pass") {
				t.Errorf("got %v, %v; want an error that says what to pass", l, err)
			}
		})
	}
}
