// Command callbacks is a service whose structure has no place for Run: one
// part is notified when it starts and stops leading, another part does
// the work, request by request. Use Acquire and Work there: the end of the
// lease is known as with Run: a process that was suspended past it shows
// leader_active 0 at its first scrape.
//
//	callbacks -etcd 127.0.0.1:2379 -listen 127.0.0.1:8080
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/leaderscope/leaderscope/exporter/prom"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/etcdlock"
)

// indexer is the part that is told and the part that works.
type indexer struct {
	term atomic.Pointer[instrument.Term]
}

func (x *indexer) onStartedLeading(term *instrument.Term) { x.term.Store(term) }
func (x *indexer) onStoppedLeading()                      { x.term.Store(nil) }

// ServeHTTP is a request that only the leader may serve.
func (x *indexer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	term := x.term.Load()
	if term == nil {
		http.Error(w, "not the leader", http.StatusServiceUnavailable)
		return
	}
	err := term.Work(r.Context(), func(ctx context.Context, _ *instrument.Term) error {
		return ctx.Err() // the work; ctx ends with the request or the term
	})
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
	}
}

// campaign acquires, tells the indexer, and waits for the end of the term.
func campaign(ctx context.Context, e *instrument.Election, elector instrument.Acquirer, x *indexer) {
	for ctx.Err() == nil {
		term, err := e.Acquire(ctx, elector)
		if err != nil {
			time.Sleep(100 * time.Millisecond)
			continue
		}
		x.onStartedLeading(term)
		select {
		case <-term.Context().Done(): // lost
		case <-ctx.Done(): // told to stop
		}
		x.onStoppedLeading()
		release, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		_ = term.Release(release)
		cancel()
	}
}

func main() {
	endpoint, address := flag.String("etcd", "127.0.0.1:2379", "etcd endpoint"), flag.String("listen", "127.0.0.1:8080", "listen address")
	ttl := flag.Duration("ttl", 15*time.Second, "length of the lease")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *endpoint, *address, *ttl); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, endpoint, address string, ttl time.Duration) error {
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{endpoint}, DialTimeout: 5 * time.Second})
	if err != nil {
		return err
	}
	defer client.Close()
	m, err := instrument.New()
	if err != nil {
		return err
	}
	if _, err := prom.Register(prometheus.DefaultRegisterer, m); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	x := &indexer{}
	http.Handle("/metrics", promhttp.Handler())
	http.Handle("/index", x)
	server := &http.Server{ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = server.Serve(listener) }()
	defer server.Close()
	fmt.Println("serving on", listener.Addr())
	campaign(ctx, m.Election("indexer", instrument.Hold()), etcdlock.NewElection(client, "/indexer", address, ttl), x)
	return nil
}
