// Package sqlfence is the store's side of fencing in a database. One statement
// inside the writing transaction compares the token with the highest token that
// the database has seen, and stores the higher one. The comparison commits or
// rolls back together with the write. It is valid for all processes that
// check, and across their restarts.
//
//	guard := sqlfence.New(m.Election("ledger", instrument.WatchOnly()), sqlfence.Postgres, "ledger")
//	tx, err := db.BeginTx(ctx, nil)
//	defer tx.Rollback()
//	err = guard.Check(ctx, tx, token) // an error: return before the write
//	_, err = tx.ExecContext(ctx, "INSERT INTO entries (text) VALUES ($1)", entry)
//	err = tx.Commit()
//
// Writes without a check are not protected. The content of the writes does not
// belong here.
package sqlfence

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/fence"
)

// Dialect is a kind of database.
type Dialect uint8

// The dialects.
const (
	// Postgres is PostgreSQL 9.5 and later.
	Postgres Dialect = iota
	// MySQL is MySQL and MariaDB. A driver must give the insert id unchanged,
	// as github.com/go-sql-driver/mysql does.
	MySQL
	// SQLite is SQLite 3.35 and later.
	SQLite

	dialects
)

// dialect is what the statements of a dialect are. Tokens are written in full:
// database/sql takes no number beyond 2^63.
type dialect struct {
	schema, check string
	// width pads a token with zeros where words are compared; 0: numbers are.
	width int
	// highest reads what the statement found.
	highest func(ctx context.Context, tx *sql.Tx, query string, args ...any) (uint64, error)
}

var of = [...]dialect{
	Postgres: {
		schema: `CREATE TABLE IF NOT EXISTS fencing_tokens (name text PRIMARY KEY, token numeric(20) NOT NULL)`,
		check: `INSERT INTO fencing_tokens AS t (name, token) VALUES ($1, CAST(CAST($2 AS text) AS numeric(20)))
ON CONFLICT (name) DO UPDATE SET token = GREATEST(t.token, EXCLUDED.token) RETURNING CAST(token AS text)`,
		highest: returned,
	},
	MySQL: {
		schema: `CREATE TABLE IF NOT EXISTS fencing_tokens (name varbinary(255) PRIMARY KEY, token bigint unsigned NOT NULL)`,
		check: `INSERT INTO fencing_tokens (name, token) VALUES (?, LAST_INSERT_ID(CAST(? AS UNSIGNED)))
ON DUPLICATE KEY UPDATE token = LAST_INSERT_ID(GREATEST(token, VALUES(token)))`,
		highest: inserted,
	},
	SQLite: {
		schema: `CREATE TABLE IF NOT EXISTS fencing_tokens (name text PRIMARY KEY, token text NOT NULL)`,
		check: `INSERT INTO fencing_tokens (name, token) VALUES (?, ?)
ON CONFLICT (name) DO UPDATE SET token = max(token, excluded.token) RETURNING token`,
		width:   20,
		highest: returned,
	},
}

// Schema is the statement that creates the table if it does not exist: one row for
// each lock, with the highest token. A migration may create it instead. It is
// empty for an unknown dialect.
func Schema(d Dialect) string {
	if d >= dialects {
		return ""
	}
	return of[d].schema
}

// Guard checks the tokens of one lock in a database. It is safe for concurrent
// use. A nil Guard admits every token and records nothing.
type Guard struct {
	e *instrument.Election
	dialect
	args func(token string) []any // a function, so that nothing prints the name
}

// New makes a Guard for the lock of e, and counts its checks in the series of e; a
// nil e records nothing. The name is that of the lock's row, at most 255 bytes,
// and the same in every process that writes.
func New(e *instrument.Election, d Dialect, name string) *Guard {
	e.Guards()
	g := &Guard{e: e, args: func(token string) []any { return []any{name, token} }}
	if d < dialects {
		g.dialect = of[d]
	}
	return g
}

// Check decides on the writes of a transaction, in one statement, and counts
// the check once. It returns nil, a [fence.StaleError], or an error of the
// database, which admits nothing and is not counted. After an error the caller
// must roll back.
//
// The row of the lock stays locked until the transaction ends, so that two terms,
// or two transactions of one term, never write at the same time. To avoid
// deadlocks, transactions that check several locks must check them in the same
// order.
func (g *Guard) Check(ctx context.Context, tx *sql.Tx, token uint64) error {
	switch {
	case g == nil:
		return nil
	case tx == nil:
		return errors.New("leaderscope: fencing check without a transaction; pass the one that writes")
	case g.highest == nil:
		return errors.New("leaderscope: fencing check for an unknown dialect; use sqlfence.Postgres, MySQL or SQLite")
	}
	highest, err := g.highest(ctx, tx, g.check, g.args(fmt.Sprintf("%0*d", g.width, token))...)
	if err != nil {
		return fmt.Errorf("leaderscope: fencing check failed, roll the transaction back: %w", err)
	}
	if highest < token { // a driver or a proxy that loses the insert id, a column that rounds
		return fmt.Errorf("leaderscope: fencing check failed, roll the transaction back: the database answers %d to token %d; use the table of sqlfence.Schema, and a driver that gives the insert id unchanged", highest, token)
	}
	return fence.Compare(g.e, token, highest)
}

// CheckContext is Check with the token of the context; see fence.WithToken.
// Without one it returns fence.ErrMissing and sends no query.
func (g *Guard) CheckContext(ctx context.Context, tx *sql.Tx) error {
	if g == nil {
		return nil
	}
	token, ok := fence.TokenFrom(ctx)
	if !ok {
		return fence.Missing(g.e)
	}
	return g.Check(ctx, tx, token)
}

// returned reads the row that the statement returns.
func returned(ctx context.Context, tx *sql.Tx, query string, args ...any) (uint64, error) {
	var word string
	if err := tx.QueryRowContext(ctx, query, args...).Scan(&word); err != nil {
		return 0, err
	}
	return strconv.ParseUint(word, 10, 64)
}

// inserted reads the insert id, which database/sql shows as a signed number.
func inserted(ctx context.Context, tx *sql.Tx, query string, args ...any) (uint64, error) {
	result, err := tx.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	id, err := result.LastInsertId()
	return uint64(id), err
}
