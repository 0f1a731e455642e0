package etcdlock

import (
	"net/url"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/goleak"
	"go.uber.org/zap"

	"github.com/leaderscope/leaderscope/instrument/electtest/tcpproxy"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		// Two of the server's own, which live as long as the process.
		goleak.IgnoreAnyFunction("go.etcd.io/etcd/pkg/v3/schedule.(*fifo).run"),
		goleak.IgnoreAnyFunction("gopkg.in/natefinch/lumberjack%2ev2.(*Logger).millRun"),
	)
}

// server starts an etcd of one member on ports that the kernel chooses. stop
// may be called before the test ends.
func server(t *testing.T) (stop func(), c *clientv3.Client) {
	t.Helper()
	stop, address := started(t)
	return stop, dialed(t, address)
}

// distant is a client of such a server whose connections a test can cut, and
// one that is not cut off.
func distant(t *testing.T) (far *clientv3.Client, way *tcpproxy.Proxy, near *clientv3.Client) {
	t.Helper()
	_, address := started(t)
	way = tcpproxy.New(t, address)
	return dialed(t, way.Address()), way, dialed(t, address)
}

func started(t *testing.T) (stop func(), address string) {
	t.Helper()
	cfg := embed.NewConfig()
	cfg.Dir = t.TempDir()
	cfg.LogLevel = "fatal"
	cfg.UnsafeNoFsync = true
	any := []url.URL{{Scheme: "http", Host: "127.0.0.1:0"}}
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = any, any
	cfg.ListenPeerUrls, cfg.AdvertisePeerUrls = any, any
	cfg.InitialCluster = cfg.InitialClusterFromName(cfg.Name)
	cfg.TickMs, cfg.ElectionMs = 10, 100 // allows leases of one second

	e, err := embed.StartEtcd(cfg)
	if err != nil {
		t.Fatal(err)
	}
	stop = sync.OnceFunc(e.Close)
	t.Cleanup(stop)
	select {
	case <-e.Server.ReadyNotify():
	case <-time.After(30 * time.Second):
		t.Fatal("etcd is not ready after 30 s")
	}
	return stop, e.Clients[0].Addr().String()
}

func dialed(t *testing.T, address string) *clientv3.Client {
	t.Helper()
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{address}, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}
