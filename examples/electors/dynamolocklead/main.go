// Command dynamolocklead is a service whose replicas elect a leader with cirello.io/dynamolock, in a table of DynamoDB.
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

	"cirello.io/dynamolock/v2"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/leaderscope/leaderscope/exporter/prom"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/dynamolocklead"
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
	cfg, err := config.LoadDefaultConfig(ctx) // region and credentials from the environment
	if err != nil {
		return err
	}
	// The table "locks" has the partition key "key" of type string.
	client, err := dynamolock.New(dynamodb.NewFromConfig(cfg), "locks",
		dynamolock.WithLeaseDuration(lease), dynamolock.DisableHeartbeat())
	if err != nil {
		return err
	}
	defer client.Close()
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

	elector := dynamolocklead.NewLock(client, "reconciler", lease)
	leading := m.Election("reconciler", instrument.Hold(), instrument.Backend("dynamodb"))
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
