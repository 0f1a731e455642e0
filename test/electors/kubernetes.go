package electors

import (
	"context"
	"log"
	"net/http"
	"time"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/ctrllease"
	"github.com/leaderscope/leaderscope/instrument/k8slease"
	"github.com/leaderscope/leaderscope/test/server"
)

// KubernetesNamespace is where the Leases are.
const KubernetesNamespace = "default"

const (
	// RenewDeadline and RetryPeriod are those of client-go, as parts of Lease.
	RenewDeadline = Lease * 3 / 4
	RetryPeriod   = Lease / 8
)

// KubernetesConfig is that of an administrator.
func KubernetesConfig(address string) *rest.Config {
	return &rest.Config{
		Host: "https://" + address, BearerToken: server.KubernetesToken,
		TLSClientConfig: rest.TLSClientConfig{Insecure: true}, Timeout: 1500 * time.Millisecond,
	}
}

// KubernetesLease is a replica that campaigns again whenever its elector has
// stopped, until ctx is done.
func KubernetesLease(ctx context.Context, r Replica, e *instrument.Election, work func(context.Context)) error {
	config := KubernetesConfig(r.Address)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return puts{next, r} })
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	lock := &resourcelock.LeaseLock{
		LeaseMeta: metav1.ObjectMeta{Namespace: KubernetesNamespace, Name: r.Lock}, Client: clients.CoordinationV1(),
		LockConfig: resourcelock.ResourceLockConfig{Identity: r.ID},
	}
	for ctx.Err() == nil {
		elector, err := leaderelection.NewLeaderElector(k8slease.Instrument(leaderelection.LeaderElectionConfig{
			Lock: lock, LeaseDuration: Lease, RenewDeadline: RenewDeadline, RetryPeriod: RetryPeriod, ReleaseOnCancel: true, Name: r.Lock,
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: work,
				OnStoppedLeading: func() {},
			},
		}, e))
		if err != nil {
			return err
		}
		elector.Run(ctx)
		if r.Stopped != nil {
			r.Stopped()
		}
	}
	return nil
}

// KubernetesManager is a manager of controller-runtime. It starts another one
// whenever one has ended, as a container does that is restarted.
func KubernetesManager(ctx context.Context, r Replica, e *instrument.Election, work func(context.Context)) error {
	duration, deadline, period := Lease, RenewDeadline, RetryPeriod
	for ctx.Err() == nil {
		m, err := ctrllease.NewManager(KubernetesConfig(r.Address), manager.Options{
			Logger: logr.Discard(), Metrics: metricsserver.Options{BindAddress: "0"},
			LeaderElection: true, LeaderElectionNamespace: KubernetesNamespace, LeaderElectionID: r.Lock,
			LeaderElectionReleaseOnCancel: true, LeaseDuration: &duration, RenewDeadline: &deadline, RetryPeriod: &period,
		}, e)
		if err == nil {
			err = m.Add(manager.RunnableFunc(func(ctx context.Context) error { work(ctx); return nil }))
		}
		if err == nil {
			err = m.Start(ctx)
		}
		if err != nil {
			log.Printf("%s: %v", r.ID, err)
			time.Sleep(100 * time.Millisecond)
		}
	}
	return nil
}

// puts hears each answer to a write of the Lease.
type puts struct {
	http.RoundTripper
	replica Replica
}

func (p puts) RoundTrip(req *http.Request) (*http.Response, error) {
	asked := time.Now()
	resp, err := p.RoundTripper.RoundTrip(req)
	if err != nil {
		return resp, err
	}
	// A leader whose Lease was deleted renews it by making it again.
	if req.Method == http.MethodPut && resp.StatusCode == http.StatusOK || req.Method == http.MethodPost && resp.StatusCode == http.StatusCreated {
		p.replica.renewed(asked)
	}
	return resp, err
}

// DeleteOnKubernetes deletes the lock's Lease.
func DeleteOnKubernetes(ctx context.Context, address, lock string) error {
	clients, err := kubernetes.NewForConfig(KubernetesConfig(address))
	if err != nil {
		return err
	}
	return clients.CoordinationV1().Leases(KubernetesNamespace).Delete(ctx, lock, metav1.DeleteOptions{})
}
