// Command redislocklead is a service of which one replica runs a job at a time,
// under a lock of bsm/redislock, in Redis. Replace report; its metrics are at
// http://127.0.0.1:8080/metrics.
package main

import (
	"context"
	"errors"
	"log"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/bsm/redislock"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/redis/go-redis/v9"

	"github.com/leaderscope/leaderscope/exporter/prom"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/redislocklead"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	m, err := instrument.New()
	check(err)
	_, err = prom.Register(prometheus.DefaultRegisterer, m)
	check(err)
	http.Handle("/metrics", promhttp.Handler())
	go func() { check(http.ListenAndServe("127.0.0.1:8080", nil)) }()

	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:6379"})
	defer client.Close()

	const interval, lease = time.Minute, 30 * time.Second // longer than any run
	election := m.Election("report", instrument.ExpectEvery(interval), instrument.KeepUntilExpiry(), instrument.Backend("redis"))
	lock := redislocklead.NewTryLock(redislock.New(client), "report", lease)
	for {
		next := time.Now().Truncate(interval).Add(interval) // the same instant on every replica
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Until(next)):
		}
		if err := election.Run(ctx, lock, report); err != nil && !errors.Is(err, redislock.ErrNotObtained) {
			log.Print(err)
		}
	}
}

// report is the job. The lock is kept until its lease ends, so that a replica
// whose clock is late does not run the job a second time.
func report(ctx context.Context, _ *instrument.Term) error {
	log.Print("writing the report")
	return ctx.Err()
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
