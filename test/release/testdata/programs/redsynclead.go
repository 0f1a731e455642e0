package main

import (
	"context"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/redsynclead"
)

func main() {}

func run(ctx context.Context, e *instrument.Election, rs *redsync.Redsync, work func(context.Context, *instrument.Term) error) error {
	return LINE
}
