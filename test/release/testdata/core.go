package main

import (
	"context"
	"log"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/leaderscope/leaderscope/exporter/prom"
	"github.com/leaderscope/leaderscope/instrument"
)

func main() {
	m, err := instrument.New()
	if err != nil {
		log.Fatal(err)
	}
	if _, err := prom.Register(prometheus.DefaultRegisterer, m); err != nil {
		log.Fatal(err)
	}
	leading := m.Election("reconciler", instrument.LeaseDuration(15*time.Second))
	lock := instrument.AcquirerFunc(func(context.Context) (instrument.Lease, error) { return instrument.NewLease(nil), nil })
	err = leading.Run(context.Background(), lock, func(context.Context, *instrument.Term) error { return nil })
	if err != nil {
		log.Fatal(err)
	}
}
