package zklock

import (
	"encoding/binary"
	"maps"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"
)

// Session hears what a connection does not tell: when the session expired,
// and the timeout that the server granted. The zero value is ready; make one
// for each connection:
//
//	var session zklock.Session
//	conn, _, err := zk.Connect(servers, timeout, zk.WithEventCallback(session.Event), zk.WithDialer(session.Dialer(nil)))
//
// It is safe for concurrent use.
type Session struct {
	mu      sync.Mutex
	timeout time.Duration
	expired chan struct{}
	back    chan struct{} // closed when a connection has the session again
	hears   map[*witness]struct{}
}

// Event receives the events of the connection. If the program has its own
// callback, call Event there.
func (s *Session) Event(e zk.Event) {
	if e.Type != zk.EventSession {
		return
	}
	s.notify(e.State)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch e.State {
	case zk.StateExpired:
		announce(&s.expired)
	case zk.StateHasSession:
		announce(&s.back)
	}
}

// announce closes a channel for those that wait; who waits later gets another.
func announce(c *chan struct{}) {
	if *c != nil {
		close(*c)
	}
	*c = nil
}

// notify passes the state of the connection on to those that wait in a queue.
func (s *Session) notify(state zk.State) {
	s.mu.Lock()
	all := slices.Collect(maps.Keys(s.hears))
	s.mu.Unlock()
	for _, w := range all {
		w.connection(state)
	}
}

func (s *Session) listen(w *witness) (stop func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hears == nil {
		s.hears = map[*witness]struct{}{}
	}
	s.hears[w] = struct{}{}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.hears, w)
	}
}

// Dialer reads the granted timeout from the responses on connections of next;
// nil is a plain TCP connection. Without it the timeout, and with it the end of
// a lease, is unknown.
func (s *Session) Dialer(next zk.Dialer) zk.Dialer {
	if next == nil {
		next = net.DialTimeout
	}
	return func(network, address string, timeout time.Duration) (net.Conn, error) {
		c, err := next(network, address, timeout)
		if err != nil {
			return nil, err
		}
		return &greeted{Conn: c, session: s}, nil
	}
}

// end is closed when the session that lives now expires.
func (s *Session) end() <-chan struct{} { return s.await(&s.expired) }

// resumed is closed when the next connection has the session.
func (s *Session) resumed() <-chan struct{} { return s.await(&s.back) }

func (s *Session) await(c *chan struct{}) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if *c == nil {
		*c = make(chan struct{})
	}
	return *c
}

func (s *Session) granted() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.timeout
}

func (s *Session) grant(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.timeout = d
}

// greeting is the start of a server's first answer: its length, the protocol
// version and the granted timeout in milliseconds, four bytes each.
const greeting = 12

// greeted is a connection that reads along until the greeting is complete.
type greeted struct {
	net.Conn
	session *Session
	seen    []byte
	done    bool
}

func (g *greeted) Read(p []byte) (int, error) {
	n, err := g.Conn.Read(p)
	if g.done {
		return n, err
	}
	g.seen = append(g.seen, p[:min(n, greeting-len(g.seen))]...)
	if len(g.seen) == greeting {
		g.done = true
		if ms := binary.BigEndian.Uint32(g.seen[8:]); ms > 0 { // 0: the session has expired
			g.session.grant(time.Duration(ms) * time.Millisecond)
		}
	}
	return n, err
}
