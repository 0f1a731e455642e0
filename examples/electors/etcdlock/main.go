// Command etcdlock is a service whose replicas elect a leader with etcd.
// Replace reconcile; its metrics are at http://127.0.0.1:8080/metrics.
package main

import (
	"context"
	"log"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/leaderscope/leaderscope/exporter/prom"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/etcdlock"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	m, err := instrument.New()
	check(err)
	_, err = prom.Register(prometheus.DefaultRegisterer, m)
	check(err)
	http.Handle("/metrics", promhttp.Handler())
	go func() { check(http.ListenAndServe("127.0.0.1:8080", nil)) }()

	client, err := clientv3.New(clientv3.Config{Endpoints: []string{"127.0.0.1:2379"}})
	check(err)
	defer client.Close()
	hostname, err := os.Hostname()
	check(err)

	const lease = 15 * time.Second
	election := m.Election("reconciler", instrument.Hold(), instrument.LeaseDuration(lease), instrument.Backend("etcd"))
	elector := etcdlock.NewElection(client, "/reconciler", hostname, lease)
	for ctx.Err() == nil { // campaign again after each term
		if err := election.Run(ctx, elector, reconcile); err != nil && ctx.Err() == nil {
			log.Print(err)
			time.Sleep(time.Second)
		}
	}
}

// reconcile is the work of the leader. Its context ends when the term ends.
func reconcile(ctx context.Context, _ *instrument.Term) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(5 * time.Second):
			log.Print("reconciling")
		}
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
