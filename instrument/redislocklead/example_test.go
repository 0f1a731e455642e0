package redislocklead_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/bsm/redislock"
	"github.com/redis/go-redis/v9"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/redislocklead"
)

// A job that one replica runs, under a lock that lives for as long as it takes.
func Example() {
	address, stop := start() // of a program: 127.0.0.1:6379
	defer stop()
	client := redis.NewClient(&redis.Options{Addr: address})
	defer client.Close()
	m, err := instrument.New()
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	report := m.Election("nightly-report", instrument.ExpectEvery(24*time.Hour), instrument.Backend("redis"))

	lock := redislocklead.NewTryLock(redislock.New(client), "nightly-report", 30*time.Second, redislocklead.WithAutoRenew())
	err = report.Run(context.Background(), lock, func(_ context.Context, term *instrument.Term) error {
		fmt.Println(term, "runs here")
		return nil
	})
	if err != nil {
		fmt.Println("not this time:", err)
	}
	// Output: nightly-report runs here
}

// A service that leads for as long as it can, and campaigns again when its
// term has ended.
func ExampleNewLock() {
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:6379"})
	m, err := instrument.New()
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	leading := m.Election("reconciler", instrument.Hold(), instrument.Backend("redis"))

	lock := redislocklead.NewLock(redislock.New(client), "reconciler", 15*time.Second, redislocklead.WithAutoRenew())
	for {
		err := leading.Run(context.Background(), lock, func(ctx context.Context, _ *instrument.Term) error {
			<-ctx.Done() // the work; it ends when the term does
			return nil
		})
		log.Println("term ended:", err)
		time.Sleep(time.Second) // or a backoff, while Redis is away
	}
}

// start starts a Redis in this process.
func start() (address string, stop func()) {
	server, err := miniredis.Run()
	if err != nil {
		log.Fatal(err)
	}
	return server.Addr(), server.Close
}
