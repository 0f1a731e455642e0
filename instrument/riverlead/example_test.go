package riverlead_test

import (
	"context"
	"log"
	"os/signal"
	"syscall"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/riverlead"
)

// A service that works jobs, and shows which of its replicas schedules them.
func Example() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	pool, err := pgxpool.New(ctx, "postgres://localhost/app")
	if err != nil {
		log.Fatal(err)
	}
	client, err := river.NewClient(riverpgxv5.New(pool), &river.Config{ /* Queues, Workers, PeriodicJobs */ })
	if err != nil {
		log.Fatal(err)
	}
	m, err := instrument.New()
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()

	if err := client.Start(context.WithoutCancel(ctx)); err != nil {
		log.Fatal(err)
	}
	leading := m.Election("river", instrument.Hold(), instrument.Backend("postgres"))
	if err := riverlead.Observe(context.WithoutCancel(ctx), leading, client); err != nil {
		log.Fatal(err)
	}
	<-ctx.Done()
	if err := client.Stop(context.Background()); err != nil {
		log.Fatal(err)
	}
}
