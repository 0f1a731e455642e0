package natskv

import (
	"io"
	"net"
	"sync"
	"testing"
)

// proxy is a connection to a server that a test can cut.
type proxy struct {
	server   string
	listener net.Listener
	pipes    sync.WaitGroup

	mu   sync.Mutex
	down bool
	open []net.Conn
}

func newProxy(t *testing.T, server string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{server: server, listener: l}
	p.pipes.Go(p.accept)
	t.Cleanup(func() { l.Close(); p.cut(); p.pipes.Wait() })
	return p
}

func (p *proxy) address() string { return p.listener.Addr().String() }

func (p *proxy) accept() {
	for {
		from, err := p.listener.Accept()
		if err != nil {
			return
		}
		to, err := net.Dial("tcp", p.server)
		if err != nil || !p.admit(from, to) {
			from.Close()
			continue
		}
		p.pipes.Go(func() { io.Copy(to, from); to.Close() })
		p.pipes.Go(func() { io.Copy(from, to); from.Close() })
	}
}

func (p *proxy) admit(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.down {
		for _, c := range conns {
			c.Close()
		}
		return false
	}
	p.open = append(p.open, conns...)
	return true
}

func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = true
	for _, c := range p.open {
		c.Close()
	}
	p.open = nil
}

func (p *proxy) restore() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = false
}
