package etcdlock

import (
	"context"
	"maps"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/redact"
)

// campaigner is a program that campaigns for one lock.
type campaigner struct {
	*testing.T
	*instrument.Election
	m *instrument.Middleware
}

func newCampaigner(t *testing.T) *campaigner {
	t.Helper()
	m, err := instrument.New(instrument.WithRedactor(redact.Raw()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return &campaigner{t, m.Election("x", instrument.Hold(), instrument.Backend("etcd")), m}
}

// shows waits until the identities of the program are these, and nothing else is
// told of the backend.
func (c *campaigner) shows(at string, holders ...string) {
	c.Helper()
	want := electtest.Series{}
	for _, h := range holders {
		want[catalog.IdentityInfo.Name()+`{holder="`+h+`"}`] = 1
	}
	if !becomes(c.T, func() bool { return maps.Equal(want, electtest.ReadBackend(c.m, "x")) }) {
		c.Fatalf("%s: %v, want %v", at, electtest.ReadBackend(c.m, "x"), want)
	}
}

// What observers read as the holder is the identity of the process that leads.
func TestAnElectionShowsAsWhomItCampaigns(t *testing.T) {
	_, c := server(t)
	onSession := func(prefix, value string) instrument.Acquirer {
		s := callersSession(t, c)
		return Election(s, concurrency.NewElection(s, prefix), value)
	}
	for name, campaign := range map[string]func(prefix, value string) instrument.Acquirer{
		"fresh session":    func(prefix, value string) instrument.Acquirer { return NewElection(c, prefix, value, ttl) },
		"caller's session": onSession,
	} {
		t.Run(name, func(t *testing.T) {
			prefix := "/identity/" + name
			leader, standby := newCampaigner(t), newCampaigner(t)
			term, err := leader.Acquire(t.Context(), campaign(prefix, "replica-1"))
			if err != nil {
				t.Fatal(err)
			}
			leader.shows("leads", "replica-1")
			first, err := c.Get(t.Context(), prefix+"/", clientv3.WithFirstCreate()...)
			if err != nil || string(first.Kvs[0].Value) != "replica-1" {
				t.Errorf("observers read %v, %v", first, err)
			}

			ctx, cancel := context.WithCancel(t.Context())
			lost := make(chan error, 1)
			go func() { _, err := standby.Acquire(ctx, campaign(prefix, "replica-2")); lost <- err }()
			standby.shows("waits", "replica-2")
			cancel()
			if err := receive(t, lost); err == nil {
				t.Error("a standby that gave up has won")
			}
			standby.shows("gave up")

			if err := term.Release(t.Context()); err != nil {
				t.Error(err)
			}
			leader.shows("released")
		})
	}
}

// A term that was lost is over, too.
func TestTheIdentityOfALostTermGoes(t *testing.T) {
	_, c := server(t)
	p := newCampaigner(t)
	if _, err := p.Acquire(t.Context(), NewElection(c, "/identity/lost", "replica-1", ttl)); err != nil {
		t.Fatal(err)
	}
	p.shows("leads", "replica-1")
	if _, err := c.Delete(t.Context(), "/identity/lost/", clientv3.WithPrefix()); err != nil {
		t.Fatal(err)
	}
	p.shows("lost")
}

// A name that no observer reads, or that is another in each attempt, is none.
func TestWhatHasNoIdentity(t *testing.T) {
	_, c := server(t)
	for name, a := range map[string]instrument.Acquirer{
		"an election without a value": NewElection(c, "/none/election", "", ttl),
		"a mutex":                     NewMutex(c, "/none/mutex", ttl),
		"a try mutex":                 NewTryMutex(c, "/none/try", ttl),
	} {
		t.Run(name, func(t *testing.T) {
			p := newCampaigner(t)
			term, err := p.Acquire(t.Context(), a)
			if err != nil {
				t.Fatal(err)
			}
			p.shows("leads")
			if err := term.Release(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}
