package kube

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/leaderscope/leaderscope/cmd/leader-observer/internal/observe"
	"github.com/leaderscope/leaderscope/exporter/prom"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/redact"
)

// leases is how many there are, and how often each is renewed.
const (
	leases  = 10_000
	renewal = 10 * time.Second
)

// counts are what the server has done.
type counts struct {
	Lists, Watches, Bytes int64
}

// apiServer is a server of leases that are all renewed every 10 s. It runs as a
// process of its own, so that what it takes is not the observer's. Once a second
// the lease "probe" gets a holder that says when.
type apiServer struct {
	lists, watches, bytes atomic.Int64
}

func leaseObject(name string, i, version int, holder string) map[string]any {
	return map[string]any{
		"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
		"metadata": map[string]any{"namespace": fmt.Sprint("ns-", i%100), "name": name, "resourceVersion": fmt.Sprint(version), "uid": fmt.Sprintf("00000000-0000-0000-0000-%012d", i)},
		"spec": map[string]any{
			"holderIdentity": holder, "leaseDurationSeconds": 15,
			"renewTime": time.Now().UTC().Format(metav1.RFC3339Micro), "acquireTime": "2026-01-01T00:00:00.000000Z", "leaseTransitions": 3,
		},
	}
}

func renewed(i, version int) map[string]any {
	return leaseObject(fmt.Sprint("lease-", i), i, version, fmt.Sprintf("controller-%d-7f9c5d7b6b-x%d_00000000-0000-0000-0000-%012d", i, i, i))
}

func (s *apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	out := json.NewEncoder(io.MultiWriter(w, counter{&s.bytes}))
	switch {
	case r.URL.Path == "/counts":
		_ = json.NewEncoder(w).Encode(counts{s.lists.Load(), s.watches.Load(), s.bytes.Load()})
	case r.URL.Query().Get("watch") == "":
		s.lists.Add(1)
		items := make([]any, leases)
		for i := range items {
			items[i] = renewed(i, 1+i)
		}
		_ = out.Encode(map[string]any{"apiVersion": "coordination.k8s.io/v1", "kind": "LeaseList", "metadata": map[string]any{"resourceVersion": fmt.Sprint(leases)}, "items": items})
	default:
		s.watches.Add(1)
		s.renews(r.Context(), w.(http.Flusher), out)
	}
}

type counter struct{ n *atomic.Int64 }

func (c counter) Write(p []byte) (int, error) { c.n.Add(int64(len(p))); return len(p), nil }

// renews sends what a watch is told, in parts of a tenth of a second.
func (s *apiServer) renews(ctx context.Context, w http.Flusher, out *json.Encoder) {
	const parts = int(renewal / (100 * time.Millisecond))
	ticks := time.NewTicker(renewal / time.Duration(parts))
	defer ticks.Stop()
	version := leases
	send := func(object any) error {
		version++
		return out.Encode(map[string]any{"type": "MODIFIED", "object": object})
	}
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
		for i := range leases / parts {
			if send(renewed((n*leases/parts+i)%leases, version)) != nil {
				return
			}
		}
		if n%10 == 0 && send(leaseObject("probe", 0, version, fmt.Sprint(time.Now().UnixNano()))) != nil {
			return
		}
		w.Flush()
	}
}

// serverVariable has the test binary be the server.
const serverVariable = "LEADERSCOPE_BENCH_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(serverVariable) != "" {
		s := httptest.NewServer(&apiServer{})
		fmt.Println(s.URL)
		select {}
	}
	os.Exit(m.Run())
}

