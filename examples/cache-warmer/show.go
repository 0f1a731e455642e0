//go:build unix

package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"github.com/leaderscope/leaderscope/examples/internal/stage"
	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// director plays the show.
type director struct {
	cfg   config
	store store
	nodes stage.Nodes
}

// broken is the partition whose source fails at first.
const broken = "4"

// show starts two nodes and shows what a partition that fails does to others.
func show(ctx context.Context, cfg config) (err error) {
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
	d := &director{cfg: cfg, store: store{client: client, prefix: cfg.prefix}}
	defer func() {
		d.nodes.Kill()
		err = errors.Join(err, d.store.clear(context.WithoutCancel(ctx)))
	}()
	return d.play(ctx)
}

// args are the command line of a node.
func (cfg config) args(name string) []string {
	return []string{"--node", name, "--redis", cfg.redis, "--prefix", cfg.prefix, "--lease", cfg.lease.String(),
		"--chunk", cfg.chunk.String(), "--fresh", cfg.fresh.String(), "--every", cfg.every.String()}
}

func (d *director) play(ctx context.Context) error {
	for _, partition := range partitions {
		if err := d.store.fill(ctx, partition, partition == broken); err != nil {
			return err
		}
	}
	fmt.Printf("Two nodes, six partitions, each loads for %v under a lease of %v. The source of partition %s fails.\n\n",
		10*d.cfg.chunk, d.cfg.lease, broken)
	if err := d.nodes.Start(ctx, d.cfg.args, "node-a", "node-b"); err != nil {
		return err
	}
	healthy := slices.DeleteFunc(slices.Clone(partitions), func(p string) bool { return p == broken })
	if err := d.store.reach(ctx, 2, healthy...); err != nil {
		return err
	}
	if err := d.printSeries(ctx); err != nil {
		return err
	}

	fmt.Printf("\nThe source of partition %s works again.\n", broken)
	if err := d.store.fill(ctx, broken, false); err != nil {
		return err
	}
	if err := d.store.reach(ctx, 1, broken); err != nil {
		return err
	}
	fmt.Printf("  partition %s is warm\n", broken)
	if err := d.kill(ctx); err != nil {
		return err
	}
	return d.compare(ctx)
}

// reach waits until these partitions have been loaded n times more.
func (s store) reach(ctx context.Context, n int, partitions ...string) error {
	want := map[string]int{}
	for _, partition := range partitions {
		before, _, err := s.loads(ctx, partition)
		if err != nil {
			return err
		}
		want[partition] = before + n
	}
	return stage.Until(ctx, "loads", func(ctx context.Context) (bool, error) {
		for partition, n := range want {
			if loads, _, err := s.loads(ctx, partition); loads < n || err != nil {
				return false, err
			}
		}
		return true, nil
	})
}

// printSeries prints what the partitions' series say, added up over the nodes.
func (d *director) printSeries(ctx context.Context) error {
	fmt.Printf("  %-9s %6s %9s %9s %9s %9s\n", "lock_name", "loads", "acquired", "contended", "renewals", "failures")
	for _, partition := range partitions {
		label := lockName(partition)
		loads, _, err := d.store.loads(ctx, partition)
		if err != nil {
			return err
		}
		var acquired, contended, renewals, failures float64
		for _, n := range d.nodes {
			m, err := n.Metrics(ctx)
			if err != nil {
				return err
			}
			acquired += m.Of(catalog.Acquired.Name(), "lock_name", label)
			contended += m.Of(catalog.NotAcquired.Name(), "lock_name", label, "reason", "contended")
			renewals += m.Of(catalog.Renewals.Name(), "lock_name", label, "result", "ok")
			failures += m.Of(catalog.ExecutionFailures.Name(), "lock_name", label)
		}
		fmt.Printf("  %-9s %6d %9.0f %9.0f %9.0f %9.0f\n", label, loads, acquired, contended, renewals, failures)
	}
	return nil
}

// kill kills a node while it loads a partition.
func (d *director) kill(ctx context.Context) error {
	var victim int
	var partition string
	err := stage.Until(ctx, "a partition to be loaded", func(ctx context.Context) (bool, error) {
		for i, n := range d.nodes {
			m, err := n.Metrics(ctx)
			if err != nil {
				return false, err
			}
			for _, p := range partitions {
				if m.Of(catalog.Running.Name(), "lock_name", lockName(p)) == 1 {
					victim, partition = i, p
				}
			}
		}
		return partition != "", nil
	})
	if err != nil {
		return err
	}
	dead := d.nodes[victim]
	dead.Kill()
	d.nodes = stage.Nodes{d.nodes[1-victim]}
	killed := time.Now()
	fmt.Printf("\n%s is killed while it loads partition %s.\n", dead.Name, partition)
	if err := d.store.reach(ctx, 1, partition); err != nil {
		return err
	}
	fmt.Printf("  %s has loaded it %.1f s later\n\n", d.nodes[0].Name, time.Since(killed).Seconds())
	return nil
}

// compare ends the work, and holds what the nodes export to what they counted
// and to what is in Redis.
func (d *director) compare(ctx context.Context) error {
	wrong, err := d.nodes.Settle(ctx)
	if err != nil {
		return err
	}
	for _, partition := range partitions {
		_, violations, err := d.store.loads(ctx, partition)
		if err != nil {
			return err
		}
		if violations != 0 {
			wrong = append(wrong, fmt.Sprintf("partition %s was loaded by two nodes at once, %d times", partition, violations))
		}
	}
	if len(wrong) > 0 {
		return fmt.Errorf("unexpected: %q", wrong)
	}
	fmt.Println("No partition was loaded by two nodes at once. What the remaining node exported is what it counted itself.")
	return nil
}
