package kube

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/leaderscope/leaderscope/cmd/leader-observer/internal/observe"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/redact"
)

// apiServer is a server of leases that are all renewed every 10 s. It runs as a
// process of its own, so that what it takes is not the observer's.
func apiServer(leases int) http.Handler {
	lease := func(i, version int) map[string]any {
		return map[string]any{
			"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
			"metadata": map[string]any{"namespace": fmt.Sprint("ns-", i%100), "name": fmt.Sprint("lease-", i), "resourceVersion": fmt.Sprint(version), "uid": fmt.Sprintf("00000000-0000-0000-0000-%012d", i)},
			"spec": map[string]any{
				"holderIdentity": fmt.Sprintf("controller-%d-7f9c5d7b6b-x%d_00000000-0000-0000-0000-%012d", i, i, i), "leaseDurationSeconds": 15,
				"renewTime": time.Now().UTC().Format(metav1.RFC3339Micro), "acquireTime": "2026-01-01T00:00:00.000000Z", "leaseTransitions": 3,
			},
		}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		out := json.NewEncoder(w)
		if r.URL.Query().Get("watch") == "" {
			items := make([]any, leases)
			for i := range items {
				items[i] = lease(i, 1+i)
			}
			_ = out.Encode(map[string]any{"apiVersion": "coordination.k8s.io/v1", "kind": "LeaseList", "metadata": map[string]any{"resourceVersion": fmt.Sprint(leases)}, "items": items})
			return
		}
		const parts = 100 // of 10 s
		ticks := time.NewTicker(10 * time.Second / parts)
		defer ticks.Stop()
		for n := 0; ; {
			select {
			case <-r.Context().Done():
				return
			case <-ticks.C:
			}
			for range leases / parts {
				if out.Encode(map[string]any{"type": "MODIFIED", "object": lease(n%leases, leases+n+1)}) != nil {
					return
				}
				n++
			}
			w.(http.Flusher).Flush()
		}
	})
}

// serverVariable has the test binary be the server.
const serverVariable = "LEADERSCOPE_BENCH_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(serverVariable) != "" {
		s := httptest.NewServer(apiServer(10_000))
		fmt.Println(s.URL)
		select {}
	}
	os.Exit(m.Run())
}

// BenchmarkTenThousandLeases watches 10,000 leases that are renewed every 10 s
// for half a minute, list and all: what this process takes of memory and of a
// core, and how long a collection takes.
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
	for b.Loop() {
		ctx, cancel := context.WithTimeout(b.Context(), 30*time.Second)
		before := cpu()
		backend.Run(ctx, s.Run)
		cancel()
		used := cpu() - before
		b.ReportMetric(resident(b)/1e6, "resident-MB")
		b.ReportMetric(100*used.Seconds()/30, "%core")
	}
	start := time.Now()
	if r := electtest.ReadBackend(m, "ns-7/lease-7"); r[`leader_backend_held{backend="kubernetes"}`] != 1 {
		b.Errorf("a lease is not seen: %v", r)
	}
	b.ReportMetric(time.Since(start).Seconds(), "s/collection")
	b.ReportMetric(0, "ns/op")
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
