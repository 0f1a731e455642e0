//go:build unix

package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/fnv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/leaderscope/leaderscope/examples/internal/stage"
	"github.com/leaderscope/leaderscope/exporter/prom"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/sqllock"
)

// lockName is that of the one lock of all migrations of a schema.
const lockName = "schema-migration"

// runInstance is one instance of the service: it passes the gate or fails.
func runInstance(ctx context.Context, cfg config) error {
	m, err := instrument.New()
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
	db, err := open(cfg.postgres, cfg.schema)
	if err != nil {
		return err
	}
	defer db.Close()

	s := schema{db: db, version: cfg.migration, by: cfg.name, batch: cfg.batch}
	g := &gate{
		// An advisory lock has no lease; the one declared here is the budget of
		// a migration. The connection is not asked for signs of life, each of
		// which would count as a renewal and renew the budget.
		election: m.Election(lockName, instrument.LeaseDuration(cfg.budget), instrument.Backend("postgres")),
		lock:     sqllock.NewLock(db, sqllock.PostgresTry(lockKey(cfg.schema)), 0),
		applied:  s.applied,
		migrate:  s.migrate,
		every:    50 * time.Millisecond,
	}
	work, leave := stage.Cues(ctx)
	how, err := g.pass(work)
	report := report{Outcome: how, Counts: g.tally.Counts()}
	if err != nil {
		fmt.Println(err)
		err = errors.New("does not start")
	} else {
		fmt.Println(how)
	}
	if failed := stage.Report(report); failed != nil {
		return failed
	}
	if err == nil {
		<-work.Done() // here the service would serve
	}
	leave()
	return err
}

// report is what an instance says of itself; no outcome when it did not pass.
type report struct {
	Outcome outcome
	Counts  map[string]stage.Count
}

// lockKey is the number of the lock, one for each schema.
func lockKey(schema string) int64 {
	h := fnv.New64a()
	h.Write([]byte(lockName + "/" + schema))
	return int64(h.Sum64())
}

// open connects with a search path.
func open(dsn, schema string) (*sql.DB, error) {
	cfg, err := pgx.ParseConfig(dsn)
	if err != nil { // the text may hold a password
		return nil, fmt.Errorf("--postgres: not a DSN such as postgres://user@127.0.0.1:5432/database")
	}
	cfg.RuntimeParams["search_path"] = schema
	cfg.ConnectTimeout = 5 * time.Second
	return stdlib.OpenDB(*cfg), nil
}
