package main

import (
	"context"
	"time"

	"github.com/hashicorp/consul/api"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/leaderscope/leaderscope/exporter/prom"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/consullock"
)

func main() {}

func reconcile(context.Context) error { return nil }

func readme(ctx context.Context, registry prometheus.Registerer) error {
	SNIPPET
	return err
}
