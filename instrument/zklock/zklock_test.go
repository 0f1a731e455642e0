package zklock

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
)

func TestConformance(t *testing.T) {
	server := newTree()
	electtest.Conformance(t, electtest.Suite{
		New:     func(_ testing.TB, lock string) instrument.Acquirer { return server.connect().elector("/locks/" + lock) },
		Options: []instrument.ElectionOption{instrument.Hold(), instrument.Backend("zookeeper")},
		Waits:   true, Lease: timeout, RenewsItself: true, Fenced: true,
		Lose: func(_ testing.TB, lock string) {
			first := server.holder("/locks/" + lock)
			server.mu.Lock()
			defer server.mu.Unlock()
			server.drop(first)
		},
	})
}

func TestTermOfANode(t *testing.T) {
	server := newTree()
	c := server.connect()
	asked := time.Now()
	lease := acquire(t, c.elector("/leader"))
	_, stat, _ := c.Exists(server.holder("/leader"))
	if token, ok := lease.(instrument.Fencer).FencingToken(); !ok || token != uint64(stat.Czxid) {
		t.Errorf("token %d, %v; want the czxid %d", token, ok, stat.Czxid)
	}
	if remaining := lease.(instrument.Expirer).Expiry().Sub(asked); remaining < timeout || remaining > timeout+time.Second {
		t.Errorf("lease ends %v after asking, want about %v", remaining, timeout)
	}
	renewed := receive(t, watch(t, lease).renewed)
	if length := renewed.Expiry.Sub(renewed.Sent); length != timeout || renewed.Granted != timeout || lease.(instrument.Granter).LeaseDuration() != timeout {
		t.Errorf("renewed with %+v, want a lease of %v", renewed, timeout)
	}
	if err := lease.Release(t.Context()); err != nil {
		t.Error(err)
	}
	if err := lease.Release(t.Context()); !errors.Is(err, instrument.ErrSessionLost) {
		t.Errorf("second release: %v", err)
	}
}

func TestAnAttemptUnderAnEndedContextMakesNoNode(t *testing.T) {
	server := newTree()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	e := server.connect().elector("/leader").(*elector)
	if _, err := e.attempt(ctx, nil); err != context.Canceled {
		t.Errorf("got %v", err)
	}
	if made := server.created(); made != 0 {
		t.Errorf("%d nodes", made)
	}
}

func TestExpiredSessionIsALoss(t *testing.T) {
	c := newTree().connect()
	a := c.elector("/leader")
	lease := acquire(t, a)
	s := watch(t, lease)
	c.expire()
	if reason, ok := classify(a, receive(t, s.lost)); !ok || reason != instrument.SessionLost {
		t.Errorf("lost by %v, %v", reason, ok)
	}
	err := lease.Release(t.Context())
	if reason, ok := classify(a, err); !ok || reason != instrument.SessionLost {
		t.Errorf("release returned %v, classified as %v, %v", err, reason, ok)
	}
	acquire(t, a) // the client has made a new session
}

func TestNodeThatIsGoneIsNoWin(t *testing.T) {
	c := newTree().connect()
	e := c.elector("/leader").(*elector)
	place, err := e.join()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Delete(place.node, -1); err != nil {
		t.Fatal(err)
	}
	if err := place.first(t.Context(), c.session.end(), newWitness(nil, c.session, place)); !errors.Is(err, instrument.ErrSessionLost) {
		t.Errorf("with an empty queue: %v", err)
	}
}

func TestNodeOfAnotherSessionIsNoWin(t *testing.T) {
	server := newTree()
	theirs, err := server.connect().elector("/leader").(*elector).join()
	if err != nil {
		t.Fatal(err)
	}
	c := server.connect()
	if _, err := watched(c, c.session, c.session.end(), theirs.node); !errors.Is(err, instrument.ErrSessionLost) {
		t.Errorf("got %v", err)
	}
}

