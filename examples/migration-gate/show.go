//go:build unix

package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/leaderscope/leaderscope/examples/internal/stage"
	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// director plays the show.
type director struct {
	cfg   config
	db    *sql.DB
	nodes stage.Nodes
}

// show starts instances and shows how they pass the gate.
func show(ctx context.Context, cfg config) (err error) {
	if cfg.postgres == "" {
		server, err := stage.Postgres(ctx)
		if err != nil {
			return err
		}
		defer server.Close()
		cfg.postgres = server.DSN()
	}
	cfg.schema = "migration_gate_" + strings.ToLower(rand.Text()) // a server may have others' tables
	db, err := prepare(ctx, cfg)
	if err != nil {
		return err
	}
	defer db.Close()
	d := &director{cfg: cfg, db: db}
	defer func() {
		d.dismiss()
		_, dropped := db.ExecContext(context.WithoutCancel(ctx), "DROP SCHEMA "+cfg.schema+" CASCADE")
		err = errors.Join(err, dropped)
	}()
	return d.play(ctx)
}

// prepare makes the schema and what an earlier release left in it.
func prepare(ctx context.Context, cfg config) (*sql.DB, error) {
	db, err := open(cfg.postgres, cfg.schema)
	if err != nil {
		return nil, err
	}
	if _, err := db.ExecContext(ctx, "CREATE SCHEMA "+cfg.schema); err != nil {
		db.Close()
		return nil, fmt.Errorf("--postgres: make a schema: %w", onOneLine(ctx, err))
	}
	if _, err := db.ExecContext(ctx, provision); err != nil {
		_, dropped := db.ExecContext(context.WithoutCancel(ctx), "DROP SCHEMA "+cfg.schema+" CASCADE")
		db.Close()
		return nil, errors.Join(fmt.Errorf("--postgres: make tables: %w", err), dropped)
	}
	return db, nil
}

func (d *director) play(ctx context.Context) error {
	fmt.Println("Three instances start at once, on a schema that lacks 0001-cents.")
	if err := d.nodes.Start(ctx, d.cfg.args, "instance-a", "instance-b", "instance-c"); err != nil {
		return err
	}
	if err := d.outcomes(ctx, migrated, alreadyApplied, alreadyApplied); err != nil {
		return err
	}
	if err := d.whole(ctx, d.cfg); err != nil {
		return err
	}

	fmt.Println("\nAn instance uses the wrong schema and cannot read the marker.")
	astray := d.cfg
	astray.schema = "pg_temp"
	if err := d.nodes.Start(ctx, astray.args, "instance-d"); err != nil {
		return err
	}
	if err := d.outcomes(ctx, none); err != nil {
		return err
	}

	slow := d.cfg
	slow.migration, slow.budget = "0002-currency", d.cfg.batch*batches/2
	fmt.Printf("\nTwo instances want 0002-currency, which takes twice its budget of %v.\n", slow.budget)
	if err := d.nodes.Start(ctx, slow.args, "instance-e", "instance-f"); err != nil {
		return err
	}
	if err := d.headroom(ctx); err != nil {
		return err
	}
	if err := d.outcomes(ctx, migrated, alreadyApplied); err != nil {
		return err
	}
	return d.whole(ctx, slow)
}

// onOneLine takes the line breaks out of an error of pgx, unless it is that of
// ctx.
func onOneLine(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return errors.New(strings.Join(strings.Fields(err.Error()), " "))
}

// args are the command line of an instance.
func (cfg config) args(name string) []string {
	return []string{"--instance", name, "--postgres", cfg.postgres, "--schema", cfg.schema, "--migration", cfg.migration,
		"--budget", cfg.budget.String(), "--batch", cfg.batch.String()}
}

// headroom waits until the migration has overrun its budget.
func (d *director) headroom(ctx context.Context) error {
	return stage.Until(ctx, "the budget to be over", func(ctx context.Context) (bool, error) {
		for _, n := range d.nodes {
			m, err := n.Metrics(ctx)
			if err != nil {
				return false, err
			}
			if remaining := m.Of(catalog.LeaseHeadroom.Name()); remaining < 0 {
				fmt.Printf("  %s: %s %.2f while it migrates\n", n.Name, catalog.LeaseHeadroom.Name(), remaining)
				return true, nil
			}
		}
		return false, nil
	})
}

// outcomes waits until every instance has passed or failed, holds what each
// exports to what it counted, and ends it. They must have these outcomes, in
// any order; none is that of an instance that must not start.
func (d *director) outcomes(ctx context.Context, want ...outcome) error {
	defer d.dismiss()
	var got []outcome
	for _, n := range d.nodes {
		var r report
		if err := n.Reported(ctx, &r); err != nil {
			return err
		}
		got = append(got, r.Outcome)
		m, err := n.Metrics(ctx)
		if err != nil {
			return err
		}
		if wrong := stage.Disagreements(m, r.Counts); len(wrong) > 0 {
			return fmt.Errorf("%s: %q", n.Name, wrong)
		}
		fmt.Printf("  %s: acquired %v, contended %v, overruns %v\n", n.Name, m.Of(catalog.Acquired.Name()),
			m.Of(catalog.NotAcquired.Name(), "reason", "contended"), m.Of(catalog.LeaseOverruns.Name()))
		if err := n.Stop(); (err == nil) != (r.Outcome != none) {
			return fmt.Errorf("%s: outcome %q, and it ended with %v", n.Name, r.Outcome, err)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		return fmt.Errorf("outcomes are %q, want %q", got, want)
	}
	return nil
}

// whole looks whether the migration was applied once, to all rows.
func (d *director) whole(ctx context.Context, cfg config) error {
	by, err := schema{db: d.db, version: cfg.migration}.whole(ctx)
	if err == nil && by == "" {
		err = errors.New("not applied")
	}
	if err != nil {
		return fmt.Errorf("%s: %w", cfg.migration, err)
	}
	fmt.Printf("  %s is applied once, to all rows, by %s\n", cfg.migration, by)
	return nil
}

func (d *director) dismiss() {
	d.nodes.Kill()
	d.nodes = nil
}
