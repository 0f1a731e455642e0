package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/leaderscope/leaderscope/test/server"
)

// outcome is what came of a run.
type outcome struct {
	backend
	*result
	err error
}

// judge runs electors, several at once, and returns what they did wrong. What a
// busy machine may explain is run again afterwards, one after the other.
func (o options) judge(ctx context.Context, all []backend, run func(backend) (*result, error)) error {
	outcomes := make([]outcome, len(all))
	slots := make(chan struct{}, max(o.parallel, 1))
	var running sync.WaitGroup
	for i, b := range all {
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			r, err := run(b)
			outcomes[i] = outcome{b, r, err}
		})
	}
	running.Wait()
	var failed []string
	for _, c := range outcomes {
		for range o.repeat {
			why := c.excuse()
			if why == "" || ctx.Err() != nil {
				break
			}
			fmt.Printf("%s: REPEATED, since %s; it had found\n\t%s\n", c.name, why, strings.Join(c.found(), "\n\t"))
			c.result, c.err = run(c.backend)
		}
		if errors.Is(c.err, server.ErrMissing) && os.Getenv("LEADERSCOPE_ALL_SERVERS") == "" {
			fmt.Printf("SKIPPED %s: %v\n", c.name, c.err)
			continue
		}
		for _, w := range c.found() {
			failed = append(failed, c.name+": "+w)
		}
	}
	if len(failed) > 0 {
		return errors.New("found\n\t" + strings.Join(failed, "\n\t"))
	}
	return nil
}

// found is what was wrong.
func (c outcome) found() []string {
	if c.err != nil {
		return []string{c.err.Error()}
	}
	return c.wrong(c.backend)
}

// excuse says why the machine may be what was wrong; "" if nothing was or the
// machine cannot be.
func (c outcome) excuse() string {
	switch {
	case len(c.found()) == 0 || errors.Is(c.err, server.ErrMissing):
		return ""
	case c.err != nil:
		return "it did not come to its end"
	}
	return c.starved()
}

// mostLeftOut is the part of the readings that may take too long on a machine
// that has the time.
const mostLeftOut = 0.002

// starved says how the machine was too busy to judge by; "" if it was not.
func (r *result) starved() string {
	t := r.Total
	switch {
	case r.Harness.LateMost > looksApart:
		return fmt.Sprintf("the referee was late by %v", round(r.Harness.LateMost))
	case float64(t.LeftOut) > mostLeftOut*float64(t.Judged+t.LeftOut):
		return fmt.Sprintf("%d readings of %d took longer than %v", t.LeftOut, t.Judged+t.LeftOut, rules.Late)
	}
	return ""
}
