// Command mutation measures the tests: it changes the code in one place after
// another and expects a test to fail. Most changes are made by program from
// the syntax tree, the others are written by hand in faults.go. It changes no
// file; the changed source goes to the compiler as an overlay.
//
// It exits with 1 when too many mutants or any hand-written fault survive, and
// with 2 when it cannot judge: the tests fail without a mutant, or an entry
// in faults.go or equivalents.go no longer matches the code.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"time"
)

// rooms are the folders whose packages are mutated.
var rooms = []string{"cmd", "dashboards", "exporter", "instrument", "internal/output", "redact"}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	good, err := start(ctx, os.Args[1:])
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "mutation:", err)
		os.Exit(2)
	case !good:
		os.Exit(1)
	}
}

func start(ctx context.Context, args []string) (good bool, err error) {
	flags := flag.NewFlagSet("mutation", flag.ExitOnError)
	pattern := flags.String("package", "", "mutate these packages only, such as redact/...,exporter/prom")
	sample := flags.Int("n", 12, "mutants per package; 0 leaves the hand-written faults")
	everything := flags.Bool("all", false, "try every mutant, without a budget")
	seed := flags.Int64("seed", 1, "chooses the sample")
	jobs := flags.Int("jobs", min(2, runtime.NumCPU()), "mutants at a time")
	budget := flags.Duration("budget", 20*time.Minute, "start no mutant after this long; 0 disables")
	own := flags.Bool("own", false, "let only the package's own tests judge: faster, and stricter")
	list := flags.Bool("list", false, "list the possible mutants and run none")
	verbose := flags.Bool("v", false, "list every verdict")
	_ = flags.Parse(args)
	if flags.NArg() > 0 || *jobs < 1 || *sample < 0 {
		return false, fmt.Errorf("unexpected arguments %q; valid flags: mutation -h", args)
	}
	if *everything {
		*sample, *budget = -1, 0
	}
	root, err := os.Getwd()
	if err != nil {
		return false, err
	}
	c, err := prepare(ctx, config{
		root: root, rooms: rooms,
		pattern: *pattern, sample: *sample, seed: *seed, jobs: *jobs, own: *own, budget: *budget,
		slack:  35 * time.Second, // a test that waits for a server gives up after 30 s
		faults: faults, equivalents: equivalents, progress: os.Stderr,
	})
	if err != nil {
		return false, err
	}
	if *list {
		c.list(os.Stdout)
		return true, nil
	}
	if err := c.run(ctx); err != nil {
		return false, err
	}
	return c.report(os.Stdout, *verbose), nil
}

// buildJobs shares the processors among the mutants that are built at a time.
func buildJobs(jobs int) int { return max(1, runtime.NumCPU()/jobs) }
