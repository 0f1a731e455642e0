package main

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"

	"github.com/leaderscope/leaderscope/exporter/prom"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/rueidislocklead"
	"github.com/leaderscope/leaderscope/redact"
)

func main() {}

func write(context.Context) error { return nil }

func readme(ctx context.Context, registry prometheus.Registerer, policy *redact.Policy) error {
	SNIPPET
	return err
}
