//go:build unix

package main

import (
	"context"
	"os/exec"
	"strconv"
	"syscall"
)

// testCommand runs a test binary in a process group of its own, so that what
// it starts ends with it, and with a limit on its memory: a loop that a mutant
// made endless may allocate without end.
func testCommand(ctx context.Context, binary string, args ...string) (cmd *exec.Cmd, end func()) {
	const script = `ulimit -d "$1" && shift && exec "$@"`
	cmd = exec.CommandContext(ctx, "/bin/sh", append([]string{"-c", script, "sh", strconv.Itoa(maxMemory >> 10), binary}, args...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	end = func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.Cancel = func() error { end(); return nil }
	return cmd, end
}
