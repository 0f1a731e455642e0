package prom_test

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/leaderscope/leaderscope/exporter/prom"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/redact"
)

// An elector of your own: anything that acquires and releases.
func obtain(context.Context) (instrument.Lease, error) {
	return instrument.NewLease(func(context.Context) error { return nil }), nil
}

func ExampleRegister() {
	m, err := instrument.New(instrument.WithRedactor(redact.Constant(redact.Exact("nightly-report"))))
	if err != nil {
		panic(err)
	}
	registry := prometheus.NewRegistry()
	if _, err := prom.Register(registry, m); err != nil {
		panic(err)
	}
	nightly := m.Election("nightly-report", instrument.LeaseDuration(10*time.Minute))

	err = nightly.Run(context.Background(), instrument.AcquirerFunc(obtain), func(context.Context, *instrument.Term) error {
		fmt.Println("reporting")
		return nil
	})
	if err != nil {
		panic(err)
	}
	n, err := testutil.GatherAndCount(registry, catalog.Acquired.Name())
	fmt.Println(n, err)
	// Output:
	// reporting
	// 1 <nil>
}
