package etcdlock

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/leaderscope/leaderscope/instrument"
)

// To etcd, a session has one key below a prefix: it tells a second candidate of
// the session that it has won.
func TestASessionHoldsALockOnce(t *testing.T) {
	_, c := server(t)
	for first, one := range onASession {
		for second, other := range onASession {
			t.Run(first+", then "+second, func(t *testing.T) {
				s, lock := callersSession(t, c), "/shared/"+first+second
				holder, refused := one(s, lock), other(s, lock)
				for name, a := range map[string]instrument.Acquirer{"another Acquirer": refused, "the same Acquirer": holder} {
					w := watch(t, acquire(t, holder))
					lease := w.lease
					_, err := a.Acquire(t.Context())
					if reason, ok := classify(a, err); !errors.Is(err, instrument.ErrAlreadyHeld) || !ok || reason != instrument.AlreadyHeld {
						t.Errorf("%s: %v, classified as %v, %v", name, err, reason, ok)
					}
					if len(w.lost) != 0 || keys(t, c, lock) != 1 {
						t.Errorf("%s: %d losses, %d keys; want the key of the term", name, len(w.lost), keys(t, c, lock))
					}
					if err := lease.Release(t.Context()); err != nil {
						t.Errorf("%s: %v", name, err)
					}
					next := acquire(t, a)
					if err := next.Release(t.Context()); err != nil {
						t.Errorf("%s: the next release: %v", name, err)
					}
					if n := keys(t, c, lock); n != 0 {
						t.Errorf("%s: %d keys are left", name, n)
					}
				}
			})
		}
	}
}

func TestAttemptsOfOneAcquirerWaitForEachOther(t *testing.T) {
	_, c := server(t)
	leader := acquire(t, NewMutex(c, "/turns", long))
	s := callersSession(t, c)
	a := Mutex(s, concurrency.NewMutex(s, "/turns"))
	first := start(t.Context(), a)
	waiter(t, c, "/turns/")
	second := start(t.Context(), a)
	if err := leader.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := receive(t, first); err != nil {
		t.Errorf("the first attempt: %v", err)
	}
	if err := receive(t, second); !errors.Is(err, instrument.ErrAlreadyHeld) {
		t.Errorf("the second attempt: %v, want ErrAlreadyHeld", err)
	}
}

// gate holds back the first who comes after it was shut.
type gate struct{ shut atomic.Pointer[shutGate] }

type shutGate struct{ reached, opened chan struct{} }

func (g *gate) close() (reached <-chan struct{}, open func()) {
	s := &shutGate{make(chan struct{}), make(chan struct{})}
	g.shut.Store(s)
	return s.reached, func() { close(s.opened) }
}

func (g *gate) pass() {
	if s := g.shut.Swap(nil); s != nil {
		close(s.reached)
		<-s.opened
	}
}

// What a session holds is its own until the server has taken it back: an
// attempt in the meantime finds the key, and would lose it at once.
func TestAnAttemptBesideAReleaseDoesNotWinTheKeyThatGoes(t *testing.T) {
	_, c := server(t)
	for kind, of := range onASession {
		for name, others := range map[string]bool{"by the same Acquirer": false, "by another Acquirer": true} {
			t.Run(kind+" "+name, func(t *testing.T) {
				n := &network{KV: c.KV}
				s, lock := sessionThrough(t, c, n), "/going/"+kind+name
				holder := of(s, lock)
				next := holder
				if others {
					next = of(s, lock)
				}
				lease := acquire(t, holder)
				asked, answer := n.writes.close()
				released := make(chan error, 1)
				go func() { released <- lease.Release(context.Background()) }()
				receive(t, asked)
				if _, err := next.Acquire(t.Context()); !errors.Is(err, instrument.ErrAlreadyHeld) {
					t.Errorf("before the key was deleted: %v, want ErrAlreadyHeld", err)
				}
				answer()
				if err := receive(t, released); err != nil {
					t.Error(err)
				}
				if err := acquire(t, next).Release(t.Context()); err != nil {
					t.Errorf("after the key was deleted: %v", err)
				}
			})
		}
	}
}

// The session lives, so that it cannot be what was lost. The attempt looks at
// the key before or after it went.
func TestAnAttemptWhoseKeyATermGaveBackFoundItHeld(t *testing.T) {
	_, c := server(t)
	for kind, of := range onASession {
		for when, at := range map[string]func(*network) *gate{
			"before it looked":    func(n *network) *gate { return &n.reads },
			"after it had looked": func(n *network) *gate { return &n.answers },
		} {
			t.Run(kind+" "+when, func(t *testing.T) {
				n := &network{KV: c.KV}
				s, lock := sessionThrough(t, c, n), "/gone/"+kind+when
				a := of(s, lock)
				lease := acquire(t, a)
				polls, read := at(n).close()
				failed := start(t.Context(), a)
				receive(t, polls)
				if err := lease.Release(t.Context()); err != nil {
					t.Error(err)
				}
				read()
				if err := receive(t, failed); !errors.Is(err, instrument.ErrAlreadyHeld) {
					t.Errorf("got %v, want ErrAlreadyHeld", err)
				}
				if err := acquire(t, a).Release(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// bomb is a candidate whose client panics.
type bomb struct{ candidate }

func (bomb) acquire(context.Context) error { panic("boom") }

func TestAPanicOfTheClientReachesTheCaller(t *testing.T) {
	_, c := server(t)
	a := onSession(callersSession(t, c), bomb{}, false)
	for range 2 { // the turn is released
		func() {
			defer func() {
				if p := recover(); p != "boom" {
					t.Errorf("recovered %v", p)
				}
			}()
			_, err := a.Acquire(t.Context())
			t.Errorf("returned %v", err)
		}()
	}
}
