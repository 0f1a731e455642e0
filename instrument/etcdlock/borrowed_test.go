package etcdlock

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/leaderscope/leaderscope/instrument"
)

var errAway = errors.New("backend is away")

// network is a client's way to the server.
type network struct {
	clientv3.KV
	slow    atomic.Bool   // the next transaction's answer takes some looks of a sweep
	swallow atomic.Bool   // the next transaction has no answer
	late    time.Duration // after its caller gave up, it arrives
	away    atomic.Int32  // so many reads fail
	reads   gate          // reads wait there
	answers gate          // their answers wait there
	writes  gate          // transactions wait there
	arrived chan struct{}
}

func (n *network) Get(ctx context.Context, key string, opts ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	if n.away.Add(-1) >= 0 {
		return nil, errAway
	}
	n.reads.pass()
	defer n.answers.pass()
	return n.KV.Get(ctx, key, opts...)
}

func (n *network) Txn(ctx context.Context) clientv3.Txn {
	n.writes.pass()
	if n.slow.CompareAndSwap(true, false) {
		return &slow{n.KV.Txn(ctx)}
	}
	if !n.swallow.CompareAndSwap(true, false) {
		return n.KV.Txn(ctx)
	}
	return &unanswered{n.KV.Txn(context.WithoutCancel(ctx)), ctx, n}
}

type slow struct{ clientv3.Txn }

func (s *slow) If(cs ...clientv3.Cmp) clientv3.Txn   { s.Txn = s.Txn.If(cs...); return s }
func (s *slow) Then(ops ...clientv3.Op) clientv3.Txn { s.Txn = s.Txn.Then(ops...); return s }
func (s *slow) Else(ops ...clientv3.Op) clientv3.Txn { s.Txn = s.Txn.Else(ops...); return s }

func (s *slow) Commit() (*clientv3.TxnResponse, error) {
	resp, err := s.Txn.Commit()
	time.Sleep(5 * sweepAfter)
	return resp, err
}

type unanswered struct {
	clientv3.Txn
	ctx context.Context
	net *network
}

func (u *unanswered) If(cs ...clientv3.Cmp) clientv3.Txn   { u.Txn = u.Txn.If(cs...); return u }
func (u *unanswered) Then(ops ...clientv3.Op) clientv3.Txn { u.Txn = u.Txn.Then(ops...); return u }
func (u *unanswered) Else(ops ...clientv3.Op) clientv3.Txn { u.Txn = u.Txn.Else(ops...); return u }

func (u *unanswered) Commit() (*clientv3.TxnResponse, error) {
	arrive := func() {
		_, _ = u.Txn.Commit()
		close(u.net.arrived)
	}
	if u.net.late == 0 {
		arrive()
		<-u.ctx.Done()
	} else {
		<-u.ctx.Done()
		time.AfterFunc(u.net.late, arrive)
	}
	return nil, u.ctx.Err()
}

func TestAnAttemptOnACallersSessionThatGotNoAnswerLeavesNoKey(t *testing.T) {
	_, c := server(t)
	for attempt, of := range onASession {
		for name, n := range map[string]*network{
			"the answer is on its way":      {},
			"the request arrives afterward": {late: 150 * time.Millisecond},
			"the backend is away afterward": {},
		} {
			t.Run(attempt+": "+name, func(t *testing.T) {
				n.KV, n.arrived = c.KV, make(chan struct{})
				n.swallow.Store(true)
				s := sessionThrough(t, c, n)
				lock := "/" + attempt + "/" + name
				ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
				defer cancel()
				if name == "the backend is away afterward" {
					n.away.Store(3)
				}
				if _, err := of(s, lock).Acquire(ctx); !errors.Is(err, context.DeadlineExceeded) {
					t.Fatalf("got %v, want the caller's deadline", err)
				}
				receive(t, n.arrived)
				if !becomes(t, func() bool { return keys(t, c, lock) == 0 }) {
					t.Error("the key is still there")
				}
				if ended(s) {
					t.Error("the session has ended")
				}
			})
		}
	}
}

func TestAnAttemptThatLeftNoKeyIsSweptWithoutARequest(t *testing.T) {
	nothing := &borrowed{candidate: phantom{}} // and no session to ask with
	if deleted, err := nothing.deleteLeft(t.Context()); deleted || err != nil {
		t.Errorf("deleted: %v, error %v", deleted, err)
	}
}

