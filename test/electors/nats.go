package electors

import (
	"context"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/natskv"
)

// NATSBucket is where the leases are.
const NATSBucket = "leases"

// NATSKeyValue is an election over a bucket whose keys end with the lease.
func NATSKeyValue(ctx context.Context, r Replica) (instrument.Acquirer, func(), error) {
	nc, err := nats.Connect("nats://"+r.Address, nats.MaxReconnects(-1), nats.ReconnectWait(100*time.Millisecond))
	if err != nil {
		return nil, nil, err
	}
	js, err := jetstream.New(nc)
	if err != nil {
		return nil, nc.Close, err
	}
	kv, err := js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: NATSBucket, TTL: Lease, Storage: jetstream.FileStorage})
	if err != nil {
		return nil, nc.Close, err
	}
	return natskv.NewElection(updates{kv, r}, r.Lock, r.ID), nc.Close, nil
}

// updates hears each answer that makes or renews a key.
type updates struct {
	jetstream.KeyValue
	replica Replica
}

func (u updates) Update(ctx context.Context, key string, value []byte, revision uint64) (uint64, error) {
	asked := time.Now()
	next, err := u.KeyValue.Update(ctx, key, value, revision)
	if err == nil {
		u.replica.renewed(asked)
	}
	return next, err
}

func (u updates) Create(ctx context.Context, key string, value []byte, options ...jetstream.KVCreateOpt) (uint64, error) {
	asked := time.Now()
	revision, err := u.KeyValue.Create(ctx, key, value, options...)
	if err == nil {
		u.replica.answered(asked)
	}
	return revision, err
}

// DeleteOnNATS purges the lock's key.
func DeleteOnNATS(ctx context.Context, address, lock string) error {
	nc, err := nats.Connect("nats://" + address)
	if err != nil {
		return err
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	kv, err := js.KeyValue(ctx, NATSBucket)
	if err != nil {
		return err
	}
	return kv.Purge(ctx, lock)
}
