// Command ctrllease is a controller-runtime manager whose replicas elect a leader.
// Add controllers; its metrics are at :8080/metrics.
package main

import (
	"log"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/leaderscope/leaderscope/exporter/prom"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/ctrllease"
)

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	m, err := instrument.New()
	if err != nil {
		return err
	}
	defer m.Close()
	if _, err := prom.Register(metrics.Registry, m); err != nil {
		return err
	}
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	leading := m.Election("reconciler", instrument.Hold(), instrument.Backend("kubernetes"))
	manager, err := ctrllease.NewManager(config, ctrl.Options{
		Metrics:                       server.Options{BindAddress: ":8080"},
		LeaderElection:                true,
		LeaderElectionID:              "reconciler.example.com",
		LeaderElectionReleaseOnCancel: true,
	}, leading)
	if err != nil {
		return err
	}
	// Controllers as usual: ctrl.NewControllerManagedBy(manager)...
	return manager.Start(ctrl.SetupSignalHandler()) // returns at shutdown, and when the lease is lost
}
