//go:build unix

// Migration-gate lets the instances of a service start only on a schema that
// was migrated, by exactly one of them. gate.go is the pattern, instance.go
// the service, migration.go its SQL; show.go is the demonstration.
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
	flag.StringVar(&cfg.schema, "schema", "public", "schema of an instance's tables")
	flag.StringVar(&cfg.name, "instance", "", "run only the instance of that name, without the demonstration")
	flag.StringVar(&cfg.migration, "migration", "0001-cents", "the migration that an instance applies")
	flag.DurationVar(&cfg.budget, "budget", 5*time.Second, "how long a migration may take")
	flag.DurationVar(&cfg.batch, "batch", 50*time.Millisecond, "how long each of its ten batches takes")
	flag.Parse()
	run := show
	if cfg.name != "" {
		run = runInstance
	}
	stage.Main("migration-gate", cfg.check(), func(ctx context.Context) error { return run(ctx, cfg) })
}

type config struct {
	name, postgres, schema, migration string
	budget, batch                     time.Duration
}

func (cfg config) check() error {
	_, known := migrations[cfg.migration]
	switch {
	case cfg.name != "" && cfg.postgres == "":
		return fmt.Errorf("--instance %s: an instance needs --postgres DSN", cfg.name)
	case !known:
		return fmt.Errorf("--migration %s: unknown migration; valid migrations: 0001-cents, 0002-currency", cfg.migration)
	case cfg.budget <= 0:
		return fmt.Errorf("--budget %v: want more than 0", cfg.budget)
	case cfg.batch < 0:
		return fmt.Errorf("--batch %v: want 0 or more", cfg.batch)
	default:
		return nil
	}
}
