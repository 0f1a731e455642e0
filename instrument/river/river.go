// Package river observes the leadership of a River client, by the row that
// River keeps in the table river_leader of PostgreSQL. It imports no River.
//
// River elects by itself and cannot be wrapped. Attempts that did not win are
// not seen, nor is a term that began and ended between two looks.
package river

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/poll"
)

// DefaultLease is the length of River's lease: an election every 5 s and 10 s
// of padding.
const DefaultLease = 15 * time.Second

// Option configures Follow. Nil options are ignored.
type Option func(*follower)

// Schema is that of River's tables, as in river.Config.Schema. Empty is the
// connection's search path.
func Schema(name string) Option { return func(f *follower) { f.schema = name } }

// Lease is the length of River's lease, where it is not DefaultLease.
func Lease(length time.Duration) Option { return func(f *follower) { f.lease = length } }

// Follow observes the leadership of the River client of that ID at that
// interval, until ctx is done. A third of the lease or less shows each renewal.
// Declare instrument.Hold.
//
// A look that fails leaves the last state. Without a term it counts as an
// attempt that did not win, so that a wrong schema or a missing right shows.
// Follow returns nil when ctx is done, and at once an error for arguments that
// make no sense.
func Follow(ctx context.Context, e *instrument.Election, db *sql.DB, clientID string, every time.Duration, opts ...Option) error {
	f := &follower{db: db, clientID: clientID, lease: DefaultLease}
	for _, o := range opts {
		if o != nil {
			o(f)
		}
	}
	switch {
	case db == nil:
		return errors.New("leaderscope: river: the *sql.DB is nil")
	case clientID == "":
		return errors.New("leaderscope: river: the client ID is empty; give that of river.Config.ID")
	case every <= 0:
		return fmt.Errorf("leaderscope: river: interval is %v, want more than 0", every)
	case f.lease <= 0:
		return fmt.Errorf("leaderscope: river: Lease(%v), want more than 0", f.lease)
	case strings.ContainsRune(f.schema, 0):
		return errors.New("leaderscope: river: the schema contains a NUL character")
	}
	f.query = query(f.schema)
	return poll.Poll(ctx, e, every, func(ctx context.Context) poll.Outcome { return f.look(ctx, e) })
}

// query reads River's row. The remaining time is counted by the database, on
// the clock that wrote it. It depends on the time of the look, unlike the end,
// which changes with a renewal and with nothing else.
func query(schema string) string {
	table := "river_leader"
	if schema != "" {
		table = `"` + strings.ReplaceAll(schema, `"`, `""`) + `".` + table
	}
	return "SELECT leader_id, EXTRACT(EPOCH FROM elected_at)::text, EXTRACT(EPOCH FROM expires_at)::text," +
		" EXTRACT(EPOCH FROM expires_at - now())::float8 FROM " + table + " WHERE name = 'default'"
}

type follower struct {
	db       *sql.DB
	clientID string
	schema   string
	lease    time.Duration
	query    string

	row row       // of the last look that saw this client lead
	end time.Time // of the lease in row
}

// row is River's row.
type row struct {
	leader, elected, expires string
	left                     time.Duration
}

func (f *follower) look(ctx context.Context, e *instrument.Election) poll.Outcome {
	asked := time.Now()
	seen, err := f.read(ctx)
	took := time.Since(asked)
	switch {
	case err != nil:
		return poll.Unknown(fmt.Errorf("leaderscope: river: read river_leader: %w", err))
	case seen.leader != f.clientID || seen.left <= 0:
		return poll.NotLeading(nil)
	case f.row.elected != "" && f.row.elected != seen.elected:
		e.ObserveNotLeading(nil) // elected again since
	}
	f.end = f.endOf(seen, asked, took)
	f.row = seen
	return poll.Leading(instrument.Leadership{Expiry: f.end, Asked: asked, Granted: f.lease})
}

// endOf is the end of the lease, too early by at most the time that a look
// took. A row that did not change has the end that was computed first, unless
// the database's clock has jumped ahead meanwhile.
func (f *follower) endOf(seen row, asked time.Time, took time.Duration) time.Time {
	end := asked.Add(seen.left)
	if seen.expires == f.row.expires && !end.Before(f.end.Add(-took-time.Second)) {
		return f.end
	}
	return end
}

// read returns River's row, the zero row when no client leads.
func (f *follower) read(ctx context.Context) (row, error) {
	var r row
	var seconds float64
	err := f.db.QueryRowContext(ctx, f.query).Scan(&r.leader, &r.elected, &r.expires, &seconds)
	if errors.Is(err, sql.ErrNoRows) {
		return row{}, nil
	}
	r.left = time.Duration(seconds * float64(time.Second))
	return r, err
}
