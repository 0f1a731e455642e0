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

// pings is a connection to ZooKeeper that hears each answer to a ping: a frame
// that begins with its length and the number of its request, which is -2.
type pings struct {
	net.Conn
	replica Replica

	head []byte // of the frame that is being read
	left int    // of its body
}

const pingNumber = -2

func (r Replica) dialZooKeeper(network, address string, timeout time.Duration) (net.Conn, error) {
	c, err := net.DialTimeout(network, address, timeout)
	if err != nil {
		return nil, err
	}
	return &pings{Conn: c, replica: r}, nil
}

func (p *pings) Read(b []byte) (int, error) {
	n, err := p.Conn.Read(b)
	for rest := b[:n]; len(rest) > 0; {
		if len(p.head) == 8 { // within a body
			skip := min(p.left, len(rest))
			p.left, rest = p.left-skip, rest[skip:]
			if p.left == 0 {
				p.head = p.head[:0]
			}
			continue
		}
		more := min(8-len(p.head), len(rest))
		p.head, rest = append(p.head, rest[:more]...), rest[more:]
		if len(p.head) < 8 {
			break
		}
		if int32(binary.BigEndian.Uint32(p.head[4:])) == pingNumber {
			p.replica.renewed()
		}
		if p.left = int(binary.BigEndian.Uint32(p.head)) - 4; p.left == 0 {
			p.head = p.head[:0]
		}
	}
	return n, err
}
