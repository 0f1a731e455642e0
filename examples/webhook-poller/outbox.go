package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// The table. All times are the database's, so clocks of nodes do not matter.
const table = `
CREATE TABLE webhooks (
	id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	url text NOT NULL,
	payload text NOT NULL,
	state text NOT NULL DEFAULT 'PENDING' CHECK (state IN ('PENDING', 'DELIVERED', 'FAILED')),
	attempts int NOT NULL DEFAULT 0,
	due timestamptz NOT NULL DEFAULT now(),
	claim text,
	claimed_until timestamptz
);
CREATE INDEX ON webhooks (due) WHERE state = 'PENDING';`

// webhook is a row that was claimed.
type webhook struct {
	id           int64
	url, payload string
	attempts     int // this one included
	claim        string
}

// sqlOutbox is the table. A row is delivered by the holder of its claim, and
// no other node may note what became of it.
type sqlOutbox struct {
	db    *sql.DB
	claim time.Duration // its lease
	limit int           // of attempts
}

// take claims up to n rows that are due, in one statement: rows that another
// is about to claim are passed over, rows whose claim ran out are taken again.
// The attempt counts from here, so that a row which kills its poller ends too.
func (o *sqlOutbox) take(ctx context.Context, n int) ([]webhook, error) {
	claim := rand.Text()
	rows, err := o.db.QueryContext(ctx, `
		UPDATE webhooks SET claim = $1, claimed_until = now() + $2 * interval '1 second', attempts = attempts + 1
		WHERE id IN (
			SELECT id FROM webhooks
			WHERE state = 'PENDING' AND due <= now() AND attempts < $3 AND (claim IS NULL OR claimed_until < now())
			ORDER BY due LIMIT $4 FOR UPDATE SKIP LOCKED)
		RETURNING id, url, payload, attempts`, claim, o.claim.Seconds(), o.limit, n)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var taken []webhook
	for rows.Next() {
		w := webhook{claim: claim}
		if err := rows.Scan(&w.id, &w.url, &w.payload, &w.attempts); err != nil {
			return nil, err
		}
		taken = append(taken, w)
	}
	return taken, rows.Err()
}

// delivered notes that the webhook has arrived. It reports false when the
// claim has gone to another.
func (o *sqlOutbox) delivered(ctx context.Context, w webhook) (bool, error) {
	return o.note(ctx, "UPDATE webhooks SET state = 'DELIVERED', claim = NULL WHERE id = $1 AND claim = $2", w.id, w.claim)
}

// refused notes that it has not: it is due again later, or FAILED at the limit.
func (o *sqlOutbox) refused(ctx context.Context, w webhook, again time.Duration) (bool, error) {
	return o.note(ctx, `
		UPDATE webhooks SET claim = NULL, due = now() + $3 * interval '1 second',
			state = CASE WHEN attempts < $4 THEN 'PENDING' ELSE 'FAILED' END
		WHERE id = $1 AND claim = $2`, w.id, w.claim, again.Seconds(), o.limit)
}

// giveUp ends rows whose last attempt left no result.
func (o *sqlOutbox) giveUp(ctx context.Context) (int, error) {
	result, err := o.db.ExecContext(ctx, `
		UPDATE webhooks SET state = 'FAILED', claim = NULL
		WHERE state = 'PENDING' AND attempts >= $1 AND claimed_until < now()`, o.limit)
	if err != nil {
		return 0, err
	}
	n, err := result.RowsAffected()
	return int(n), err
}

func (o *sqlOutbox) note(ctx context.Context, update string, args ...any) (bool, error) {
	result, err := o.db.ExecContext(ctx, update, args...)
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	return n == 1, err
}

// open connects with a search path.
func open(dsn, schema string) (*sql.DB, error) {
	cfg, err := pgx.ParseConfig(dsn)
	if err != nil { // the text may hold a password
		return nil, fmt.Errorf("--postgres: not a DSN such as postgres://user@127.0.0.1:5432/database")
	}
	cfg.RuntimeParams["search_path"] = schema
	cfg.ConnectTimeout = 5 * time.Second
	return stdlib.OpenDB(*cfg), nil
}
