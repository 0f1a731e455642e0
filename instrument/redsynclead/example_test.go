package redsynclead_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/redsynclead"
)

// A job that one replica runs, under a lock that lives for as long as it takes.
func Example() {
	address, stop := start() // of a program: 127.0.0.1:6379
	defer stop()
	client := redis.NewClient(&redis.Options{Addr: address})
	defer client.Close()
	rs := redsync.New(goredis.NewPool(client))
	m, err := instrument.New()
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	report := m.Election("nightly-report", instrument.ExpectEvery(24*time.Hour), instrument.Backend("redis"))

	mutex := redsynclead.NewTryMutex(rs, "nightly-report", redsync.WithExpiry(30*time.Second), redsynclead.WithAutoRenew())
	err = report.Run(context.Background(), mutex, func(_ context.Context, term *instrument.Term) error {
		fmt.Println(term, "runs here")
		return nil
	})
	if err != nil {
		fmt.Println("not this time:", err)
	}
	// Output: nightly-report runs here
}

// A mutex that the program has made, for one run at a time.
func ExampleMutex() {
	address, stop := start()
	defer stop()
	client := redis.NewClient(&redis.Options{Addr: address})
	defer client.Close()
	m, err := instrument.New()
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	orders := m.Election("orders", instrument.Backend("redis"))

	mutex := redsync.New(goredis.NewPool(client)).NewMutex("orders", redsync.WithTries(3))
	err = orders.Run(context.Background(), redsynclead.Mutex(mutex), func(ctx context.Context, term *instrument.Term) error {
		fmt.Println(term, "are settled here")
		return term.Renew(ctx) // where it takes longer than its expiry
	})
	if err != nil {
		fmt.Println("not this time:", err)
	}
	// Output: orders are settled here
}

// start starts a Redis in this process.
func start() (address string, stop func()) {
	server, err := miniredis.Run()
	if err != nil {
		log.Fatal(err)
	}
	return server.Addr(), server.Close
}
