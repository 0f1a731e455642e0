package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/fence"
	"github.com/leaderscope/leaderscope/instrument/fence/httpfence"
	"github.com/leaderscope/leaderscope/redact"
)

// store is the service that the leader writes to. It owns its entries and is no
// candidate: what it knows of the election is the token that comes with each
// write. Here it is a part of the parent's process, and the replicas reach it
// over HTTP.
type store struct {
	address string
	stop    func()

	mu      sync.Mutex
	entries int
	newest  uint64 // token
	late    int    // entries under a token older than that of one before
}

// newStore serves the store, and /metrics of what it checked, on a free port.
func newStore(policy *redact.Policy) (*store, error) {
	m, err := instrument.New(instrument.WithRedactor(policy))
	if err != nil {
		return nil, err
	}
	s := &store{}
	guard := fence.New(m.Election(leaderLock, instrument.WatchOnly()))
	mux, err := metricsOf(m)
	if err != nil {
		return nil, err
	}
	mux.Handle("POST /entries", httpfence.Handler(guard, s))
	var stop func()
	if s.address, stop, err = serve("127.0.0.1:0", mux); err != nil {
		return nil, err
	}
	s.stop = func() {
		stop()
		m.Close()
	}
	return s, nil
}

// ServeHTTP keeps an entry that the guard let through.
func (s *store) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	token, _ := fence.TokenFrom(r.Context())
	s.keep(token)
}

func (s *store) keep(token uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.entries++
	if token < s.newest {
		s.late++
	}
	s.newest = max(s.newest, token)
}

// inOrder is what the entries themselves say of the guard.
func (s *store) inOrder() check {
	s.mu.Lock()
	defer s.mu.Unlock()
	return check{fmt.Sprintf("%d entries are in the store, %d of them late", s.entries, s.late), s.late == 0 && s.entries > 0}
}

// storeClient writes to the store with the token of the context's term.
type storeClient struct {
	client http.Client
	url    string
}

// newStoreClient is nil without an address: its replica writes nothing.
func newStoreClient(address string) *storeClient {
	if address == "" {
		return nil
	}
	return &storeClient{http.Client{Transport: httpfence.Transport(nil)}, "http://" + address + "/entries"}
}

// write makes one entry. The error is fence.ErrStale when the store has seen a
// later term.
func (c *storeClient) write(ctx context.Context) error {
	if c == nil {
		return nil
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, nil)
	if err != nil {
		return err
	}
	resp, err := c.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body) // so that the connection is used again
	switch resp.StatusCode {
	case http.StatusOK:
		return nil
	case http.StatusConflict:
		return fence.ErrStale
	}
	return errors.New("the store answers " + resp.Status)
}
