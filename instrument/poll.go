package instrument

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// Poll observes an elector that cannot be wrapped: it looks at once and then
// every interval, until ctx is done. look should say how much of the lease is
// left by a duration added to an instant before it asked, since another
// machine's clock is not ours. A look that takes longer than the interval is
// cut short. After Poll the last state stays; Forget the election if it is
// over.
func Poll(ctx context.Context, e *Election, every time.Duration, look func(context.Context) Observation) {
	poll(ctx, every, func(looking context.Context) {
		if o := look(looking); ctx.Err() == nil {
			e.Observe(o)
		}
	})
}

func poll(ctx context.Context, every time.Duration, look func(context.Context)) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for ctx.Err() == nil {
		looking, cancel := context.WithTimeout(ctx, every)
		look(looking)
		cancel()
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

// The remaining time is counted by the database, on the clock that wrote it.
const riverQuery = `SELECT leader_id, elected_at::text, EXTRACT(EPOCH FROM expires_at - now())::float8
FROM river_leader WHERE name = 'default'`

// FollowRiver observes the leadership of a River client of that ID by the row
// that River keeps in river_leader, every interval until ctx is done; a third
// of River's lease or less shows each renewal. River has no fencing token. A
// term that began and ended between two looks is not seen.
func FollowRiver(ctx context.Context, e *Election, db *sql.DB, clientID string, every time.Duration) {
	var elected string
	poll(ctx, every, func(looking context.Context) {
		asked := time.Now()
		row, err := readRiver(looking, db)
		if ctx.Err() != nil {
			return // nobody asks any more
		}
		leading := row.leader == clientID && row.left > 0
		switch {
		case err != nil:
			e.Observe(Observation{Err: err})
			return
		case leading && elected != "" && elected != row.elected:
			e.Observe(Observation{}) // elected anew since the last look
		}
		elected = ""
		if leading {
			elected = row.elected
		}
		e.Observe(Observation{Leading: leading, Expiry: asked.Add(row.left)})
	})
}

type riverRow struct {
	leader, elected string
	left            time.Duration
}

func readRiver(ctx context.Context, db *sql.DB) (riverRow, error) {
	var row riverRow
	var seconds float64
	err := db.QueryRowContext(ctx, riverQuery).Scan(&row.leader, &row.elected, &seconds)
	if errors.Is(err, sql.ErrNoRows) {
		return riverRow{}, nil // nobody leads
	}
	row.left = time.Duration(seconds * float64(time.Second))
	return row, err
}
