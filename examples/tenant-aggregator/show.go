//go:build unix

package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"github.com/leaderscope/leaderscope/examples/internal/stage"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/redact"
)

// director plays the show.
type director struct {
	cfg   nodeConfig
	store store
	label func(tenant string) string
	nodes stage.Nodes
}

// show starts three nodes and shows what the locks are for.
func show(ctx context.Context, cfg nodeConfig) (err error) {
	if cfg.redis == "" {
		server, err := stage.Redis(ctx)
		if err != nil {
			return err
		}
		defer server.Close()
		cfg.redis = server.Address()
	}
	cfg.prefix += rand.Text() + ":"        // a Redis may have others' keys
	redis.SetLogger(&logging.VoidLogger{}) // errors are returned, too
	client := redis.NewClient(&redis.Options{Addr: cfg.redis})
	defer client.Close()
	if err := client.Ping(ctx).Err(); err != nil {
		return fmt.Errorf("--redis %s: %w: check that a Redis server listens there", cfg.redis, err)
	}
	label, err := makeKey()
	if err != nil {
		return err
	}
	d := &director{cfg: cfg, store: store{client, cfg.prefix}, label: label}
	defer func() {
		d.nodes.Kill()
		err = errors.Join(err, d.store.clear(context.WithoutCancel(ctx)))
	}()
	return d.play(ctx)
}

// makeKey makes a key for the nodes of this run, and returns the labels that
// they give tenants' locks.
func makeKey() (label func(tenant string) string, err error) {
	key := hex.EncodeToString([]byte(rand.Text()))
	if err := os.Setenv(keyVariable, key); err != nil {
		return nil, err
	}
	policy := redact.Hash([]byte(key), "k1")
	return func(tenant string) string { return policy.Label(lockName(tenant)).Text }, policy.Err()
}

func (d *director) play(ctx context.Context) error {
	healthy := []string{"acme", "globex", "initech", "umbrella"}
	for _, tenant := range healthy {
		if err := d.store.add(ctx, tenant, false); err != nil {
			return err
		}
	}
	if err := d.store.add(ctx, "hooli", true); err != nil {
		return err
	}
	if err := d.nodes.Start(ctx, d.cfg.args, "node-a", "node-b", "node-c"); err != nil {
		return err
	}
	fmt.Println("Three nodes, five tenants, a lock per tenant. The events of hooli cannot be read.")
	if err := d.reach(ctx, 5, healthy...); err != nil {
		return err
	}
	if err := d.printSeries(ctx, append(healthy, "hooli")); err != nil {
		return err
	}
	if err := d.inParallel(ctx, 2); err != nil {
		return err
	}
	if err := d.change(ctx); err != nil {
		return err
	}
	if err := d.kill(ctx); err != nil {
		return err
	}
	return d.compare(ctx, "acme", "globex", "initech", "stark")
}

// args are the command line of a node.
func (cfg nodeConfig) args(name string) []string {
	return []string{"--node", name, "--redis", cfg.redis, "--prefix", cfg.prefix,
		"--lease", cfg.lease.String(), "--every", cfg.every.String(), "--work", cfg.work.String()}
}

