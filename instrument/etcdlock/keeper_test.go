package etcdlock

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	"go.uber.org/zap"
	"google.golang.org/grpc"

	"github.com/leaderscope/leaderscope/instrument"
)

// backend is a Lease whose answers a test decides.
type backend struct {
	clientv3.Lease
	once   func(context.Context) (*clientv3.LeaseKeepAliveResponse, error)
	stream chan *clientv3.LeaseKeepAliveResponse
}

func (b *backend) KeepAliveOnce(ctx context.Context, _ clientv3.LeaseID) (*clientv3.LeaseKeepAliveResponse, error) {
	return b.once(ctx)
}

func (b *backend) KeepAlive(context.Context, clientv3.LeaseID) (<-chan *clientv3.LeaseKeepAliveResponse, error) {
	return b.stream, nil
}

func granted() (*clientv3.LeaseKeepAliveResponse, error) {
	return &clientv3.LeaseKeepAliveResponse{TTL: 15}, nil
}

// keeping runs a keeper with a lease of 15 s in a bubble.
func keeping(t *testing.T, b *backend) (*keeper, *reports, <-chan struct{}) {
	t.Helper()
	c := clientv3.NewCtxClient(t.Context())
	c.Lease = b
	k := newKeeper(c, time.Now(), 15*time.Second)
	s := newSink()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	go k.Watch(ctx, s.Sink)
	synctest.Wait()
	done := make(chan struct{})
	answers, _ := k.KeepAlive(ctx, 1)
	go func() {
		defer close(done)
		for range answers {
		}
	}()
	return k, s, done
}

func TestKeeperRenewsEachThirdAndCountsFromTheRequest_C04(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		k, s, _ := keeping(t, &backend{once: func(ctx context.Context) (*clientv3.LeaseKeepAliveResponse, error) {
			if !sleepUntil(ctx, time.Now().Add(3*time.Second)) { // the answer takes its time
				return nil, ctx.Err()
			}
			return granted()
		}})
		for _, sent := range []time.Duration{5, 10, 15} {
			want := start.Add(sent*time.Second + 15*time.Second)
			got := <-s.renewed
			if !got.Expiry.Equal(want) || !k.Expiry().Equal(want) || !got.Sent.Equal(start.Add(sent*time.Second)) || got.Granted != 15*time.Second {
				t.Errorf("renewal %+v; want one until %v", got, want)
			}
		}
	})
}

func TestKeeperGivesUpAHungRenewalAndEndsBeforeTheLease_C03(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		_, s, done := keeping(t, &backend{once: func(ctx context.Context) (*clientv3.LeaseKeepAliveResponse, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}})
		<-done
		if took := time.Since(start); took != 13500*time.Millisecond {
			t.Errorf("the session ended after %v, want a tenth before its lease does, after 13.5 s", took)
		}
		if cause := <-s.lost; !errors.Is(cause, instrument.ErrGaveUp) {
			t.Errorf("cause %v, want ErrGaveUp", cause)
		}
		if len(s.failed) != 2 || len(s.renewed) != 0 {
			t.Errorf("%d renewals failed and %d succeeded, want 2 and 0", len(s.failed), len(s.renewed))
		}
	})
}

func TestKeeperTriesAgainSoonAfterAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		calls := 0
		k, s, _ := keeping(t, &backend{once: func(context.Context) (*clientv3.LeaseKeepAliveResponse, error) {
			if calls++; calls == 1 {
				return nil, rpctypes.ErrNoLeader
			}
			return granted()
		}})
		if err := <-s.failed; !errors.Is(err, rpctypes.ErrNoLeader) {
			t.Errorf("failed with %v", err)
		}
		<-s.renewed
		if got, want := k.Expiry().Sub(start), 22500*time.Millisecond; got != want {
			t.Errorf("lease ends after %v, want %v", got, want)
		}
	})
}

func TestKeeperAsksASecondTimeWhenTheFirstIsNotAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var calls atomic.Int32
		k, s, _ := keeping(t, &backend{once: func(ctx context.Context) (*clientv3.LeaseKeepAliveResponse, error) {
			if calls.Add(1) == 1 {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return granted()
		}})
		if r := <-s.renewed; !r.Sent.Equal(start.Add(5 * time.Second)) {
			t.Errorf("renewal %+v, want one that was sent after 5 s", r)
		}
		if took := time.Since(start); took != 7500*time.Millisecond {
			t.Errorf("renewed after %v, want after 5 s and half of the patience of 5 s", took)
		}
		if got, want := k.Expiry().Sub(start), 22500*time.Millisecond; got != want {
			t.Errorf("lease ends after %v, want %v", got, want)
		}
		if len(s.failed) != 0 {
			t.Errorf("%d renewals failed, want none", len(s.failed))
		}
	})
}

