// Command consullock is a service whose replicas elect a leader with Consul.
// Replace work; its metrics are at http://127.0.0.1:8080/metrics.
package main

import (
	"context"
	"log"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/hashicorp/consul/api"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/leaderscope/leaderscope/exporter/prom"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/consullock"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	const lease = 15 * time.Second
	client, sessions, err := consullock.NewClient(api.DefaultConfig()) // CONSUL_HTTP_ADDR, or 127.0.0.1:8500
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

	elector := consullock.NewLock(client, sessions, &api.LockOptions{Key: "reconciler", SessionTTL: lease.String()})
	leading := m.Election("reconciler", instrument.Hold(), instrument.LeaseDuration(lease), instrument.Backend("consul"))
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
