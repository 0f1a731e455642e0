package main

import (
	"errors"
	"fmt"
	"net/url"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
)

// memberConfig is one etcd member.
type memberConfig struct {
	Name    string
	Dir     string
	Client  string // address
	Peer    string // address
	Cluster string // name=http://peer,... of all members
}

// member is the replica's own etcd member. It can be stopped and started
// again.
type member struct {
	cfg  memberConfig
	etcd *embed.Etcd
}

func newMember(cfg memberConfig) *member { return &member{cfg: cfg} }

// start returns when the member listens, which may be before it has joined.
func (m *member) start() error {
	if m.etcd != nil {
		return nil
	}
	cfg := embed.NewConfig()
	cfg.Name, cfg.Dir = m.cfg.Name, m.cfg.Dir
	cfg.LogLevel = "fatal" // at "error", closing prints stack traces
	cfg.UnsafeNoFsync = true
	clients := []url.URL{{Scheme: "http", Host: m.cfg.Client}}
	peers := []url.URL{{Scheme: "http", Host: m.cfg.Peer}}
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = clients, clients
	cfg.ListenPeerUrls, cfg.AdvertisePeerUrls = peers, peers
	cfg.InitialCluster = m.cfg.Cluster
	etcd, err := startPatiently(cfg)
	if err != nil {
		return fmt.Errorf("start etcd member %s: %w", m.cfg.Name, err)
	}
	m.etcd = etcd
	return nil
}

// startPatiently tries again for a while: after a kill the port may be taken
// by a connection that is still closing.
func startPatiently(cfg *embed.Config) (etcd *embed.Etcd, err error) {
	for range 10 {
		var one error
		if etcd, one = embed.StartEtcd(cfg); one == nil {
			return etcd, nil
		}
		err = errors.Join(err, one)
		time.Sleep(200 * time.Millisecond)
	}
	return nil, err
}

// stop ends the member at once. Closing alone would first wait for clients.
func (m *member) stop() {
	if m.etcd != nil {
		m.etcd.Server.HardStop()
		m.etcd.Close()
		m.etcd = nil
	}
}

// leave stops the member after it has handed its part in leading etcd over.
func (m *member) leave() {
	if m.etcd != nil {
		_ = m.etcd.Server.TryTransferLeadershipOnShutdown() // else the others elect one
	}
	m.stop()
}

// client talks to this member alone. A client that knows all members waits
// for one whose process is suspended, and its campaign with it.
func (m *member) client() (*clientv3.Client, error) {
	reconnect := backoff.DefaultConfig
	reconnect.MaxDelay = 500 * time.Millisecond
	return clientv3.New(clientv3.Config{
		Endpoints:       []string{m.cfg.Client},
		Logger:          zap.NewNop(),
		MaxUnaryRetries: 2, // the election loop has its own patience
		DialOptions: []grpc.DialOption{
			grpc.WithConnectParams(grpc.ConnectParams{Backoff: reconnect, MinConnectTimeout: time.Second}),
		},
	})
}
