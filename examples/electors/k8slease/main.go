// Command k8slease is a service whose replicas elect a leader on a Kubernetes
// Lease, with client-go. Replace work; its metrics are at :8080/metrics.
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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/leaderscope/leaderscope/exporter/prom"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/k8slease"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	config, err := rest.InClusterConfig()
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
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
	go func() { log.Fatal(http.ListenAndServe(":8080", nil)) }()

	leading := m.Election("reconciler", instrument.Hold(), instrument.Backend("kubernetes"))
	election := leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{ // the identity is the pod's name
			LeaseMeta:  metav1.ObjectMeta{Namespace: os.Getenv("POD_NAMESPACE"), Name: "reconciler"},
			Client:     client.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: os.Getenv("POD_NAME")},
		},
		LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
		ReleaseOnCancel: true,
		Callbacks:       leaderelection.LeaderCallbacks{OnStartedLeading: work, OnStoppedLeading: func() { log.Println("no longer the leader") }},
	}
	for ctx.Err() == nil { // RunOrDie returns at the end of a term
		leaderelection.RunOrDie(ctx, k8slease.Instrument(election, leading))
	}
	return nil
}

// work runs while this replica leads. ctx ends with the term and at shutdown.
func work(ctx context.Context) {
	log.Println("leading")
	<-ctx.Done()
}
