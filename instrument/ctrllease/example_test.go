package ctrllease_test

import (
	"log"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/leaderscope/leaderscope/exporter/prom"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/ctrllease"
)

// An operator. Its manager serves the series with its own, on the metrics
// address.
func Example() {
	m, err := instrument.New()
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	if _, err := prom.Register(metrics.Registry, m); err != nil {
		log.Fatal(err)
	}
	election := m.Election("reconciler", instrument.Hold(), instrument.Backend("kubernetes"))
	mgr, err := ctrllease.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{
		LeaderElection:                true,
		LeaderElectionID:              "reconciler.example.com",
		LeaderElectionReleaseOnCancel: true,
	}, election)
	if err != nil {
		log.Fatal(err)
	}
	// controllers, as before: ctrl.NewControllerManagedBy(mgr)...
	if err := mgr.Start(ctrl.SetupSignalHandler()); err != nil {
		log.Fatal(err)
	}
}

// A framework that makes the manager itself, from options.
func ExampleInstrument() {
	m, err := instrument.New()
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	election := m.Election("reconciler", instrument.Hold(), instrument.Backend("kubernetes"))
	config := ctrl.GetConfigOrDie()
	options, err := ctrllease.Instrument(config, ctrl.Options{
		LeaderElection:   true,
		LeaderElectionID: "reconciler.example.com",
	}, election)
	if err != nil {
		log.Fatal(err)
	}
	mgr, err := ctrl.NewManager(config, options) // in the framework
	if err != nil {
		log.Fatal(err)
	}
	_ = mgr
}
