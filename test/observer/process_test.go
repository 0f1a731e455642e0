//go:build integration

package observer

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/leaderscope/leaderscope/test/server"
)

// patience is how long a thing may take on a loaded machine.
const patience = 60 * time.Second

var binary string

func TestMain(m *testing.M) {
	if id := os.Getenv(replicaVariable); id != "" {
		fmt.Fprintln(os.Stderr, replica(id))
		os.Exit(1)
	}
	if text := os.Getenv(electedVariable); text != "" {
		if err := elect(text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	dir, err := os.MkdirTemp("", "leader-observer")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	binary = filepath.Join(dir, "leader-observer")
	build := exec.Command("go", "build", "-C", "../../cmd/leader-observer", "-o", binary, ".")
	build.Env = append(os.Environ(), "GOWORK=") // a command has no replace: the workspace has its libraries
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%v: %s", err, out)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

func start(t *testing.T, name string) server.Server {
	t.Helper()
	s, err := server.Start(name)
	if err != nil {
		t.Skipf("SKIPPED %v", err)
	}
	t.Cleanup(s.Close)
	return s
}

// process is a leader-observer that runs.
type process struct {
	*exec.Cmd
	url string
}

// run starts leader-observer with that configuration and variables, and waits
// until it listens.
func run(t *testing.T, config string, variables ...string) *process {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	p := &process{Cmd: exec.Command(binary, "--config", file, "--listen", "127.0.0.1:0")}
	p.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	p.Env = append(append(os.Environ(), "KUBECONFIG=", "KUBERNETES_SERVICE_HOST="), variables...)
	stderr, err := p.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Process.Signal(syscall.SIGTERM); _ = p.Wait() })
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		var line struct{ Msg, Address string }
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "listening" {
			p.url = "http://" + line.Address
			go func() {
				for lines.Scan() {
				}
			}()
			return p
		}
		t.Log(lines.Text())
	}
	t.Fatal("leader-observer ended before it listened")
	return nil
}

func (p *process) get(path string) (status int, body string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url+path, nil)
	if err != nil {
		return 0, "", err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(text), err
}

// series are what is scraped of leader_*: of a histogram its count and sum.
func (p *process) series(t *testing.T) map[string]float64 {
	t.Helper()
	_, text, err := p.get("/metrics")
	if err != nil {
		t.Fatal(err)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]float64{}
	for name, f := range families {
		if !strings.HasPrefix(name, "leader_") {
			continue
		}
		for _, m := range f.GetMetric() {
			labels := ""
			for _, l := range m.GetLabel() {
				labels += "," + l.GetName() + "=" + l.GetValue()
			}
			labels = "{" + strings.TrimPrefix(labels, ",") + "}"
			switch {
			case m.GetHistogram() != nil:
				all[name+"_count"+labels] = float64(m.GetHistogram().GetSampleCount())
				all[name+"_sum"+labels] = m.GetHistogram().GetSampleSum()
			case m.GetCounter() != nil:
				all[name+labels] = m.GetCounter().GetValue()
			default:
				all[name+labels] = m.GetGauge().GetValue()
			}
		}
	}
	return all
}

// lock are the series of one lock, by their names without leader_backend_, and
// its holder.
func (p *process) lock(t *testing.T, backend, name string) (values map[string]float64, holder string) {
	t.Helper()
	values = map[string]float64{}
	for key, v := range p.series(t) {
		metric, labels, _ := strings.Cut(strings.TrimSuffix(key, "}"), "{")
		got := map[string]string{}
		for pair := range strings.SplitSeq(labels, ",") {
			k, value, _ := strings.Cut(pair, "=")
			got[k] = value
		}
		if got["lock_name"] != name || got["backend"] != backend {
			continue
		}
		if metric == "leader_backend_holder_info" {
			holder = got["holder"]
			continue
		}
		values[strings.TrimPrefix(metric, "leader_backend_")] = v
	}
	return values, holder
}

func (p *process) up(t *testing.T, backend string) float64 {
	t.Helper()
	v, there := p.series(t)["leader_backend_up{backend="+backend+"}"]
	if !there {
		return -1
	}
	return v
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	eventuallyOr(t, ok, func() string { return what })
}

// eventuallyOr says what was missing at the end.
func eventuallyOr(t *testing.T, ok func() bool, missing func() string) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", patience, missing())
		}
	}
}