func TestKeeperBelievesNoAnswerThatCameAfterTheLeaseEnd_C16(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k, s, done := keeping(t, &backend{once: func(context.Context) (*clientv3.LeaseKeepAliveResponse, error) {
			time.Sleep(time.Minute) // suspended with the answer in the socket
			return granted()
		}})
		<-done
		if cause := <-s.lost; !errors.Is(cause, instrument.ErrGaveUp) {
			t.Errorf("cause %v", cause)
		}
		time.Sleep(time.Hour)
		if len(s.renewed) != 0 || time.Now().Before(k.Expiry()) {
			t.Error("a dead lease was renewed")
		}
	})
}

func TestARenewalIsNotSentWithoutAConnection(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil { // so that connections are refused
		t.Fatal(err)
	}
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{address}, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	ctx, cancel := context.WithTimeout(t.Context(), 5*redialEvery)
	defer cancel()
	if err := connected(ctx, c); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("without a server: %v", err)
	}
	k := newKeeper(c, time.Now(), time.Minute)
	if err := k.ask(ctx, 1, time.Now().Add(time.Minute)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a renewal without a server: %v", err)
	}

	l, err = net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	go func() { _ = server.Serve(l) }()
	defer server.Stop()
	soon, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := connected(soon, c); err != nil {
		t.Errorf("with a server: %v", err)
	}
}

func TestKeeperEndsAtOnceWhenTheServerKnowsNoLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		_, s, done := keeping(t, &backend{once: func(context.Context) (*clientv3.LeaseKeepAliveResponse, error) {
			return nil, rpctypes.ErrLeaseNotFound
		}})
		<-done
		if took := time.Since(start); took != 5*time.Second {
			t.Errorf("the session ended after %v, want with the first renewal after 5 s", took)
		}
		if cause := <-s.lost; !errors.Is(cause, rpctypes.ErrLeaseNotFound) {
			t.Errorf("cause %v", cause)
		}
	})
}

func TestAKeeperThatStoppedBeforeTheTermWatchesTellsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clientv3.NewCtxClient(t.Context())
		c.Lease = &backend{once: func(context.Context) (*clientv3.LeaseKeepAliveResponse, error) { return nil, rpctypes.ErrLeaseNotFound }}
		k := newKeeper(c, time.Now(), 15*time.Second)
		answers, _ := k.KeepAlive(t.Context(), 1)
		<-answers
		s := newSink()
		ctx, cancel := context.WithCancel(t.Context())
		go k.Watch(ctx, s.Sink)
		if cause := <-s.lost; !errors.Is(cause, rpctypes.ErrLeaseNotFound) {
			t.Errorf("cause %v", cause)
		}
		cancel()
	})
}

func TestListenerBelievesNoAnswerThatCameAfterTheLeaseEnd_C16(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clientv3.NewCtxClient(t.Context())
		kept, answers := make(chan *clientv3.LeaseKeepAliveResponse), make(chan *clientv3.LeaseKeepAliveResponse)
		defer close(kept)
		c.Lease = &backend{stream: kept}
		session, err := concurrency.NewSession(c, concurrency.WithLease(1))
		if err != nil {
			t.Fatal(err)
		}
		c.Lease = &backend{stream: answers}
		s := newSink()
		done := make(chan struct{})
		go func() {
			defer close(done)
			(&listener{session: session}).Watch(t.Context(), s.Sink)
		}()
		answers <- &clientv3.LeaseKeepAliveResponse{TTL: 15}
		want := time.Now().Add(15 * time.Second)
		if got := <-s.renewed; !got.Expiry.Equal(want) {
			t.Errorf("renewal %+v, want one until %v", got, want)
		}
		time.Sleep(20 * time.Second)
		answers <- &clientv3.LeaseKeepAliveResponse{TTL: 15}
		if cause := <-s.lost; !errors.Is(cause, errLapsed) {
			t.Errorf("cause %v", cause)
		}
		<-done
	})
}
