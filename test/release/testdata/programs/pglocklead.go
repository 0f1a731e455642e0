package main

import (
	"context"
	"time"

	"cirello.io/pglock"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/pglocklead"
)

func main() {}

func lead(ctx context.Context, e *instrument.Election, client *pglock.Client, lease time.Duration, work func(context.Context, *instrument.Term) error) error {
	return LINE
}
