package natskv

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// store is what is asked of a bucket. The interface of the client has grown
// from version to version.
type store interface {
	create(ctx context.Context, key string, value []byte) (revision uint64, err error)
	update(ctx context.Context, key string, value []byte, last uint64) (revision uint64, err error)
	get(ctx context.Context, key string) (jetstream.KeyValueEntry, error)
	delete(ctx context.Context, key string, last uint64) error
	// watch ends with ctx, which also bounds its opening.
	watch(ctx context.Context, key string) (<-chan jetstream.KeyValueEntry, error)
	ttl(ctx context.Context) (time.Duration, error)
}

// bucketStore asks for the TTL by itself: before v1.55 of the client, Status
// writes what Get reads, without a mutex.
type bucketStore struct {
	kv   jetstream.KeyValue
	turn chan struct{}
}

func newStore(kv jetstream.KeyValue) *bucketStore {
	return &bucketStore{kv: kv, turn: make(chan struct{}, 1)}
}

var errNoBucket = errors.New("the key-value bucket is nil: pass one of jetstream.JetStream")

func (b *bucketStore) take(ctx context.Context) error {
	if b.kv == nil {
		return errNoBucket
	}
	select {
	case b.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (b *bucketStore) give() { <-b.turn }

func (b *bucketStore) create(ctx context.Context, key string, value []byte) (uint64, error) {
	if err := b.take(ctx); err != nil {
		return 0, err
	}
	defer b.give()
	return b.kv.Create(ctx, key, value)
}

func (b *bucketStore) update(ctx context.Context, key string, value []byte, last uint64) (uint64, error) {
	return b.kv.Update(ctx, key, value, last)
}

func (b *bucketStore) get(ctx context.Context, key string) (jetstream.KeyValueEntry, error) {
	if err := b.take(ctx); err != nil {
		return nil, err
	}
	defer b.give()
	return b.kv.Get(ctx, key)
}

func (b *bucketStore) delete(ctx context.Context, key string, last uint64) error {
	return b.kv.Delete(ctx, key, jetstream.LastRevision(last))
}

func (b *bucketStore) watch(ctx context.Context, key string) (<-chan jetstream.KeyValueEntry, error) {
	watcher, err := b.kv.Watch(ctx, key)
	if err != nil {
		return nil, err
	}
	return watcher.Updates(), nil
}

func (b *bucketStore) ttl(ctx context.Context) (time.Duration, error) {
	if err := b.take(ctx); err != nil {
		return 0, err
	}
	defer b.give()
	status, err := b.kv.Status(ctx)
	if err != nil {
		return 0, err
	}
	return status.TTL(), nil
}
