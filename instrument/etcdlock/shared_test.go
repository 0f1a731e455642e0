package etcdlock

import (
	"errors"
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
