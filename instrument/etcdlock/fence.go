package etcdlock

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/fence"
)

// Fence is the store's side of fencing in etcd: it writes in one transaction
// that compares the token with the highest one that etcd has seen, and keeps
// the higher. It is safe for concurrent use, by any number of processes, and
// across their restarts. Writes that do not pass through it are not protected. A
// nil Fence writes nothing and returns an error.
type Fence struct {
	e    *instrument.Election
	kv   clientv3.KV
	than func(token string) clientv3.Cmp // functions, so that nothing prints the key
	put  func(token string) clientv3.Op
	get  func() clientv3.Op
}

// NewFence stores the highest token under key, in 20 decimal digits. Use the key
// for this lock only. The checks are counted in the series of e; a nil e records
// nothing.
func NewFence(e *instrument.Election, kv clientv3.KV, key string) *Fence {
	e.Guards()
	return &Fence{
		e: e, kv: kv,
		than: func(token string) clientv3.Cmp { return clientv3.Compare(clientv3.Value(key), ">", token) },
		put:  func(token string) clientv3.Op { return clientv3.OpPut(key, token) },
		get:  func() clientv3.Op { return clientv3.OpGet(key) },
	}
}

// Write runs the operations under a token, in one request, and counts it once.
// It returns a [fence.StaleError], and has written nothing, when etcd has seen a
// higher token. Operations of a write with conditions of its own go into one
// clientv3.OpTxn. The responses are those of the operations, in their order,
// and one more for the token.
//
// After any other error it is unknown whether the operations took effect; it is
// not counted.
func (f *Fence) Write(ctx context.Context, token uint64, ops ...clientv3.Op) (*clientv3.TxnResponse, error) {
	if f == nil || f.kv == nil {
		return nil, errors.New("leaderscope: fenced write without an etcd client; use NewFence with one")
	}
	word := fmt.Sprintf("%020d", token) // etcd compares bytes
	// Every comparison with the value of a missing key is false: nothing is
	// refused before the first write.
	resp, err := f.kv.Txn(ctx).If(f.than(word)).Then(f.get()).Else(append(ops[:len(ops):len(ops)], f.put(word))...).Commit()
	if err != nil {
		return nil, fmt.Errorf("leaderscope: fenced write failed, and it is unknown whether it took effect: %w", err)
	}
	if !resp.Succeeded {
		return resp, fence.Compare(f.e, token, token)
	}
	highest, err := seen(resp, token)
	if err != nil {
		return nil, err
	}
	return nil, fence.Compare(f.e, token, highest)
}

// WriteContext is Write with the token of the context; see fence.WithToken.
// Without one it returns fence.ErrMissing and sends no request.
func (f *Fence) WriteContext(ctx context.Context, ops ...clientv3.Op) (*clientv3.TxnResponse, error) {
	token, ok := fence.TokenFrom(ctx)
	if f != nil && !ok {
		return nil, fence.Missing(f.e)
	}
	return f.Write(ctx, token, ops...)
}

// seen reads the highest token from the answer to a refused write of token.
// etcd has compared bytes: only what NewFence describes is in the order of
// numbers.
func seen(resp *clientv3.TxnResponse, token uint64) (uint64, error) {
	kvs := resp.Responses[0].GetResponseRange().GetKvs()
	if len(kvs) == 0 {
		return 0, errors.New("leaderscope: fenced write refused: the answer lacks the highest token")
	}
	highest, err := strconv.ParseUint(string(kvs[0].Value), 10, 64)
	if err != nil || highest <= token {
		return 0, errors.New("leaderscope: fenced write refused: the key of the highest token holds no number of 20 digits; give the fence a key of its own")
	}
	return highest, nil
}
