//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// errStale says that the ledger has seen a higher token.
var errStale = errors.New("the token is stale")

// ledger is a store that checks tokens. It remembers the highest that it has
// seen and refuses a lower one, in the transaction that writes. It asks the
// lock nothing; over SQL it would be one UPDATE with WHERE token <= $1.
type ledger struct {
	client *clientv3.Client
	prefix string
}

func newLedger(client *clientv3.Client) ledger { return ledger{client, "/" + lockName + "/"} }

func (l ledger) tokenKey() string { return l.prefix + "token" }
func (l ledger) entries() string  { return l.prefix + "entries/" }

// open makes the token's key, so that there is something to compare with.
func (l ledger) open(ctx context.Context) error {
	_, err := l.client.Txn(ctx).
		If(clientv3.Compare(clientv3.CreateRevision(l.tokenKey()), "=", 0)).
		Then(clientv3.OpPut(l.tokenKey(), digits(0))).
		Commit()
	if err != nil {
		return fmt.Errorf("open the ledger: %w", err)
	}
	return nil
}

// append writes the entry of that number under a term's token, or returns
// errStale. Any other error leaves open whether it was written; the same entry
// may be appended again.
func (l ledger) append(ctx context.Context, token uint64, number int, text string) error {
	resp, err := l.client.Txn(ctx).
		If(clientv3.Compare(clientv3.Value(l.tokenKey()), "<", digits(token+1))).
		Then(
			clientv3.OpPut(l.tokenKey(), digits(token)),
			clientv3.OpPut(fmt.Sprintf("%s%s/%s", l.entries(), digits(token), digits(uint64(number))), text),
		).
		Else(clientv3.OpGet(l.tokenKey())).
		Commit()
	if err != nil {
		return fmt.Errorf("append to the ledger: %w", err)
	}
	if resp.Succeeded {
		return nil
	}
	seen := "none: the ledger was not opened"
	if kvs := resp.Responses[0].GetResponseRange().Kvs; len(kvs) > 0 {
		seen = strings.TrimLeft(string(kvs[0].Value), "0")
	}
	return fmt.Errorf("%w: it is %d, the ledger has seen %s", errStale, token, seen)
}

// entry is one line of the ledger.
type entry struct {
	token string
	text  string
}

// read returns all entries in the order in which they were written.
func (l ledger) read(ctx context.Context) ([]entry, error) {
	resp, err := l.client.Get(ctx, l.entries(), clientv3.WithPrefix(),
		clientv3.WithSort(clientv3.SortByCreateRevision, clientv3.SortAscend))
	if err != nil {
		return nil, fmt.Errorf("read the ledger: %w", err)
	}
	var all []entry
	for _, kv := range resp.Kvs {
		token, _, _ := strings.Cut(strings.TrimPrefix(string(kv.Key), l.entries()), "/")
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

// digits writes a number so that etcd's comparison of bytes is one of numbers.
func digits(n uint64) string { return fmt.Sprintf("%020d", n) }
