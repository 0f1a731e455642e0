package main

import (
	"context"
	"time"

	"cirello.io/dynamolock/v2"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/dynamolocklead"
)

func main() {}

func lead(ctx context.Context, e *instrument.Election, client *dynamolock.Client, lease time.Duration, work func(context.Context, *instrument.Term) error) error {
	return LINE
}
