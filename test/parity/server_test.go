//go:build integration

package parity

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/sdk/metric"
)

// patience bounds what a loaded machine may take.
const patience = 2 * time.Minute

// receiver is the first Prometheus of PROMETHEUS_SERVERS=path:path that takes
// OTLP, which versions from 3 on do.
func receiver(t *testing.T) string {
	t.Helper()
	for _, server := range filepath.SplitList(os.Getenv("PROMETHEUS_SERVERS")) {
		help, _ := exec.Command(server, "--help").CombinedOutput() // the status of --help differs by version
		if strings.Contains(string(help), "web.enable-otlp-receiver") {
			return server
		}
	}
	t.Fatal("PROMETHEUS_SERVERS names no Prometheus that takes OTLP; run make integration")
	return ""
}

// prometheusServer is a running server.
type prometheusServer struct{ address string }

// startPrometheus runs a server that scrapes and evaluates every second and
// takes OTLP.
func startPrometheus(t *testing.T, config string) prometheusServer {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "prometheus.yml")
	if err := os.WriteFile(file, []byte("global: {scrape_interval: 1s, evaluation_interval: 1s}\n"+config), 0o600); err != nil {
		t.Fatal(err)
	}
	s := prometheusServer{freeAddress(t)}
	cmd := exec.Command(receiver(t), "--config.file="+file, "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+s.address,
		"--web.enable-otlp-receiver", "--enable-feature=exemplar-storage", "--log.level=error")
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Errorf("stop Prometheus: %v", err)
		}
		_ = cmd.Wait() // being told to stop is an error of its own
	})
	wait(t, "Prometheus is ready", func() string {
		if _, err := s.get("/-/ready", nil); err != nil {
			return err.Error()
		}
		return ""
	})
	return s
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// wait asks until nothing is wrong any longer.
func wait(t *testing.T, what string, wrong func() string) {
	t.Helper()
	var why string
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(200 * time.Millisecond) {
		if why = wrong(); why == "" {
			return
		}
	}
	t.Fatalf("%s: %s", what, why)
}

func (s prometheusServer) get(path string, query url.Values) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.address+path+"?"+query.Encode(), nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", resp.Status, body)
	}
	return body, err
}

// result is one series of an answer, with a number or a native histogram.
type result struct {
	Metric    map[string]string
	Value     [2]any
	Histogram [2]any
}

func (s prometheusServer) query(t *testing.T, expr string) []result {
	t.Helper()
	body, err := s.get("/api/v1/query", url.Values{"query": {expr}})
	if err != nil {
		t.Fatal(err)
	}
	var answer struct{ Data struct{ Result []result } }
	if err := json.Unmarshal(body, &answer); err != nil {
		t.Fatal(err)
	}
	return answer.Data.Result
}

// value is the value of a query with one result; empty when there is none.
func (s prometheusServer) value(t *testing.T, expr string) string {
	t.Helper()
	found := s.query(t, expr)
	if len(found) != 1 {
		return ""
	}
	return fmt.Sprint(found[0].Value[1])
}

// push is an exporter to the server's OTLP receiver.
func (s prometheusServer) push(t *testing.T) metric.Exporter {
	t.Helper()
	e, err := otlpmetrichttp.New(context.Background(), otlpmetrichttp.WithEndpoint(s.address), otlpmetrichttp.WithURLPath("/api/v1/otlp/v1/metrics"), otlpmetrichttp.WithInsecure())
	if err != nil {
		t.Fatal(err)
	}
	return e
}
