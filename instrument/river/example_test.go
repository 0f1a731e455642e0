package river_test

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/river"
)

// The leadership of a River client, by the row that River keeps.
func Example() {
	rows := &table{}
	rows.elect("worker-1")
	db := sql.OpenDB(rows) // of a program: sql.Open("pgx", dsn)
	defer db.Close()
	m, err := instrument.New()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer m.Close()
	jobs := m.Election("jobs", instrument.Hold(), instrument.Backend("postgres"))
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	const clientID = "worker-1" // that of river.Config
	if err := river.Follow(ctx, jobs, db, clientID, 2*time.Second, river.Schema("jobs")); err != nil {
		fmt.Println(err)
	}
	fmt.Println(jobs, "leads:", jobs.Leading())
	// Output: jobs leads: true
}
