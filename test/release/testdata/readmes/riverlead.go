package main

import (
	"context"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"github.com/leaderscope/leaderscope/exporter/prom"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/riverlead"
	"github.com/leaderscope/leaderscope/redact"
)

func main() {}

func readme(ctx context.Context, registry prometheus.Registerer, pool *pgxpool.Pool, config *river.Config, policy *redact.Policy) error {
	SNIPPET
	return err
}
