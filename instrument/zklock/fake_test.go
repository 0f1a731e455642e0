package zklock

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"go.uber.org/goleak"

	"github.com/leaderscope/leaderscope/instrument"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const timeout = 2 * time.Second

// tree is a server in memory: nodes, their owners, and watches of one event.
type tree struct {
	mu      sync.Mutex
	zxid    int64
	serial  int
	session int64
	nodes   map[string]*zk.Stat
	watches map[string][]chan zk.Event
}

func newTree() *tree {
	return &tree{nodes: map[string]*zk.Stat{}, watches: map[string][]chan zk.Event{}}
}

// conn is a connection with its session.
type conn struct {
	*tree
	id        int64
	session   *Session
	err       error                         // that every call gets
	ambiguous bool                          // a create is done, and its answer is lost
	cutOff    error                         // that a follower has from its leader
	mayNot    bool                          // list the queue
	silent    atomic.Pointer[chan struct{}] // closed when it is answered again; nil while it is
}

// silence lets calls wait until answered is called.
func (c *conn) silence() (answered func()) {
	until := make(chan struct{})
	c.silent.Store(&until)
	return func() {
		c.silent.Store(nil)
		close(until)
	}
}

// enter waits for an answer, and takes the mutex.
func (c *conn) enter() {
	if until := c.silent.Load(); until != nil {
		<-*until
	}
	c.mu.Lock()
}

func (t *tree) connect() *conn {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.session++
	s := &Session{}
	s.grant(timeout)
	return &conn{tree: t, id: t.session, session: s}
}

// expire ends the session, whose nodes go.
func (c *conn) expire() {
	c.mu.Lock()
	for node, stat := range c.nodes {
		if stat.EphemeralOwner == c.id {
			c.drop(node)
		}
	}
	c.mu.Unlock()
	c.session.Event(zk.Event{Type: zk.EventSession, State: zk.StateExpired})
}

// drop removes a node and notifies its watchers. The caller holds mu.
func (t *tree) drop(node string) {
	delete(t.nodes, node)
	for _, w := range t.watches[node] {
		w <- zk.Event{Type: zk.EventNodeDeleted, Path: node}
	}
	delete(t.watches, node)
}

// close ends the session as the program does. A server that can be reached
// removes the nodes and tells the watches; otherwise the client tells them.
func (c *conn) close(reached bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = zk.ErrConnectionClosed
	for node, stat := range c.nodes {
		switch {
		case stat.EphemeralOwner != c.id:
		case reached:
			c.drop(node)
		default:
			for _, w := range c.watches[node] {
				w <- zk.Event{Type: zk.EventNotWatching, Err: zk.ErrClosing}
			}
			delete(c.watches, node)
		}
	}
}

func (c *conn) Sync(path string) (string, error) {
	c.enter()
	defer c.mu.Unlock()
	if c.err != nil {
		return "", c.err
	}
	return path, c.cutOff
}

func (c *conn) set(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = err
}

func (c *conn) SessionID() int64 { return c.id }

func (c *conn) Children(at string) ([]string, *zk.Stat, error) {
	c.enter()
	defer c.mu.Unlock()
	if c.err != nil {
		return nil, nil, c.err
	}
	if c.nodes[at] == nil {
		return nil, nil, zk.ErrNoNode
	}
	if c.mayNot {
		return nil, nil, zk.ErrNoAuth
	}
	var names []string
	for _, node := range slices.Sorted(maps.Keys(c.nodes)) {
		if path.Dir(node) == at {
			names = append(names, path.Base(node))
		}
	}
	return names, &zk.Stat{}, nil
}

func (c *conn) Create(node string, _ []byte, flags int32, _ []zk.ACL) (string, error) {
	c.enter()
	defer c.mu.Unlock()
	up := path.Dir(node)
	switch {
	case c.err != nil:
		return "", c.err
	case up != "/" && c.nodes[up] == nil:
		return "", zk.ErrNoNode
	case c.nodes[node] != nil:
		return "", zk.ErrNodeExists
	}
	c.zxid++
	stat := &zk.Stat{Czxid: c.zxid}
	if flags&zk.FlagEphemeral != 0 {
		stat.EphemeralOwner = c.id
	}
	if flags&zk.FlagSequence != 0 {
		node = fmt.Sprintf("%s%010d", node, c.serial)
		c.serial++
	}
	c.nodes[node] = stat
	if c.ambiguous {
		c.err = zk.ErrConnectionClosed
		return "", c.err
	}
	return node, nil
}

func (c *conn) Delete(node string, _ int32) error {
	c.enter()
	defer c.mu.Unlock()
	switch {
	case c.err != nil:
		return c.err
	case c.nodes[node] == nil:
		return zk.ErrNoNode
	}
	c.drop(node)
	return nil
}

func (c *conn) Exists(node string) (bool, *zk.Stat, error) {
	c.enter()
	defer c.mu.Unlock()
	if c.err != nil {
		return false, nil, c.err
	}
	stat := c.nodes[node]
	return stat != nil, stat, nil
}

func (c *conn) ExistsW(node string) (bool, *zk.Stat, <-chan zk.Event, error) {
	there, stat, err := c.Exists(node)
	c.mu.Lock()
	defer c.mu.Unlock()
	w := make(chan zk.Event, 1)
	c.watches[node] = append(c.watches[node], w)
	if there && c.nodes[node] == nil {
		w <- zk.Event{Type: zk.EventNodeDeleted}
	}
	return there, stat, w, err
}

// holder is the node that is first below at.
func (t *tree) holder(at string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	first := ""
	for node := range t.nodes {
		if path.Dir(node) == at && (first == "" || node[len(node)-10:] < first[len(first)-10:]) {
			first = node
		}
	}
	return first
}

// created is how many nodes were made in a queue.
func (t *tree) created() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.serial
}

func (t *tree) count(below string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := 0
	for node := range t.nodes {
		if strings.HasPrefix(node, below+"/") {
			n++
		}
	}
	return n
}

func (c *conn) elector(at string) instrument.Acquirer {
	return &elector{conn: c, session: c.session, path: at, holder: "replica-1", acl: zk.WorldACL(zk.PermAll)}
}
