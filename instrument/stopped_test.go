//go:build unix

package instrument_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
)

const (
	stoppedVariable = "LEADERSCOPE_TEST_STOPPED"
	stoppedLease    = 500 * time.Millisecond
)

// TestMain runs the test binary as the process that is stopped, when its
// parent asks for it.
func TestMain(m *testing.M) {
	if os.Getenv(stoppedVariable) != "" {
		beStopped()
		return
	}
	os.Exit(m.Run())
}

// beStopped leads under a short lease, says so, and on each line of its input
// prints its series.
func beStopped() {
	m, err := instrument.New()
	if err != nil {
		panic(err)
	}
	e := m.Election("x", instrument.LeaseDuration(stoppedLease))
	err = e.Run(context.Background(), electtest.NewElector(), func(context.Context, *instrument.Term) error {
		fmt.Println("leading")
		asked := bufio.NewScanner(os.Stdin)
		for asked.Scan() {
			if err := json.NewEncoder(os.Stdout).Encode(electtest.Read(m, "x")); err != nil {
				return err
			}
		}
		return asked.Err()
	})
	if err != nil {
		panic(err)
	}
}

func TestC16AStoppedProcessIsNoLeaderWhenItGoesOn(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), stoppedVariable+"=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the stopped process: %v", err)
		}
	}()
	lines := bufio.NewScanner(out)
	if !lines.Scan() || lines.Text() != "leading" {
		t.Fatalf("the process said %q", lines.Text())
	}
	stopped := time.Now()
	for _, signal := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGCONT} {
		if err := cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		if signal == syscall.SIGSTOP {
			time.Sleep(3 * stoppedLease) // the fault itself, not a wait for something
		}
	}
	past := (time.Since(stopped) - stoppedLease - 100*time.Millisecond).Seconds() // it led for a moment before the stop
	if _, err := fmt.Fprintln(in, "series"); err != nil {
		t.Fatal(err)
	}
	if !lines.Scan() {
		t.Fatal("no series")
	}
	var r electtest.Series
	if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	if r["leader_active"] != 0 || r["leader_running"] != 1 || r["leader_lease_headroom_seconds"] > -past ||
		r["leader_work_after_loss_seconds_total"] < past || r["leader_lease_overruns_total"] != 1 {
		t.Errorf("stopped for %v past the lease, series %v", past, r)
	}
}
