package main

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/leaderscope/leaderscope/exporter/prom"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/etcdlock"
)

func main() {}

func reconcile(context.Context) error { return nil }

func readme(ctx context.Context, registry prometheus.Registerer, client *clientv3.Client) error {
	SNIPPET
	return err
}
