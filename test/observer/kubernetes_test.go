//go:build integration

package observer

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/leaderscope/leaderscope/test/server"
)

// cluster is a kube-apiserver and an observer of it.
type cluster struct {
	server.Server
	*process
	clients *kubernetes.Clientset
	config  *rest.Config
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	c := newServer(t)
	c.process = run(t, fmt.Sprintf(`
redaction: {policy: raw}
kubernetes:
  - kubeconfig: %s
    lockName: "{namespace}/{name}"
`, c.kubeconfig(t, server.KubernetesToken)))
	c.waitUntilReady(t)
	return c
}

// newServer is a cluster that nothing observes yet.
func newServer(t *testing.T) *cluster {
	t.Helper()
	s := start(t, "kube-apiserver")
	config := &rest.Config{
		Host: "https://" + s.Addresses()[0], BearerToken: server.KubernetesToken, QPS: -1,
		TLSClientConfig: rest.TLSClientConfig{Insecure: true},
	}
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return &cluster{Server: s, clients: clients, config: config}
}

// kubeconfig writes a file for the bearer of that token.
func (c *cluster) kubeconfig(t *testing.T, token string) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: c
contexts: [{name: c, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: %q, insecure-skip-tls-verify: true}}]
users: [{name: u, user: {token: %q}}]
`, c.config.Host, token)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func (p *process) waitUntilReady(t *testing.T) {
	t.Helper()
	eventually(t, "the observer is ready", func() bool { status, _, err := p.get("/readyz"); return err == nil && status == 200 })
}

// script is a lease that a test writes as electors would.
type script struct {
	referee
	c      *cluster
	leases coordination.LeaseInterface
	name   string
	length int32
}

func (c *cluster) script(t *testing.T, name string, length int32) *script {
	return &script{referee: referee{t: t}, c: c, leases: c.clients.CoordinationV1().Leases("default"), name: name, length: length}
}

func (s *script) done(err error) time.Time {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
	return time.Now()
}

// writes has the holder acquire or renew; an empty holder releases.
func (s *script) writes(holder string) time.Time {
	s.t.Helper()
	now := metav1.NowMicro()
	l, err := s.leases.Get(s.t.Context(), s.name, metav1.GetOptions{})
	if err != nil {
		l = &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: s.name}, Spec: coordinationv1.LeaseSpec{LeaseTransitions: new(int32)}}
	}
	length := s.length
	if holder == "" {
		length = 1 // as client-go releases
	}
	if before := l.Spec.HolderIdentity; before == nil || *before != holder {
		l.Spec.AcquireTime = &now
		if holder != "" && before != nil {
			*l.Spec.LeaseTransitions++
		}
	}
	l.Spec.HolderIdentity, l.Spec.LeaseDurationSeconds, l.Spec.RenewTime = &holder, &length, &now
	if l.ResourceVersion == "" {
		_, err = s.leases.Create(s.t.Context(), l, metav1.CreateOptions{})
	} else {
		_, err = s.leases.Update(s.t.Context(), l, metav1.UpdateOptions{})
	}
	return s.done(err)
}

func (s *script) acquires(holder string) time.Time {
	at := s.writes(holder)
	s.holds(holder, at)
	return at
}

func (s *script) deletes() {
	s.frees(s.done(s.leases.Delete(s.t.Context(), s.name, metav1.DeleteOptions{})))
}

func pause(seconds float64) { time.Sleep(time.Duration(seconds * float64(time.Second))) }

// What happens to each lease, between two scrapes.
var lives = map[string]func(*script){
	"released": func(s *script) {
		s.acquires("a")
		pause(0.5)
		s.frees(s.writes(""))
		pause(1)
		s.acquires("b")
	},
	"killed": func(s *script) {
		at := s.acquires("a")
		s.frees(at.Add(time.Duration(s.length) * time.Second))
		pause(float64(s.length) + 1)
		s.acquires("b")
	},
	"killed-for-good": func(s *script) {
		at := s.acquires("a")
		s.frees(at.Add(time.Duration(s.length) * time.Second))
		pause(float64(s.length) + 2)
	},
	"deleted": func(s *script) {
		s.acquires("a")
		pause(0.5)
		s.deletes()
		pause(1)
		s.acquires("a")
	},
	"deleted-for-good": func(s *script) {
		s.acquires("a")
		pause(0.3)
		s.deletes()
	},
	"handed-over": func(s *script) {
		for _, holder := range []string{"a", "b", "a", "c"} {
			s.acquires(holder)
			pause(0.3)
		}
	},
	"renewed": func(s *script) {
		s.acquires("a")
		for range 8 {
			pause(0.7)
			s.writes("a")
		}
	},
	"woken-up": func(s *script) { // a holder that slept past its end, without any other candidate
		at := s.acquires("a")
		s.frees(at.Add(time.Duration(s.length) * time.Second))
		pause(float64(s.length) + 1.5)
		s.acquires("a")
	},
}

func TestEachLeaseIsWhatTheRefereeSays(t *testing.T) {
	c := newCluster(t)
	var all sync.WaitGroup
	scripts := map[string]*script{}
	for name, live := range lives {
		length := int32(3)
		if name == "released" || name == "handed-over" || name == "deleted" {
			length = 60
		}
		s := c.script(t, name, length)
		scripts[name] = s
		all.Go(func() { live(s) })
	}
	all.Wait()
	pause(1) // until the last event has come
	for name, s := range scripts {
		s.compare(c.process, "kubernetes", "default/"+name)
	}
}

func TestLeasesOfNodesAndServersAreLeftOut(t *testing.T) {
	c := newCluster(t)
	holder, length := "node", int32(40)
	lease := func(namespace, name string, labels map[string]string) {
		_, _ = c.clients.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{})
		_, err := c.clients.CoordinationV1().Leases(namespace).Create(t.Context(), &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}, Spec: coordinationv1.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: &length},
		}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
	}
	lease("kube-node-lease", "node-1", nil)
	lease("kube-system", "apiserver-x", map[string]string{"apiserver.kubernetes.io/identity": "kube-apiserver"})
	lease("kube-system", "kube-scheduler", nil)
	eventually(t, "the scheduler's lease is there", func() bool { got, _ := c.lock(t, "kubernetes", "kube-system/kube-scheduler"); return got["held"] == 1 })
	for _, name := range []string{"kube-node-lease/node-1", "kube-system/apiserver-x"} {
		if got, _ := c.lock(t, "kubernetes", name); len(got) != 0 {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A server that restarts, and an observer that is suspended, are no vacancies.
func TestWhatTheObserverCannotSeeIsNoVacancy(t *testing.T) {
	c := newCluster(t)
	s := c.script(t, "steady", 120)
	s.acquires("a")
	seen := func() bool {
		got, holder := c.lock(t, "kubernetes", "default/steady")
		return got["held"] == 1 && holder == "a"
	}
	eventually(t, "the lease is seen", seen)
	c.Down()
	eventually(t, "the backend is down", func() bool { return c.up(t, "kubernetes") == 0 })
	if got, holder := c.lock(t, "kubernetes", "default/steady"); holder != "" || got["vacant_seconds_total"] > 0.1 {
		t.Errorf("while the server is away: %v by %q", got, holder)
	}
	if err := c.Up(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the lease is seen again", seen)
	s.compare(c.process, "kubernetes", "default/steady")

	short := c.script(t, "short", 2)
	ctx, cancel := context.WithCancel(t.Context())
	renewed := make(chan struct{})
	short.acquires("a")
	go func() {
		defer close(renewed)
		for ctx.Err() == nil {
			short.writes("a")
			time.Sleep(300 * time.Millisecond)
		}
	}()
	eventually(t, "the short lease is seen", func() bool { got, _ := c.lock(t, "kubernetes", "default/short"); return got["held"] == 1 })
	_ = c.Process.Signal(syscall.SIGSTOP)
	pause(6)
	_ = c.Process.Signal(syscall.SIGCONT)
	pause(2)
	short.compare(c.process, "kubernetes", "default/short")
	cancel()
	<-renewed
}

// A plain program of client-go: leaders come and go, and only the observer tells.
func TestAnUninstrumentedElectionIsSeen(t *testing.T) {
	c := newCluster(t)
	replica := func(identity string) (led <-chan struct{}, stop func()) {
		leading, ctx := make(chan struct{}), context.Background()
		ctx, cancel := context.WithCancel(ctx)
		e, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
			Lock: &resourcelock.LeaseLock{
				LeaseMeta: metav1.ObjectMeta{Namespace: "default", Name: "plain"}, Client: c.clients.CoordinationV1(),
				LockConfig: resourcelock.ResourceLockConfig{Identity: identity},
			},
			LeaseDuration: 3 * time.Second, RenewDeadline: 2 * time.Second, RetryPeriod: 500 * time.Millisecond, ReleaseOnCancel: true,
			Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) { close(leading) }, OnStoppedLeading: func() {}},
		})
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		go func() { defer close(done); e.Run(ctx) }()
		return leading, func() { cancel(); <-done }
	}
	led, stop := replica("a")
	<-led
	eventually(t, "a leads", func() bool { _, holder := c.lock(t, "kubernetes", "default/plain"); return holder == "a" })
	stop()
	eventually(t, "nobody leads", func() bool {
		got, holder := c.lock(t, "kubernetes", "default/plain")
		held, known := got["held"]
		return known && held == 0 && holder == ""
	})
	ledB, stopB := replica("b")
	defer stopB()
	<-ledB
	eventually(t, "b leads", func() bool {
		got, holder := c.lock(t, "kubernetes", "default/plain")
		return holder == "b" && got["terms_total"] >= 1 && got["handover_seconds_count"] >= 1 && got["token"] >= 1
	})
}
