//go:build unix

package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/redis/go-redis/v9"

	"github.com/leaderscope/leaderscope/examples/internal/stage"
	"github.com/leaderscope/leaderscope/exporter/prom"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/redsynclead"
	"github.com/leaderscope/leaderscope/redact"
)

type nodeConfig struct {
	name, redis, prefix string
	lease, every, work  time.Duration
}

// runNode is one node of the service, until ctx ends.
func runNode(ctx context.Context, cfg nodeConfig) error {
	key, err := redact.KeyFromEnv(keyVariable)
	if err != nil {
		return err
	}
	m, err := instrument.New(instrument.WithRedactor(redact.Hash(key, "k1")))
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
	locks := redsync.New(goredis.NewPool(client))
	s := store{client, cfg.prefix}
	a := &aggregator{
		election: elections(m, cfg.lease),
		lock: func(name string) instrument.Acquirer {
			return redsynclead.NewTryMutex(locks, cfg.prefix+name, redsync.WithExpiry(cfg.lease))
		},
		aggregate: func(ctx context.Context, tenant string) error { return s.aggregate(ctx, tenant, cfg.work) },
		every:     cfg.every,
	}
	work, leave := stage.Cues(ctx)
	if err := a.follow(work, s.tenants); !errors.Is(err, context.Canceled) {
		return err
	}
	err = stage.Report(a.tally.Counts())
	leave()
	return err
}

// aggregator runs a worker for each tenant.
type aggregator struct {
	election  func(name string) *instrument.Election
	lock      func(name string) instrument.Acquirer // one attempt at it
	aggregate func(ctx context.Context, tenant string) error
	every     time.Duration
	tally     stage.Tally // what it counts itself, to be compared
}

// elections gives the handle of a tenant's lock: one name, one handle.
func elections(m *instrument.Middleware, lease time.Duration) func(name string) *instrument.Election {
	opts := []instrument.ElectionOption{
		instrument.LeaseDuration(lease), instrument.StopAtLeaseEnd(),
		instrument.Backend("redis"), instrument.Family("tenant-aggregate"),
	}
	return func(name string) *instrument.Election { return m.Named(name, opts...) }
}

// lockName names exactly what two workers must not do at once: the locks of
// two tenants never exclude each other.
func lockName(tenant string) string { return "tenant-" + tenant + "/aggregate" }

// follow starts a worker when a tenant joins the list and stops it when the
// tenant leaves, until ctx ends. It returns why ctx ended, after the last
// worker has returned.
func (a *aggregator) follow(ctx context.Context, list func(context.Context) ([]string, error)) error {
	workers := map[string]*worker{}
	defer func() {
		for _, w := range workers {
			w.stop()
		}
	}()
	for {
		// A list that could not be read is not an empty one: all workers continue.
		if tenants, err := list(ctx); err == nil {
			a.adapt(ctx, workers, tenants)
		}
		if err := pause(ctx, a.every); err != nil {
			return err
		}
	}
}

func (a *aggregator) adapt(ctx context.Context, workers map[string]*worker, tenants []string) {
	wanted := map[string]bool{}
	for _, tenant := range tenants {
		wanted[tenant] = true
		if workers[tenant] == nil {
			workers[tenant] = a.start(ctx, tenant)
		}
	}
	for tenant, w := range workers {
		if wanted[tenant] {
			continue
		}
		w.stop()
		delete(workers, tenant)
		// Its series go, and its label makes room for another tenant's.
		election := a.election(lockName(tenant))
		a.tally.Forget(election.Label())
		election.Forget()
	}
}

// worker is the goroutine of one tenant.
type worker struct {
	cancel context.CancelFunc
	done   sync.WaitGroup
}

func (a *aggregator) start(ctx context.Context, tenant string) *worker {
	ctx, cancel := context.WithCancel(ctx)
	w := &worker{cancel: cancel}
	w.done.Go(func() { a.work(ctx, tenant) })
	return w
}

func (w *worker) stop() {
	w.cancel()
	w.done.Wait()
}

// work runs the tenant again and again. A run that fails is counted and tried
// again at the next turn; that the worker was told to stop is no failure of
// the tenant, and ends it.
func (a *aggregator) work(ctx context.Context, tenant string) error {
	for {
		a.once(ctx, tenant)
		if err := pause(ctx, a.every); err != nil {
			return err
		}
	}
}

// errUnfinished: the run did not end within its lease. It is no error of a
// context, which would be a run that was told to stop.
var errUnfinished = errors.New("not finished within the lease")

// once aggregates the tenant if no other node does. What runs under the lock
// ends with the lease (StopAtLeaseEnd): the next holder must not meet it.
func (a *aggregator) once(ctx context.Context, tenant string) {
	name := lockName(tenant)
	election := a.election(name)
	ran := false
	// The error is in the series, by its reason.
	_ = election.Run(ctx, a.lock(name), func(ctx context.Context, _ *instrument.Term) error {
		ran = true
		err := a.aggregate(ctx, tenant)
		stopped := errors.Is(err, context.Canceled) && ctx.Err() != nil
		if stopped && errors.Is(context.Cause(ctx), instrument.ErrLeaseEnded) {
			err, stopped = errUnfinished, false
		}
		a.tally.Ran(election.Label(), err != nil && !stopped)
		return err
	})
	if !ran {
		a.tally.Missed(election.Label())
	}
}
