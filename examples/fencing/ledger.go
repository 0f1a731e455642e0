//go:build unix

package main

import (
	"context"
	"fmt"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/etcdlock"
)

// ledger is a store that checks tokens: a fence in the etcd that it is kept in
// remembers the highest that it has seen and refuses a lower one, in the
// transaction that writes. It asks the lock nothing.
type ledger struct {
	client  *clientv3.Client
	fence   *etcdlock.Fence
	entries string
}

// newLedger opens the ledger; writer counts the checks, nil counts none.
func newLedger(client *clientv3.Client, writer *instrument.Election) ledger {
	prefix := "/" + lockName + "/"
	return ledger{client, etcdlock.NewFence(writer, client, prefix+"token"), prefix + "entries/"}
}

// append writes the entry of that number under a term's token, or returns
// fence.ErrStale. Any other error leaves open whether it was written; the same
// entry may be appended again.
func (l ledger) append(ctx context.Context, token uint64, number int, text string) error {
	_, err := l.fence.Write(ctx, token, clientv3.OpPut(fmt.Sprintf("%s%s/%s", l.entries, digits(token), digits(uint64(number))), text))
	return err
}

// entry is one line of the ledger.
type entry struct {
	token string
	text  string
}

// read returns all entries in the order in which they were written.
func (l ledger) read(ctx context.Context) ([]entry, error) {
	resp, err := l.client.Get(ctx, l.entries, clientv3.WithPrefix(),
		clientv3.WithSort(clientv3.SortByCreateRevision, clientv3.SortAscend))
	if err != nil {
		return nil, fmt.Errorf("read the ledger: %w", err)
	}
	var all []entry
	for _, kv := range resp.Kvs {
		token, _, _ := strings.Cut(strings.TrimPrefix(string(kv.Key), l.entries), "/")
		all = append(all, entry{token, string(kv.Value)})
	}
	return all, nil
}

// violations counts entries of a term that were written after one of a later
// term.
func violations(entries []entry) (n int) {
	highest := ""
	for _, e := range entries {
		if e.token < highest {
			n++
		}
		highest = max(highest, e.token)
	}
	return n
}

// digits writes a number so that etcd sorts keys by it.
func digits(n uint64) string { return fmt.Sprintf("%020d", n) }
