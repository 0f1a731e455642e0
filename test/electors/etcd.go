package electors

import (
	"context"
	"fmt"
	"strings"

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
	c, err := EtcdClient(r.Address, grpc.WithStreamInterceptor(r.hearKeepAlives))
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
	return keepAlives{s, r}, nil
}

type keepAlives struct {
	grpc.ClientStream
	replica Replica
}

func (s keepAlives) RecvMsg(m any) error {
	err := s.ClientStream.RecvMsg(m)
	if answer, ok := m.(*pb.LeaseKeepAliveResponse); ok && err == nil && answer.TTL > 0 {
		s.replica.renewed()
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
