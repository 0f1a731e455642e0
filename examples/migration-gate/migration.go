package main

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// migrations by version: a change of the schema, and a change of the rows that
// is made in batches.
var migrations = map[string]struct{ column, alter, update string }{
	"0001-cents": {
		"cents", "ALTER TABLE accounts ADD COLUMN cents bigint",
		"UPDATE accounts SET cents = (balance * 100)::bigint WHERE id % $1 = $2",
	},
	"0002-currency": {
		"currency", "ALTER TABLE accounts ADD COLUMN currency text",
		"UPDATE accounts SET currency = 'EUR' WHERE id % $1 = $2",
	},
}

const batches = 10

// provision makes what an earlier release left behind: accounts, and a table
// of markers. The gate does not make that table: if it is missing, this is not
// the right place.
const provision = `
CREATE TABLE migrations (version text PRIMARY KEY, applied_by text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now());
CREATE TABLE accounts (id bigint PRIMARY KEY, balance numeric NOT NULL);
INSERT INTO accounts SELECT n, n * 1.25 FROM generate_series(1, 1000) n;`

// schema is one migration in one database.
type schema struct {
	db          *sql.DB
	version, by string
	batch       time.Duration
}

// applied reads the marker.
func (s schema) applied(ctx context.Context) (done bool, err error) {
	err = s.db.QueryRowContext(ctx, "SELECT EXISTS (SELECT FROM migrations WHERE version = $1)", s.version).Scan(&done)
	return done, err
}

// migrate sets the marker and changes schema and rows, in one transaction. The
// marker goes first: if the lock was lost, a second migration waits there for
// the first, and finds that there is nothing left to do.
func (s schema) migrate(ctx context.Context) (did bool, err error) {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return false, err
	}
	defer tx.Rollback()
	set, err := tx.ExecContext(ctx, "INSERT INTO migrations (version, applied_by) VALUES ($1, $2) ON CONFLICT DO NOTHING", s.version, s.by)
	if err != nil {
		return false, err
	}
	if n, err := set.RowsAffected(); n == 0 || err != nil {
		return false, err
	}
	m := migrations[s.version]
	if _, err := tx.ExecContext(ctx, m.alter); err != nil {
		return false, err
	}
	for i := range batches {
		if _, err := tx.ExecContext(ctx, m.update, batches, i); err != nil {
			return false, err
		}
		if err := slowly(ctx, s.batch); err != nil {
			return false, err
		}
	}
	return true, tx.Commit()
}

// slowly stands for more rows than there are here.
func slowly(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// whole reports whether each row was changed by the migration of that version,
// and by whom; empty when it was not applied at all. A half of it is an error.
func (s schema) whole(ctx context.Context) (by string, err error) {
	done, err := s.applied(ctx)
	if err != nil {
		return "", err
	}
	column := migrations[s.version].column
	var columns, rows int
	err = s.db.QueryRowContext(ctx, "SELECT count(*) FROM information_schema.columns WHERE table_schema = current_schema AND table_name = 'accounts' AND column_name = $1", column).Scan(&columns)
	if err != nil {
		return "", err
	}
	if columns == 1 {
		if err := s.db.QueryRowContext(ctx, "SELECT count("+column+") FROM accounts").Scan(&rows); err != nil {
			return "", err
		}
	}
	switch {
	case !done && columns == 0:
		return "", nil
	case done && rows == 1000:
		return by, s.db.QueryRowContext(ctx, "SELECT applied_by FROM migrations WHERE version = $1", s.version).Scan(&by)
	default:
		return "", errors.New("applied to some of the rows only")
	}
}
