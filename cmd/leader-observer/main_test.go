package main

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/leaderscope/leaderscope/cmd/leader-observer/internal/config"
	"github.com/leaderscope/leaderscope/instrument"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestWhatIsWrongIsSaidAndNothingIsWatched(t *testing.T) {
	file := written(t, "redaction: {policy: plain}")
	for name, c := range map[string]struct {
		args []string
		code int
		want string
	}{
		"help":                       {[]string{"--help"}, 0, "leader-observer reads the holders of locks"},
		"nothing":                    {nil, 2, "redaction.policy: is missing; use raw"},
		"nothing to watch":           {[]string{"--redaction", "raw"}, 2, "no backend is configured; add kubernetes"},
		"a bad file":                 {[]string{"--config", file}, 2, `line 1: redaction.policy: unknown policy "plain"`},
		"no file":                    {[]string{"--config", "none.yaml"}, 2, "none.yaml"},
		"a file and flags":           {[]string{"--config", file, "--kubernetes"}, 2, "cannot be combined with --config"},
		"an argument":                {[]string{"x"}, 2, `unexpected argument "x"`},
		"an unknown flag":            {[]string{"--x"}, 2, "flag provided but not defined: -x"},
		"a bad address":              {[]string{"--kubernetes", "--redaction", "raw", "--listen", "x"}, 2, `listen: "x" is not a valid address`},
		"a key that is gone":         {[]string{"--config", written(t, "redaction: {policy: hash, keyFile: no-such-key, keyID: k1}\nredis:\n  - {address: 'a:1', keys: [x]}\n")}, 1, "no-such-key"},
		"no kubeconfig":              {[]string{"--config", raw(t, "kubernetes:\n  - {kubeconfig: no-such-file}\n")}, 1, `find the cluster of "kubernetes": stat no-such-file: no such file or directory; run in a pod, or set kubeconfig`},
		"no password of etcd":        {[]string{"--config", raw(t, "etcd:\n  - {endpoints: [a], prefixes: [/x/], username: u, passwordFile: no-such-file}\n")}, 1, `read the password of "etcd": open no-such-file`},
		"no authority of etcd":       {[]string{"--config", raw(t, "etcd:\n  - {endpoints: [a], prefixes: [/x/], caFile: no-such-file}\n")}, 1, `read the certificate authority of "etcd": open no-such-file`},
		"an authority that is none":  {[]string{"--config", raw(t, "etcd:\n  - {endpoints: [a], prefixes: [/x/], caFile: "+file+"}\n")}, 1, `caFile of "etcd" contains no certificate; write certificates in PEM`},
		"a certificate that is none": {[]string{"--config", raw(t, "etcd:\n  - {endpoints: [a], prefixes: [/x/], certFile: "+file+", keyFile: "+file+"}\n")}, 1, `read the certificate of "etcd"`},
		"no URL of PostgreSQL":       {[]string{"--config", raw(t, "postgres:\n  - {urlFile: no-such-file, locks: [{name: x, key: 1}]}\n")}, 1, `read a secret of "postgres": open no-such-file`},
		"no password of Redis":       {[]string{"--config", raw(t, "redis:\n  - {address: 'a:1', keys: [x], passwordFile: no-such-file}\n")}, 1, `read a secret of "redis": open no-such-file`},
	} {
		t.Run(name, func(t *testing.T) {
			var stderr bytes.Buffer
			if code := run(t.Context(), c.args, io.Discard, &stderr); code != c.code || !strings.Contains(stderr.String(), c.want) {
				t.Errorf("exit %d: %s\nwant %d: %s", code, stderr.String(), c.code, c.want)
			}
		})
	}
}

func TestItPrintsItsVersion(t *testing.T) {
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), []string{"--version"}, &stdout, &stderr)
	if want := "leader-observer " + instrument.Version + "\n"; code != 0 || stdout.String() != want || stderr.Len() != 0 {
		t.Errorf("exit %d: %q, %q; want %q", code, stdout.String(), stderr.String(), want)
	}
}

// raw writes a configuration that shows names as they are.
func raw(t *testing.T, text string) (file string) {
	t.Helper()
	return written(t, "redaction: {policy: raw}\n"+text)
}

func written(t *testing.T, text string) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestItAnswersUntilItIsStopped(t *testing.T) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	_ = free.Close()
	c := config.Default()
	c.Listen, c.Redaction.Policy = address, "constant"
	c.Redis = []config.Redis{{Address: "127.0.0.1:1", Keys: []string{"x"}, Every: time.Second}}
	if err := c.Check(); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stopped := make(chan error, 1)
	go func() { stopped <- serve(ctx, c, slog.New(slog.DiscardHandler)) }()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	get := func(path string) (int, string) {
		for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
			resp, err := client.Get("http://" + address + path)
			if err != nil {
				if time.Now().After(deadline) {
					t.Fatal(err)
				}
				continue
			}
			body, _ := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			return resp.StatusCode, string(body)
		}
	}
	if status, body := get("/healthz"); status != 200 || body != "ok\n" {
		t.Errorf("healthz: %d %q", status, body)
	}
	if status, body := get("/readyz"); status != 503 || !strings.Contains(body, `"redis"`) {
		t.Errorf("readyz: %d %q", status, body)
	}
	if _, body := get("/metrics"); !strings.Contains(body, `leader_backend_up{backend="redis"} 0`) || strings.Contains(body, "leader_active") {
		t.Errorf("metrics: %s", body)
	}
	stop()
	if err := <-stopped; err != nil {
		t.Errorf("stopped with %v", err)
	}
}
