package main

import (
	"context"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/leaderscope/leaderscope/exporter/prom"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/gocronlead"
	"github.com/leaderscope/leaderscope/redact"
)

func main() {}

func readme(ctx context.Context, registry prometheus.Registerer, locker gocron.Locker, policy *redact.Policy) error {
	SNIPPET
	_ = scheduler
	return err
}

func readme2(m *instrument.Middleware, elector gocron.Elector) error {
	SNIPPET
	_ = scheduler
	return err
}
