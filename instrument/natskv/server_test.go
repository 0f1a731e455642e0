package natskv

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/goleak"
)

// TestMain allows what was begun in the background some time.
func TestMain(m *testing.M) {
	code := m.Run()
	var leaked error
	for deadline := time.Now().Add(3 * settleTime); time.Now().Before(deadline); time.Sleep(retryAfter / 10) {
		if leaked = goleak.Find(); leaked == nil {
			os.Exit(code)
		}
	}
	fmt.Fprintln(os.Stderr, leaked)
	os.Exit(1)
}

// embedded starts a server with JetStream on a port that the kernel chooses.
func embedded(t *testing.T) *server.Server {
	t.Helper()
	s, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: -1, JetStream: true, StoreDir: t.TempDir(), NoLog: true, NoSigs: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	go s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(30 * time.Second) {
		t.Fatal("the server is not ready after 30 s")
	}
	return s
}

// cluster starts three servers, each with a replica of a bucket.
func cluster(t *testing.T, ttl time.Duration) (urls []string) {
	t.Helper()
	var routes []*url.URL
	var ports []int
	for range 3 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
		routes = append(routes, &url.URL{Scheme: "nats", Host: l.Addr().String()})
		l.Close()
	}
	var all []*server.Server
	for i, port := range ports {
		s, err := server.NewServer(&server.Options{
			ServerName: fmt.Sprint("server-", i), Host: "127.0.0.1", Port: -1, JetStream: true, StoreDir: t.TempDir(), NoLog: true, NoSigs: true,
			Cluster: server.ClusterOpts{Name: "c", Host: "127.0.0.1", Port: port}, Routes: routes,
		})
		if err != nil {
			t.Fatal(err)
		}
		go s.Start()
		t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
		all = append(all, s)
	}
	for _, s := range all {
		if !s.ReadyForConnections(30 * time.Second) {
			t.Fatal("a server is not ready after 30 s")
		}
		urls = append(urls, s.ClientURL())
	}
	// A cluster takes a moment to know all of its members.
	config := jetstream.KeyValueConfig{Bucket: "leases", TTL: ttl, Replicas: len(urls)}
	if js := client(t, urls[0]); !becomes(t, func() bool { _, err := js.CreateKeyValue(t.Context(), config); return err == nil }) {
		t.Fatal("the cluster makes no bucket within 30 s")
	}
	return urls
}

func becomes(t *testing.T, ok func() bool) bool {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}

// client is a connection of its own.
func client(t testing.TB, url string) jetstream.JetStream {
	t.Helper()
	js, err := jetstream.New(connection(t, url))
	if err != nil {
		t.Fatal(err)
	}
	return js
}

func connection(t testing.TB, url string) *nats.Conn {
	t.Helper()
	nc, err := nats.Connect(url, nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

// bucket is one whose keys live that long; 0 forever.
func bucket(t testing.TB, js jetstream.JetStream, ttl time.Duration) jetstream.KeyValue {
	t.Helper()
	kv, err := js.CreateOrUpdateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "leases", TTL: ttl})
	if err != nil {
		t.Fatal(err)
	}
	return kv
}

// replica is the bucket of a cluster, through one of its servers.
func replica(t *testing.T, url string) (kv jetstream.KeyValue) {
	t.Helper()
	js := client(t, url)
	if !becomes(t, func() (ok bool) {
		var err error
		kv, err = js.KeyValue(t.Context(), "leases")
		return err == nil
	}) {
		t.Fatal("the bucket cannot be had within 30 s")
	}
	return kv
}
