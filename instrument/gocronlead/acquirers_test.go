package gocronlead_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-co-op/gocron/v2"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/instrument/gocronlead"
	"github.com/leaderscope/leaderscope/instrument/internal/expect"
)

const lease = 6 * s

// leased is a lock of a lock server, with the capabilities that it has.
type leased struct{ instrument.Lease }

func (l leased) Unlock(ctx context.Context) error { return l.Release(ctx) }
func (l leased) Expiry() time.Time                { return l.Lease.(instrument.Expirer).Expiry() }
func (l leased) FencingToken() (token uint64, ok bool) {
	return l.Lease.(instrument.Fencer).FencingToken()
}
func (l leased) Watch(ctx context.Context, k instrument.Sink) {
	l.Lease.(instrument.Watcher).Watch(ctx, k)
}

// server is a gocron.Locker of a lock server, as a program would write it.
type server struct{ memory *electtest.Memory }

func (x server) Lock(ctx context.Context, key string) (gocron.Lock, error) {
	l, err := x.memory.Acquirer(key, lease, false).Acquire(ctx)
	if err != nil {
		return nil, err
	}
	return leased{l}, nil
}

func TestConformance(t *testing.T) {
	memory := electtest.NewMemory()
	electtest.Conformance(t, electtest.Suite{
		New:   func(_ testing.TB, lock string) instrument.Acquirer { return gocronlead.Asking(server{memory}, lock) },
		Lease: lease, VirtualTime: true, RenewsItself: true, Fenced: true,
		Lose:      func(_ testing.TB, lock string) { memory.Drop(lock) },
		Remaining: func(_ testing.TB, lock string) (time.Duration, bool) { return memory.Remaining(lock) },
	})
}

func TestALockerOfAcquirers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory, made := electtest.NewMemory(), 0
		next := gocronlead.NewLocker(func(job string) instrument.Acquirer {
			made++
			return memory.Acquirer(job, lease, false)
		})
		m, other := expect.Middleware(t), expect.Middleware(t)
		runs, refused := gocronlead.Locker(m, next), gocronlead.Locker(other, next)
		l, err := runs.Lock(t.Context(), expect.Lock)
		if err != nil {
			t.Fatal(err)
		}
		runs.Monitor(nil).JobRunning(named(expect.Lock))
		if _, err := refused.Lock(t.Context(), expect.Lock); !errors.Is(err, instrument.ErrContended) {
			t.Errorf("another scheduler got %v", err)
		}
		time.Sleep(2*lease + s)
		synctest.Wait()
		r := electtest.Read(m, expect.Lock)
		if r["leader_active"] != 1 || r[`leader_renewals_total{result="ok"}`] < 5 || r["leader_lease_headroom_seconds"] <= 0 || r["leader_fencing_token"] != 1 {
			t.Errorf("while the job runs for two leases: %v", r)
		}
		runs.Monitor(nil).JobFailed(named(expect.Lock), errFailed)
		if err := l.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
		if got := failures(electtest.Read(m, expect.Lock)); got != "1 0 1 0" {
			t.Errorf("failed, panicked, released, runs: %s", got)
		}
		if r := electtest.Read(other, expect.Lock); r[`leader_not_acquired_total{reason="contended"}`] != 1 {
			t.Errorf("of the other: %v", r)
		}
		if made != 1 {
			t.Errorf("%d acquirers were made for one job", made)
		}
	})
}

func TestALockerOfAcquirersWithoutObservation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory := electtest.NewMemory()
		next := gocronlead.NewLocker(func(job string) instrument.Acquirer { return memory.Acquirer(job, lease, false) })
		l, err := next.Lock(t.Context(), "job")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := next.Lock(t.Context(), "job"); !errors.Is(err, instrument.ErrContended) {
			t.Errorf("got %v", err)
		}
		if err := l.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
		if l, err = next.Lock(t.Context(), "job"); err != nil {
			t.Fatalf("after the unlock: %v", err)
		}
		if err := l.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestAcquirersOfManyNamesAreForgotten(t *testing.T) {
	made := 0
	next := gocronlead.NewLocker(func(string) instrument.Acquirer {
		made++
		return electtest.Wins(instrument.NewLease(nil))
	})
	lock := func(i, want int) {
		t.Helper()
		if _, err := next.Lock(t.Context(), fmt.Sprint("job-", i)); err != nil || made != want {
			t.Fatalf("%d acquirers were made, want %d; error %v", made, want, err)
		}
	}
	for i := range 1000 {
		lock(i, i+1)
	}
	lock(0, 1000)
	lock(1000, 1001) // and the others are forgotten
	lock(0, 1002)
}
