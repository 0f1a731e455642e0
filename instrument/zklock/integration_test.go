//go:build integration

package zklock

import (
	"context"
	"errors"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/instrument/electtest/tcpproxy"
)

// asked is the timeout that the tests ask for; the server may grant another.
const asked = 4 * time.Second

func TestConformanceOfAServer(t *testing.T) {
	admin, _ := dial(t)
	electtest.Conformance(t, electtest.Suite{
		New: func(t testing.TB, lock string) instrument.Acquirer {
			conn, s := dial(t)
			return NewElection(conn, s, "/leaderscope/"+lock, "replica-1", zk.WorldACL(zk.PermAll))
		},
		Options: []instrument.ElectionOption{instrument.Hold(), instrument.Backend("zookeeper")},
		Waits:   true, Lease: asked, RenewsItself: true, Fenced: true,
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
	other, theirSession := dial(t)
	ours := NewElection(other, theirSession, path, "replica-2", zk.WorldACL(zk.PermAll))
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

func TestConnectionCutForLessThanTheTimeoutIsNoLoss(t *testing.T) {
	var w wire
	conn, s := dialBy(t, w.dial)
	lease := acquire(t, NewElection(conn, s, "/leaderscope/short", "replica-1", zk.WorldACL(zk.PermAll)))
	seen := watch(t, lease)
	receive(t, seen.renewed)
	w.cut(true)
	receive(t, seen.failed)
	w.cut(false)
	before := time.Now()
	for !receive(t, seen.renewed).Expiry.After(before.Add(asked / 2)) {
	}
	if err := lease.Release(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestConnectionCutForMoreThanTheTimeoutIsOverAtItsEndAndLostWhenItIsBack(t *testing.T) {
	var w wire
	conn, s := dialBy(t, w.dial)
	e, series := election(t)
	const path = "/leaderscope/long"
	term, err := e.Acquire(t.Context(), NewElection(conn, s, path, "replica-1", zk.WorldACL(zk.PermAll)))
	if err != nil {
		t.Fatal(err)
	}
	w.cut(true)
	other, theirSession := dial(t)
	next := acquire(t, NewElection(other, theirSession, path, "replica-2", zk.WorldACL(zk.PermAll)))
	if r := series(); r[electtest.Of(catalog.Active)] != 0 {
		t.Errorf("two hold the lock: %v", r)
	}
	w.cut(false)
	<-term.Context().Done()
	if r := series(); r[electtest.Of(catalog.TermsEnded, catalog.Lost.String())] != 1 {
		t.Errorf("%v", r)
	}
	if err := term.Release(t.Context()); !errors.Is(err, instrument.ErrSessionLost) {
		t.Errorf("release: %v", err)
	}
	if err := next.Release(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestConnectionThatTheProgramClosesEndsTheTermAtOnce(t *testing.T) {
	conn, s := dial(t)
	lease := acquire(t, NewElection(conn, s, "/leaderscope/closed", "replica-1", zk.WorldACL(zk.PermAll)))
	seen := watch(t, lease)
	receive(t, seen.renewed)
	closed := time.Now()
	conn.Close()
	if cause := receive(t, seen.lost); !errors.Is(cause, context.Canceled) {
		t.Errorf("cause %v, want a cancellation", cause)
	}
	if took := time.Since(closed); took > asked/4 {
		t.Errorf("told after %v", took)
	}
}

func TestNodeThatIsDeletedIsALossAtOnce(t *testing.T) {
	conn, s := dial(t)
	const path = "/leaderscope/deleted"
	lease := acquire(t, NewElection(conn, s, path, "replica-1", zk.WorldACL(zk.PermAll)))
	seen := watch(t, lease)
	receive(t, seen.renewed)
	admin, _ := dial(t)
	node, err := lowest(admin, path)
	if err != nil {
		t.Fatal(err)
	}
	deleted := time.Now()
	if err := admin.Delete(node, -1); err != nil {
		t.Fatal(err)
	}
	if cause := receive(t, seen.lost); !errors.Is(cause, instrument.ErrSessionLost) {
		t.Errorf("lost by %v, want ErrSessionLost", cause)
	}
	if took := time.Since(deleted); took > asked/4 {
		t.Errorf("told after %v", took)
	}
}

// wire makes connections that can be cut.
type wire struct {
	mu   sync.Mutex
	down bool
	open []net.Conn
}

func (w *wire) dial(network, address string, timeout time.Duration) (net.Conn, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.down {
		return nil, errors.New("cut")
	}
	c, err := net.DialTimeout(network, address, timeout)
	if err == nil {
		w.open = append(w.open, c)
	}
	return c, err
}

func (w *wire) cut(down bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.down = down
	for _, c := range w.open {
		_ = c.Close()
	}
	w.open = nil
}

func election(t *testing.T) (*instrument.Election, func() electtest.Series) {
	t.Helper()
	m, err := instrument.New()
	if err != nil {
		t.Fatal(err)
	}
	return m.Election("lock", instrument.Hold()), func() electtest.Series { return electtest.Read(m, "lock") }
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
	return dialBy(t, nil)
}

func dialBy(t testing.TB, by zk.Dialer) (*zk.Conn, *Session) {
	t.Helper()
	servers := os.Getenv("LEADERSCOPE_ZOOKEEPER")
	if servers == "" {
		t.Fatal("LEADERSCOPE_ZOOKEEPER is not set; it names servers, such as 127.0.0.1:2181")
	}
	s := &Session{}
	conn, events, err := zk.Connect(strings.Split(servers, ","), asked, zk.WithLogInfo(false),
		zk.WithEventCallback(s.Event), zk.WithDialer(s.Dialer(by)))
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

// distant connects by a way that the test can silence.
func distant(t *testing.T) (*zk.Conn, *Session, *tcpproxy.Proxy) {
	t.Helper()
	way := tcpproxy.New(t, strings.Split(os.Getenv("LEADERSCOPE_ZOOKEEPER"), ",")[0])
	conn, s := dialBy(t, func(network, _ string, timeout time.Duration) (net.Conn, error) {
		return net.DialTimeout(network, way.Address(), timeout)
	})
	return conn, s, way
}

func TestCallsOnASilentConnectionEndWithTheirContextAndLeaveNothing(t *testing.T) {
	const path = "/leaderscope/silent"
	conn, s, way := distant(t)
	admin, _ := dial(t)
	a := NewElection(conn, s, path, "replica-1", zk.WorldACL(zk.PermAll))
	lease := acquire(t, a)
	way.Block()
	for name, call := range map[string]func(context.Context) error{
		"release": lease.Release,
		"acquire": func(ctx context.Context) error { _, err := a.Acquire(ctx); return err },
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		called := time.Now()
		if err := call(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: got %v, want the caller's deadline", name, err)
		}
		cancel()
		if took := time.Since(called); took > prompt {
			t.Errorf("%s returned after %v", name, took)
		}
	}
	way.Cut() // what was sent is lost
	way.Resume()
	waitFor(t, func() bool {
		children, _, err := admin.Children(path)
		return err == nil && len(children) == 0
	})
	if err := lease.Release(t.Context()); err != nil {
		t.Errorf("the second release: %v", err)
	}
}
