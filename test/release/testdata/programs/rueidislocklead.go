package main

import (
	"context"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/rueidislocklead"
	"github.com/redis/rueidis/rueidislock"
)

func main() {}

func run(ctx context.Context, e *instrument.Election, locker rueidislock.Locker, work func(context.Context, *instrument.Term) error) error {
	return LINE
}
