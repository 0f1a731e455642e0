//go:build unix

// Webhook-poller delivers webhooks from a table: one leader polls it, and
// claims rows before it delivers them. node.go is the service, outbox.go its
// SQL; show.go is the stage.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	var cfg config
	flag.StringVar(&cfg.postgres, "postgres", "", "DSN of a PostgreSQL; without it a private one is started")
	flag.StringVar(&cfg.schema, "schema", "public", "of a node's table")
	flag.StringVar(&cfg.name, "node", "", "run one node of that name, and not the show")
	flag.DurationVar(&cfg.claim, "claim", 2*time.Second, "how long a node may take to deliver what it claimed")
	flag.DurationVar(&cfg.every, "every", 100*time.Millisecond, "time between two polls that find nothing")
	flag.IntVar(&cfg.limit, "limit", 4, "attempts after which a webhook is FAILED")
	flag.Parse()
	if err := cfg.check(); err != nil {
		fmt.Fprintln(os.Stderr, "webhook-poller:", err)
		os.Exit(2)
	}
	run := show
	if cfg.name != "" {
		run = runNode
	}
	// Whoever was interrupted has done what was asked.
	if err := run(ctx, cfg); err != nil && !(ctx.Err() != nil && errors.Is(err, context.Canceled)) {
		fmt.Fprintln(os.Stderr, "webhook-poller:", err)
		os.Exit(1)
	}
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
