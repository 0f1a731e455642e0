package etcdlock

import (
	"context"

	"go.etcd.io/etcd/client/v3/concurrency"
)

// candidate is one attempt of etcd's concurrency package.
type candidate interface {
	acquire(ctx context.Context) error
	release(ctx context.Context) error
	// token may be read after acquire succeeded, not before: a campaign that
	// still waits has a revision too.
	token() uint64
}

type election struct {
	*concurrency.Election
	value string
}

func (e election) acquire(ctx context.Context) error { return e.Campaign(ctx, e.value) }
func (e election) release(ctx context.Context) error { return e.Resign(ctx) }
func (e election) token() uint64                     { return uint64(e.Rev()) }

type mutex struct{ *concurrency.Mutex }

func (m mutex) acquire(ctx context.Context) error { return m.Lock(ctx) }
func (m mutex) release(ctx context.Context) error { return m.Unlock(ctx) }
func (m mutex) token() uint64                     { return uint64(m.Header().GetRevision()) }

type tryMutex struct{ mutex }

func (m tryMutex) acquire(ctx context.Context) error { return m.TryLock(ctx) }
