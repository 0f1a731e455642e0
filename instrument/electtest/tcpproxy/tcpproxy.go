// Package tcpproxy forwards connections between a client and a server, and
// delays or breaks them on request:
//
//	proxy := tcpproxy.New(t, "127.0.0.1:6379")
//	client := connect(proxy.Address())
//	proxy.Cut()
//
// It belongs only in tests of adapters.
package tcpproxy

import (
	"net"
	"sync"
	"testing"
)

// Proxy passes connections on to a server. It is safe for concurrent use.
type Proxy struct {
	server   string
	listener net.Listener
	pipes    sync.WaitGroup

	mu       sync.Mutex
	changed  *sync.Cond
	requests bool // are held back
	answers  bool // are held back
	down     bool
	open     map[net.Conn]struct{}
}

// New starts a proxy for the server at that address, which ends with the test.
func New(t testing.TB, server string) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{server: server, listener: l, open: map[net.Conn]struct{}{}}
	p.changed = sync.NewCond(&p.mu)
	p.pipes.Go(p.accept)
	t.Cleanup(func() {
		_ = l.Close()
		p.Cut()
		p.pipes.Wait()
	})
	return p
}

// Address is where the proxy listens.
func (p *Proxy) Address() string { return p.listener.Addr().String() }

// Silence holds responses back until Resume: the server executes requests, and the
// client receives no response.
func (p *Proxy) Silence() { p.set(false, true, false) }

// Block holds requests and responses back until Resume.
func (p *Proxy) Block() { p.set(true, true, false) }

// Cut closes all connections and refuses new ones until Resume. Data that was held
// back is lost.
func (p *Proxy) Cut() { p.set(false, false, true) }

// Resume passes everything on.
func (p *Proxy) Resume() { p.set(false, false, false) }

func (p *Proxy) set(requests, answers, down bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests, p.answers, p.down = requests, answers, down
	if down {
		for c := range p.open {
			_ = c.Close()
		}
	}
	p.changed.Broadcast()
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.server)
		if err != nil || !p.admit(client, server) {
			_ = client.Close()
			if server != nil {
				_ = server.Close()
			}
			continue
		}
		p.pipes.Go(func() { p.pass(client, server, &p.requests) })
		p.pipes.Go(func() { p.pass(server, client, &p.answers) })
	}
}

func (p *Proxy) admit(client, server net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.down {
		return false
	}
	p.open[client], p.open[server] = struct{}{}, struct{}{}
	return true
}

// pass copies what comes, while it is not held back, until a connection ends.
func (p *Proxy) pass(from, to net.Conn, held *bool) {
	defer p.close(from, to)
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		if err != nil || !p.wait(from, held) {
			return
		}
		_, _ = to.Write(b[:n]) // one that has ended closes both
	}
}

// wait reports whether the connection is still open once nothing is held back.
func (p *Proxy) wait(c net.Conn, held *bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		if _, open := p.open[c]; !open {
			return false
		}
		if !*held {
			return true
		}
		p.changed.Wait()
	}
}

func (p *Proxy) close(conns ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		_ = c.Close()
		delete(p.open, c)
	}
	p.changed.Broadcast()
}
