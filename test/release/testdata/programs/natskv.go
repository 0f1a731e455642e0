package main

import (
	"context"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/natskv"
	"github.com/nats-io/nats.go/jetstream"
)

func main() {}

func lead(ctx context.Context, e *instrument.Election, bucket jetstream.KeyValue, hostname string, work func(context.Context, *instrument.Term) error) error {
	return LINE
}
