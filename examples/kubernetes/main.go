// Command kubernetes is the program of docs/kubernetes.md.
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
	"github.com/leaderscope/leaderscope/exporter/status"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/k8slease"
	"github.com/leaderscope/leaderscope/redact"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()

	key, err := redact.ReadKeyFile("/etc/leaderscope/key")
	check(err)
	policy := redact.Hash(key, "k1", redact.Literals()) // names written in the program stay readable
	m, err := instrument.New(instrument.WithRedactor(policy))
	check(err)
	_, err = prom.Register(prometheus.DefaultRegisterer, m)
	check(err)
	http.Handle("/metrics", promhttp.Handler())
	http.Handle("/ready", status.Ready(m)) // also on a standby: it is ready to take over
	http.Handle("/status", status.Handler(m, status.WithInstance(os.Getenv("HOSTNAME"))))
	go func() { check(http.ListenAndServe(":8080", nil)) }()

	config, err := rest.InClusterConfig()
	check(err)
	election := m.Election("reconciler", instrument.Hold(), instrument.Backend("kubernetes"))
	leaderelection.RunOrDie(ctx, k8slease.Instrument(leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: os.Getenv("NAMESPACE"), Name: "reconciler"},
			Client:     kubernetes.NewForConfigOrDie(config).CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: os.Getenv("HOSTNAME")},
		},
		LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) { <-ctx.Done() }, // the work
			OnStoppedLeading: func() { log.Print("stopped leading") },
		},
	}, election))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
