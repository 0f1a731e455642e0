package zklock

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/leaderscope/leaderscope/instrument"
)

// client is the part of *zk.Conn that is needed.
type client interface {
	Children(path string) ([]string, *zk.Stat, error)
	Create(path string, data []byte, flags int32, acl []zk.ACL) (string, error)
	Delete(path string, version int32) error
	Exists(path string) (bool, *zk.Stat, error)
	ExistsW(path string) (bool, *zk.Stat, <-chan zk.Event, error)
	SessionID() int64
	Sync(path string) (string, error)
}

// retryEvery is how often the removal of a node is tried again.
const retryEvery = time.Second

// closedFor is after how many refusals in a row a client counts as closed; one
// that looks for a server answers otherwise.
const closedFor = 10

// candidate is a place in the queue. Its name is known before the server has
// answered, so that the node can be found when the answer was lost.
type candidate struct {
	conn client
	path string
	name string // of the node, without its number
	node string

	unanswered atomic.Bool // a removal may have been made
	again      sync.Once   // it is made again in the background
}

// join makes the node, and those above it where they are missing.
func (e *elector) join() (*candidate, error) {
	var guid [16]byte
	_, _ = rand.Read(guid[:]) // never fails
	c := &candidate{conn: e.conn, path: e.path, name: fmt.Sprintf("_c_%x-lock-", guid)}
	ended := e.session.end()
	create := func() (err error) {
		c.node, err = e.conn.Create(e.path+"/"+c.name, []byte(e.holder), zk.FlagEphemeral|zk.FlagSequence, e.acl)
		return err
	}
	err := create()
	if errors.Is(err, zk.ErrNoNode) {
		if err = e.parents(); err == nil {
			err = create()
		}
	}
	if errors.Is(err, zk.ErrConnectionClosed) { // and the node is there, perhaps
		c.withdraw(ended)
	}
	return c, err
}

func (e *elector) parents() error {
	at := ""
	for part := range strings.SplitSeq(strings.TrimPrefix(e.path, "/"), "/") {
		at += "/" + part
		if _, err := e.conn.Create(at, nil, 0, e.acl); err != nil && !errors.Is(err, zk.ErrNodeExists) {
			return err
		}
	}
	return nil
}

// first waits until no other node is ahead. Each waits for the one before it.
func (c *candidate) first(ctx context.Context, ended <-chan struct{}, w *witness) error {
	for {
		ahead, holds, err := c.ahead()
		if err != nil || ahead == "" {
			return err
		}
		there, stat, gone, err := c.conn.ExistsW(ahead)
		if err != nil {
			return err
		}
		if !there {
			continue
		}
		w.waitsFor(ahead, stat, holds)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ended:
			return instrument.ErrSessionLost
		case e := <-gone:
			if e.Err != nil {
				return e.Err
			}
		}
	}
}

// ahead is the node before this one, and whether that holds the lock; empty when
// this one is first. A node
// that is not in the queue was removed with its session: then it has not won,
// even if no node is before it.
func (c *candidate) ahead() (node string, holds bool, err error) {
	children, _, err := c.conn.Children(c.path)
	if err != nil {
		return "", false, err
	}
	own, err := number(c.node)
	if err != nil {
		return "", false, err
	}
	before, at, there, earlier := "", -1, false, 0
	for _, child := range children {
		n, err := number(child)
		switch {
		case err != nil: // no candidate
		case n == own:
			there = true
		case n < own:
			earlier++
			if n > at {
				before, at = c.path+"/"+child, n
			}
		}
	}
	if !there {
		return "", false, fmt.Errorf("node is gone: %w", instrument.ErrSessionLost)
	}
	return before, earlier == 1, nil
}

// leave removes the node. One that is gone was lost before.
func (c *candidate) leave(ended <-chan struct{}) error {
	err := c.conn.Delete(c.node, -1)
	switch {
	case err == nil, errors.Is(err, zk.ErrNoNode) && c.unanswered.Load():
		return nil
	case errors.Is(err, zk.ErrNoNode), errors.Is(err, zk.ErrSessionExpired):
		return fmt.Errorf("zklock: release: %w: %w", instrument.ErrSessionLost, err)
	case isClosed(ended): // the client is between two sessions; the node went with the first
		return fmt.Errorf("zklock: release: %w: %w", instrument.ErrSessionLost, err)
	}
	if unreachable(err) {
		c.unanswered.Store(true)
		c.again.Do(func() { go untilAnswered(ended, c.remove) })
	}
	return fmt.Errorf("zklock: release: %w", err)
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// withdraw removes the node, in the background if the server is unreachable:
// an abandoned queue node would eventually become first and block the lock
// for as long as the session lives.
func (c *candidate) withdraw(ended <-chan struct{}) {
	if unreachable(c.remove()) {
		go untilAnswered(ended, c.remove)
	}
}

// untilAnswered makes a call until it has an answer, the session has ended, or
// the client is closed.
func untilAnswered(ended <-chan struct{}, call func() error) {
	tick := time.Tick(retryEvery)
	for closed := 0; closed < closedFor; {
		select {
		case <-ended:
			return // the node went with the session
		case <-tick:
		}
		err := call()
		if !unreachable(err) {
			return
		}
		if errors.Is(err, zk.ErrNoServer) {
			closed = 0
		} else {
			closed++
		}
	}
}

// remove removes the node unless it is gone. It is looked for only when its
// place is not known: not everybody may list the queue.
func (c *candidate) remove() error {
	node := c.node
	if node == "" {
		var err error
		if node, err = c.find(); err != nil || node == "" {
			return err
		}
	}
	return c.conn.Delete(node, -1)
}

func unreachable(err error) bool {
	return errors.Is(err, zk.ErrNoServer) || errors.Is(err, zk.ErrConnectionClosed)
}

// find looks the node up by name; empty when it is not there.
func (c *candidate) find() (string, error) {
	children, _, err := c.conn.Children(c.path)
	for _, child := range children {
		if strings.HasPrefix(child, c.name) {
			return c.path + "/" + child, nil
		}
	}
	return "", err
}

// lowest is the node that holds the lock at path.
func lowest(conn client, at string) (string, error) {
	children, _, err := conn.Children(at)
	var first string
	var least int
	for _, child := range children {
		if n, err := number(child); err == nil && (first == "" || n < least) {
			first, least = at+"/"+child, n
		}
	}
	if err == nil && first == "" {
		err = fmt.Errorf("node is gone: %w", instrument.ErrSessionLost)
	}
	return first, err
}

// number is a node's place, ten digits at its end.
func number(node string) (int, error) {
	name := path.Base(node)
	return strconv.Atoi(name[max(0, len(name)-10):])
}
