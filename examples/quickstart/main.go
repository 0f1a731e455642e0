//go:build unix

package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
)

const introduction = `leaderscope quickstart: three replicas of a service elect a leader on an etcd of
their own, run a job under a lease, and write to a store that checks fencing
tokens. It injects faults, and each must fire exactly the expected alerts.
Nothing leaves this machine; all ports are on 127.0.0.1. It takes about
%s.

`

// Lines that stand in the README too, where a test compares them.
const (
	buildingObserver = "  building leader-observer, which watches the etcd from outside"
	allAreUp         = "  three replicas are up\n"
	reportIsAt       = "Report: %s\n"
	allAsExpected    = "Every phase set off what it should, and nothing else."
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	isCopy, err := runCopy(ctx)
	if !isCopy {
		err = runDemo(ctx)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "quickstart:", err)
		stop()
		os.Exit(1)
	}
}

// runCopy does what a parent started this process for; isCopy is false when
// there is no parent.
func runCopy(ctx context.Context) (isCopy bool, err error) {
	if file := os.Getenv(replicaVariable); file != "" {
		return true, runReplica(ctx, file)
	}
	if dir := os.Getenv(janitorVariable); dir != "" {
		return true, janitor(dir, os.Stdin)
	}
	return false, nil
}

// runDemo is the parent: it starts the replicas, plays the phases and cleans
// up, also when it is interrupted.
func runDemo(ctx context.Context) (err error) {
	keep := flag.Bool("keep", false, "leave everything running after the phases, for a Prometheus of your own")
	list := flag.String("phases", usualPhases, phasesHelp())
	observer := flag.String("observer", "", "the `program` leader-observer for phases 6 and 9; without it, it is built with the go command when 9 is played")
	report := flag.String("report", "quickstart-report.html", "the `file` for the report in HTML, with the timeline; empty writes none")
	flag.Parse()
	chosen, err := choose(*list)
	if err != nil {
		return err
	}
	if err := canWrite(*report); err != nil {
		return err
	}
	steps := plan(script("", ""), chosen)
	screen := newScreen(os.Stdout)
	screen.introduce(steps)

	d, err := newDemo(screen)
	defer func() {
		if closed := d.close(); err == nil {
			err = closed
		}
	}()
	if err != nil {
		return err
	}
	d.sayAddresses()
	if err := d.sayFiles(); err != nil {
		return err
	}
	if chosen[9] {
		if err := d.watchFromOutside(ctx, *observer); err != nil {
			return fmt.Errorf("phase 9 needs leader-observer: %w; name it with -observer, or leave phase 9 out with -phases", err)
		}
	}
	stopDrawing := d.startDrawing(ctx)
	defer stopDrawing()
	right, err := d.play(ctx, chosen)
	if ctx.Err() != nil {
		return err
	}
	if written := d.report(context.WithoutCancel(ctx), *report); err == nil {
		err = written
	}
	if err != nil {
		return err
	}
	if !right {
		err = fmt.Errorf("not every phase went as expected")
	} else {
		screen.say(allAsExpected)
	}
	if *keep {
		d.keep(ctx)
	}
	return err
}

// introduce says what the demo does and how long it takes.
func (s *screen) introduce(steps []step) {
	s.say(strings.TrimSuffix(introduction, "\n"), estimate(steps))
}

// startDrawing draws the table in the background.
func (d *demo) startDrawing(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var drawing sync.WaitGroup
	drawing.Go(func() { d.drawing(ctx) })
	return func() {
		cancel()
		drawing.Wait()
	}
}
