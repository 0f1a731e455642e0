package electtest_test

import (
	"context"
	"testing"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/classify"
	"github.com/leaderscope/leaderscope/instrument/electtest"
)

// NewElector makes an Acquirer of a lock. ttl is the length of its lease.
func NewElector(client *lockd, name string, ttl time.Duration, wait bool) instrument.Acquirer {
	lock := func(ctx context.Context) (*grant, error) { return client.Lock(ctx, name, ttl, wait) }
	return &elector{lock, ttl}
}

type elector struct {
	lock func(context.Context) (*grant, error) // keeps the name from those who print an elector
	ttl  time.Duration
}

// Acquire wins, or returns the library's error as it is.
func (e *elector) Acquire(ctx context.Context) (instrument.Lease, error) {
	g, err := e.lock(ctx)
	if err != nil { // first: beside an error some libraries return a lock
		return nil, err
	}
	return instrument.NewLease(g.Unlock,
		instrument.Token(g.Number), // only one that grows from holder to holder
		instrument.LostOn(g.Done),
		instrument.ExpiryFrom(func() time.Time { return g.Sent.Add(e.ttl) }), // from before the request, not from its answer
		instrument.WatchWith(func(_ context.Context, s instrument.Sink) {
			for r := range g.Renewals { // closed when the lock is over
				if r.Err != nil {
					s.RenewalFailed(r.Err)
					continue
				}
				s.Renewed(instrument.Renewal{Sent: r.Sent, Expiry: r.Sent.Add(e.ttl)})
			}
		}),
	), nil
}

var known = classify.First(classify.ContendedIs(errLocked), classify.SessionLostIs(errNotHeld))

// Classify tells the library's errors apart, by value or type.
func (*elector) Classify(err error) (instrument.Reason, bool) { return known.Classify(err) }

func TestTheTemplateConforms(t *testing.T) {
	server := newLockd()
	const ttl = 10 * time.Second
	for name, wait := range map[string]bool{"waiting": true, "answering at once": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			electtest.Conformance(t, electtest.Suite{
				New:   func(_ testing.TB, lock string) instrument.Acquirer { return NewElector(server, lock, ttl, wait) },
				Lease: ttl, VirtualTime: true,
				Waits: wait, RenewsItself: true, Fenced: true,
				Lose:      func(_ testing.TB, lock string) { server.drop(lock, nil) },
				Remaining: func(_ testing.TB, lock string) (time.Duration, bool) { return server.remaining(lock) },
			})
		})
	}
}
