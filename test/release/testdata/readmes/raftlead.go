package main

import (
	"context"

	"github.com/hashicorp/raft"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/leaderscope/leaderscope/exporter/prom"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/raftlead"
)

func main() {}

func readme(ctx context.Context, registry prometheus.Registerer, config *raft.Config, fsm raft.FSM, logs raft.LogStore, stable raft.StableStore, snapshots raft.SnapshotStore, transport raft.Transport) error {
	SNIPPET
	return err
}
