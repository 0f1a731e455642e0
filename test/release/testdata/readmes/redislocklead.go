package main

import (
	"context"
	"time"

	"github.com/bsm/redislock"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"github.com/leaderscope/leaderscope/exporter/prom"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/redislocklead"
	"github.com/leaderscope/leaderscope/redact"
)

func main() {}

func write(context.Context) error { return nil }

func readme(ctx context.Context, registry prometheus.Registerer, policy *redact.Policy) error {
	SNIPPET
	return err
}
