//go:build unix

// Tenant-aggregator sums up events per tenant on three nodes, under a lock per
// tenant. node.go is the code of a service, store.go its work; show.go is the
// demonstration: it starts the nodes, injects faults and compares.
package main

import (
	"context"
	"flag"
	"fmt"
	"time"

	"github.com/leaderscope/leaderscope/examples/internal/stage"
)

// keyVariable holds the key of the label hashes, the same for all nodes.
const keyVariable = "TENANT_AGGREGATOR_KEY"

func main() {
	var cfg nodeConfig
	flag.StringVar(&cfg.redis, "redis", "", "HOST:PORT of a Redis server; without it a private one is started")
	flag.StringVar(&cfg.name, "node", "", "run only the node of that name, without the demonstration")
	flag.StringVar(&cfg.prefix, "prefix", "tenant-aggregator:", "prefix of all keys in Redis")
	flag.DurationVar(&cfg.lease, "lease", 2*time.Second, "lease of a tenant's lock")
	flag.DurationVar(&cfg.every, "every", 300*time.Millisecond, "time between two runs of a tenant on a node")
	flag.DurationVar(&cfg.work, "work", 100*time.Millisecond, "how long a run takes")
	flag.Parse()
	run := show
	if cfg.name != "" {
		run = runNode
	}
	stage.Main("tenant-aggregator", cfg.check(), func(ctx context.Context) error { return run(ctx, cfg) })
}

func (cfg nodeConfig) check() error {
	switch {
	case cfg.name != "" && cfg.redis == "":
		return fmt.Errorf("--node %s: a node needs --redis HOST:PORT", cfg.name)
	case cfg.lease < 100*time.Millisecond:
		return fmt.Errorf("--lease %v: want 100ms or more", cfg.lease)
	case cfg.every < time.Millisecond:
		return fmt.Errorf("--every %v: want 1ms or more", cfg.every)
	case cfg.work < 0:
		return fmt.Errorf("--work %v: want 0 or more", cfg.work)
	default:
		return nil
	}
}
