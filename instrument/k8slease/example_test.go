package k8slease_test

import (
	"context"
	"log"
	"os"
	"os/signal"
	"syscall"
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

// A program with client-go's elector: its configuration goes through
// Instrument.
func Example() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
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
	election := m.Election("reconciler", instrument.Hold(), instrument.Backend("kubernetes"))
	leaderelection.RunOrDie(ctx, k8slease.Instrument(config, election))
}

// A framework that takes a resource lock and makes the elector itself: it gets
// the wrapped lock, and Work counts what it starts when it leads.
func ExampleLock() {
	m, err := instrument.New()
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	election := m.Election("reconciler", instrument.Hold(), instrument.Backend("kubernetes"))
	lock := k8slease.Lock(resourceLock(), election)
	framework(lock, func(ctx context.Context) error {
		return lock.Work(ctx, func(ctx context.Context) error { <-ctx.Done(); return nil })
	})
}

func framework(resourcelock.Interface, func(context.Context) error) {}
