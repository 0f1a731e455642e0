package main

import (
	"errors"
	"fmt"
	"net/url"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
)

// server is an etcd of one member inside this process. It can be stopped and
// started again on the same port, with what it has stored.
type server struct {
	dir     string
	address string
	etcd    *embed.Etcd
}

func (s *server) start() error {
	cfg := embed.NewConfig()
	cfg.Dir = s.dir
	cfg.LogLevel = "fatal" // at "error", closing prints stack traces
	cfg.UnsafeNoFsync = true
	clients, peers := loopback("127.0.0.1:0"), loopback("127.0.0.1:0")
	if s.address != "" {
		clients = loopback(s.address)
	}
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = clients, clients
	cfg.ListenPeerUrls, cfg.AdvertisePeerUrls = peers, peers
	cfg.InitialCluster = cfg.InitialClusterFromName(cfg.Name)
	etcd, err := embed.StartEtcd(cfg)
	if err != nil {
		return fmt.Errorf("start etcd: %w", err)
	}
	s.etcd = etcd
	s.address = etcd.Clients[0].Addr().String()
	select {
	case <-etcd.Server.ReadyNotify():
		return nil
	case <-time.After(patience):
		s.stop()
		return errors.New("start etcd: it is not ready after " + patience.String())
	}
}

// stop ends it at once. Closing alone would first wait for clients.
func (s *server) stop() {
	if s.etcd != nil {
		s.etcd.Server.HardStop()
		s.etcd.Close()
		s.etcd = nil
	}
}

func loopback(address string) []url.URL { return []url.URL{{Scheme: "http", Host: address}} }
