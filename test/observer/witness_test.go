//go:build integration

package observer

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/leaderscope/leaderscope/exporter/prom"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/k8slease"
	"github.com/leaderscope/leaderscope/test/server"
)

// replicaVariable has the test binary be a replica with that identity.
const replicaVariable = "LEADERSCOPE_OBSERVER_REPLICA"

// replica is a service with a lease of 15 s, as examples/electors/k8slease, until it
// is killed. It prints the address of its metrics.
func replica(id string) error {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	m, err := instrument.New()
	if err != nil {
		return err
	}
	if _, err := prom.Register(prometheus.DefaultRegisterer, m); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	go func() { _ = http.Serve(listener, promhttp.Handler()) }()
	fmt.Println(listener.Addr())
	leading := m.Election("reconciler", instrument.Hold(), instrument.Backend("kubernetes"))
	for {
		leaderelection.RunOrDie(context.Background(), k8slease.Instrument(leaderelection.LeaderElectionConfig{
			Lock: &resourcelock.LeaseLock{
				LeaseMeta: metav1.ObjectMeta{Namespace: "default", Name: "reconciler"}, Client: client.CoordinationV1(),
				LockConfig: resourcelock.ResourceLockConfig{Identity: id},
			},
			LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
			Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: func(ctx context.Context) { <-ctx.Done() }, OnStoppedLeading: func() {}},
		}, leading))
	}
}

// startReplica starts one with the rights of a token.
func (c *cluster) startReplica(t *testing.T, id, token string) (cmd *exec.Cmd, address string) {
	t.Helper()
	cmd = exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), replicaVariable+"="+id, "KUBECONFIG="+c.kubeconfig(t, token))
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		t.Fatalf("%s prints no address", id)
	}
	return cmd, lines.Text()
}

// reader is a token that may read leases and not write them.
func (c *cluster) reader(t *testing.T) (token string) {
	t.Helper()
	name := metav1.ObjectMeta{Name: "standby", Namespace: "default"}
	_, err := c.clients.CoreV1().ServiceAccounts("default").Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: name}, metav1.CreateOptions{})
	if err == nil {
		_, err = c.clients.RbacV1().Roles("default").Create(t.Context(), &rbacv1.Role{ObjectMeta: name, Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: []string{"get"}}}}, metav1.CreateOptions{})
	}
	if err == nil {
		_, err = c.clients.RbacV1().RoleBindings("default").Create(t.Context(), &rbacv1.RoleBinding{ObjectMeta: name,
			RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name.Name},
			Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Name: name.Name, Namespace: name.Namespace}}}, metav1.CreateOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
	made, err := c.clients.CoreV1().ServiceAccounts("default").CreateToken(t.Context(), name.Name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return made.Status.Token
}

// The leader's node dies: its process is killed and its target stays. The standbys
// see the Lease end and may not write it. There is no observer.
func TestStandbysWitnessANodeDeathThatNobodyTakesOver(t *testing.T) {
	prometheus := prometheusOf(t)
	c := newServer(t)
	c.namespace(t, "default")
	leader, address := c.startReplica(t, "leader", server.KubernetesToken)
	addresses := []string{address}
	leads := func() string {
		l, err := c.clients.CoordinationV1().Leases("default").Get(t.Context(), "reconciler", metav1.GetOptions{})
		if err != nil || l.Spec.HolderIdentity == nil {
			return ""
		}
		return *l.Spec.HolderIdentity
	}
	eventually(t, "the leader leads", func() bool { return leads() == "leader" })
	token := c.reader(t)
	for _, id := range []string{"standby-1", "standby-2"} {
		_, address := c.startReplica(t, id, token)
		addresses = append(addresses, address)
	}
	witnessed := func(value string) func() bool {
		return func() bool {
			for _, address := range addresses[1:] {
				if !strings.Contains(metricsAt(address), `leader_backend_held{backend="kubernetes",lock_name="reconciler"} `+value+"\n") {
					return false
				}
			}
			return true
		}
	}
	eventually(t, "both standbys witness the holder", witnessed("1"))
	pages := newPager(t)
	rules, err := os.ReadFile("../../alerts/generated/prometheus/leaderscope-rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	scrapes := scrapedBy(t, prometheus, "reconciler", addresses, string(rules), pages.URL)
	eventually(t, "Prometheus scrapes", func() bool { return scrapes.Load() >= 9 })
	if fires := pages.firing(); fires != nil {
		t.Fatalf("before anything happens: %v", fires)
	}

	died := time.Now()
	_ = leader.Process.Kill()
	_ = leader.Wait()
	want := map[string]string{"LeaderElectionVacant reconciler": "critical", "LeaderElectionNoLeader reconciler": "critical"}
	of := func(all map[string]string) map[string]string {
		found := map[string]string{}
		for name, severity := range all {
			if want[name] != "" {
				found[name] = severity
			}
		}
		return found
	}
	first := time.Duration(0)
	for !cmp.Equal(want, of(pages.firing())) && time.Since(died) < deadline {
		if first == 0 && len(of(pages.firing())) > 0 {
			first = time.Since(died)
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Logf("paged %v after the leader died, and with both alerts after %v", first.Round(100*time.Millisecond), time.Since(died).Round(100*time.Millisecond))
	if diff := cmp.Diff(want, of(pages.firing())); diff != "" {
		t.Errorf("after %v, of %v: %s", time.Since(died), pages.firing(), diff)
	}
	if !witnessed("0")() {
		t.Error("a standby does not witness that the Lease is vacant")
	}
	if holder := leads(); holder != "leader" {
		t.Errorf("the record names %q", holder)
	}
}

// metricsAt is what a replica exports; empty if it cannot be reached.
func metricsAt(address string) string {
	p := &process{url: "http://" + address}
	_, body, _ := p.get("/metrics")
	return body
}
