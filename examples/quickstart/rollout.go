package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

const (
	// grace is how long a replica has to end by itself, as a pod has.
	grace = 5 * time.Second
	// readyFor is how long a restarted replica must be up before the next one is
	// restarted, as minReadySeconds of a Deployment.
	readyFor = 3 * time.Second
)

// rollingRestart restarts one replica after another. A leader that is told to
// end gives the lock back, so that another one leads at once.
func rollingRestart(ctx context.Context, d *demo) ([]check, error) {
	if err := d.settled(ctx); err != nil {
		return nil, err
	}
	leader, err := d.onlyLeader(ctx, "")
	if err != nil {
		return nil, err
	}
	handovers := 0
	for _, name := range d.cluster.names() {
		if err := d.cluster.stop(name, grace); err != nil {
			return nil, err
		}
		if err := d.cluster.start(name); err != nil {
			return nil, err
		}
		if err := d.answers(ctx, name); err != nil {
			return nil, err
		}
		if !wait(ctx, readyFor) {
			return nil, context.Cause(ctx)
		}
		next, err := d.onlyLeader(ctx, "")
		if err != nil {
			return nil, err
		}
		if next != leader {
			leader = next
			handovers++
		}
	}
	return []check{
		seen("each replica was restarted, one after another; %s leads", leader),
		{fmt.Sprintf("leadership moved to another replica: %d times", handovers), handovers > 0},
	}, d.allUp(ctx)
}

// answers waits until the replica's process says that it is ready.
func (d *demo) answers(ctx context.Context, name string) error {
	return until(ctx, name+" to answer", patience, func() (bool, error) {
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		_, err := get(ctx, "http://"+d.cluster.addresses()[name]+"/ready")
		return err == nil, nil // an error is that of a process that is starting
	})
}

// jobFails has the body of the job return an error: the lock works, the job
// does not.
func jobFails(_ context.Context, d *demo) ([]check, error) {
	d.cluster.tell(d.cluster.names(), "job fail")
	return nil, nil
}

// scaleToZero removes the targets before the processes end, as Kubernetes
// removes the endpoints of pods that terminate: no series says that the leader
// gave up, and an absence is what is left to see.
func scaleToZero(ctx context.Context, d *demo) ([]check, error) {
	leader, err := d.onlyLeader(ctx, "")
	if err != nil {
		return nil, err
	}
	// The alert takes a job with fewer samples for one of short-lived processes.
	longLived := fmt.Sprintf("max(count_over_time(%s[1m])) > 15", catalog.Active.Name())
	err = until(ctx, "the replicas to be known for long enough", patience, func() (bool, error) {
		known, err := d.observer.query(ctx, longLived)
		return len(known) > 0, err
	})
	if err != nil {
		return nil, err
	}
	if err := d.scrape(nil); err != nil {
		return nil, err
	}
	names := d.cluster.names()
	errs := make(chan error, len(names))
	var stopping sync.WaitGroup
	for _, name := range names {
		stopping.Go(func() { errs <- d.cluster.stop(name, grace) })
	}
	stopping.Wait()
	for range names {
		if err := <-errs; err != nil {
			return nil, err
		}
	}
	return []check{seen("%s led; no replica is left, and no target", leader)}, nil
}

// scaleUp starts the replicas again. Their targets are there when one leads:
// until then none of them is ready.
func scaleUp(ctx context.Context, d *demo) error {
	names := d.cluster.names()
	for _, name := range names {
		if err := d.cluster.start(name); err != nil {
			return err
		}
	}
	err := until(ctx, "a leader among the new replicas", patience, func() (bool, error) {
		for _, name := range names {
			if leads, err := d.exposes(ctx, name, catalog.Active, d.leader, "1"); err == nil && leads {
				return true, nil
			}
		}
		return false, nil
	})
	if err != nil {
		return err
	}
	if err := d.scrape(d.cluster.addresses()); err != nil {
		return err
	}
	return d.allUp(ctx)
}
