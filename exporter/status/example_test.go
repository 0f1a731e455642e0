package status_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/leaderscope/leaderscope/exporter/status"
	"github.com/leaderscope/leaderscope/instrument"
)

// An elector of your own: anything that acquires and releases.
func obtain(context.Context) (instrument.Lease, error) {
	return instrument.NewLease(func(context.Context) error { return nil }), nil
}

func Example() {
	m, err := instrument.New()
	if err != nil {
		panic(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/status", status.Handler(m, status.WithInstance("replica-1")))
	mux.Handle("/ready", status.Ready(m, status.NotWhileOverrun()))

	orders := m.Election("orders", instrument.Hold(), instrument.LeaseDuration(15*time.Second), instrument.Backend("etcd"))
	err = orders.Run(context.Background(), instrument.AcquirerFunc(obtain), func(context.Context, *instrument.Term) error {
		fmt.Print(fetch(mux, "/ready"))
		return nil
	})
	if err != nil {
		panic(err)
	}
	// http.ListenAndServe(":9090", mux) serves them beside /metrics.

	// Output:
	// ready
}

func ExampleLeaderOnly() {
	m, err := instrument.New()
	if err != nil {
		panic(err)
	}
	orders := m.Election("orders", instrument.Hold())
	ready := status.Ready(m, status.LeaderOnly(orders))
	fmt.Print(fetch(ready, "/ready"))
	// Output:
	// not ready: this process does not lead lock_name="orders"
}

// fetch is what a client gets.
func fetch(h http.Handler, path string) string {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	return w.Body.String()
}
