// Command pglocklead is a service whose replicas elect a leader with cirello.io/pglock, in a table of PostgreSQL.
// Replace work; its metrics are at http://127.0.0.1:8080/metrics.
package main

import (
	"context"
	"database/sql"
	"log"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"cirello.io/pglock"
	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/leaderscope/leaderscope/exporter/prom"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/pglocklead"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	const lease = 20 * time.Second
	db, err := sql.Open("pgx", "postgres://127.0.0.1/app")
	if err != nil {
		return err
	}
	defer db.Close()
	// UnsafeNew, since New accepts only lib/pq. This adapter sends the heartbeats.
	client, err := pglock.UnsafeNew(db, pglock.WithLeaseDuration(lease), pglock.WithHeartbeatFrequency(0))
	if err != nil {
		return err
	}
	if err := client.TryCreateTable(); err != nil {
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

	elector := pglocklead.NewLock(client, "reconciler", lease)
	leading := m.Election("reconciler", instrument.Hold(), instrument.Backend("postgres"))
	for ctx.Err() == nil {
		if err := leading.Run(ctx, elector, work); err != nil && ctx.Err() == nil {
			log.Println("no longer the leader:", err)
			time.Sleep(time.Second) // or a backoff, while the backend is unavailable
		}
	}
	return nil
}

// work runs while this replica leads. ctx ends with the term and at shutdown;
// the lock is released when work returns.
func work(ctx context.Context, _ *instrument.Term) error {
	log.Println("leading")
	<-ctx.Done()
	return nil
}
