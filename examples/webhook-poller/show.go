//go:build unix

package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/leaderscope/leaderscope/examples/internal/stage"
	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// director plays the show.
type director struct {
	cfg      config
	db       *sql.DB
	receiver *receiver
	nodes    stage.Nodes
}

// show starts two nodes and shows what becomes of webhooks.
func show(ctx context.Context, cfg config) (err error) {
	if cfg.postgres == "" {
		server, err := stage.Postgres(ctx)
		if err != nil {
			return err
		}
		defer server.Close()
		cfg.postgres = server.DSN()
	}
	cfg.schema = "webhook_poller_" + strings.ToLower(rand.Text()) // a server may have others' tables
	db, err := prepare(ctx, cfg)
	if err != nil {
		return err
	}
	defer db.Close()
	r, err := newReceiver()
	if err != nil {
		return err
	}
	defer r.close()
	d := &director{cfg: cfg, db: db, receiver: r}
	defer func() {
		d.nodes.Kill()
		_, dropped := db.ExecContext(context.WithoutCancel(ctx), "DROP SCHEMA "+cfg.schema+" CASCADE")
		err = errors.Join(err, dropped)
	}()
	return d.play(ctx)
}

// prepare makes the schema and the table.
func prepare(ctx context.Context, cfg config) (*sql.DB, error) {
	db, err := open(cfg.postgres, cfg.schema)
	if err != nil {
		return nil, err
	}
	if _, err := db.ExecContext(ctx, "CREATE SCHEMA "+cfg.schema); err != nil {
		db.Close()
		return nil, fmt.Errorf("--postgres: make a schema: %w", onOneLine(ctx, err))
	}
	if _, err := db.ExecContext(ctx, table); err != nil {
		_, dropped := db.ExecContext(context.WithoutCancel(ctx), "DROP SCHEMA "+cfg.schema+" CASCADE")
		db.Close()
		return nil, errors.Join(fmt.Errorf("--postgres: make a table: %w", err), dropped)
	}
	return db, nil
}

// onOneLine takes the line breaks out of an error of pgx, unless it is that of
// ctx.
func onOneLine(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return errors.New(strings.Join(strings.Fields(err.Error()), " "))
}

// args are the command line of a node.
func (cfg config) args(name string) []string {
	return []string{"--node", name, "--postgres", cfg.postgres, "--schema", cfg.schema,
		"--claim", cfg.claim.String(), "--every", cfg.every.String(), "--limit", strconv.Itoa(cfg.limit)}
}

func (d *director) play(ctx context.Context) error {
	if err := d.nodes.Start(ctx, d.cfg.args, "node-a", "node-b"); err != nil {
		return err
	}
	leader, standby, err := d.leader(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("Two nodes; %s leads and polls, %s waits. A webhook fails after %d attempts.\n\n", leader.Name, standby.Name, d.cfg.limit)
	var keys []string
	for _, path := range []string{"/fine", "/fine", "/fine", "/moody", "/moody", "/broken"} {
		key, err := d.add(ctx, path)
		if err != nil {
			return err
		}
		keys = append(keys, key)
	}
	if err := d.settled(ctx); err != nil {
		return err
	}
	if err := d.printWebhooks(ctx, keys...); err != nil {
		return err
	}

	fmt.Printf("\nA webhook was delivered, and %s is killed before it can record that.\n\n", leader.Name)
	key, err := d.add(ctx, "/silent")
	if err != nil {
		return err
	}
	if err := d.arrived(ctx, key); err != nil {
		return err
	}
	leader.Kill()
	killed := time.Now()
	d.nodes = stage.Nodes{standby}
	if err := d.settled(ctx); err != nil {
		return err
	}
	if err := d.printWebhooks(ctx, key); err != nil {
		return err
	}
	fmt.Printf("\n  %s took over at once and delivered it again when the claim of %v had expired, %.1f s after the kill\n", standby.Name, d.cfg.claim, time.Since(killed).Seconds())
	return d.compare(ctx)
}

// leader waits until one of two nodes leads.
func (d *director) leader(ctx context.Context) (leader, standby *stage.Node, err error) {
	err = stage.Until(ctx, "a leader", func(ctx context.Context) (bool, error) {
		for i, n := range d.nodes {
			m, err := n.Metrics(ctx)
			if err != nil {
				return false, err
			}
			if m.Of(catalog.Active.Name()) == 1 {
				leader, standby = n, d.nodes[1-i]
			}
		}
		return leader != nil, nil
	})
	return leader, standby, err
}

// add puts a webhook into the table.
func (d *director) add(ctx context.Context, path string) (key string, err error) {
	err = d.db.QueryRowContext(ctx, "INSERT INTO webhooks (url, payload) VALUES ($1, '{}') RETURNING id::text", d.receiver.base+path).Scan(&key)
	return key, err
}

// settled waits until nothing is PENDING.
func (d *director) settled(ctx context.Context) error {
	return stage.Until(ctx, "all webhooks to be settled", func(ctx context.Context) (bool, error) {
		var pending int
		err := d.db.QueryRowContext(ctx, "SELECT count(*) FROM webhooks WHERE state = 'PENDING'").Scan(&pending)
		return pending == 0, err
	})
}

// arrived waits until a webhook has arrived and is not answered yet.
func (d *director) arrived(ctx context.Context, key string) error {
	return stage.Until(ctx, "a webhook to arrive", func(context.Context) (bool, error) { return d.receiver.holds(key), nil })
}

// printWebhooks prints what became of webhooks.
func (d *director) printWebhooks(ctx context.Context, keys ...string) error {
	fmt.Printf("  %-8s %-8s %-10s %8s %8s\n", "webhook", "receiver", "state", "attempts", "received")
	for _, key := range keys {
		var url, state string
		var attempts int
		err := d.db.QueryRowContext(ctx, "SELECT url, state, attempts FROM webhooks WHERE id::text = $1", key).Scan(&url, &state, &attempts)
		if err != nil {
			return err
		}
		fmt.Printf("  %-8s %-8s %-10s %8d %8d\n", key, strings.TrimPrefix(url, d.receiver.base), state, attempts, d.receiver.times(key))
	}
	return nil
}

// compare ends the work and holds what the nodes export to what they counted.
func (d *director) compare(ctx context.Context) error {
	for _, n := range d.nodes {
		var r report
		if err := n.Drain(ctx, &r); err != nil {
			return err
		}
		m, err := n.Metrics(ctx)
		if err != nil {
			return err
		}
		if wrong := stage.Disagreements(m, r.Counts); len(wrong) > 0 {
			return fmt.Errorf("%s: %q", n.Name, wrong)
		}
		if err := n.Stop(); err != nil {
			return fmt.Errorf("%s: %w", n.Name, err)
		}
	}
	fmt.Println("\nWhat the remaining node exported is what it counted itself.")
	return nil
}
