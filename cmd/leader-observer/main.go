// Command leader-observer reads the holders of locks from their backends: Leases of
// Kubernetes, and locks in etcd, NATS, ZooKeeper, PostgreSQL and Redis. It exports
// leader_backend_* for electors that cannot be instrumented. It never campaigns
// for a lock.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/leaderscope/leaderscope/cmd/leader-observer/internal/config"
	"github.com/leaderscope/leaderscope/instrument"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// The exit codes.
const (
	exitOK      = 0
	exitFailure = 1
	exitUsage   = 2
)

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	c, err := configured(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case errors.Is(err, errVersion):
		fmt.Fprintln(stdout, "leader-observer", instrument.Version)
		return exitOK
	case err != nil:
		fmt.Fprintln(stderr, "leader-observer:", err)
		return exitUsage
	}
	log := slog.New(slog.NewJSONHandler(stderr, nil))
	if err := serve(ctx, c, log); err != nil {
		fmt.Fprintln(stderr, "leader-observer:", err)
		return exitFailure
	}
	return exitOK
}

// errVersion means that --version was given.
var errVersion = errors.New("version")

// configured reads the flags and the file that they name.
func configured(args []string, stderr io.Writer) (config.Config, error) {
	flags := flag.NewFlagSet("leader-observer", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprint(stderr, "leader-observer reads the holders of locks from Kubernetes, etcd, NATS, ZooKeeper, PostgreSQL and Redis,\nand exports them to Prometheus as leader_backend_*.\n\nflags:\n")
		flags.PrintDefaults()
	}
	file := flags.String("config", "", "configuration `file`; without it, pass --kubernetes and --redaction")
	listen := flags.String("listen", "", "`address` for /metrics, /healthz and /readyz (default 127.0.0.1:9713)")
	kubernetes := flags.Bool("kubernetes", false, "without --config: watch the Leases in all namespaces of the cluster that it runs in, or of the current kubeconfig")
	policy := flags.String("redaction", "", "without --config: `policy` for the names of locks and holders, raw or constant")
	version := flags.Bool("version", false, "print the version and exit")
	if err := flags.Parse(args); err != nil {
		return config.Config{}, err
	}
	if *version {
		return config.Config{}, errVersion
	}
	if flags.NArg() > 0 {
		return config.Config{}, fmt.Errorf("unexpected argument %q; pass the configuration with --config", flags.Arg(0))
	}
	if *file != "" {
		if *kubernetes || *policy != "" {
			return config.Config{}, errors.New("--kubernetes and --redaction cannot be combined with --config; write them into the file")
		}
		c, err := config.Read(*file)
		if err == nil && *listen != "" {
			c.Listen = *listen
			err = c.Check()
		}
		return c, err
	}
	c := config.Default()
	if *listen != "" {
		c.Listen = *listen
	}
	c.Redaction.Policy = *policy
	if *kubernetes {
		c.Kubernetes = []config.Kubernetes{{}}
	}
	return c, c.Check()
}
