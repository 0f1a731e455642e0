package main

import (
	"context"
	"database/sql"
	"time"

	"cirello.io/pglock"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/leaderscope/leaderscope/exporter/prom"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/pglocklead"
	"github.com/leaderscope/leaderscope/redact"
)

func main() {}

func reconcile(context.Context) error { return nil }

func readme(ctx context.Context, registry prometheus.Registerer, db *sql.DB, lease time.Duration, policy *redact.Policy) error {
	SNIPPET
	return err
}
