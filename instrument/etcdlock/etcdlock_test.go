package etcdlock

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
)

const ttl = 2 * time.Second

func TestTermOfAFreshSession(t *testing.T) {
	_, c := server(t)
	for name, a := range map[string]instrument.Acquirer{
		"election":  NewElection(c, "/fresh/election", "replica-1", ttl),
		"mutex":     NewMutex(c, "/fresh/mutex", ttl),
		"try mutex": NewTryMutex(c, "/fresh/try", ttl),
	} {
		t.Run(name, func(t *testing.T) {
			asked := time.Now()
			lease := acquire(t, a)
			token, ok := lease.(instrument.Fencer).FencingToken()
			if !ok || token == 0 {
				t.Errorf("token %d, %v; want the revision", token, ok)
			}
			first := lease.(instrument.Expirer).Expiry()
			if remaining := first.Sub(asked); remaining < ttl || remaining > ttl+time.Second {
				t.Errorf("lease ends %v after asking, want about %v", remaining, ttl)
			}
			s := watch(t, lease)
			renewed := receive(t, s.renewed)
			if !renewed.Expiry.After(first) || renewed.Sent.IsZero() || renewed.Granted != ttl {
				t.Errorf("renewed with %+v, the lease of %v ended at %v before", renewed, ttl, first)
			}
			if length := lease.(instrument.Granter).LeaseDuration(); length != ttl {
				t.Errorf("lease of %v, want %v", length, ttl)
			}
			if err := lease.Release(t.Context()); err != nil {
				t.Error(err)
			}
			receive(t, s.lost)
			if n := keys(t, c, "/fresh/"); n != 0 {
				t.Errorf("%d keys left after the release", n)
			}
			again := acquire(t, a)
			next, _ := again.(instrument.Fencer).FencingToken()
			if next <= token {
				t.Errorf("second term has token %d, not above %d", next, token)
			}
			if err := again.Release(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestTermOfACallersSession(t *testing.T) {
	_, c := server(t)
	s := callersSession(t, c)
	for name, a := range map[string]instrument.Acquirer{
		"election":  Election(s, concurrency.NewElection(s, "/own/election"), "replica-1"),
		"mutex":     Mutex(s, concurrency.NewMutex(s, "/own/mutex")),
		"try mutex": TryMutex(s, concurrency.NewMutex(s, "/own/try")),
	} {
		t.Run(name, func(t *testing.T) {
			lease := acquire(t, a)
			if token, ok := lease.(instrument.Fencer).FencingToken(); !ok || token == 0 {
				t.Errorf("token %d, %v; want the revision", token, ok)
			}
			if remaining := time.Until(lease.(instrument.Expirer).Expiry()); remaining > ttl {
				t.Errorf("lease ends in %v, want up to %v", remaining, ttl)
			}
			w := watch(t, lease)
			renewed := receive(t, w.renewed)
			if remaining := time.Until(renewed.Expiry); remaining <= 0 || remaining > ttl || renewed.Granted != ttl {
				t.Errorf("renewed for %v with %+v, want up to %v", remaining, renewed, ttl)
			}
			if err := lease.Release(t.Context()); err != nil {
				t.Error(err)
			}
			if ended(s) {
				t.Error("the release ended the caller's session")
			}
			if n := keys(t, c, "/own/"); n != 0 {
				t.Errorf("%d keys left after the release", n)
			}
		})
	}
}

func TestTryMutexOfAnotherIsContended(t *testing.T) {
	_, c := server(t)
	holder := acquire(t, NewMutex(c, "/busy", ttl))
	defer holder.Release(context.WithoutCancel(t.Context()))
	s := callersSession(t, c)
	for name, a := range map[string]instrument.Acquirer{
		"fresh session":    NewTryMutex(c, "/busy", ttl),
		"caller's session": TryMutex(s, concurrency.NewMutex(s, "/busy")),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := a.Acquire(t.Context())
			if !errors.Is(err, concurrency.ErrLocked) {
				t.Fatalf("got %v, want ErrLocked", err)
			}
			if reason, ok := classify(a, err); !ok || reason != instrument.Contended {
				t.Errorf("classified as %v, %v", reason, ok)
			}
			if n := keys(t, c, "/busy"); n != 1 {
				t.Errorf("%d keys, want the holder's alone", n)
			}
		})
	}
}

func TestSessionThatLapsesWhileItCampaignsIsNoWin_C02(t *testing.T) {
	_, c := server(t)
	for _, name := range []string{"fresh session", "caller's session"} {
		t.Run(name, func(t *testing.T) {
			leader := acquire(t, NewElection(c, "/phantom", "leader", 10*time.Second))
			s := callersSession(t, c)
			a := Election(s, concurrency.NewElection(s, "/phantom"), "standby")
			if name == "fresh session" {
				a = NewElection(c, "/phantom", "standby", ttl)
			}
			failed := start(t.Context(), a)
			standby := waiter(t, c, "/phantom/")
			if _, err := c.Revoke(t.Context(), standby); err != nil {
				t.Fatal(err)
			}
			if err := receive(t, failed); !errors.Is(err, instrument.ErrSessionLost) {
				t.Errorf("got %v, want ErrSessionLost", err)
			}
			if err := leader.Release(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestCampaignThatReturnsSuccessAfterItsSessionIsNoWin_C02(t *testing.T) {
	_, c := server(t)
	s := callersSession(t, c)
	_, err := onSession(s, phantom{s}, false).Acquire(t.Context())
	if !errors.Is(err, instrument.ErrSessionLost) {
		t.Errorf("got %v, want ErrSessionLost", err)
	}
}

// phantom says it won when its session has ended.
type phantom struct{ session *concurrency.Session }

func (phantom) waits() bool                     { return true }
func (p phantom) acquire(context.Context) error { p.session.Orphan(); return nil }
func (phantom) token() uint64                   { return 1 }
func (phantom) key() string                     { return "/phantom" }
func (phantom) owner() clientv3.Cmp             { return clientv3.Cmp{} }
func (phantom) leavesNothing() bool             { return true }

func (phantom) leftKey(context.Context) (string, error) { return "", nil }

func (phantom) created(context.Context, *clientv3.Client) (int64, error) { return 1, nil }

func TestCancelledAttemptLeavesNoKey(t *testing.T) {
	_, c := server(t)
	leader := acquire(t, NewElection(c, "/queue", "leader", 10*time.Second))
	defer leader.Release(context.WithoutCancel(t.Context()))

	ctx, cancel := context.WithCancel(t.Context())
	failed := start(ctx, NewElection(c, "/queue", "standby", 10*time.Second))
	waiter(t, c, "/queue/")
	cancel()
	if err := receive(t, failed); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the caller's cancellation", err)
	}
	if n := keys(t, c, "/queue/"); n != 1 {
		t.Errorf("%d keys, want the leader's alone", n)
	}
}

func TestTermEndsWithItsLeaseWhenTheServerIsGone(t *testing.T) {
	stop, c := server(t)
	lease := acquire(t, NewElection(c, "/cut", "leader", ttl))
	w := watch(t, lease)
	receive(t, w.renewed)
	go stop() // which waits for streams
	if err := receive(t, w.lost); !errors.Is(err, instrument.ErrGaveUp) {
		t.Errorf("cause %v, want ErrGaveUp", err)
	}
	if remaining := time.Until(lease.(instrument.Expirer).Expiry()); remaining > ttl/10 || remaining < -ttl/2 {
		t.Errorf("lost with %v of the lease left, want a tenth", remaining)
	}
	if len(w.failed) == 0 {
		t.Error("no failed renewal was reported")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := lease.Release(ctx); err == nil || errors.Is(err, instrument.ErrSessionLost) {
		t.Errorf("release returned %v, want an error that does not know whose the lock is", err)
	}
}

func TestAReleaseAfterGivingUpGivesTheLockBack(t *testing.T) {
	_, c := server(t)
	s, err := open(t.Context(), c, ttl)
	if err != nil {
		t.Fatal(err)
	}
	m := mutex{concurrency.NewMutex(s.Session, "/gave-up")}
	if err := m.acquire(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.Orphan() // as when the keeper has given up
	if err := s.release(t.Context(), m); err != nil {
		t.Error(err)
	}
	if n := keys(t, c, "/gave-up"); n != 0 {
		t.Errorf("%d keys left after the release", n)
	}
	if err := s.release(t.Context(), m); !errors.Is(err, instrument.ErrSessionLost) {
		t.Errorf("the second release returned %v, want ErrSessionLost", err)
	}
}

func TestALeaderWhoseClientIsClosedWasStopped(t *testing.T) {
	_, c := server(t)
	w := watch(t, acquire(t, NewElection(c, "/closed", "leader", ttl)))
	receive(t, w.renewed)
	c.Close()
	if cause := receive(t, w.lost); !errors.Is(cause, context.Canceled) {
		t.Errorf("cause %v, want a cancellation", cause)
	}
}

func TestAttemptWithoutABackendEndsWithTheLeaseItAskedFor(t *testing.T) {
	stop, c := server(t)
	stop()
	a := NewElection(c, "/away", "replica-1", time.Second)
	_, err := a.Acquire(t.Context())
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want a deadline", err)
	}
	if reason, ok := classify(a, err); !ok || reason != instrument.BackendError {
		t.Errorf("%v is classified as %v, %v", err, reason, ok)
	}
}

func TestRevokedLeaseIsLostAndItsReleaseSaysSo(t *testing.T) {
	_, c := server(t)
	a := NewElection(c, "/revoked", "leader", ttl)
	lease := acquire(t, a)
	w := watch(t, lease)
	if _, err := c.Revoke(t.Context(), waiterAt(t, c, "/revoked/", 0)); err != nil {
		t.Fatal(err)
	}
	if reason, ok := classify(a, receive(t, w.lost)); !ok || reason != instrument.SessionLost {
		t.Errorf("lost by %v, %v", reason, ok)
	}
	err := lease.Release(t.Context())
	if reason, ok := classify(a, err); !ok || reason != instrument.SessionLost {
		t.Errorf("release returned %v, classified as %v, %v", err, reason, ok)
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

func TestErrorsHaveReasons(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want instrument.Reason
		ok   bool
	}{
		"another session holds the mutex": {concurrency.ErrLocked, instrument.Contended, true},
		"the lease is gone":               {rpctypes.ErrLeaseNotFound, instrument.SessionLost, true},
		"the cluster has no leader":       {rpctypes.ErrNoLeader, instrument.BackendError, true},
		"the server is out of space":      {rpctypes.ErrNoSpace, instrument.BackendError, true},
		"the user may not":                {rpctypes.ErrPermissionDenied, instrument.BackendError, true},
		"gRPC gives up":                   {status.Error(codes.ResourceExhausted, "too large"), instrument.BackendError, true},
		"no answer in time":               {context.DeadlineExceeded, instrument.BackendError, true},
		"the caller gives up":             {context.Canceled, 0, false},
		"an error that is not known here": {errors.New("other"), 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			reason, ok := (reasons{}).Classify(fmt.Errorf("etcdlock: %w", c.err))
			if reason != c.want || ok != c.ok {
				t.Errorf("classified as %v, %v; want %v, %v", reason, ok, c.want, c.ok)
			}
		})
	}
}

func callersSession(t testing.TB, c *clientv3.Client) *concurrency.Session {
	t.Helper()
	s, err := concurrency.NewSession(c, concurrency.WithTTL(int(ttl/time.Second)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Orphan)
	return s
}

func keys(t *testing.T, c *clientv3.Client, prefix string) int64 {
	t.Helper()
	resp, err := c.Get(t.Context(), prefix, clientv3.WithPrefix(), clientv3.WithCountOnly())
	if err != nil {
		t.Fatal(err)
	}
	return resp.Count
}

// waiter is the lease of the second in the queue, once there is one.
func waiter(t *testing.T, c *clientv3.Client, prefix string) clientv3.LeaseID {
	t.Helper()
	return waiterAt(t, c, prefix, 1)
}

func waiterAt(t testing.TB, c *clientv3.Client, prefix string, place int) clientv3.LeaseID {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	changes := c.Watch(ctx, prefix, clientv3.WithPrefix())
	for {
		resp, err := c.Get(ctx, prefix, clientv3.WithPrefix(), clientv3.WithSort(clientv3.SortByCreateRevision, clientv3.SortAscend))
		if err != nil {
			t.Fatal(err)
		}
		if len(resp.Kvs) > place {
			return clientv3.LeaseID(resp.Kvs[place].Lease)
		}
		<-changes
	}
}

// reports are what a Watcher has reported.
type reports struct {
	instrument.Sink
	lease   instrument.Lease
	renewed chan instrument.Renewal
	failed  chan error
	lost    chan error
}

func newSink() *reports {
	r := &reports{renewed: make(chan instrument.Renewal, 100), failed: make(chan error, 100), lost: make(chan error, 100)}
	r.Sink = electtest.NewSink(electtest.Reports{
		Renewed:       func(n instrument.Renewal) { r.renewed <- n },
		RenewalFailed: func(err error) { r.failed <- err },
		Lost:          func(cause error) { r.lost <- cause },
	})
	return r
}

// watch runs the lease's Watcher until the test ends.
func watch(t *testing.T, lease instrument.Lease) *reports {
	t.Helper()
	s := newSink()
	s.lease = lease
	ctx, cancel := context.WithCancel(context.Background())
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		lease.(instrument.Watcher).Watch(ctx, s.Sink)
	}()
	t.Cleanup(func() { cancel(); <-stopped })
	return s
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
