//go:build unix

// Cache-warmer keeps a partitioned cache warm from two nodes, under a lock per
// partition that is renewed while the partition loads. node.go is the service,
// store.go its work; show.go is the demonstration.
package main

import (
	"context"
	"flag"
	"fmt"
	"time"

	"github.com/leaderscope/leaderscope/examples/internal/stage"
)

func main() {
	var cfg config
	flag.StringVar(&cfg.redis, "redis", "", "HOST:PORT of a Redis server; without it a private one is started")
	flag.StringVar(&cfg.name, "node", "", "run only the node of that name, without the demonstration")
	flag.StringVar(&cfg.prefix, "prefix", "cache-warmer:", "prefix of all keys in Redis")
	flag.DurationVar(&cfg.lease, "lease", time.Second, "lease of a partition's lock")
	flag.DurationVar(&cfg.chunk, "chunk", 150*time.Millisecond, "how long each of a partition's ten chunks takes")
	flag.DurationVar(&cfg.fresh, "fresh", 2*time.Second, "how long a partition stays fresh")
	flag.DurationVar(&cfg.every, "every", 200*time.Millisecond, "interval between two checks of the partitions")
	flag.Parse()
	run := show
	if cfg.name != "" {
		run = runNode
	}
	stage.Main("cache-warmer", cfg.check(), func(ctx context.Context) error { return run(ctx, cfg) })
}

type config struct {
	name, redis, prefix        string
	lease, chunk, fresh, every time.Duration
}

func (cfg config) check() error {
	switch {
	case cfg.name != "" && cfg.redis == "":
		return fmt.Errorf("--node %s: a node needs --redis HOST:PORT", cfg.name)
	case cfg.lease < 100*time.Millisecond:
		return fmt.Errorf("--lease %v: want 100ms or more", cfg.lease)
	case cfg.chunk < 0:
		return fmt.Errorf("--chunk %v: want 0 or more", cfg.chunk)
	case cfg.fresh < time.Millisecond:
		return fmt.Errorf("--fresh %v: want 1ms or more", cfg.fresh)
	case cfg.every < time.Millisecond:
		return fmt.Errorf("--every %v: want 1ms or more", cfg.every)
	default:
		return nil
	}
}