// reach waits until these tenants have been aggregated n times more.
func (d *director) reach(ctx context.Context, n int, tenants ...string) error {
	for _, tenant := range tenants {
		before, _, err := d.store.runs(ctx, tenant)
		if err != nil {
			return err
		}
		err = stage.Until(ctx, "runs of "+tenant, func(ctx context.Context) (bool, error) {
			runs, _, err := d.store.runs(ctx, tenant)
			return runs >= before+n, err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// printSeries prints what the tenants' series say, added up over the nodes.
func (d *director) printSeries(ctx context.Context, tenants []string) error {
	fmt.Printf("\n  %-9s %-20s %8s %9s %8s\n", "tenant", "lock_name", "acquired", "contended", "failures")
	for _, tenant := range tenants {
		label := d.label(tenant)
		var acquired, contended, failures float64
		for _, n := range d.nodes {
			m, err := n.Metrics(ctx)
			if err != nil {
				return err
			}
			acquired += m.Of(catalog.Acquired.Name(), "lock_name", label)
			contended += m.Of(catalog.NotAcquired.Name(), "lock_name", label, "reason", "contended")
			failures += m.Of(catalog.ExecutionFailures.Name(), "lock_name", label)
		}
		fmt.Printf("  %-9s %-20s %8.0f %9.0f %8.0f\n", tenant, label, acquired, contended, failures)
	}
	return nil
}

// inParallel waits until that many tenants are aggregated at the same time.
func (d *director) inParallel(ctx context.Context, want int) error {
	return stage.Until(ctx, "tenants in parallel", func(ctx context.Context) (bool, error) {
		var running float64
		for _, n := range d.nodes {
			m, err := n.Metrics(ctx)
			if err != nil {
				return false, err
			}
			running += m.Of(catalog.Running.Name())
		}
		if int(running) < want {
			return false, nil
		}
		fmt.Printf("\n  %v tenants are being aggregated at this moment, each by one node\n", running)
		return true, nil
	})
}

// change removes a tenant and adds one.
func (d *director) change(ctx context.Context) error {
	fmt.Println("\numbrella leaves, stark joins.")
	if err := errors.Join(d.store.remove(ctx, "umbrella"), d.store.add(ctx, "stark", false)); err != nil {
		return err
	}
	if err := d.reach(ctx, 3, "stark"); err != nil {
		return err
	}
	for _, n := range d.nodes {
		err := stage.Until(ctx, "the series of umbrella to go", func(ctx context.Context) (bool, error) {
			m, err := n.Metrics(ctx)
			return len(m.Select(catalog.Attempts.Name(), "lock_name", d.label("umbrella"))) == 0, err
		})
		if err != nil {
			return err
		}
	}
	fmt.Println("  no node exports series of umbrella; stark was aggregated three times")
	return nil
}

// kill kills the node that holds the lock of a tenant.
func (d *director) kill(ctx context.Context) error {
	const tenant = "initech"
	victim := -1
	err := stage.Until(ctx, "a node to hold the lock of "+tenant, func(ctx context.Context) (bool, error) {
		for i, n := range d.nodes {
			m, err := n.Metrics(ctx)
			if err != nil {
				return false, err
			}
			if m.Of(catalog.Active.Name(), "lock_name", d.label(tenant)) == 1 {
				victim = i
			}
		}
		return victim >= 0, nil
	})
	if err != nil {
		return err
	}
	fmt.Printf("\n%s is killed while it holds the lock of %s.\n", d.nodes[victim].Name, tenant)
	d.nodes[victim].Kill()
	d.nodes = slices.Delete(d.nodes, victim, victim+1)
	killed := time.Now()
	if err := d.reach(ctx, 1, tenant); err != nil {
		return err
	}
	fmt.Printf("  %s is aggregated by another node after %.1f s; the lease is %v\n", tenant, time.Since(killed).Seconds(), d.cfg.lease)
	return d.reach(ctx, 3, "acme", "globex", "initech", "stark")
}

// compare ends the work, and holds what the nodes export to what they counted
// and to what is in Redis.
func (d *director) compare(ctx context.Context, tenants ...string) error {
	fmt.Println()
	wrong, err := d.nodes.Settle(ctx)
	if err != nil {
		return err
	}
	for _, tenant := range tenants {
		runs, violations, err := d.store.runs(ctx, tenant)
		if err != nil {
			return err
		}
		fmt.Printf("  %-9s aggregated %2d times, %d times by two nodes at once\n", tenant, runs, violations)
		if violations != 0 {
			wrong = append(wrong, tenant+" was aggregated by two nodes at once")
		}
	}
	if len(wrong) > 0 {
		return fmt.Errorf("unexpected: %q", wrong)
	}
	fmt.Println("\nWhat the nodes exported is what they counted themselves.")
	return nil
}
