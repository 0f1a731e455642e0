// Command riverlead is a service that works River's jobs and shows which of its
// replicas is River's leader. Add queues and workers to the configuration; its
// metrics are at http://127.0.0.1:8080/metrics.
package main

import (
	"context"
	"log"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"github.com/leaderscope/leaderscope/exporter/prom"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/riverlead"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	pool, err := pgxpool.New(ctx, "postgres://127.0.0.1/app")
	if err != nil {
		return err
	}
	defer pool.Close()
	client, err := river.NewClient(riverpgxv5.New(pool), &river.Config{ /* Queues, Workers, PeriodicJobs */ })
	if err != nil {
		return err
	}
	m, err := instrument.New()
	if err != nil {
		return err
	}
	defer m.Close()
	if _, err := prom.Register(prometheus.DefaultRegisterer, m); err != nil {
		return err
	}
	http.Handle("/metrics", promhttp.Handler())
	go func() { log.Fatal(http.ListenAndServe("127.0.0.1:8080", nil)) }()

	lasting := context.WithoutCancel(ctx) // the client stops by Stop, not by ctx
	if err := client.Start(lasting); err != nil {
		return err
	}
	leading := m.Election("river", instrument.Hold(), instrument.Backend("postgres"))
	if err := riverlead.Observe(lasting, leading, client); err != nil {
		return err
	}
	<-ctx.Done()
	stopping, cancel := context.WithTimeout(lasting, 10*time.Second)
	defer cancel()
	return client.Stop(stopping)
}
