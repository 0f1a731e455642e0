package main

import (
	"context"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/leaderscope/leaderscope/exporter/prom"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/zklock"
)

func main() {}

func reconcile(context.Context) error { return nil }

func readme(ctx context.Context, registry prometheus.Registerer, servers []string, acl []zk.ACL) error {
	SNIPPET
	return err
}
