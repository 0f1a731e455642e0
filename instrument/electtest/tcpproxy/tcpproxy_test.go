package tcpproxy

import (
	"bufio"
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

const soon, patience = 100 * time.Millisecond, 30 * time.Second

func TestAnswersAndRequestsAreHeldBack(t *testing.T) {
	address, read := echo(t)
	p := New(t, address)
	c := client(t, p)
	if !answered(c, patience) {
		t.Fatal("nothing passes")
	}
	<-read

	p.Silence()
	say(t, c)
	<-read // the server is asked
	if answered(c, soon) {
		t.Error("a silent server answered")
	}
	p.Resume()
	if !answered(c, patience) {
		t.Error("the answer that was held back did not come")
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
	<-read
	p.Cut()
	_, _ = bufio.NewReader(c).ReadString('\n')
	if _, err := c.Read(make([]byte, 1)); err == nil {
		t.Error("the connection is open")
	}
	refused, err := net.Dial("tcp", p.Address())
	if err != nil {
		t.Fatal(err)
	}
	defer refused.Close()
	_, _ = refused.Write([]byte("hello\n")) // may fail already
	if answered(refused, soon) {
		t.Error("another connection was admitted")
	}
	p.Resume()
	if !answered(client(t, p), patience) {
		t.Error("no connection is admitted afterwards")
	}
}
