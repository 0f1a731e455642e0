package electors

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/etcdlock"
)

// EtcdClient is a client that keeps quiet.
func EtcdClient(address string, options ...grpc.DialOption) (*clientv3.Client, error) {
	return clientv3.New(clientv3.Config{Endpoints: []string{address}, Logger: zap.NewNop(), DialOptions: options})
}

// EtcdElection is an election whose leader's key has the replica's name.
func EtcdElection(_ context.Context, r Replica) (instrument.Acquirer, func(), error) {
	return etcd(r, func(c *clientv3.Client) instrument.Acquirer { return etcdlock.NewElection(c, r.Lock, r.ID, Lease) })
}

// EtcdMutex is a mutex.
func EtcdMutex(_ context.Context, r Replica) (instrument.Acquirer, func(), error) {
	return etcd(r, func(c *clientv3.Client) instrument.Acquirer { return etcdlock.NewMutex(c, r.Lock, Lease) })
}

func etcd(r Replica, make func(*clientv3.Client) instrument.Acquirer) (instrument.Acquirer, func(), error) {
	c, err := EtcdClient(r.Address, grpc.WithStreamInterceptor(r.hearKeepAlives), grpc.WithUnaryInterceptor(r.hearGrants))
	if err != nil {
		return nil, nil, err
	}
	return make(c), func() { c.Close() }, nil
}

// hearKeepAlives hears each answer that renews a lease.
func (r Replica) hearKeepAlives(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, streamer grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	s, err := streamer(ctx, desc, cc, method, opts...)
	if err != nil || !strings.HasSuffix(method, "/LeaseKeepAlive") {
		return s, err
	}
	return &keepAlives{ClientStream: s, replica: r, asked: map[int64][]time.Time{}}, nil
}

// hearGrants hears each answer that grants a lease.
func (r Replica) hearGrants(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoker grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	asked := time.Now()
	err := invoker(ctx, method, req, reply, cc, opts...)
	if err == nil && strings.HasSuffix(method, "/LeaseGrant") {
		r.answered(asked)
	}
	return err
}

// keepAlives is a stream that answers the requests of each lease in their order.
type keepAlives struct {
	grpc.ClientStream
	replica Replica

	mu    sync.Mutex
	asked map[int64][]time.Time // by lease, without an answer
}

func (s *keepAlives) SendMsg(m any) error {
	if request, ok := m.(*pb.LeaseKeepAliveRequest); ok {
		s.mu.Lock()
		s.asked[request.ID] = append(s.asked[request.ID], time.Now())
		s.mu.Unlock()
	}
	return s.ClientStream.SendMsg(m)
}

func (s *keepAlives) RecvMsg(m any) error {
	err := s.ClientStream.RecvMsg(m)
	if answer, ok := m.(*pb.LeaseKeepAliveResponse); ok && err == nil {
		s.mu.Lock()
		asked := s.asked[answer.ID][0]
		s.asked[answer.ID] = s.asked[answer.ID][1:]
		s.mu.Unlock()
		if answer.TTL > 0 {
			s.replica.renewed(asked)
		}
	}
	return err
}

// DeleteOnEtcd deletes the key of the first in the queue, and leaves its lease.
func DeleteOnEtcd(ctx context.Context, address, lock string) error {
	return onEtcd(ctx, address, lock, func(c *clientv3.Client, key *mvccpb.KeyValue) error {
		_, err := c.Delete(ctx, string(key.Key))
		return err
	})
}

// RevokeOnEtcd revokes the lease of the first in the queue.
func RevokeOnEtcd(ctx context.Context, address, lock string) error {
	return onEtcd(ctx, address, lock, func(c *clientv3.Client, key *mvccpb.KeyValue) error {
		_, err := c.Revoke(ctx, clientv3.LeaseID(key.Lease))
		return err
	})
}

func onEtcd(ctx context.Context, address, lock string, do func(*clientv3.Client, *mvccpb.KeyValue) error) error {
	c, err := EtcdClient(address)
	if err != nil {
		return err
	}
	defer c.Close()
	resp, err := c.Get(ctx, lock+"/", clientv3.WithFirstCreate()...)
	if err != nil {
		return err
	}
	if len(resp.Kvs) == 0 {
		return fmt.Errorf("no key below %s/", lock)
	}
	return do(c, resp.Kvs[0])
}
