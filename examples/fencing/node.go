package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/leaderscope/leaderscope/exporter/prom"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/etcdlock"
	"github.com/leaderscope/leaderscope/redact"
)

const (
	lockName = "ledger-writer"
	lease    = 3 * time.Second
	every    = 200 * time.Millisecond // between two writes
)

// node is the service: while it leads, it writes.
type node struct {
	name   string
	client *clientv3.Client
	ledger ledger
	writer *instrument.Election
	count  count

	tell    func(event) // what happens
	between func(event) // where the show suspends a node
}

// count is what a node counts itself, to be held against its metrics.
type count struct {
	Terms   int // begun
	Written int
	Refused int
	Failed  int // writes of which nobody knows whether they were made
}

// election is the middleware around the lock; stop ends its /metrics.
func election() (writer *instrument.Election, address string, stop func(), err error) {
	m, err := instrument.New(instrument.WithRedactor(redact.Raw()))
	if err != nil {
		return nil, "", nil, err
	}
	address, stop, err = serveMetrics(m)
	if err != nil {
		return nil, "", nil, err
	}
	return m.Election(lockName, instrument.Hold(), instrument.LeaseDuration(lease), instrument.Backend("etcd")), address, stop, nil
}

// run campaigns, writes while it leads, and campaigns again, until ctx ends.
func (n *node) run(ctx context.Context) {
	for ctx.Err() == nil && n.ledger.open(ctx) != nil {
		wait(ctx, every) // the backend is away
	}
	elector := etcdlock.NewElection(n.client, "/"+lockName+"/leader", n.name, lease)
	for ctx.Err() == nil {
		var end time.Time // of the lease
		err := n.writer.Run(ctx, elector, func(ctx context.Context, term *instrument.Term) error {
			err := n.write(ctx, term)
			end = leaseEnd(term)
			return err
		})
		if !end.IsZero() {
			n.say(event{Kind: over, Text: text(err), Late: time.Since(end).Seconds()})
		}
		wait(ctx, every)
	}
}

// write is the leader's work. It looks whether its term goes on, and writes;
// between the two anything may happen.
func (n *node) write(ctx context.Context, term *instrument.Term) error {
	token, _ := term.FencingToken()
	n.count.Terms++
	n.say(event{Kind: leads, Token: token})
	for number := 1; ctx.Err() == nil; number++ {
		n.between(event{Kind: between, Token: token, Number: number})
		err := n.append(ctx, token, number)
		switch {
		case errors.Is(err, errStale):
			n.count.Refused++
			n.say(event{Kind: refused, Token: token, Number: number, Text: err.Error(), Late: time.Since(leaseEnd(term)).Seconds()})
			return err
		case err != nil:
			n.count.Failed++
		default:
			n.count.Written++
			n.say(event{Kind: wrote, Token: token, Number: number})
		}
		wait(ctx, every)
	}
	return nil
}

// append does not end with the term: a request that is on its way is not
// called back. The token is what stops it.
func (n *node) append(ctx context.Context, token uint64, number int) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lease)
	defer cancel()
	return n.ledger.append(ctx, token, number, n.name)
}

func (n *node) say(e event) {
	e.Count = n.count
	n.tell(e)
}

func leaseEnd(term *instrument.Term) time.Time { return term.Unwrap().(instrument.Expirer).Expiry() }

func serveMetrics(m *instrument.Middleware) (address string, stop func(), err error) {
	registry := prometheus.NewRegistry()
	if _, err := prom.Register(registry, m); err != nil {
		return "", nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	go server.Serve(listener)
	return listener.Addr().String(), func() { server.Close() }, nil
}

// wait sleeps for d, or until ctx ends.
func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
