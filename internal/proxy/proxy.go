// Package proxy stands between a client and a server in a test, which cuts
// their connections or lets no byte through. It belongs in tests only.
package proxy

import (
	"io"
	"net"
	"sync"
	"testing"
)

// Proxy passes connections on to one server. It is safe for concurrent use.
type Proxy struct {
	server   string
	listener net.Listener
	pipes    sync.WaitGroup

	mu     sync.Mutex
	closed bool
	down   bool
	open   []net.Conn
	flow   chan struct{} // closed while bytes pass
}

// New listens on the loopback until the test ends.
func New(t testing.TB, server string) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{server: server, listener: l, flow: make(chan struct{})}
	close(p.flow)
	p.pipes.Go(p.accept)
	t.Cleanup(p.close)
	return p
}

// Address is host:port.
func (p *Proxy) Address() string { return p.listener.Addr().String() }

// Cut closes all connections, and those that come until Restore.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = true
	p.drop()
}

// Silence holds back what is sent, both ways, until Restore. Connections stay
// open, and new ones are accepted.
func (p *Proxy) Silence() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.flows() {
		p.flow = make(chan struct{})
	}
}

// Restore ends Cut and Silence.
func (p *Proxy) Restore() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = p.closed
	if !p.flows() {
		close(p.flow)
	}
}

func (p *Proxy) close() {
	p.listener.Close()
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.Cut()
	p.Restore()
	p.pipes.Wait()
}

func (p *Proxy) flows() bool {
	select {
	case <-p.flow:
		return true
	default:
		return false
	}
}

func (p *Proxy) drop() {
	for _, c := range p.open {
		c.Close()
	}
	p.open = nil
}

func (p *Proxy) accept() {
	for {
		from, err := p.listener.Accept()
		if err != nil {
			return
		}
		to, err := net.Dial("tcp", p.server)
		if err != nil {
			from.Close()
			continue
		}
		if !p.admit(from, to) {
			continue
		}
		p.pipes.Go(func() { p.pass(to, from) })
		p.pipes.Go(func() { p.pass(from, to) })
	}
}

func (p *Proxy) admit(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open = append(p.open, conns...)
	if p.down {
		p.drop()
		return false
	}
	return true
}

func (p *Proxy) pass(to io.WriteCloser, from io.Reader) {
	defer to.Close()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		p.mu.Lock()
		flow := p.flow
		p.mu.Unlock()
		<-flow
		if _, failed := to.Write(buffer[:n]); failed != nil || err != nil {
			return
		}
	}
}
