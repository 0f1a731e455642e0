package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/leaderscope/leaderscope/cmd/leader-observer/internal/config"
	"github.com/leaderscope/leaderscope/cmd/leader-observer/internal/observe"
	"github.com/leaderscope/leaderscope/exporter/prom"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/redact"
)

// stopTimeout limits the time for scrapes in progress when the program stops.
const stopTimeout = 5 * time.Second

// source is one watch.
type source struct {
	backend *observe.Backend
	watch   func(context.Context) error
}

// serve watches and exports until ctx ends.
func serve(ctx context.Context, c config.Config, log *slog.Logger) error {
	policy, err := policyOf(c.Redaction)
	if err != nil {
		return err
	}
	m, err := instrument.New(instrument.WithRedactor(policy), instrument.WithMaxLabels(c.MaxLocks), instrument.WithLogger(log))
	if err != nil {
		return err
	}
	defer m.Close()
	sources, stop, err := sourcesOf(c, m, log)
	defer stop() // after those that watch have returned
	if err != nil {
		return err
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if _, err := prom.Register(registry, m); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return fmt.Errorf("listen: %w; pass another address with --listen", err)
	}
	log.Info("listening", "address", listener.Addr().String())
	var all sync.WaitGroup
	watching, end := context.WithCancel(ctx)
	defer func() { end(); all.Wait() }()
	for _, s := range sources {
		all.Go(func() { s.backend.Run(watching, s.watch) })
	}
	return answer(ctx, listener, pages(registry, sources))
}

// answer serves until ctx ends, and lets scrapes in progress finish.
func answer(ctx context.Context, l net.Listener, h http.Handler) error {
	server := &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, IdleTimeout: time.Minute}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	err := server.Shutdown(stopping)
	if served := <-failed; err == nil && !errors.Is(served, http.ErrServerClosed) {
		err = served
	}
	return err
}

// pages returns the handler of all pages. A backend that fails later does not make
// the process unready: its metrics show that, and must be scraped.
func pages(g prometheus.Gatherer, sources []source) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(g, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		for _, s := range sources {
			if !s.backend.Reached() {
				http.Error(w, fmt.Sprintf("backend %q has not answered yet", s.backend.Name()), http.StatusServiceUnavailable)
				return
			}
		}
		fmt.Fprintln(w, "ok")
	})
	return mux
}

// policyOf makes the redaction policy.
func policyOf(r config.Redaction) (*redact.Policy, error) {
	switch r.Policy {
	case redact.PolicyRaw:
		return redact.Raw(), nil
	case redact.PolicyConstant:
		return redact.Constant(), nil
	}
	key, err := redact.ReadKeyFile(r.KeyFile)
	if err != nil {
		return nil, err
	}
	p := redact.Hash(key, r.KeyID)
	return p, p.Err()
}
