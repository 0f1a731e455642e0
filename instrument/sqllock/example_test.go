package sqllock_test

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/sqllock"
)

// A job that one replica runs at a time, under an advisory lock of PostgreSQL.
func Example() {
	db := sql.OpenDB(newDatabase()) // of a program: sql.Open("pgx", dsn)
	defer db.Close()
	m, err := instrument.New()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer m.Close()
	report := m.Election("nightly-report", instrument.ExpectEvery(24*time.Hour), instrument.Backend("postgres"))
	lock := sqllock.NewLock(db, sqllock.PostgresTry(42), 10*time.Second)
	err = report.Run(context.Background(), lock, func(_ context.Context, term *instrument.Term) error {
		fmt.Println(term, "runs here")
		return nil
	})
	if err != nil {
		fmt.Println("not this time:", err)
	}
	// Output: nightly-report runs here
}
