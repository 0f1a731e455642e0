package main

import (
	"context"
	"time"

	"cirello.io/dynamolock/v2"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/leaderscope/leaderscope/exporter/prom"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/dynamolocklead"
	"github.com/leaderscope/leaderscope/redact"
)

func main() {}

func reconcile(context.Context) error { return nil }

func readme(ctx context.Context, registry prometheus.Registerer, db *dynamodb.Client, lease time.Duration, policy *redact.Policy) error {
	SNIPPET
	return err
}
