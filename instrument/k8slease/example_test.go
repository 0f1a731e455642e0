package k8slease_test

import (
	"context"
	"log"
	"os"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/k8slease"
)

// resourceLock is the lock that a program has already.
func resourceLock() resourcelock.Interface {
	config, err := rest.InClusterConfig()
	if err != nil {
		log.Fatal(err)
	}
	return &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Namespace: "default", Name: "reconciler"},
		Client:     kubernetes.NewForConfigOrDie(config).CoordinationV1(),
		LockConfig: resourcelock.ResourceLockConfig{Identity: os.Getenv("HOSTNAME")},
	}
}

// An election with callbacks: its configuration goes through Instrument.
func ExampleInstrument() {
	m, err := instrument.New()
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	config := leaderelection.LeaderElectionConfig{
		Lock:          resourceLock(),
		LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) { <-ctx.Done() }, // the work
			OnStoppedLeading: func() { log.Println("not leading any more") },
		},
	}
	reconciler := m.Election("reconciler", instrument.Hold(), instrument.Backend("kubernetes"))
	leaderelection.RunOrDie(context.Background(), k8slease.Instrument(config, reconciler))
}

// A framework that takes a resource lock and keeps the callbacks: give it the
// wrapped lock. In controller-runtime that is
// manager.Options.LeaderElectionResourceLockInterface.
func ExampleLock() {
	m, err := instrument.New()
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	reconciler := m.Election("reconciler", instrument.Hold(), instrument.Backend("kubernetes"))
	options := struct { // as in controller-runtime's manager.Options
		LeaderElection                      bool
		LeaderElectionResourceLockInterface resourcelock.Interface
	}{
		LeaderElection:                      true,
		LeaderElectionResourceLockInterface: k8slease.Lock(resourceLock(), reconciler),
	}
	_ = options
}
