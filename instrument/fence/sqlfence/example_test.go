package sqlfence_test

import (
	"context"
	"database/sql"
	"errors"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/fence/sqlfence"
)

// A write and its check are one transaction.
func Example() {
	m, err := instrument.New()
	if err != nil {
		panic(err)
	}
	guard := sqlfence.New(m.Election("ledger"), sqlfence.Postgres, "ledger")
	_ = func(ctx context.Context, db *sql.DB, token uint64, entry string) (err error) {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, ignoreDone(tx.Rollback())) }()
		if err := guard.Check(ctx, tx, token); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO entries (text) VALUES ($1)`, entry); err != nil {
			return err
		}
		return tx.Commit()
	}
}

func ignoreDone(err error) error {
	if errors.Is(err, sql.ErrTxDone) {
		return nil
	}
	return err
}
