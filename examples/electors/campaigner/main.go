// Command campaigner is a service with an elector of its own that campaigns,
// resigns and can be asked whether it leads, such as leader.Elector of bluetape-go.
// Replace elector and work; its metrics are at http://127.0.0.1:8080/metrics.
package main

import (
	"context"
	"log"
	"net/http"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/leaderscope/leaderscope/exporter/prom"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/campaigner"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
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

	leading := m.Election("reconciler", instrument.Hold(), instrument.HiddenRenewals())
	candidate := campaigner.New(leading, &elector{}, time.Second)
	for ctx.Err() == nil {
		if err := candidate.Campaign(ctx); err != nil {
			log.Println("not elected:", err)
			time.Sleep(time.Second) // or a backoff, while the backend is unavailable
			continue
		}
		work(ctx, candidate)
	}
	resigning, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	return candidate.Resign(resigning)
}

// work runs while this replica leads.
func work(ctx context.Context, candidate *campaigner.Campaigner) {
	log.Println("leading")
	for tick := time.Tick(time.Second); ctx.Err() == nil && candidate.IsLeader(); <-tick {
	}
}

// elector stands for the library: this one always wins.
type elector struct{ leads atomic.Bool }

func (e *elector) Campaign(context.Context) error         { e.leads.Store(true); return nil }
func (e *elector) Resign(context.Context) error           { e.leads.Store(false); return nil }
func (e *elector) IsLeader() bool                         { return e.leads.Load() }
func (e *elector) Leader(context.Context) (string, error) { return "replica-1", nil }
