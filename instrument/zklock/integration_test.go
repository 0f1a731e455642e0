//go:build integration

package zklock

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
)

// session is what the test asks for; the server may grant another.
const asked = 4 * time.Second

func TestConformanceOfAServer(t *testing.T) {
	admin, _ := dial(t)
	electtest.Conformance(t, electtest.Suite{
		New: func(t testing.TB, lock string) instrument.Acquirer {
			conn, s := dial(t)
			return New(conn, s, "/leaderscope/"+lock, "replica-1", zk.WorldACL(zk.PermAll))
		},
		Options: []instrument.ElectionOption{instrument.Hold(), instrument.Backend("zookeeper")},
		Waits:   true, Lease: asked, Renews: true, Fenced: true,
		Lose: func(t testing.TB, lock string) {
			node, err := lowest(admin, "/leaderscope/"+lock)
			if err == nil {
				err = admin.Delete(node, -1)
			}
			if err != nil {
				t.Fatal(err)
			}
		},
	})
}

func TestLockOfTheLibraryAndOursExcludeEachOther(t *testing.T) {
	const path = "/leaderscope/together"
	conn, s := dial(t)
	theirs := zk.NewLock(conn, path, zk.WorldACL(zk.PermAll))
	a := Lock(conn, s, theirs, path)
	lease := acquire(t, a)
	if _, ok := lease.(instrument.Fencer).FencingToken(); !ok {
		t.Error("no token")
	}
	other, os := dial(t)
	ours := New(other, os, path, "replica-2", zk.WorldACL(zk.PermAll))
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := ours.Acquire(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("beside the library's lock: %v", err)
	}
	if _, err := a.Acquire(t.Context()); err != zk.ErrDeadlock {
		t.Errorf("locked twice: %v", err)
	}
	if err := lease.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	held := acquire(t, ours)
	waiting := start(context.Background(), a)
	time.Sleep(300 * time.Millisecond)
	if len(waiting) != 0 {
		t.Error("the library's lock did not wait")
	}
	if err := held.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := receive(t, waiting); err != nil {
		t.Error(err)
	}
	if err := theirs.Unlock(); err != nil {
		t.Error(err)
	}
}

func TestTimeoutThatTheServerGrants(t *testing.T) {
	_, s := dial(t)
	if d := s.granted(); d <= 0 || d > asked {
		t.Errorf("granted %v", d)
	}
}

// dial connects with a session of its own.
func dial(t testing.TB) (*zk.Conn, *Session) {
	t.Helper()
	servers := os.Getenv("LEADERSCOPE_ZOOKEEPER")
	if servers == "" {
		t.Fatal("LEADERSCOPE_ZOOKEEPER is not set; it names servers, such as 127.0.0.1:2181")
	}
	s := &Session{}
	conn, events, err := zk.Connect(strings.Split(servers, ","), asked, zk.WithLogInfo(false),
		zk.WithEventCallback(s.Event), zk.WithDialer(s.Dialer(nil)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	for e := range events {
		if e.State == zk.StateHasSession {
			break
		}
	}
	return conn, s
}
