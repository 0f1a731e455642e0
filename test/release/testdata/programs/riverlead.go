package main

import (
	"context"
	"database/sql"

	"github.com/riverqueue/river"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/riverlead"
)

func main() {}

func observe(ctx context.Context, e *instrument.Election, client *river.Client[*sql.Tx]) error {
	return LINE
}
