package k8slease

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/instrument/internal/expect"
)

const (
	leaseDuration = 15 * time.Second
	renewDeadline = 10 * time.Second
	retryPeriod   = 2 * time.Second
)

// options are those of a user.
var options = []instrument.ElectionOption{instrument.Hold(), instrument.Backend("kubernetes")}

var leases = schema.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}

// cluster is a fake API server for leases. The fake clientset takes an update
// of an old version, so that two candidates could both win; a reactor refuses
// it as the real server does.
type cluster struct {
	clients *fake.Clientset

	mu       sync.Mutex
	versions int
	faults   map[string]func(context.Context) error // by verb; nil error: none
}

func newCluster() *cluster {
	c := &cluster{clients: fake.NewClientset(), faults: map[string]func(context.Context) error{}}
	c.clients.PrependReactor("create", "leases", func(a clienttesting.Action) (bool, runtime.Object, error) {
		c.stamp(a.(clienttesting.CreateAction).GetObject().(*coordinationv1.Lease))
		return false, nil, nil
	})
	c.clients.PrependReactor("update", "leases", func(a clienttesting.Action) (bool, runtime.Object, error) {
		return c.refuseOld(a.(clienttesting.UpdateAction).GetObject().(*coordinationv1.Lease))
	})
	return c
}

func (c *cluster) stamp(l *coordinationv1.Lease) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.versions++
	l.ResourceVersion = strconv.Itoa(c.versions)
}

func (c *cluster) refuseOld(l *coordinationv1.Lease) (bool, runtime.Object, error) {
	now, err := c.clients.Tracker().Get(coordinationv1.SchemeGroupVersion.WithResource("leases"), l.Namespace, l.Name)
	if err != nil {
		return true, nil, err
	}
	if have := now.(*coordinationv1.Lease).ResourceVersion; have != l.ResourceVersion {
		return true, nil, apierrors.NewConflict(leases, l.Name, fmt.Errorf("version %s, not %s", have, l.ResourceVersion))
	}
	c.stamp(l)
	return false, nil, nil
}

// fail makes requests of that verb fail; nil heals them.
func (c *cluster) fail(verb string, fault func(context.Context) error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.faults[verb] = fault
}

func (c *cluster) fault(ctx context.Context, verb string) error {
	c.mu.Lock()
	fault := c.faults[verb]
	c.mu.Unlock()
	if fault == nil {
		return ctx.Err()
	}
	return fault(ctx)
}

// edit changes the lease behind the electors' backs.
func (c *cluster) edit(t testing.TB, change func(*coordinationv1.Lease)) {
	t.Helper()
	client := c.clients.CoordinationV1().Leases("ns")
	l, err := client.Get(t.Context(), "lock", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	change(l)
	if _, err := client.Update(t.Context(), l, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// remove deletes the lease behind the electors' backs.
func (c *cluster) remove(t testing.TB) {
	t.Helper()
	if err := c.clients.Tracker().Delete(coordinationv1.SchemeGroupVersion.WithResource("leases"), "ns", "lock"); err != nil {
		t.Fatal(err)
	}
}

// faulty puts the cluster's faults before a lock.
type faulty struct {
	resourcelock.Interface
	cluster *cluster
}

func (f faulty) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	if err := f.cluster.fault(ctx, "get"); err != nil {
		return nil, nil, err
	}
	return f.Interface.Get(ctx)
}

func (f faulty) Create(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	if err := f.cluster.fault(ctx, "create"); err != nil {
		return err
	}
	return f.Interface.Create(ctx, r)
}

func (f faulty) Update(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	verb := "update"
	if r.HolderIdentity == "" {
		verb = "release"
	}
	if err := f.cluster.fault(ctx, verb); err != nil {
		return err
	}
	return f.Interface.Update(ctx, r)
}

func (c *cluster) lock(identity string) resourcelock.Interface {
	return faulty{cluster: c, Interface: &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Namespace: "ns", Name: "lock"},
		Client:     c.clients.CoordinationV1(),
		LockConfig: resourcelock.ResourceLockConfig{Identity: identity},
	}}
}

// replica is one process: a middleware and an elector.
type replica struct {
	t        *testing.T
	m        *instrument.Middleware
	election *instrument.Election
	config   leaderelection.LeaderElectionConfig

	body    func(context.Context) // until it returns the work continues
	stopped func()
}

func (c *cluster) replica(t *testing.T, identity string) *replica {
	t.Helper()
	m := expect.Middleware(t)
	r := &replica{t: t, m: m, body: func(ctx context.Context) { <-ctx.Done() }, stopped: func() {}}
	r.election = m.Election(expect.Lock, options...)
	r.config = leaderelection.LeaderElectionConfig{
		Lock:          c.lock(identity),
		LeaseDuration: leaseDuration, RenewDeadline: renewDeadline, RetryPeriod: retryPeriod,
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) { r.body(ctx) },
			OnStoppedLeading: func() { r.stopped() },
		},
	}
	return r
}

// run starts the instrumented election; stop cancels it and waits.
func (r *replica) run() (stop func()) {
	return start(r.t, Instrument(r.config, r.election))
}

func start(t *testing.T, config leaderelection.LeaderElectionConfig) (stop func()) {
	t.Helper()
	elector, err := leaderelection.NewLeaderElector(config)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		elector.Run(ctx)
	}()
	return func() {
		cancel()
		<-done
	}
}

func (r *replica) series() electtest.Series {
	r.t.Helper()
	s := electtest.Read(r.m, expect.Lock)
	if why := electtest.Broken(s); why != "" {
		r.t.Errorf("invariant broken: %s in %v", why, s)
	}
	return s
}

// value is a series as it is now.
func (r *replica) value(series string) float64 {
	r.t.Helper()
	return r.series()[series]
}

// whole compares all series with those of an election to which nothing but
// this has happened.
func (r *replica) whole(at string, happened ...electtest.Series) {
	r.t.Helper()
	want := expect.Fresh(r.t, options...)
	for _, h := range happened {
		want = want.With(h)
	}
	expect.Whole(r.t, r.m, at, want)
}

// want compares the series that it names.
func (r *replica) want(want electtest.Series) {
	r.t.Helper()
	got := r.series()
	for k, v := range want {
		if got[k] != v {
			r.t.Errorf("%s is %v, want %v", k, got[k], v)
		}
	}
}