func TestSessionThatExpiresWhileItWaitsIsNoWin_C02(t *testing.T) {
	server := newTree()
	first := acquire(t, server.connect().elector("/leader"))
	c := server.connect()
	failed := start(t.Context(), c.elector("/leader"))
	waitFor(t, func() bool { return server.count("/leader") == 2 })
	c.expire()
	if err := receive(t, failed); !errors.Is(err, instrument.ErrSessionLost) {
		t.Errorf("got %v", err)
	}
	if err := first.Release(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestCancelledAttemptLeavesNoNode(t *testing.T) {
	server := newTree()
	first := acquire(t, server.connect().elector("/leader"))
	ctx, cancel := context.WithCancel(t.Context())
	failed := start(ctx, server.connect().elector("/leader"))
	waitFor(t, func() bool { return server.count("/leader") == 2 })
	cancel()
	if err := receive(t, failed); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if n := server.count("/leader"); n != 1 {
		t.Errorf("%d nodes", n)
	}
	if err := first.Release(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestNodeWhoseCreationWasNotAnsweredIsRemovedOnceTheServerIsBack(t *testing.T) {
	server := newTree()
	c := server.connect()
	acquireAndRelease(t, c.elector("/leader"))
	c.ambiguous = true
	if _, err := c.elector("/leader").Acquire(t.Context()); !errors.Is(err, zk.ErrConnectionClosed) {
		t.Fatalf("got %v", err)
	}
	if n := server.count("/leader"); n != 1 {
		t.Fatalf("%d nodes", n)
	}
	c.set(nil)
	waitFor(t, func() bool { return server.count("/leader") == 0 })
}

func TestReleaseThatCannotBeSentIsMadeUpFor(t *testing.T) {
	server := newTree()
	c := server.connect()
	lease := acquire(t, c.elector("/leader"))
	c.set(zk.ErrNoServer)
	if err := lease.Release(t.Context()); !errors.Is(err, zk.ErrNoServer) {
		t.Errorf("release: %v", err)
	}
	c.set(nil)
	waitFor(t, func() bool { return server.count("/leader") == 0 })
}

func TestReleaseBetweenTwoSessionsSaysThatTheSessionWasLost(t *testing.T) {
	c := newTree().connect()
	lease := acquire(t, c.elector("/leader"))
	c.expire()
	c.set(zk.ErrNoServer) // the client dials for its next session
	if err := lease.Release(t.Context()); !errors.Is(err, instrument.ErrSessionLost) {
		t.Errorf("release: %v", err)
	}
}

func TestServerThatIsAwayIsAFailedRenewalAndTheLockIsStillOursAfterwards(t *testing.T) {
	c := newTree().connect()
	lease := acquire(t, c.elector("/leader"))
	s := watch(t, lease)
	c.set(zk.ErrNoServer)
	if err := receive(t, s.failed); !errors.Is(err, zk.ErrNoServer) {
		t.Errorf("failed with %v", err)
	}
	time.Sleep(timeout) // until the lease end has passed
	c.set(nil)
	if r := receive(t, s.renewed); !r.Expiry.After(time.Now()) {
		t.Errorf("renewed until %v ago", time.Since(r.Expiry))
	}
	if len(s.lost) != 0 {
		t.Error("a lock whose node never went was lost")
	}
}

func TestANodeIsLookedAtAsSoonAsAnotherConnectionHasTheSession(t *testing.T) {
	c := newTree().connect()
	c.session.grant(time.Hour) // the next look is far away
	lease := acquire(t, c.elector("/leader"))
	s := watch(t, lease)
	for range 3 {
		select {
		case r := <-s.renewed:
			t.Fatalf("renewed with %+v before", r)
		default:
		}
		waitFor(t, func() bool { // the term has begun to listen
			c.session.mu.Lock()
			defer c.session.mu.Unlock()
			return c.session.back != nil
		})
		c.session.Event(zk.Event{Type: zk.EventSession, State: zk.StateDisconnected})
		c.session.Event(zk.Event{Type: zk.EventSession, State: zk.StateHasSession})
		receive(t, s.renewed)
	}
}

func TestAFollowerThatIsCutOffRenewsNothing(t *testing.T) {
	c := newTree().connect()
	lease := acquire(t, c.elector("/leader"))
	s := watch(t, lease)
	receive(t, s.renewed)
	c.mu.Lock()
	c.cutOff = zk.ErrConnectionClosed // the node is there all the same, in its copy
	c.mu.Unlock()
	if err := receive(t, s.failed); !errors.Is(err, zk.ErrConnectionClosed) {
		t.Errorf("failed with %v", err)
	}
}

func TestAConnectionThatTheProgramClosesEndsTheTermAtOnce(t *testing.T) {
	for name, reached := range map[string]bool{"the server hears of it": true, "the server is away": false} {
		t.Run(name, func(t *testing.T) {
			c := newTree().connect()
			lease := acquire(t, c.elector("/leader"))
			s := watch(t, lease)
			receive(t, s.renewed)
			closed := time.Now()
			c.close(reached)
			if cause := receive(t, s.lost); !errors.Is(cause, context.Canceled) {
				t.Errorf("cause %v, want a cancellation", cause)
			}
			if took := time.Since(closed); took > timeout/3 {
				t.Errorf("told after %v", took)
			}
		})
	}
}

func TestANodeThatIsDeletedIsALossAtOnce(t *testing.T) {
	server := newTree()
	lease := acquire(t, server.connect().elector("/leader"))
	s := watch(t, lease)
	receive(t, s.renewed)
	server.mu.Lock()
	for node := range server.nodes {
		if node != "/leader" {
			server.drop(node)
		}
	}
	server.mu.Unlock()
	if cause := receive(t, s.lost); !errors.Is(cause, instrument.ErrSessionLost) {
		t.Errorf("lost by %v, want ErrSessionLost", cause)
	}
}

func TestAnAttemptThatMayNotListTheQueueLeavesNoNode(t *testing.T) {
	server := newTree()
	c := server.connect()
	c.mayNot = true
	a := c.elector("/leader")
	_, err := a.Acquire(t.Context())
	if reason, ok := classify(a, err); !errors.Is(err, zk.ErrNoAuth) || !ok || reason != instrument.BackendError {
		t.Errorf("%v is classified as %v, %v", err, reason, ok)
	}
	if n := server.count("/leader"); n != 0 {
		t.Errorf("%d nodes", n)
	}
}

func TestErrorsHaveReasons(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want instrument.Reason
		ok   bool
	}{
		"the lock is locked":              {zk.ErrDeadlock, instrument.AlreadyHeld, true},
		"the node is gone":                {zk.ErrNoNode, instrument.SessionLost, true},
		"the session has expired":         {zk.ErrSessionExpired, instrument.SessionLost, true},
		"no server is there":              {zk.ErrNoServer, instrument.BackendError, true},
		"the connection is lost":          {zk.ErrConnectionClosed, instrument.BackendError, true},
		"the user may not":                {zk.ErrNoAuth, instrument.BackendError, true},
		"the caller gives up":             {context.Canceled, 0, false},
		"an error that is not known here": {errors.New("other"), 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			reason, ok := (reasons{}).Classify(fmt.Errorf("zklock: %w", c.err))
			if reason != c.want || ok != c.ok {
				t.Errorf("classified as %v, %v; want %v, %v", reason, ok, c.want, c.ok)
			}
		})
	}
}

// blocking is a zk.Lock as it behaves: it waits without a context, and an
// expired session leaves it unusable.
type blocking struct {
	free   chan struct{}
	locked bool
	conn   *conn
	node   string
}

func (b *blocking) Lock() (err error) {
	if b.locked {
		return zk.ErrDeadlock
	}
	<-b.free
	_, _ = b.conn.Create("/leader", nil, 0, nil)
	b.node, err = b.conn.Create("/leader/lock-", nil, zk.FlagEphemeral|zk.FlagSequence, nil)
	b.locked = err == nil
	return err
}

func (b *blocking) Unlock() error {
	if !b.locked {
		return zk.ErrNotLocked
	}
	if err := b.conn.Delete(b.node, -1); err != nil {
		return err
	}
	b.locked = false
	return nil
}

func TestLockOfTheProgram(t *testing.T) {
	c := newTree().connect()
	l := &blocking{free: make(chan struct{}), conn: c}
	a := &borrowed{conn: c, session: c.session, lock: l, path: "/leader"}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := a.Acquire(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the caller's deadline", err)
	}
	won := make(chan instrument.Lease, 1)
	go func() {
		lease, err := a.Acquire(t.Context()) // which has the place in the queue
		if err != nil {
			t.Error(err)
		}
		won <- lease
	}()
	time.Sleep(20 * time.Millisecond)
	close(l.free)
	lease := receive(t, won)
	s := watch(t, lease)
	if token, ok := lease.(instrument.Fencer).FencingToken(); !ok || token == 0 {
		t.Errorf("token %d, %v", token, ok)
	}
	_, err := a.Acquire(t.Context())
	if reason, ok := classify(a, err); err != zk.ErrDeadlock || !ok || reason != instrument.AlreadyHeld {
		t.Errorf("%v is classified as %v, %v", err, reason, ok)
	}
	c.expire()
	receive(t, s.lost)
	err = lease.Release(t.Context())
	if reason, ok := classify(a, err); err != zk.ErrNoNode || !ok || reason != instrument.SessionLost {
		t.Errorf("%v is classified as %v, %v", err, reason, ok)
	}
}

func TestALockOfTheProgramThatNobodyWaitsForIsGivenBack(t *testing.T) {
	server := newTree()
	c := server.connect()
	l := &blocking{free: make(chan struct{}), conn: c}
	a := &borrowed{conn: c, session: c.session, lock: l, path: "/leader"}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := a.Acquire(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the caller's deadline", err)
	}
	close(l.free)
	waitFor(t, func() bool { return server.count("/leader") == 0 && server.created() > 0 })
	if err := acquire(t, a).Release(t.Context()); err != nil {
		t.Errorf("the next term: %v", err)
	}
}

func TestGrantedTimeoutIsReadFromTheFirstAnswer(t *testing.T) {
	var s Session
	here, there := net.Pipe()
	dialed, err := s.Dialer(func(string, string, time.Duration) (net.Conn, error) { return here, nil })("", "", 0)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		answer := make([]byte, 4+37)
		binary.BigEndian.PutUint32(answer, 37)
		binary.BigEndian.PutUint32(answer[8:], 4000)
		_, _ = there.Write(answer)
		_ = there.Close()
	}()
	if _, err := io.ReadFull(dialed, make([]byte, 4)); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(dialed); err != nil || len(rest) != 37 {
		t.Fatalf("%d bytes passed: %v", len(rest), err)
	}
	if s.granted() != 4*time.Second {
		t.Errorf("granted %v", s.granted())
	}
}

func acquire(t *testing.T, a instrument.Acquirer) instrument.Lease {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	lease, err := a.Acquire(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return lease
}

func acquireAndRelease(t *testing.T, a instrument.Acquirer) {
	t.Helper()
	if err := acquire(t, a).Release(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// start acquires in the background and hands over the error.
func start(ctx context.Context, a instrument.Acquirer) <-chan error {
	failed := make(chan error, 1)
	go func() {
		_, err := a.Acquire(ctx)
		failed <- err
	}()
	return failed
}

func classify(a instrument.Acquirer, err error) (instrument.Reason, bool) {
	return a.(instrument.Classifier).Classify(err)
}

// reports are what a Watcher has reported.
type reports struct {
	renewed chan instrument.Renewal
	failed  chan error
	lost    chan error
}

// watch runs the lease's Watcher until the test ends.
func watch(t *testing.T, lease instrument.Lease) *reports {
	t.Helper()
	r := &reports{renewed: make(chan instrument.Renewal, 100), failed: make(chan error, 100), lost: make(chan error, 100)}
	sink := electtest.NewSink(electtest.Reports{
		Renewed:       func(n instrument.Renewal) { r.renewed <- n },
		RenewalFailed: func(err error) { r.failed <- err },
		Lost:          func(cause error) { r.lost <- cause },
	})
	ctx, cancel := context.WithCancel(context.Background())
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		lease.(instrument.Watcher).Watch(ctx, sink)
	}()
	t.Cleanup(func() { cancel(); <-stopped })
	return r
}

func receive[T any](t *testing.T, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(30 * time.Second):
		t.Fatal("nothing came within 30 s")
		panic("unreachable")
	}
}

func waitFor(t *testing.T, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("not within 30 s")
		}
	}
}

// bomb is a lock whose client panics.
type bomb struct{}

func (bomb) Lock() error   { panic("boom") }
func (bomb) Unlock() error { return nil }

func TestAPanicOfTheLockReachesTheCaller(t *testing.T) {
	a := &borrowed{session: &Session{}, lock: bomb{}, path: "/x"}
	for range 2 { // the next attempt locks again
		func() {
			defer func() {
				if p := recover(); p != "boom" {
					t.Errorf("recovered %v", p)
				}
			}()
			_, err := a.Acquire(t.Context())
			t.Errorf("returned %v", err)
		}()
	}
}
