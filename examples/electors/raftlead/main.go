// Command raftlead is a node of a Raft cluster that shows whether it leads: here
// the only node, with its state in memory. Replace the stores and the state
// machine; its metrics are at http://127.0.0.1:8080/metrics.
package main

import (
	"context"
	"io"
	"log"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/hashicorp/raft"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/leaderscope/leaderscope/exporter/prom"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/raftlead"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	config := raft.DefaultConfig()
	config.LocalID = "node-1"
	transport, err := raft.NewTCPTransport("127.0.0.1:7000", nil, 3, 10*time.Second, os.Stderr)
	if err != nil {
		return err
	}
	store := raft.NewInmemStore() // of a service: raft-boltdb
	node, err := raft.NewRaft(config, state{}, store, store, raft.NewInmemSnapshotStore(), transport)
	if err != nil {
		return err
	}
	node.BootstrapCluster(raft.Configuration{Servers: []raft.Server{{ID: config.LocalID, Address: transport.LocalAddr()}}})
	m, err := instrument.New()
	if err != nil {
		return err
	}
	defer m.Close()
	if _, err := prom.Register(prometheus.DefaultRegisterer, m); err != nil {
		return err
	}
	http.Handle("/metrics", promhttp.Handler())
	go func() { log.Fatal(http.ListenAndServe("127.0.0.1:8080", nil)) }()

	leading := m.Election("store", instrument.Hold(), instrument.HiddenRenewals(), instrument.Backend("raft"))
	defer raftlead.Observe(leading, node)()
	<-ctx.Done()
	return node.Shutdown().Error()
}

// state is the state machine; this one keeps nothing.
type state struct{}

func (state) Apply(*raft.Log) any                 { return nil }
func (state) Snapshot() (raft.FSMSnapshot, error) { return state{}, nil }
func (state) Restore(r io.ReadCloser) error       { return r.Close() }
func (state) Persist(s raft.SnapshotSink) error   { return s.Close() }
func (state) Release()                            {}
