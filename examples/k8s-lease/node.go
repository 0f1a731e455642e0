package main

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/component-base/metrics/legacyregistry"
	_ "k8s.io/component-base/metrics/prometheus/clientgo/leaderelection" // client-go's own gauge

	"github.com/leaderscope/leaderscope/exporter/prom"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/k8slease"
	"github.com/leaderscope/leaderscope/redact"
)

const (
	lockName = "reconciler"

	// Short, so that nobody has to wait; 15, 10 and 2 s are usual.
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
	tell       func(event) // what happens

	mu    sync.Mutex
	count count
	work  sync.WaitGroup
}

// count is what a node counts itself, to be held against its metrics.
type count struct {
	Terms   int // begun
	Working int // bodies that run
}

func newNode(name string, client kubernetes.Interface, namespace, lease string, tell func(event)) (*node, error) {
	m, err := instrument.New(instrument.WithRedactor(redact.Raw()))
	if err != nil {
		return nil, err
	}
	registry := prometheus.NewRegistry()
	if _, err := prom.Register(registry, m); err != nil {
		return nil, err
	}
	return &node{
		name: name, client: client, namespace: namespace, lease: lease, tell: tell, registry: registry,
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
	n.say(leads, count{Terms: 1, Working: 1})
	<-ctx.Done()
	n.say(over, count{Working: -1})
}

func (n *node) say(kind string, change count) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.count.Terms += change.Terms
	n.count.Working += change.Working
	n.tell(event{Kind: kind, Count: n.count})
}

// metrics are the middleware's, and what Kubernetes' own libraries register.
func (n *node) metrics() prometheus.Gatherer {
	return prometheus.Gatherers{n.registry, legacyregistry.DefaultGatherer}
}

// serve answers /metrics on the loopback until stop.
func (n *node) serve() (address string, stop func(), err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(n.metrics(), promhttp.HandlerOpts{}))
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	go server.Serve(listener)
	return listener.Addr().String(), func() { server.Close() }, nil
}
