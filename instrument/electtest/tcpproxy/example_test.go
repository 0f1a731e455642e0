package tcpproxy_test

import (
	"net"
	"testing"

	"github.com/leaderscope/leaderscope/instrument/electtest/tcpproxy"
)

// A test of a client that must survive a broken connection.
func ExampleNew() {
	_ = func(t *testing.T) {
		proxy := tcpproxy.New(t, "127.0.0.1:6379")
		conn, err := net.Dial("tcp", proxy.Address())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		proxy.Cut()
		if _, err := conn.Read(make([]byte, 1)); err == nil {
			t.Error("the connection is still open")
		}
	}
}
