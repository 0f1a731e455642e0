package zklock

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/go-zookeeper/zk"

	"github.com/leaderscope/leaderscope/instrument"
)

// NewElection queues below path, and waits until it is first. Missing nodes of
// path are created with acl. Other clients read holder from the node. s must
// receive the events of conn.
//
// Acquire and Release return when their context ends, although the calls of
// ZooKeeper take no context. A node that could not be removed by then is removed
// later. It is safe for concurrent use.
func NewElection(conn *zk.Conn, s *Session, path, holder string, acl []zk.ACL) instrument.Acquirer {
	if conn == nil {
		s = nil
	}
	return &elector{conn: conn, session: s, path: path, holder: holder, acl: acl}
}

// errMissing: of an elector with one missing, the session is left out.
var errMissing = errors.New("zklock: the connection, its Session or the lock is nil: pass those of zk.Connect and zk.NewLock, and the Session that hears the connection")

// Lock locks l, which was made from conn and path. Its call cannot be cancelled:
// if the caller's context ends, l keeps its place in the queue for the next
// Acquire, and is released if it gets the lock before that. After a loss l can no
// longer be used: it returns ErrDeadlock forever.
func Lock(conn *zk.Conn, s *Session, l *zk.Lock, path string) instrument.Acquirer {
	if conn == nil || l == nil {
		s = nil
	}
	return &borrowed{conn: conn, session: s, lock: l, path: path}
}

// reasons tells go-zookeeper's errors apart.
type reasons struct{}

// Classify names the reason of an error of Acquire or Release.
func (reasons) Classify(err error) (instrument.Reason, bool) {
	switch {
	case errors.Is(err, zk.ErrDeadlock):
		return instrument.AlreadyHeld, true
	case isAny(err, zk.ErrNotLocked, zk.ErrNoNode, zk.ErrSessionExpired):
		return instrument.SessionLost, true
	case isAny(err, zk.ErrNoServer, zk.ErrConnectionClosed, zk.ErrClosing, zk.ErrSessionMoved, zk.ErrAPIError, zk.ErrUnknown,
		zk.ErrNoAuth, zk.ErrAuthFailed, zk.ErrInvalidACL):
		return instrument.BackendError, true
	default:
		return 0, false
	}
}

func isAny(err error, targets ...error) bool {
	return slices.ContainsFunc(targets, func(target error) bool { return errors.Is(err, target) })
}

type elector struct {
	reasons
	conn    client
	session *Session
	path    string
	holder  string
	acl     []zk.ACL
}

// Format writes what it is for every verb, and keeps the name of the lock from
// code that prints it.
func (*elector) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "ZooKeeper election") }

func (e *elector) Acquire(ctx context.Context) (instrument.Lease, error) {
	return e.AcquireAsWitness(ctx, nil)
}

// AcquireAsWitness tells election what a standby sees of the queue.
func (e *elector) AcquireAsWitness(ctx context.Context, election *instrument.Election) (instrument.Lease, error) {
	if e.session == nil {
		return nil, errMissing
	}
	ctx = orBackground(ctx)
	l, err, returned := detached(ctx, func() (instrument.Lease, error) { return e.attempt(ctx, election) }, func(l instrument.Lease) {
		_ = l.Release(context.Background())
	})
	if !returned || err != nil {
		return nil, fmt.Errorf("zklock: %w", err)
	}
	return l, nil
}

func (e *elector) attempt(ctx context.Context, election *instrument.Election) (instrument.Lease, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	ended := e.session.end()
	c, err := e.join()
	if err != nil {
		return nil, err
	}
	w := newWitness(election, e.session, c)
	defer w.leaves()
	if err := c.first(ctx, ended, w); err != nil {
		c.withdraw(ended)
		return nil, err
	}
	l, err := watched(e.conn, e.session, ended, c.node)
	if err != nil {
		c.withdraw(ended)
		return nil, err
	}
	l.finished = w.wins(l.created)
	return l.lease(func(ctx context.Context) error {
		return released(ctx, func() error { return c.leave(ended) }, func() { c.unanswered.Store(true) })
	}), nil
}

// released makes the call that releases a lock. When ctx ends before it
// returns, it continues by itself, and unanswered is called.
func released(ctx context.Context, giveBack func() error, unanswered func()) error {
	_, err, returned := detached(orBackground(ctx), func() (struct{}, error) { return struct{}{}, giveBack() }, func(struct{}) {})
	if !returned {
		unanswered()
		return fmt.Errorf("zklock: release: %w", err)
	}
	return err
}

func orBackground(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return ctx
}
