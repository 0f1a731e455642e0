// Package etcd is an etcd for the examples that need one.
package etcd

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
)

// Server is an etcd of one member inside this process, on a free port of the
// loopback.
type Server struct {
	dir     string
	address string
	etcd    *embed.Etcd // nil while it is down
}

// Start starts an etcd.
func Start() (*Server, error) {
	dir, err := os.MkdirTemp("", "leaderscope-etcd-")
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir, address: "127.0.0.1:0"}
	if err := s.Up(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Address is host:port.
func (s *Server) Address() string { return s.address }

// Up starts the etcd again on the same port, with what it had stored.
func (s *Server) Up() error {
	cfg := embed.NewConfig()
	cfg.Dir = s.dir
	cfg.LogLevel = "fatal" // at "error", closing prints stack traces
	cfg.UnsafeNoFsync = true
	clients, peers := loopback(s.address), loopback("127.0.0.1:0")
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = clients, clients
	cfg.ListenPeerUrls, cfg.AdvertisePeerUrls = peers, peers
	cfg.InitialCluster = cfg.InitialClusterFromName(cfg.Name)
	etcd, err := embed.StartEtcd(cfg)
	if err != nil {
		return fmt.Errorf("start etcd: %w", err)
	}
	s.etcd, s.address = etcd, etcd.Clients[0].Addr().String()
	select {
	case <-etcd.Server.ReadyNotify():
		return nil
	case <-time.After(time.Minute):
		s.Down()
		return errors.New("start etcd: it was not ready within a minute")
	}
}

// Down stops the etcd at once and keeps what it stored. Closing alone would
// first wait for clients.
func (s *Server) Down() {
	if s.etcd != nil {
		s.etcd.Server.HardStop()
		s.etcd.Close()
		s.etcd = nil
	}
}

// Close stops the etcd and removes what it stored.
func (s *Server) Close() error {
	s.Down()
	return os.RemoveAll(s.dir)
}

func loopback(address string) []url.URL { return []url.URL{{Scheme: "http", Host: address}} }
