//go:build unix

package stagetest

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/leaderscope/leaderscope/examples/internal/stage"
)

// showVariable has a copy of the test binary be the program.
const showVariable = "LEADERSCOPE_EXAMPLE_SHOW"

// Main runs the tests, or the program in a copy of the test binary.
func Main(m *testing.M, program func()) {
	if stage.IsNode() || os.Getenv(showVariable) != "" {
		program()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// Show runs the program to its end and returns what it printed. It fails the
// test if the program does, or if it leaves a file or a process behind.
func Show(t *testing.T, args ...string) string {
	t.Helper()
	return show(t, "", args...)
}

// Interrupt runs the program and presses Ctrl-C once it has printed that text.
// What Show asks for must hold then, too.
func Interrupt(t *testing.T, text string, args ...string) { t.Helper(); show(t, text, args...) }

func show(t *testing.T, interruptAt string, args ...string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "leaderscope-show-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o1777); err != nil { // servers write there as other users
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Env = append(os.Environ(), showVariable+"=1", "TMPDIR="+dir)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = patience
	printed, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stuck := time.AfterFunc(2*patience, func() { cmd.Process.Signal(os.Interrupt) })
	defer stuck.Stop()
	var output strings.Builder
	for lines := bufio.NewScanner(io.TeeReader(printed, &output)); lines.Scan(); {
		if interruptAt != "" && strings.Contains(lines.Text(), interruptAt) {
			cmd.Process.Signal(os.Interrupt)
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v\n%s%s", err, output.String(), complaints.String())
	}
	if interruptAt != "" && !strings.Contains(output.String(), interruptAt) {
		t.Errorf("it ended before it printed %q:\n%s%s", interruptAt, output.String(), complaints.String())
	}
	NothingLeft(t, dir)
	return output.String()
}

// NothingLeft fails the test where there are files in dir, or processes with
// dir as their TMPDIR.
func NothingLeft(t *testing.T, dir string) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Error(err)
	}
	for _, f := range files {
		t.Errorf("left behind: %s", f.Name())
	}
	processes, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, p := range processes {
		if env, err := os.ReadFile(p); err == nil && bytes.Contains(env, []byte("TMPDIR="+dir)) {
			name, _ := os.ReadFile(filepath.Join(filepath.Dir(p), "cmdline"))
			t.Errorf("left running: %q", name)
		}
	}
}
