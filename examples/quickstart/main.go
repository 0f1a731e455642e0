//go:build unix

package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

const introduction = `leaderscope quickstart: three replicas of a service elect a leader on an etcd of
their own, run a job under a lease, and write to a store that checks fencing
tokens. Nine faults, and exactly the right alerts of the generated rules.
Nothing leaves this machine; all ports are on 127.0.0.1. It takes about
%s.

`

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
	list := flag.String("phases", "1,2,3,4,5,6,7,8,9", "play only these phases; 8 needs 7")
	observer := flag.String("observer", "", "the `program` leader-observer for phases 6 and 9; without it, it is built with the go command when 9 is played")
	flag.Parse()
	chosen, err := choose(*list)
	if err != nil {
		return err
	}
	screen := newScreen(os.Stdout)
	screen.say(strings.TrimSuffix(introduction, "\n"), "three minutes")

	d, err := newDemo(screen)
	defer func() {
		if closed := d.close(); err == nil {
			err = closed
		}
	}()
	if err != nil {
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
	if err != nil {
		return err
	}
	if !right {
		err = fmt.Errorf("not every phase went as expected")
	} else {
		screen.say("Every phase set off what it should, and nothing else.")
	}
	if *keep {
		d.keep(ctx)
	}
	return err
}

// choose reads the numbers of phases.
func choose(list string) (map[int]bool, error) {
	chosen := map[int]bool{}
	for _, word := range strings.Split(list, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil || n < 1 || n > len(script("", "")) {
			return nil, fmt.Errorf("--phases: %q is no phase; there are 1 to %d", word, len(script("", "")))
		}
		chosen[n] = true
	}
	if chosen[8] && !chosen[7] {
		return nil, fmt.Errorf("--phases: 8 is the recovery from 7; choose both or neither")
	}
	return chosen, nil
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
