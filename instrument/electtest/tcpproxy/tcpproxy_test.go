package tcpproxy

import (
	"bufio"
	"errors"
	"io"
	"net"
	"testing"
	"time"
)

// echo is a server that repeats each line, and says that it has read it.
func echo(t *testing.T) (address string, read <-chan string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	lines := make(chan string, 10)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				for s := bufio.NewScanner(c); s.Scan(); {
					lines <- s.Text()
					_, _ = c.Write([]byte(s.Text() + "\n"))
				}
			}()
		}
	}()
	return l.Addr().String(), lines
}

// client is a connection that says hello.
func client(t *testing.T, p *Proxy) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", p.Address())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	say(t, c)
	return c
}

func say(t *testing.T, c net.Conn) {
	t.Helper()
	if _, err := c.Write([]byte("hello\n")); err != nil {
		t.Fatal(err)
	}
}

// answered reports whether the answer comes within that time.
func answered(c net.Conn, within time.Duration) bool {
	_ = c.SetReadDeadline(time.Now().Add(within))
	line, err := bufio.NewReader(c).ReadString('\n')
	return err == nil && line == "hello\n"
}

// patience is for what happens at once, and soon for what must not happen.
const soon, patience = 100 * time.Millisecond, 4 * time.Second

func receive(t *testing.T, read <-chan string) {
	t.Helper()
	select {
	case <-read:
	case <-time.After(patience):
		t.Fatal("the server was not asked")
	}
}

// ends reports that the other side has closed a connection.
func ends(t *testing.T, c net.Conn) {
	t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(patience))
	var timeout net.Error
	if _, err := io.Copy(io.Discard, c); errors.As(err, &timeout) && timeout.Timeout() {
		t.Fatal("the connection is open")
	}
}

func TestAnswersAndRequestsAreHeldBack(t *testing.T) {
	address, read := echo(t)
	p := New(t, address)
	c := client(t, p)
	if !answered(c, patience) {
		t.Fatal("nothing passes")
	}
	receive(t, read)

	p.Silence()
	say(t, c)
	receive(t, read)
	if answered(c, soon) {
		t.Error("a silent server answered")
	}
	p.Resume()
	if !answered(c, patience) {
		t.Fatal("the answer that was held back did not come")
	}

	p.Block()
	say(t, c)
	select {
	case <-read:
		t.Error("the request passed")
	case <-time.After(soon):
	}
	p.Resume()
	if !answered(c, patience) {
		t.Error("the request that was held back was not answered")
	}
}

func TestConnectionsAreCutAndRefused(t *testing.T) {
	address, read := echo(t)
	p := New(t, address)
	c := client(t, p)
	receive(t, read)
	p.Cut()
	ends(t, c)
	refused, err := net.Dial("tcp", p.Address())
	if err != nil {
		t.Fatal(err)
	}
	defer refused.Close()
	ends(t, refused)
	p.Resume()
	if !answered(client(t, p), patience) {
		t.Error("no connection is admitted afterwards")
	}
}

func TestAProxyEndsWithItsTest(t *testing.T) {
	address, read := echo(t)
	var p *Proxy
	var c net.Conn
	t.Run("its test", func(t *testing.T) {
		p = New(t, address)
		var err error
		if c, err = net.Dial("tcp", p.Address()); err != nil {
			t.Fatal(err)
		}
		say(t, c)
		receive(t, read)
	})
	defer c.Close()
	ends(t, c)
	if another, err := net.Dial("tcp", p.Address()); err == nil {
		_ = another.Close()
		t.Error("it listens after its test")
	}
}

// An answer that is held back ends with its connection, not with Resume.
func TestNothingIsKeptOfAConnectionThatHasEnded(t *testing.T) {
	address, read := echo(t)
	p := New(t, address)
	c := client(t, p)
	receive(t, read)
	if !answered(c, patience) {
		t.Fatal("nothing passes")
	}
	p.Silence()
	say(t, c)
	receive(t, read)
	_ = c.Close()
	for until := time.Now().Add(patience); ; {
		p.mu.Lock()
		open := len(p.open)
		p.mu.Unlock()
		if open == 0 {
			return
		}
		if time.Now().After(until) {
			t.Fatalf("%d ends are open", open)
		}
		time.Sleep(time.Millisecond)
	}
}
