//go:build !unix

package main

import (
	"context"
	"os/exec"
)

func testCommand(ctx context.Context, binary string, args ...string) (cmd *exec.Cmd, end func()) {
	return exec.CommandContext(ctx, binary, args...), func() {}
}
