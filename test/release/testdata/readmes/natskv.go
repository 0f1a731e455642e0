package main

import (
	"context"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/leaderscope/leaderscope/exporter/prom"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/natskv"
)

func main() {}

func reconcile(context.Context) error { return nil }

func readme(ctx context.Context, registry prometheus.Registerer, js jetstream.JetStream) error {
	SNIPPET
	return err
}
