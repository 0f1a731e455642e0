// Command rueidislocklead is a service of which one replica at a time writes a report,
// under a lock of rueidislock, in Redis. Replace write; its metrics are at
// http://127.0.0.1:8080/metrics.
package main

import (
	"context"
	"log"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"

	"github.com/leaderscope/leaderscope/exporter/prom"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/rueidislocklead"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	locker, err := rueidislock.NewLocker(rueidislock.LockerOption{
		ClientOption:   rueidis.ClientOption{InitAddress: []string{"127.0.0.1:6379"}},
		KeyMajority:    1,           // for a single server
		TryNextAfter:   time.Second, // the default of 20 ms is too short for a busy machine
		NoLoopTracking: true,        // otherwise the library renews without a pause
	})
	if err != nil {
		return err
	}
	defer locker.Close()
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

	lock := rueidislocklead.NewTryLock(locker, "hourly-report")
	report := m.Election("hourly-report", instrument.ExpectEvery(time.Hour), instrument.Backend("redis"))
	for hourly := time.Tick(time.Hour); ; {
		if err := report.Run(ctx, lock, write); err != nil {
			log.Println("the report did not run here:", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-hourly:
		}
	}
}

// write runs under the lock. ctx ends when the lock is lost and at shutdown. The
// lock excludes only concurrent runs: check first whether the report exists.
func write(ctx context.Context, _ *instrument.Term) error {
	log.Println("writing the report")
	return ctx.Err()
}
