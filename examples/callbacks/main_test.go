//go:build unix

package main

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/leaderscope/leaderscope/examples/internal/stage/etcd"
)

func TestMain(m *testing.M) {
	if os.Getenv("CALLBACKS_MAIN") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// get returns what a path says, and its status.
func get(t *testing.T, url string) (text string, status int) {
	t.Helper()
	client := http.Client{Timeout: 10 * time.Second}
	r, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body), r.StatusCode
}

func shows(text, series string) bool { return strings.Contains("\n"+text, "\n"+series+"\n") }

const (
	active = `leader_active{lock_name="indexer"} 1`
	ended  = `leader_active{lock_name="indexer"} 0`
)

func TestASuspendedLeaderShowsItAtTheFirstScrape(t *testing.T) {
	server, err := etcd.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	const ttl = 2 * time.Second
	cmd := exec.Command(os.Args[0], "-etcd", server.Address(), "-listen", "127.0.0.1:0", "-ttl", ttl.String())
	cmd.Env = append(os.Environ(), "CALLBACKS_MAIN=1")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGCONT)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	address := "http://" + strings.TrimSpace(strings.TrimPrefix(line, "serving on "))
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		if text, _ := get(t, address+"/metrics"); shows(text, active) {
			break
		} else if time.Now().After(deadline) {
			t.Fatalf("it never led:\n%s", text)
		}
	}
	if text, status := get(t, address+"/index"); status != http.StatusOK {
		t.Fatalf("the leader answers %d %s", status, text)
	}

	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	time.Sleep(3 * ttl) // past the end of the lease, and its end in etcd
	if err := cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	text, _ := get(t, address+"/metrics")
	if !shows(text, ended) && !shows(text, `leader_acquired_total{lock_name="indexer"} 2`) {
		t.Errorf("the first scrape after a suspension past the lease:\n%s", text)
	}
	if !shows(text, `leader_execution_duration_seconds_count{lock_name="indexer"} 1`) {
		t.Errorf("the work of the request is not counted:\n%s", text)
	}
}
