package zklock

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-zookeeper/zk"

	"github.com/leaderscope/leaderscope/instrument"
)

// NewElection queues up below path, whose nodes are made with acl where they are
// missing, and waits until it is first. holder is what others read in the
// node. s must hear conn's session.
//
// Calls of ZooKeeper take no context: while no server can be reached, Acquire
// and Release return late by as long as the client looks for one. A node that
// could not be removed then is removed later.
func NewElection(conn *zk.Conn, s *Session, path, holder string, acl []zk.ACL) instrument.Acquirer {
	return &elector{conn: conn, session: s, path: path, holder: holder, acl: acl}
}

// Lock locks l, which was made from conn and path. Its call takes no context:
// an attempt stays pending until it has the lock, whatever becomes of the
// caller. After a loss l is of no more use: it answers ErrDeadlock for ever.
func Lock(conn *zk.Conn, s *Session, l *zk.Lock, path string) instrument.Acquirer {
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

func (e *elector) Acquire(ctx context.Context) (instrument.Lease, error) {
	ended := e.session.end()
	c, err := e.join()
	if err != nil {
		return nil, fmt.Errorf("zklock: %w", err)
	}
	if err := c.first(ctx, ended); err != nil {
		c.withdraw(ended)
		return nil, fmt.Errorf("zklock: %w", err)
	}
	l, err := watched(e.conn, e.session, ended, c.node)
	if err != nil {
		c.withdraw(ended)
		return nil, fmt.Errorf("zklock: %w", err)
	}
	return l.lease(func(context.Context) error { return c.leave(ended) }), nil
}

type borrowed struct {
	reasons
	conn    client
	session *Session
	lock    interface {
		Lock() error
		Unlock() error
	}
	path string
}

func (b *borrowed) Acquire(context.Context) (instrument.Lease, error) {
	ended := b.session.end()
	if err := b.lock.Lock(); err != nil {
		return nil, err
	}
	node, err := lowest(b.conn, b.path)
	if err == nil {
		var l *lease
		if l, err = watched(b.conn, b.session, ended, node); err == nil {
			return l.lease(func(context.Context) error { return b.lock.Unlock() }), nil
		}
	}
	if errors.Is(err, instrument.ErrSessionLost) {
		return nil, fmt.Errorf("zklock: %w", err) // a win without a node
	}
	// It has the lock, and cannot be looked at just now.
	return instrument.NewLease(func(context.Context) error { return b.lock.Unlock() }, instrument.LostOn(ended)), nil
}
