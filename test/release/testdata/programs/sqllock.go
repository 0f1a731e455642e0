package main

import (
	"context"
	"database/sql"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/sqllock"
)

func main() {}

func lead(ctx context.Context, e *instrument.Election, db *sql.DB, work func(context.Context, *instrument.Term) error) error {
	return LINE
}
