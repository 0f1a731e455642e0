//go:build unix

package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
)

// The kernel kills a child when the thread that started it ends; this one
// lasts as long as the process.
func init() { runtime.LockOSThread() }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "fencing:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	if isNode, err := runCopy(ctx); isNode {
		return err
	}
	keep := flag.Bool("keep", false, "leave the nodes running at the end, for a look at their /metrics")
	flag.Parse()
	if flag.NArg() > 0 {
		return fmt.Errorf("%q: no arguments are taken; -keep is the only flag", flag.Arg(0))
	}
	return play(ctx, os.Stdout, *keep)
}

// runCopy is the node for which a parent started this process; isNode is false
// when there is none.
func runCopy(ctx context.Context) (isNode bool, err error) {
	name, etcd, isNode := strings.Cut(os.Getenv(nodeVariable), ",")
	if !isNode {
		return false, nil
	}
	return true, runNode(ctx, name, etcd, os.Stdin, os.Stdout)
}
