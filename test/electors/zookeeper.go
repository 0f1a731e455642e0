package electors

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"log"
	"net"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/zklock"
)

// ZooKeeperPath is the node below which a lock's queue is.
func ZooKeeperPath(lock string) string { return "/leaderscope/" + lock }

// ZooKeeper is an election whose nodes have the replica's name.
func ZooKeeper(_ context.Context, r Replica) (instrument.Acquirer, func(), error) {
	session := new(zklock.Session)
	conn, _, err := zk.Connect([]string{r.Address}, Lease, zk.WithLogInfo(false), zk.WithLogger(quiet),
		zk.WithEventCallback(session.Event), zk.WithDialer(session.Dialer(r.dialZooKeeper)))
	if err != nil {
		return nil, nil, err
	}
	return zklock.NewElection(conn, session, ZooKeeperPath(r.Lock), r.ID, zk.WorldACL(zk.PermAll)), conn.Close, nil
}

// quiet is a logger without output.
var quiet = log.New(io.Discard, "", 0)

// ZooKeeperClient is a client that keeps quiet.
func ZooKeeperClient(address string) (*zk.Conn, error) {
	conn, _, err := zk.Connect([]string{address}, Lease, zk.WithLogInfo(false), zk.WithLogger(quiet))
	return conn, err
}

// FirstOnZooKeeper is the node of the first in a lock's queue; "" when it is
// empty.
func FirstOnZooKeeper(conn *zk.Conn, lock string) (node string, err error) {
	children, _, err := conn.Children(ZooKeeperPath(lock))
	if err != nil || len(children) == 0 {
		return "", err
	}
	first := slices.MinFunc(children, func(a, b string) int {
		return strings.Compare(a[strings.LastIndex(a, "-"):], b[strings.LastIndex(b, "-"):])
	})
	return path.Join(ZooKeeperPath(lock), first), nil
}

// DeleteOnZooKeeper deletes the node of the first in the queue.
func DeleteOnZooKeeper(_ context.Context, address, lock string) error {
	conn, err := ZooKeeperClient(address)
	if err != nil {
		return err
	}
	defer conn.Close()
	node, err := FirstOnZooKeeper(conn, lock)
	if err == nil && node == "" {
		err = fmt.Errorf("no node below %s", ZooKeeperPath(lock))
	}
	if err != nil {
		return err
	}
	return conn.Delete(node, -1)
}

// checks is a connection to ZooKeeper that hears the answers to the question
// whether a node exists, which is how its holder sees that it still holds it. An
// answer to a ping does not show that: a follower that is cut off from the others
// gives it too, and it says nothing of the node.
// A frame begins with its length and the number of its request; that of a
// request continues with its arguments.
type checks struct {
	net.Conn
	replica Replica

	mu    sync.Mutex
	asked map[uint32][]question // by number, in their order: pings share one

	head []byte // of the frame that is being read
	left int    // of its body
}

// question is a request without an answer.
type question struct {
	at    time.Time
	check bool
}

const (
	headLength = 8
	opExists   = 3
)

func (r Replica) dialZooKeeper(network, address string, timeout time.Duration) (net.Conn, error) {
	c, err := net.DialTimeout(network, address, timeout)
	if err != nil {
		return nil, err
	}
	return newChecks(c, r), nil
}

func newChecks(c net.Conn, r Replica) *checks {
	return &checks{Conn: c, replica: r, asked: map[uint32][]question{}}
}

// Write is called with a whole request.
func (c *checks) Write(b []byte) (int, error) {
	if len(b) >= headLength+4 {
		number := binary.BigEndian.Uint32(b[4:])
		c.mu.Lock()
		c.asked[number] = append(c.asked[number], question{time.Now(), binary.BigEndian.Uint32(b[headLength:]) == opExists})
		c.mu.Unlock()
	}
	return c.Conn.Write(b)
}

func (c *checks) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	for rest := b[:n]; len(rest) > 0; {
		if len(c.head) == headLength { // within a body
			skip := min(c.left, len(rest))
			c.left, rest = c.left-skip, rest[skip:]
		} else {
			more := min(headLength-len(c.head), len(rest))
			c.head, rest = append(c.head, rest[:more]...), rest[more:]
			if len(c.head) < headLength {
				break
			}
			c.left = int(binary.BigEndian.Uint32(c.head)) - 4
			c.answered(binary.BigEndian.Uint32(c.head[4:]))
		}
		if c.left == 0 {
			c.head = c.head[:0]
		}
	}
	return n, err
}

func (c *checks) answered(number uint32) {
	c.mu.Lock()
	waiting := c.asked[number]
	if len(waiting) > 1 {
		c.asked[number] = waiting[1:]
	} else {
		delete(c.asked, number)
	}
	c.mu.Unlock()
	if len(waiting) > 0 && waiting[0].check { // without a question the server says something by itself
		c.replica.renewed(waiting[0].at)
	}
}
