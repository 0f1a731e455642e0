//go:build unix

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/leaderscope/leaderscope/examples/internal/stage"
	"github.com/leaderscope/leaderscope/exporter/prom"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/etcdlock"
	"github.com/leaderscope/leaderscope/instrument/fence"
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
	tally  stage.Tally // what it counts itself, to be compared

	notify func(event)      // what happens
	before func(number int) // where the show suspends a node
}

// event is what a node reports about its writing.
type event struct {
	Kind   string
	Token  uint64
	Number int     // of the entry
	Text   string  // why it was refused
	Late   float64 // seconds for which its lease is over
}

// Kinds of events.
const (
	leads     = "leads"
	wrote     = "wrote"
	refused   = "refused"
	unsure    = "unsure" // it is unknown whether the entry was written
	termEnded = "over"   // its term
)

// runNode is one node of the service, until ctx ends. args are its name, where
// its etcd is and, if any, the entry before which it is suspended, once.
func runNode(ctx context.Context, args []string) error {
	client, err := connect(args[1])
	if err != nil {
		return err
	}
	defer client.Close()
	m, err := instrument.New()
	if err != nil {
		return err
	}
	defer m.Close()
	registry := prometheus.NewRegistry()
	if _, err := prom.Register(registry, m); err != nil {
		return err
	}
	address, stop, err := stage.ServeMetrics(promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	if err != nil {
		return err
	}
	defer stop()
	fmt.Println("started,", address)

	events := json.NewEncoder(os.Stdout)
	writer := m.Election(lockName, instrument.Hold(), instrument.LeaseDuration(lease), instrument.Backend("etcd"))
	n := &node{
		name: args[0], client: client, ledger: newLedger(client, writer), writer: writer,
		notify: func(e event) { _ = events.Encode(e) }, // without a reader the node ends
		before: suspendOnce(args[2:]),
	}
	work, leave := stage.Cues(ctx)
	n.run(work)
	err = stage.Report(n.tally.Counts())
	leave()
	return err
}

func connect(etcd string) (*clientv3.Client, error) {
	return clientv3.New(clientv3.Config{Endpoints: []string{etcd}, Logger: zap.NewNop()})
}

// run campaigns, writes while it leads, and campaigns again, until ctx ends.
func (n *node) run(ctx context.Context) {
	elector := etcdlock.NewElection(n.client, "/"+lockName+"/leader", n.name, lease)
	for ctx.Err() == nil {
		var end time.Time // of the lease
		err := n.writer.Run(ctx, elector, func(ctx context.Context, term *instrument.Term) error {
			err := n.write(ctx, term)
			end = leaseEnd(term)
			return err
		})
		if end.IsZero() {
			n.tally.Missed(n.writer.Label())
		} else {
			n.tally.Ran(n.writer.Label(), errors.Is(err, fence.ErrStale))
			n.notify(event{Kind: termEnded, Late: time.Since(end).Seconds()})
		}
		stage.Wait(ctx, every)
	}
}

// write is the leader's work. It checks whether its term continues, and writes;
// between the two the process may be suspended.
func (n *node) write(ctx context.Context, term *instrument.Term) error {
	token, _ := term.FencingToken()
	n.notify(event{Kind: leads, Token: token})
	for number := 1; ctx.Err() == nil; number++ {
		n.before(number)
		err := n.append(ctx, token, number)
		switch {
		case errors.Is(err, fence.ErrStale):
			n.notify(event{Kind: refused, Token: token, Number: number, Text: err.Error(), Late: time.Since(leaseEnd(term)).Seconds()})
			return err
		case err != nil:
			n.notify(event{Kind: unsure, Token: token, Number: number})
		default:
			n.notify(event{Kind: wrote, Token: token, Number: number})
		}
		stage.Wait(ctx, every)
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

func leaseEnd(term *instrument.Term) time.Time { return term.Unwrap().(instrument.Expirer).Expiry() }