// BenchmarkTenThousandLeases watches 10,000 leases that are renewed every 10 s
// for half a minute, list and two scrapes and all: what this process takes of memory and of a
// core, what it asks of the server, and how long an event takes until a
// collection shows it. It fails beyond what docs/observer.md promises.
func BenchmarkTenThousandLeases(b *testing.B) {
	url := startServer(b)
	m, err := instrument.New(instrument.WithRedactor(redact.Raw()), instrument.WithMaxLabels(20_000), instrument.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		b.Fatal(err)
	}
	backend := observe.New(observe.NewHealth(m, "kubernetes"), observe.Options{Logger: slog.New(slog.DiscardHandler)})
	s, err := Source{LockName: "{namespace}/{name}"}.Watch(&rest.Config{Host: url}, backend)
	if err != nil {
		b.Fatal(err)
	}
	most := func(value, limit float64, unit string) {
		b.ReportMetric(value, unit)
		if value > limit {
			b.Errorf("%v %s, more than %v", value, unit, limit)
		}
	}
	for b.Loop() {
		const window = 30 * time.Second
		ctx, cancel := context.WithCancel(b.Context())
		var watching sync.WaitGroup
		before := cpu()
		watching.Go(func() { backend.Run(ctx, s.Run) })
		scraped := 0
		for range 2 { // every 15 s, the last just before memory is read
			time.Sleep(window / 2)
			scraped = scrape(b, m)
		}
		used := cpu() - before
		b.ReportMetric(float64(scraped)/1e6, "scraped-MB")
		most(resident(b)/1e6, 100, "resident-MB")
		most(100*used.Seconds()/window.Seconds(), 20, "%core")
		latency, collection := latencies(b, m)
		cancel()
		watching.Wait()
		did := asked(b, url)
		most(float64(did.Lists), 1, "lists")
		most(float64(did.Watches), 1, "watches")
		b.ReportMetric(float64(did.Bytes)/1e6, "received-MB")
		most(latency.Seconds(), 1, "s/event-to-metric")
		most(collection.Seconds(), 1, "s/collection")
	}
	b.ReportMetric(0, "ns/op")
}

// scrape writes what Prometheus would get, and returns its size.
func scrape(b *testing.B, m *instrument.Middleware) (size int) {
	registry := prometheus.NewRegistry()
	if _, err := prom.Register(registry, m); err != nil {
		b.Fatal(err)
	}
	answer := &sink{header: http.Header{}}
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	return answer.size
}

// sink takes an answer as a connection does, without keeping it.
type sink struct {
	header http.Header
	size   int
}

func (s *sink) Header() http.Header         { return s.header }
func (s *sink) WriteHeader(int)             {}
func (s *sink) Write(p []byte) (int, error) { s.size += len(p); return len(p), nil }

// latencies collects for 10 s as fast as it can and returns the longest time
// from an event to the end of the collection that shows it, and of a collection.
func latencies(b *testing.B, m *instrument.Middleware) (event, collection time.Duration) {
	seen, events := "", 0
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); {
		start := time.Now()
		read := electtest.ReadBackend(m, "ns-0/probe")
		now := time.Now()
		collection = max(collection, now.Sub(start))
		for key := range read {
			_, holder, is := strings.Cut(key, `holder="`)
			if holder = strings.TrimSuffix(holder, `"}`); !is || holder == seen {
				continue
			}
			sent, err := strconv.ParseInt(holder, 10, 64)
			if err != nil {
				b.Fatal(err)
			}
			if events++; seen != "" { // the first may have been there for long
				event = max(event, now.Sub(time.Unix(0, sent)))
			}
			seen = holder
		}
		time.Sleep(10 * time.Millisecond)
	}
	if events < 5 {
		b.Errorf("%d events were seen in 10 s", events)
	}
	return event, collection
}

func asked(b *testing.B, url string) (did counts) {
	resp, err := http.Get(url + "/counts")
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(&did); err != nil {
		b.Fatal(err)
	}
	return did
}

// startServer starts the server as another process, which dies with this one.
func startServer(b *testing.B) (url string) {
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	server := exec.Command(self)
	server.Env = append(os.Environ(), serverVariable+"=1")
	out, err := server.StdoutPipe()
	if err == nil {
		err = server.Start()
	}
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = server.Process.Kill(); _ = server.Wait() })
	if _, err := fmt.Fscan(out, &url); err != nil {
		b.Fatal(err)
	}
	return url
}

func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func resident(b *testing.B) float64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		b.Skip("no /proc")
	}
	var size, pages int
	if _, err := fmt.Sscan(strings.TrimSpace(string(text)), &size, &pages); err != nil {
		b.Fatal(err)
	}
	return float64(pages * os.Getpagesize())
}
