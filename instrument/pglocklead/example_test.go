package pglocklead_test

import (
	"context"
	"database/sql"
	"log"
	"time"

	"cirello.io/pglock"
	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/pglocklead"
)

// A service that leads for as long as it can, and waits for its turn again
// when its term has ended.
func Example() {
	db, err := sql.Open("pgx", "postgres://localhost/app")
	if err != nil {
		log.Fatal(err)
	}
	const lease = 20 * time.Second
	client, err := pglock.UnsafeNew(db, pglock.WithLeaseDuration(lease), pglock.WithHeartbeatFrequency(0)) // New takes lib/pq only
	if err != nil {
		log.Fatal(err)
	}
	m, err := instrument.New()
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	leading := m.Election("reconciler", instrument.Hold(), instrument.Backend("postgres"))
	lock := pglocklead.NewLock(client, "reconciler", lease)
	for {
		err := leading.Run(context.Background(), lock, func(ctx context.Context, _ *instrument.Term) error {
			<-ctx.Done() // the work; it ends when the term does
			return nil
		})
		log.Println("term ended:", err)
		time.Sleep(time.Second) // or a backoff, while the server is away
	}
}

// A job that one replica runs; the others leave it out.
func ExampleNewTryLock() {
	client, reports := setUp()
	lock := pglocklead.NewTryLock(client, "reports", 20*time.Second) // kept, so that it notices a holder that died
	for range time.Tick(time.Hour) {
		err := reports.Run(context.Background(), lock, func(ctx context.Context, term *instrument.Term) error {
			token, _ := term.FencingToken()
			log.Println("writing reports with token", token)
			return nil
		})
		if err != nil {
			log.Println("no reports here:", err)
		}
	}
}

func setUp() (*pglock.Client, *instrument.Election) { return nil, nil }
