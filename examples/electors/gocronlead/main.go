// Command gocronlead is a service whose replicas share the jobs of a gocron
// scheduler, under locks of bsm/redislock in Redis. Replace write; its metrics are
// at http://127.0.0.1:8080/metrics.
package main

import (
	"context"
	"log"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/bsm/redislock"
	"github.com/go-co-op/gocron/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/redis/go-redis/v9"

	"github.com/leaderscope/leaderscope/exporter/prom"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/gocronlead"
	"github.com/leaderscope/leaderscope/instrument/redislocklead"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:6379"})
	defer client.Close()
	m, err := instrument.New()
	if err != nil {
		return err
	}
	defer m.Close()
	if _, err := prom.Register(prometheus.DefaultRegisterer, m); err != nil {
		return err
	}
	http.Handle("/metrics", promhttp.Handler())
	go func() { log.Fatal(http.ListenAndServe("127.0.0.1:8080", nil)) }()

	m.Election("report", instrument.ExpectEvery(time.Hour), instrument.Backend("redis")) // the label and the interval of the job
	locker := gocronlead.NewLocker(func(job string) instrument.Acquirer {
		return redislocklead.NewTryLock(redislock.New(client), job, 30*time.Second, redislocklead.WithAutoRenew())
	})
	scheduler, err := gocron.NewScheduler(gocronlead.WithLocker(m, locker))
	if err != nil {
		return err
	}
	if _, err := scheduler.NewJob(gocron.DurationJob(time.Hour), gocron.NewTask(write), gocron.WithName("report")); err != nil {
		return err
	}
	scheduler.Start()
	<-ctx.Done()
	return scheduler.Shutdown() // waits for running jobs
}

// write runs under the lock of the job. ctx ends at shutdown.
func write(ctx context.Context) error {
	log.Println("writing the report")
	return ctx.Err()
}
