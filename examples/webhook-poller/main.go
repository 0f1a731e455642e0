//go:build unix

// Webhook-poller delivers webhooks from a table: one leader polls it, and
// claims rows before it delivers them. node.go is the service, outbox.go its
// SQL; show.go is the demonstration.
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
	flag.StringVar(&cfg.postgres, "postgres", "", "DSN of a PostgreSQL server; without it a private one is started")
	flag.StringVar(&cfg.schema, "schema", "public", "schema of a node's table")
	flag.StringVar(&cfg.name, "node", "", "run only the node of that name, without the demonstration")
	flag.DurationVar(&cfg.claim, "claim", 2*time.Second, "how long a node may take to deliver what it claimed")
	flag.DurationVar(&cfg.every, "every", 100*time.Millisecond, "time between two polls that find nothing")
	flag.IntVar(&cfg.limit, "limit", 4, "attempts after which a webhook is FAILED")
	flag.Parse()
	run := show
	if cfg.name != "" {
		run = runNode
	}
	stage.Main("webhook-poller", cfg.check(), func(ctx context.Context) error { return run(ctx, cfg) })
}

type config struct {
	name, postgres, schema string
	claim, every           time.Duration
	limit                  int
}

func (cfg config) check() error {
	switch {
	case cfg.name != "" && cfg.postgres == "":
		return fmt.Errorf("--node %s: a node needs --postgres DSN", cfg.name)
	case cfg.claim < 100*time.Millisecond:
		return fmt.Errorf("--claim %v: want 100ms or more", cfg.claim)
	case cfg.every < time.Millisecond:
		return fmt.Errorf("--every %v: want 1ms or more", cfg.every)
	case cfg.limit < 1:
		return fmt.Errorf("--limit %d: want 1 or more", cfg.limit)
	default:
		return nil
	}
}
