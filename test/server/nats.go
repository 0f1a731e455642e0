package server

import (
	"errors"
	"net"
	"os"
	"strconv"

	"github.com/nats-io/nats-server/v2/server"
)

// nats is a server with JetStream inside this process.
type nats struct {
	dir    string
	port   int
	server *server.Server
}

func startNATS() (Server, error) {
	dir, text, err := place("nats")
	if err != nil {
		return nil, err
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		return nil, err
	}
	n := &nats{dir: dir, port: port}
	if err := n.Up(); err != nil {
		n.Close()
		return nil, err
	}
	return n, nil
}

func (n *nats) Version() string { return server.VERSION }

func (n *nats) Addresses() []string {
	return []string{net.JoinHostPort("127.0.0.1", strconv.Itoa(n.port))}
}

func (n *nats) Up() error {
	s, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: n.port, JetStream: true, StoreDir: n.dir, NoLog: true, NoSigs: true,
	})
	if err != nil {
		return err
	}
	n.server = s
	go s.Start()
	if !s.ReadyForConnections(patience) {
		return errors.New("not ready")
	}
	return nil
}

func (n *nats) Down() {
	if n.server == nil {
		return
	}
	n.server.Shutdown()
	n.server.WaitForShutdown()
	n.server = nil
}

func (n *nats) Close() {
	n.Down()
	_ = os.RemoveAll(n.dir)
}
