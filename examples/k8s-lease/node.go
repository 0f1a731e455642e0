//go:build unix

package main

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/component-base/metrics/legacyregistry"
	_ "k8s.io/component-base/metrics/prometheus/clientgo/leaderelection" // client-go's own gauge

	"github.com/leaderscope/leaderscope/examples/internal/stage"
	"github.com/leaderscope/leaderscope/exporter/prom"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/k8slease"
)

const (
	lockName = "reconciler"

	// Short, so that the demonstration does not take long; 15, 10 and 2 s are usual.
	leaseDuration = 4 * time.Second
	renewDeadline = 3 * time.Second
	retryPeriod   = 500 * time.Millisecond
)

// node is the service: while it leads, it works.
type node struct {
	name       string
	client     kubernetes.Interface
	namespace  string
	lease      string // the name of the object
	reconciler *instrument.Election
	registry   *prometheus.Registry
	notify     func(string) // what happens

	terms atomic.Int64 // begun; what it counts itself, to be compared
	work  sync.WaitGroup
}

// What a node reports about its work.
const (
	leads   = "leads"
	stopped = "stopped leading"
)

// runNode is one node of the service, until ctx ends. args are its name, a
// kubeconfig, and the namespace and name of the Lease.
func runNode(ctx context.Context, args []string) error {
	client, err := connect(args[1])
	if err != nil {
		return err
	}
	n, err := newNode(args[0], client, args[2], args[3], func(what string) { fmt.Println(what) })
	if err != nil {
		return err
	}
	address, stop, err := stage.ServeMetrics(promhttp.HandlerFor(n.metrics(), promhttp.HandlerOpts{}))
	if err != nil {
		return err
	}
	defer stop()
	fmt.Println("started,", address)

	work, leave := stage.Cues(ctx)
	if err := n.run(work); err != nil {
		return err
	}
	err = stage.Report(n.terms.Load())
	leave()
	return err
}

// connect makes a client that gives up on a request within the renew deadline.
func connect(kubeconfig string) (*kubernetes.Clientset, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("kubeconfig %s: %w", kubeconfig, err)
	}
	config.Timeout = renewDeadline / 2
	return kubernetes.NewForConfig(config)
}

func newNode(name string, client kubernetes.Interface, namespace, lease string, notify func(string)) (*node, error) {
	m, err := instrument.New()
	if err != nil {
		return nil, err
	}
	registry := prometheus.NewRegistry()
	if _, err := prom.Register(registry, m); err != nil {
		return nil, err
	}
	return &node{
		name: name, client: client, namespace: namespace, lease: lease, notify: notify, registry: registry,
		reconciler: m.Election(lockName, instrument.Hold(), instrument.Backend("kubernetes")),
	}, nil
}

// run campaigns, leads, and campaigns again, until ctx ends.
func (n *node) run(ctx context.Context) error {
	lock := &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Namespace: n.namespace, Name: n.lease},
		Client:     n.client.CoordinationV1(),
		LockConfig: resourcelock.ResourceLockConfig{Identity: n.name},
	}
	for ctx.Err() == nil {
		elector, err := leaderelection.NewLeaderElector(k8slease.Instrument(leaderelection.LeaderElectionConfig{
			Lock: lock, Name: lockName, ReleaseOnCancel: true,
			LeaseDuration: leaseDuration, RenewDeadline: renewDeadline, RetryPeriod: retryPeriod,
			Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: n.lead, OnStoppedLeading: func() {}},
		}, n.reconciler))
		if err != nil {
			return err
		}
		elector.Run(ctx)
		n.work.Wait()
	}
	return nil
}

// lead is the leader's work.
func (n *node) lead(ctx context.Context) {
	n.work.Add(1)
	defer n.work.Done()
	n.terms.Add(1)
	n.notify(leads)
	<-ctx.Done()
	n.notify(stopped)
}

// metrics are the middleware's, and what Kubernetes' own libraries register.
func (n *node) metrics() prometheus.Gatherer {
	return prometheus.Gatherers{n.registry, legacyregistry.DefaultGatherer}
}
