package zklock

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/leaderscope/leaderscope/instrument"
)

// listing is a server with these nodes in a queue.
type listing struct {
	client
	nodes []string
	err   error
}

func (l listing) Children(string) ([]string, *zk.Stat, error) { return l.nodes, nil, l.err }

func TestTheHolderIsTheLowestNode(t *testing.T) {
	for name, c := range map[string]struct {
		server listing
		want   string
		err    error
	}{
		"of several":                     {listing{nodes: []string{"b-0000000007", "c-0000000003", "a-0000000009"}}, "/leader/c-0000000003", nil},
		"of those that have a number":    {listing{nodes: []string{"readme", "b-0000000007"}}, "/leader/b-0000000007", nil},
		"the first that was ever made":   {listing{nodes: []string{"b-0000000001", "a-0000000000"}}, "/leader/a-0000000000", nil},
		"of none":                        {listing{}, "", instrument.ErrSessionLost},
		"of those that cannot be listed": {listing{err: zk.ErrNoAuth}, "", zk.ErrNoAuth},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := lowest(c.server, "/leader"); got != c.want || !errors.Is(err, c.err) {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

// waiting is a server on which another node is ahead, until the watch of it
// fails.
type waiting struct {
	listing
	watch chan zk.Event
}

func (w waiting) ExistsW(string) (bool, *zk.Stat, <-chan zk.Event, error) {
	return true, &zk.Stat{}, w.watch, nil
}

func TestAWatchThatFailsEndsTheWait(t *testing.T) {
	w := waiting{listing{nodes: []string{"a-0000000001", "b-0000000002"}}, make(chan zk.Event, 1)}
	w.watch <- zk.Event{Err: zk.ErrClosing}
	c := &candidate{conn: w, path: "/leader", node: "/leader/b-0000000002"}
	if err := c.first(context.Background(), nil, &witness{}); !errors.Is(err, zk.ErrClosing) {
		t.Errorf("got %v", err)
	}
}

func TestANodeOfAnUnknownTimeoutIsLookedAtEveryTwoSeconds(t *testing.T) {
	if every := (&lease{session: &Session{}}).every(); every != 2*time.Second {
		t.Errorf("every %v", every)
	}
}

func TestANilDialerIsAPlainTCPConnection(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c, err := new(Session).Dialer(nil)("tcp", l.Addr().String(), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if c.RemoteAddr().String() != l.Addr().String() {
		t.Errorf("connected to %v", c.RemoteAddr())
	}
	if err := errors.Join(c.Close(), l.Close()); err != nil {
		t.Error(err)
	}
	if _, err := new(Session).Dialer(nil)("tcp", l.Addr().String(), time.Minute); err == nil {
		t.Error("connected to an address where no server listens")
	}
}