func TestTheNextAttemptOnACallersSessionKeepsItsKey(t *testing.T) {
	_, c := server(t)
	for attempt, of := range onASession {
		t.Run(attempt, func(t *testing.T) {
			n := &network{KV: c.KV, arrived: make(chan struct{}), late: time.Nanosecond}
			n.swallow.Store(true)
			a := of(sessionThrough(t, c, n), "/next/"+attempt)
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			defer cancel()
			n.away.Store(1) // the sweep continues in the background
			if _, err := a.Acquire(ctx); err == nil {
				t.Fatal("won without an answer")
			}
			receive(t, n.arrived)
			n.slow.Store(true)
			w := watch(t, acquire(t, a))
			time.Sleep(sweepAfter)
			if len(w.lost) != 0 || keys(t, c, "/next/"+attempt) != 1 {
				t.Errorf("%d losses, %d keys; want the term's key", len(w.lost), keys(t, c, "/next/"+attempt))
			}
		})
	}
}

func TestAnAttemptBesideATermOnACallersSessionLeavesTheTermItsKey(t *testing.T) {
	_, c := server(t)
	for attempt, of := range onASession {
		t.Run(attempt, func(t *testing.T) {
			n := &network{KV: c.KV, arrived: make(chan struct{})}
			a := of(sessionThrough(t, c, n), "/beside/"+attempt)
			w := watch(t, acquire(t, a))
			for _, deadline := range []time.Duration{0, 20 * time.Millisecond} {
				n.swallow.Store(deadline > 0)
				ctx, cancel := context.WithTimeout(t.Context(), deadline)
				if _, err := a.Acquire(ctx); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("got %v, want the caller's deadline", err)
				}
				cancel()
			}
			if len(w.lost) != 0 || keys(t, c, "/beside/"+attempt) != 1 {
				t.Errorf("%d losses, %d keys; want the term's key", len(w.lost), keys(t, c, "/beside/"+attempt))
			}
		})
	}
}

func TestAReleaseOnACallersSessionMayBeMadeAgain(t *testing.T) {
	_, c := server(t)
	for attempt, of := range onASession {
		t.Run(attempt, func(t *testing.T) {
			lock := "/again/" + attempt
			a := of(callersSession(t, c), lock)
			lease := acquire(t, a)
			finished, cancel := context.WithCancel(t.Context())
			cancel()
			if err := lease.Release(finished); !errors.Is(err, context.Canceled) {
				t.Errorf("release under a context that is over: %v", err)
			}
			if err := lease.Release(t.Context()); err != nil {
				t.Errorf("second release: %v", err)
			}
			if n := keys(t, c, lock); n != 0 {
				t.Errorf("%d keys after the second release", n)
			}
			next := acquire(t, a)
			if err := lease.Release(t.Context()); err != nil {
				t.Errorf("third release: %v", err)
			}
			if n := keys(t, c, lock); n != 1 {
				t.Errorf("%d keys, want that of the next term", n)
			}
			if err := next.Release(t.Context()); err != nil {
				t.Errorf("release of the next term: %v", err)
			}
		})
	}
}

var onASession = map[string]func(*concurrency.Session, string) instrument.Acquirer{
	"election": func(s *concurrency.Session, lock string) instrument.Acquirer {
		return Election(s, concurrency.NewElection(s, lock), "replica-1")
	},
	"mutex": func(s *concurrency.Session, lock string) instrument.Acquirer {
		return Mutex(s, concurrency.NewMutex(s, lock))
	},
	"try mutex": func(s *concurrency.Session, lock string) instrument.Acquirer {
		return TryMutex(s, concurrency.NewMutex(s, lock))
	},
}

// sessionThrough is a session whose requests about keys take the network n.
func sessionThrough(t *testing.T, c *clientv3.Client, n *network) *concurrency.Session {
	t.Helper()
	own := clientv3.NewCtxClient(c.Ctx())
	own.KV, own.Watcher, own.Lease = n, c.Watcher, c.Lease
	return callersSession(t, own)
}

func becomes(t *testing.T, ok func() bool) bool {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}
