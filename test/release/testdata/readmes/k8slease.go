package main

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/tools/leaderelection"

	"github.com/leaderscope/leaderscope/exporter/prom"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/k8slease"
)

func main() {}

func readme(ctx context.Context, registry prometheus.Registerer, config leaderelection.LeaderElectionConfig) error {
	SNIPPET
	return err
}
