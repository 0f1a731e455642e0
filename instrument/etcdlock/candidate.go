package etcdlock

import (
	"context"
	"errors"
	"fmt"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/leaderscope/leaderscope/instrument"
)

// candidate is one attempt of etcd's concurrency package.
type candidate interface {
	// waits says that acquire waits for its turn.
	waits() bool
	acquire(ctx context.Context) error
	// token may be read after acquire succeeded, not before: a campaign that
	// still waits has a revision too. At that revision the key was there.
	token() uint64
	// key is what the candidate holds the lock by, and owner holds while the key
	// is the one that won. They may be read as token may.
	key() string
	owner() clientv3.Cmp
	// created is the revision that made the key.
	created(ctx context.Context, c *clientv3.Client) (int64, error)
	// leavesNothing says, after acquire failed, that the key is known to be gone.
	leavesNothing() bool
	// leftKey is the key that a failed acquire may have left; empty if none is
	// there.
	leftKey(ctx context.Context) (string, error)
}

type election struct {
	*concurrency.Election
	session *concurrency.Session
	value   string
}

func (e election) waits() bool { return true }

// identify has the election show as whom this process campaigns: observers read
// the value from the key of the leader. A mutex has a key of another name in each
// session, so that each attempt would be a series of its own.
func identify(e *instrument.Election, c candidate) (ended func()) {
	if own, is := c.(election); is {
		return e.Identify(own.value)
	}
	return func() {}
}

// acquire campaigns, and looks whether the candidate's key is still there: who
// deletes the leader's key by its prefix deletes those of all that wait, and
// each of them would win.
func (e election) acquire(ctx context.Context) error {
	if err := e.Campaign(ctx, e.value); err != nil {
		return err
	}
	client := e.session.Client()
	resp, err := client.Get(ctx, e.Key())
	if err == nil && (len(resp.Kvs) == 0 || resp.Kvs[0].CreateRevision != e.Rev()) {
		return errDeleted
	}
	if err != nil && ctx.Err() != nil {
		_ = e.Resign(client.Ctx()) // as a campaign that is given up does
	}
	return err
}

func (e election) token() uint64 { return uint64(e.Rev()) }
func (e election) key() string   { return e.Key() }

func (e election) created(context.Context, *clientv3.Client) (int64, error) { return e.Rev(), nil }

func (e election) owner() clientv3.Cmp {
	return clientv3.Compare(clientv3.CreateRevision(e.Key()), "=", e.Rev())
}

// leavesNothing: an election does not tell whether its own clean-up succeeded.
func (e election) leavesNothing() bool { return false }

// leftKey asks for the leader: an election whose first request had no answer
// does not tell its prefix. All its keys are the prefix and a lease.
func (e election) leftKey(ctx context.Context) (string, error) {
	if key := e.Key(); key != "" {
		return key, nil
	}
	resp, err := e.Leader(ctx)
	if errors.Is(err, concurrency.ErrElectionNoLeader) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	leader := string(resp.Kvs[0].Key)
	return fmt.Sprintf("%s%x", leader[:strings.LastIndexByte(leader, '/')+1], e.session.Lease()), nil
}

type mutex struct{ *concurrency.Mutex }

// unlockedKey is the key of a concurrency.Mutex whose key was deleted.
const unlockedKey = "\x00"

func (m mutex) waits() bool                       { return true }
func (m mutex) acquire(ctx context.Context) error { return m.Lock(ctx) }
func (m mutex) token() uint64                     { return uint64(m.Header().GetRevision()) }
func (m mutex) key() string                       { return m.Key() }
func (m mutex) owner() clientv3.Cmp               { return m.IsOwner() }
func (m mutex) leavesNothing() bool               { return m.Key() == unlockedKey }

// created asks, since a mutex does not tell.
func (m mutex) created(ctx context.Context, c *clientv3.Client) (int64, error) {
	resp, err := c.Get(ctx, m.Key())
	switch {
	case err != nil:
		return 0, err
	case len(resp.Kvs) == 0:
		return 0, errDeleted
	}
	return resp.Kvs[0].CreateRevision, nil
}

func (m mutex) leftKey(context.Context) (string, error) { return m.Key(), nil }

type tryMutex struct{ mutex }

func (m tryMutex) waits() bool                       { return false }
func (m tryMutex) acquire(ctx context.Context) error { return m.TryLock(ctx) }
