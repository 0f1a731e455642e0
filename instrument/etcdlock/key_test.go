package etcdlock

import (
	"context"
	"errors"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/leaderscope/leaderscope/instrument"
)

func TestALeaderWhoseKeyIsDeletedIsLostAtOnceAlthoughItsSessionLives(t *testing.T) {
	_, c := server(t)
	s := callersSession(t, c)
	for name, a := range map[string]instrument.Acquirer{
		"election":                         NewElection(c, "/deleted", "leader", 30*time.Second),
		"mutex":                            NewMutex(c, "/deleted", 30*time.Second),
		"election on the caller's session": Election(s, concurrency.NewElection(s, "/deleted"), "leader"),
		"mutex on the caller's session":    Mutex(s, concurrency.NewMutex(s, "/deleted")),
	} {
		t.Run(name, func(t *testing.T) {
			lease := acquire(t, a)
			w := watch(t, lease)
			deleted := time.Now()
			if _, err := c.Delete(t.Context(), "/deleted/", clientv3.WithPrefix()); err != nil {
				t.Fatal(err)
			}
			if cause := receive(t, w.lost); !errors.Is(cause, instrument.ErrSessionLost) {
				t.Errorf("cause %v, want ErrSessionLost", cause)
			}
			if took := time.Since(deleted); took > 5*time.Second {
				t.Errorf("told after %v", took)
			}
			_ = lease.Release(t.Context())
		})
	}
}

func TestAKeyIsWatchedFurtherAfterACompaction(t *testing.T) {
	_, c := server(t)
	lease := acquire(t, NewMutex(c, "/compacted", 30*time.Second))
	var last int64
	for range 3 {
		put, err := c.Put(t.Context(), "/other", "")
		if err != nil {
			t.Fatal(err)
		}
		last = put.Header.Revision
	}
	if _, err := c.Compact(t.Context(), last); err != nil {
		t.Fatal(err)
	}
	w := watch(t, lease)
	time.Sleep(2 * watchAgainAfter)
	if len(w.lost) != 0 {
		t.Fatalf("lost by a compaction: %v", <-w.lost)
	}
	if _, err := c.Delete(t.Context(), "/compacted/", clientv3.WithPrefix()); err != nil {
		t.Fatal(err)
	}
	if cause := receive(t, w.lost); !errors.Is(cause, instrument.ErrSessionLost) {
		t.Errorf("cause %v, want ErrSessionLost", cause)
	}
	_ = lease.Release(t.Context())
}

func TestACandidateWhoseKeyWasDeletedDoesNotWin(t *testing.T) {
	_, c := server(t)
	leader := acquire(t, NewElection(c, "/swept", "leader", 10*time.Second))
	defer leader.Release(context.WithoutCancel(t.Context()))
	a := NewElection(c, "/swept", "standby", 10*time.Second)
	failed := start(t.Context(), a)
	waiter(t, c, "/swept/")
	if _, err := c.Delete(t.Context(), "/swept/", clientv3.WithPrefix()); err != nil {
		t.Fatal(err)
	}
	err := receive(t, failed)
	if reason, ok := classify(a, err); !ok || reason != instrument.SessionLost {
		t.Errorf("%v is classified as %v, %v", err, reason, ok)
	}
}
