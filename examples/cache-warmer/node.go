//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/bsm/redislock"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/redis/go-redis/v9"

	"github.com/leaderscope/leaderscope/examples/internal/stage"
	"github.com/leaderscope/leaderscope/exporter/prom"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/redislocklead"
	"github.com/leaderscope/leaderscope/redact"
)

// partitions of the cache. They are fixed words, and may be seen.
var partitions = []string{"0", "1", "2", "3", "4", "5"}

// lockName is that of a partition's lock.
func lockName(partition string) string { return "cache/" + partition }

// runNode is one node of the service, until ctx ends.
func runNode(ctx context.Context, cfg config) error {
	m, err := instrument.New(instrument.WithRedactor(redact.Raw()))
	if err != nil {
		return err
	}
	defer m.Close()
	registry := prometheus.NewRegistry()
	if _, err := prom.Register(registry, m); err != nil {
		return err
	}
	_, stop, err := stage.ServeMetrics(promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	if err != nil {
		return err
	}
	defer stop()

	// A request that takes longer than the lease is of no use.
	client := redis.NewClient(&redis.Options{
		Addr: cfg.redis, DialTimeout: cfg.lease / 2, ReadTimeout: cfg.lease / 2, WriteTimeout: cfg.lease / 2, MaxRetries: -1,
	})
	defer client.Close()
	locker := redislock.New(client)
	s := store{client, cfg.prefix, cfg.fresh, cfg.chunk}
	w := &warmer{
		election: elections(m, cfg.lease),
		lock: func(name string) instrument.Acquirer {
			return redislocklead.NewTryLock(locker, cfg.prefix+name, cfg.lease)
		},
		lease:   cfg.lease,
		isFresh: s.isFresh,
		load:    s.load,
	}
	work, leave := stage.Cues(ctx)
	for work.Err() == nil {
		// Errors are in the series, by partition.
		_ = w.cycle(work, partitions)
		_ = pause(work, cfg.every)
	}
	err = stage.Report(w.tally.Counts())
	leave()
	return err
}

// elections gives the handle of a partition's lock. The same name has the same
// handle, so that it is asked for where it is used.
func elections(m *instrument.Middleware, lease time.Duration) func(name string) *instrument.Election {
	opts := []instrument.ElectionOption{
		instrument.LeaseDuration(lease), instrument.Backend("redis"), instrument.Family("cache-partition"),
	}
	return func(name string) *instrument.Election { return m.Named(name, opts...) }
}

// warmer warms partitions.
type warmer struct {
	election func(name string) *instrument.Election
	lock     func(name string) instrument.Acquirer // one attempt at it
	lease    time.Duration
	isFresh  func(ctx context.Context, partition string) (bool, error)
	load     func(ctx context.Context, partition string, keep func(context.Context) error) error
	tally    stage.Tally // what it counts itself, to be compared
}

// cycle warms all partitions that are not fresh, in parallel. One that fails
// cancels none of the others; the error names each that did.
func (w *warmer) cycle(ctx context.Context, partitions []string) error {
	failed := make([]error, len(partitions))
	var all sync.WaitGroup
	for i, partition := range partitions {
		all.Go(func() {
			if err := w.warm(ctx, partition); err != nil {
				failed[i] = fmt.Errorf("partition %s: %w", partition, err)
			}
		})
	}
	all.Wait()
	return errors.Join(failed...)
}

// warm loads one partition, unless it is fresh or another node loads it.
func (w *warmer) warm(ctx context.Context, partition string) error {
	// If the freshness check fails, ask for the lock: an outage shows there.
	if fresh, err := w.isFresh(ctx, partition); fresh && err == nil {
		return nil
	}
	name := lockName(partition)
	election := w.election(name)
	ran := false
	var failed error
	err := election.Run(ctx, w.lock(name), func(ctx context.Context, term *instrument.Term) error {
		ran = true
		failed = w.loadUnder(ctx, term, partition)
		w.tally.Ran(election.Label(), failed != nil && !(errors.Is(failed, context.Canceled) && ctx.Err() != nil))
		return failed
	})
	if ran {
		return failed
	}
	w.tally.Missed(election.Label())
	if errors.Is(err, redislock.ErrNotObtained) {
		return nil // another node is at it
	}
	return err
}

// loadUnder looks again, since the holder before may have done it,
// and loads. A load takes longer than the lease, so it renews when a third of
// it is gone, and stops when it cannot: then another may have begun.
func (w *warmer) loadUnder(ctx context.Context, term *instrument.Term, partition string) error {
	if fresh, err := w.isFresh(ctx, partition); fresh || err != nil {
		return err
	}
	renewed := time.Now()
	return w.load(ctx, partition, func(ctx context.Context) error {
		asked := time.Now()
		if asked.Sub(renewed) < w.lease/3 {
			return nil
		}
		asking, cancel := context.WithTimeout(ctx, w.lease/3)
		defer cancel()
		if err := term.Renew(asking); err != nil {
			return err
		}
		renewed = asked
		return nil
	})
}
