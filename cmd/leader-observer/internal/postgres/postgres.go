// Package postgres polls advisory locks of a PostgreSQL database.
package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/leaderscope/leaderscope/cmd/leader-observer/internal/observe"
	"github.com/leaderscope/leaderscope/instrument"
)

// Lock is an advisory lock by its key: that of pg_advisory_lock(key).
type Lock struct {
	Name string
	Key  int64
}

// Source polls locks of a database.
type Source struct {
	URL   string
	Every time.Duration
	Locks []Lock

	backend *observe.Backend
}

// Watch makes a Source ready to Run.
func (s Source) Watch(b *observe.Backend) *Source {
	s.backend = b
	return &s
}

// Run polls on one connection, until the database is lost.
func (s *Source) Run(ctx context.Context) error {
	config, err := pgx.ParseConfig(s.URL)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	config.RuntimeParams["application_name"] = "leader-observer"
	config.DefaultQueryExecMode = pgx.QueryExecModeExec // poolers keep no prepared statements
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = conn.Close(closing)
	}()
	return observe.Poll(ctx, s.Every, func(ctx context.Context) error { return s.look(ctx, conn) })
}

// held reads the exclusive locks of the database with a 64-bit key. A session is
// identified by its process and its start; without permission to read other
// sessions, by its process alone. A prepared transaction has no process.
const held = `
select (l.classid::bigint << 32) | l.objid::bigint, coalesce(l.pid, 0),
	coalesce(nullif(a.application_name, ''), case when l.pid is null then 'prepared transaction' else 'session' end), coalesce(extract(epoch from a.backend_start), 0)::bigint
from pg_locks l left join pg_stat_activity a on a.pid = l.pid
where l.locktype = 'advisory' and l.granted and l.objsubid = 1 and l.mode = 'ExclusiveLock'
	and l.database = (select oid from pg_database where datname = current_database())`

// querier is the part of a connection that Source uses.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

func (s *Source) look(ctx context.Context, conn querier) error {
	rows, err := conn.Query(ctx, held)
	if err != nil {
		return fmt.Errorf("look: %w", err)
	}
	holders := map[int64]string{}
	var key, began int64
	var pid int32
	var program string
	_, err = pgx.ForEachRow(rows, []any{&key, &pid, &program, &began}, func() error {
		holders[key] = fmt.Sprintf("%s/%d/%d", program, pid, began)
		return nil
	})
	if err != nil {
		return fmt.Errorf("look: %w", err)
	}
	s.backend.Up()
	for _, l := range s.Locks {
		view := instrument.BackendView{State: instrument.BackendVacant, Every: s.Every, ValidFor: observe.Believed(s.Every)}
		if holder, there := holders[l.Key]; there {
			view.State, view.Holder = instrument.BackendHeld, holder
		}
		s.backend.Lock(l.Name).Sees(view)
	}
	return nil
}
