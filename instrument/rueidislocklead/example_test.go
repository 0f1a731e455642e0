package rueidislocklead_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/rueidislocklead"
)

// A job that one replica runs, under a lock that the library renews.
func Example() {
	address, stop := start() // of a program: 127.0.0.1:6379
	defer stop()
	locker, err := rueidislock.NewLocker(rueidislock.LockerOption{
		ClientOption: rueidis.ClientOption{InitAddress: []string{address}, DisableCache: true}, // which the Redis of this example does not know
		KeyMajority:  1,                                                                        // of one key, for one Redis
		TryNextAfter: time.Second,
	})
	if err != nil {
		log.Fatal(err)
	}
	defer locker.Close()
	m, err := instrument.New()
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	report := m.Election("nightly-report", instrument.ExpectEvery(24*time.Hour), instrument.Backend("redis"))

	err = report.Run(context.Background(), rueidislocklead.NewTryLock(locker, "nightly-report"), func(_ context.Context, term *instrument.Term) error {
		fmt.Println(term, "runs here")
		return nil
	})
	if err != nil {
		fmt.Println("not this time:", err)
	}
	// Output: nightly-report runs here
}

// start starts a Redis in this process.
func start() (address string, stop func()) {
	server, err := miniredis.Run()
	if err != nil {
		log.Fatal(err)
	}
	return server.Addr(), server.Close
}
