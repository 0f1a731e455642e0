package redsynclead

import (
	"context"
	"errors"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis"
	"go.uber.org/goleak"

	"github.com/leaderscope/leaderscope/instrument"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	s   = time.Second
	way = 20 * time.Millisecond // of a request to a node, and of its answer
	// readTimeout is after what a client stops to wait for an answer; until then
	// it does not look at its context, as go-redis does not.
	readTimeout = 90 * s
)

// fault is what becomes of the requests to a node.
type fault uint8

const (
	none     fault = iota
	silent         // they are carried out, and the answer is lost
	deaf           // they do not arrive
	refused        // no connection
	readOnly       // the node answers with an error
	ended          // the connection ends before the answer
)

func (f fault) String() string {
	return [...]string{"healthy", "silent", "deaf", "refused", "read-only", "ended"}[f]
}

// node is a Redis in memory that knows the scripts of redsync. It is also the
// pool of its connections.
type node struct {
	mu    sync.Mutex
	keys  map[string]entry
	fault fault
	asked int // requests, also those that did not arrive
}

type entry struct {
	value string
	end   time.Time
}

// nodes are the Redis servers of one Redsync.
type nodes []*node

func newNodes(n int) (all nodes) {
	for range n {
		all = append(all, &node{keys: map[string]entry{}})
	}
	return all
}

func (all nodes) redsync() *redsync.Redsync {
	var pools []redis.Pool
	for _, n := range all {
		pools = append(pools, n)
	}
	return redsync.New(pools...)
}

func (all nodes) breaks(f fault) {
	for _, n := range all {
		n.breaks(f)
	}
}

func (n *node) breaks(f fault) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.fault = f
}

func (n *node) requests() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.asked
}

// set is what another client writes.
func (all nodes) set(key, value string, ttl time.Duration) {
	for _, n := range all {
		n.mu.Lock()
		n.keys[key] = entry{value, time.Now().Add(ttl)}
		n.mu.Unlock()
	}
}

func (all nodes) del(key string) {
	for _, n := range all {
		n.mu.Lock()
		delete(n.keys, key)
		n.mu.Unlock()
	}
}

// pexpire changes how long the key lives.
func (all nodes) pexpire(key string, ttl time.Duration) {
	for _, n := range all {
		n.mu.Lock()
		if e, there := n.get(key); there {
			n.keys[key] = entry{e.value, time.Now().Add(ttl)}
		}
		n.mu.Unlock()
	}
}

// remaining is how long the key lives on the first node.
func (all nodes) remaining(key string) (timeLeft time.Duration, there bool) {
	n := all[0]
	n.mu.Lock()
	defer n.mu.Unlock()
	e, there := n.get(key)
	return time.Until(e.end), there
}

func (all nodes) value(key string) string {
	n := all[0]
	n.mu.Lock()
	defer n.mu.Unlock()
	e, _ := n.get(key)
	return e.value
}

func (n *node) get(key string) (entry, bool) {
	e, there := n.keys[key]
	if !there || !time.Now().Before(e.end) {
		return entry{}, false
	}
	return e, true
}

func (n *node) Get(ctx context.Context) (redis.Conn, error) { return &conn{n: n, ctx: ctx}, nil }

type conn struct {
	redis.Conn
	n   *node
	ctx context.Context
}

func (c *conn) Close() error { return nil }

func (c *conn) SetNX(name, value string, expiry time.Duration) (bool, error) {
	v, err := c.ask(func() any {
		if _, there := c.n.get(name); there {
			return false
		}
		c.n.keys[name] = entry{value, time.Now().Add(expiry)}
		return true
	})
	ok, _ := v.(bool)
	return ok, err
}

func (c *conn) Eval(script *redis.Script, args ...any) (any, error) {
	name, _ := args[0].(string)
	value, _ := args[1].(string)
	return c.ask(func() any {
		e, there := c.n.get(name)
		switch {
		case strings.Contains(script.Src, `"DEL"`) && there && e.value == value:
			delete(c.n.keys, name)
			return int64(1)
		case strings.Contains(script.Src, `"DEL"`) && !there:
			return int64(-1)
		case strings.Contains(script.Src, `"PEXPIRE"`) && there && e.value == value,
			strings.Contains(script.Src, `"NX"`) && !there:
			expiry, _ := args[2].(int)
			c.n.keys[name] = entry{value, time.Now().Add(time.Duration(expiry) * time.Millisecond)}
			return int64(1)
		}
		return int64(0)
	})
}

// ask sends a request to the node.
func (c *conn) ask(do func() any) (any, error) {
	if err := c.ctx.Err(); err != nil {
		return nil, err
	}
	c.n.mu.Lock()
	f := c.n.fault
	c.n.asked++
	c.n.mu.Unlock()
	switch f {
	case refused:
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", errors.New("refused"))}
	case readOnly:
		return nil, errors.New("READONLY You can't write against a read only replica.")
	}
	time.Sleep(way)
	var v any
	if f == none || f == silent || f == ended {
		c.n.mu.Lock()
		v = do()
		c.n.mu.Unlock()
	}
	switch f {
	case none:
		time.Sleep(way)
		return v, nil
	case ended:
		return nil, net.ErrClosed
	}
	time.Sleep(readTimeout)
	if err := c.ctx.Err(); err != nil { // it looks before it tries again
		return nil, err
	}
	return nil, &net.OpError{Op: "read", Net: "tcp", Err: os.ErrDeadlineExceeded}
}

// way of taking a lock.
type kind struct {
	wraps, waits, renewsItself bool
}

var kinds = map[string]kind{
	"waiting":                                               {waits: true},
	"answering at once":                                     {},
	"waiting, renewing by itself":                           {waits: true, renewsItself: true},
	"answering at once, renewing by itself":                 {renewsItself: true},
	"a mutex of the program that waits":                     {wraps: true, waits: true},
	"a mutex of the program":                                {wraps: true},
	"a mutex of the program that waits, renewing by itself": {wraps: true, waits: true, renewsItself: true},
}

func (k kind) elector(rs *redsync.Redsync, lock string, opts ...redsync.Option) instrument.Acquirer {
	var own []Option
	if k.renewsItself {
		own = append(own, WithAutoRenew())
	}
	switch {
	case k.wraps && k.waits:
		return Mutex(rs.NewMutex(lock, opts...), own...)
	case k.wraps:
		return TryMutex(rs.NewMutex(lock, opts...), own...)
	}
	for _, o := range own {
		opts = append(opts, o)
	}
	if k.waits {
		return NewMutex(rs, lock, opts...)
	}
	return NewTryMutex(rs, lock, opts...)
}

// settles leaves an hour of the virtual clock to what is cleared up in the
// background.
func settles(t testing.TB) { t.Cleanup(func() { time.Sleep(time.Hour) }) }
