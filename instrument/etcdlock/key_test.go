package etcdlock

import (
	"context"
	"errors"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/instrument/internal/expect"
)

func TestATermWhoseKeyIsDeletedIsLostAtOnceAlthoughItsSessionLives(t *testing.T) {
	_, c := server(t)
	for name, elector := range electors {
		t.Run(name, func(t *testing.T) {
			m := expect.Middleware(t)
			term, err := m.Election(expect.Lock).Acquire(t.Context(), elector(t, c, "/deleted"))
			if err != nil {
				t.Fatal(err)
			}
			deleted := time.Now()
			if _, err := c.Delete(t.Context(), "/deleted/", clientv3.WithPrefix()); err != nil {
				t.Fatal(err)
			}
			receive(t, term.Context().Done())
			if took := time.Since(deleted); took > 2*time.Second {
				t.Errorf("told after %v", took)
			}
			ok := electtest.Read(m, expect.Lock)[`leader_renewals_total{result="ok"}`]
			lost := electtest.Series{
				"leader_attempts_total": 1, "leader_acquired_total": 1, "leader_acquire_duration_seconds_count": 1,
				`leader_renewals_total{result="ok"}`: ok, "leader_lease_usage_ratio_count": ok,
				`leader_terms_ended_total{cause="lost"}`: 1, "leader_execution_duration_seconds_count": 1,
				"leader_lease_duration_seconds": long.Seconds(), "leader_lease_overruns_total": 0,
				"leader_fencing_token_regressions_total": 0, "leader_fencing_token": token(term),
			}
			expect.Counts(t, m, "after the deletion", expect.Fresh(t), lost)
			if err := term.Release(t.Context()); !errors.Is(err, instrument.ErrSessionLost) {
				t.Errorf("the release returned %v, want ErrSessionLost", err)
			}
			expect.Counts(t, m, "after the release", expect.Fresh(t), lost.With(electtest.Series{`leader_releases_total{result="not_owner"}`: 1}))
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
	for name, elector := range electors {
		if !waiting(name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			leader := acquire(t, NewElection(c, "/swept", "leader", long))
			defer leader.Release(context.WithoutCancel(t.Context()))
			a := elector(t, c, "/swept")
			failed := start(t.Context(), a)
			waiter(t, c, "/swept/")
			if _, err := c.Delete(t.Context(), "/swept/", clientv3.WithPrefix()); err != nil {
				t.Fatal(err)
			}
			err := receive(t, failed)
			if reason, ok := classify(a, err); !ok || reason != instrument.SessionLost {
				t.Errorf("%v is classified as %v, %v", err, reason, ok)
			}
		})
	}
}
