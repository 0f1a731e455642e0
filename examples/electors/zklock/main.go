// Command zklock is a service whose replicas elect a leader with ZooKeeper.
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

	"github.com/go-zookeeper/zk"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/leaderscope/leaderscope/exporter/prom"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/zklock"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	const timeout = 10 * time.Second
	var session zklock.Session
	conn, _, err := zk.Connect([]string{"127.0.0.1:2181"}, timeout,
		zk.WithEventCallback(session.Event), zk.WithDialer(session.Dialer(nil)))
	if err != nil {
		return err
	}
	defer conn.Close()
	hostname, err := os.Hostname()
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

	elector := zklock.NewElection(conn, &session, "/reconciler", hostname, zk.WorldACL(zk.PermAll))
	leading := m.Election("reconciler", instrument.Hold(), instrument.LeaseDuration(timeout), instrument.Backend("zookeeper"))
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
