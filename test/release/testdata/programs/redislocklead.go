package main

import (
	"context"
	"time"

	"github.com/bsm/redislock"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/redislocklead"
)

func main() {}

func run(ctx context.Context, e *instrument.Election, locker *redislock.Client, work func(context.Context, *instrument.Term) error) error {
	return LINE
}
