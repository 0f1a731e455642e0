//go:build integration

package fencing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/instrument/etcdlock"
	"github.com/leaderscope/leaderscope/instrument/fence"
)

const (
	lease = 3 * time.Second
	every = 50 * time.Millisecond // between two writes
	// offset takes tokens beyond the numbers that a float64 tells apart.
	offset = 1 << 62
)

// order is what a node is told.
type order struct {
	ID, Etcd, Prefix string // of the election
	Kind, Address    string // of the stores
	Stores           []string
}

const orderVariable = "LEADERSCOPE_FENCING_NODE"

var nextEntry atomic.Uint64

func TestMain(m *testing.M) {
	text := os.Getenv(orderVariable)
	if text == "" {
		os.Exit(m.Run())
	}
	var o order
	err := json.Unmarshal([]byte(text), &o)
	if err == nil {
		err = o.run()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "node:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// event is what a node tells.
type event struct {
	Kind   string
	Store  int
	Token  uint64
	Checks map[string]float64 // at its end: what its guards counted
}

// Kinds of events.
const (
	wrote     = "wrote"
	refused   = "refused"
	unsure    = "unsure" // it is unknown whether it was written
	remaining = "left"
)

// run is a leader that does not look at its lease: once it has won, it writes
// until every store has refused it.
func (o order) run() error {
	quit, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	client, err := etcdClient(o.Etcd)
	if err != nil {
		return err
	}
	defer client.Close()
	m, err := instrument.New()
	if err != nil {
		return err
	}
	defer m.Close()
	leading := m.Election("ledger", instrument.Hold(), instrument.LeaseDuration(lease), instrument.Backend("etcd"))
	stores := make([]store, len(o.Stores))
	for i, name := range o.Stores {
		if stores[i], err = openers[o.Kind](leading, o.Address, name); err != nil {
			return err
		}
	}
	events := json.NewEncoder(os.Stdout)
	elector := etcdlock.NewElection(client, o.Prefix, o.ID, lease)
	for quit.Err() == nil {
		_ = leading.Run(quit, elector, func(_ context.Context, term *instrument.Term) error {
			token, _ := term.FencingToken()
			return writeOn(quit, stores, offset+token, func(e event) { _ = events.Encode(e) })
		})
	}
	end := event{Kind: remaining, Checks: map[string]float64{}}
	for _, result := range []catalog.FencingResult{catalog.FencingAdmitted, catalog.FencingStale, catalog.FencingMissing} {
		end.Checks[result.String()] = electtest.Read(m, leading.Label())[electtest.Of(catalog.FencingChecks, result.String())]
	}
	return events.Encode(end)
}

func writeOn(quit context.Context, stores []store, token uint64, notify func(event)) error {
	closed := make([]bool, len(stores))
	for open := len(stores); open > 0 && quit.Err() == nil; time.Sleep(every) {
		for i, s := range stores {
			if closed[i] {
				continue
			}
			ctx, cancel := context.WithTimeout(context.WithoutCancel(quit), 10*time.Second)
			err := s.write(ctx, token)
			cancel()
			switch {
			case err == nil:
				notify(event{Kind: wrote, Store: i, Token: token})
			case errors.Is(err, fence.ErrStale):
				closed[i] = true
				open--
				notify(event{Kind: refused, Store: i, Token: token})
			default:
				notify(event{Kind: unsure, Store: i, Token: token})
			}
		}
	}
	return nil
}
