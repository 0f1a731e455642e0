package httpfence_test

import (
	"context"
	"net/http"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/fence"
	"github.com/leaderscope/leaderscope/instrument/fence/httpfence"
)

// The store's service.
func ExampleHandler() {
	m, err := instrument.New()
	if err != nil {
		panic(err)
	}
	guard := fence.New(m.Election("ledger", instrument.WatchOnly()))
	entries := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { /* appends to the ledger */ })
	http.Handle("POST /entries", httpfence.Handler(guard, entries))
}

// The leader's calls carry the token of its term.
func ExampleTransport() {
	client := &http.Client{Transport: httpfence.Transport(nil)}
	_ = func(ctx context.Context, term *instrument.Term) error { // the body of Election.Run
		r, err := http.NewRequestWithContext(fence.WithTerm(ctx, term), http.MethodPost, "http://ledger/entries", nil)
		if err != nil {
			return err
		}
		resp, err := client.Do(r)
		if err != nil {
			return err
		}
		return resp.Body.Close()
	}
}
