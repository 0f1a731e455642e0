package gocronlead

import (
	"context"
	"errors"
	"sync"

	"github.com/go-co-op/gocron/v2"

	"github.com/leaderscope/leaderscope/instrument"
)

// NewLocker makes a gocron.Locker of any elector that has an adapter:
//
//	locker := gocronlead.NewLocker(func(job string) instrument.Acquirer {
//		return pglocklead.NewTryLock(client, job, time.Minute)
//	})
//	gocron.NewScheduler(gocronlead.WithLocker(m, locker))
//
// Unlike the lockers that come with gocron, such a lock reports its lease end and
// the reason of a lost attempt, and is renewed while the job runs if its adapter
// renews.
//
// The function is called once for each job name, in one goroutine at a time, so
// that an Acquirer can keep state between attempts. After 1000 names the stored
// Acquirers are dropped.
func NewLocker(acquirer func(job string) instrument.Acquirer) gocron.Locker {
	return &acquirers{make: acquirer, hash: newNamesHash(), known: map[uint64]instrument.Acquirer{}}
}

type acquirers struct {
	make func(job string) instrument.Acquirer

	hash  namesHash
	mu    sync.Mutex
	known map[uint64]instrument.Acquirer
}

const mostAcquirers = 1000

func (a *acquirers) acquirer(name string) instrument.Acquirer {
	id := a.hash.of(name)
	a.mu.Lock()
	defer a.mu.Unlock()
	if known, ok := a.known[id]; ok {
		return known
	}
	if len(a.known) >= mostAcquirers {
		clear(a.known)
	}
	a.known[id] = a.made(name)
	return a.known[id]
}

var errNoAcquirer = errors.New("leaderscope: gocron: the Acquirer is nil: pass gocronlead.NewLocker a function that returns one for every job")

// made is an acquirer in any case: a job that is refused is better than a
// program that ends.
func (a *acquirers) made(name string) (acquirer instrument.Acquirer) {
	if a.make != nil {
		acquirer = a.make(name)
	}
	if acquirer == nil {
		acquirer = instrument.AcquirerFunc(func(context.Context) (instrument.Lease, error) { return nil, errNoAcquirer })
	}
	return acquirer
}

// Lock is for a scheduler that is not observed.
func (a *acquirers) Lock(ctx context.Context, name string) (gocron.Lock, error) {
	lease, err := a.acquirer(name).Acquire(ctx)
	if err != nil {
		return nil, err
	}
	return unlocker{lease}, nil
}

type unlocker struct{ lease instrument.Lease }

func (u unlocker) Unlock(ctx context.Context) error { return u.lease.Release(ctx) }
