package natskv

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// watchAfter is the age of a term from which its key is watched: a watch is a
// consumer on the server, and a lock that is released sooner needs none.
const watchAfter = 250 * time.Millisecond

// observe hands over why the term is lost, as soon as the key or the connection
// shows it. Where the key may not be watched, the next update has to do.
func (k *keeper) observe(ctx context.Context) (causes <-chan error) {
	lost := make(chan error, 1)
	go func() {
		for sleep(ctx, watchAfter); ctx.Err() == nil; {
			again, cause := k.watchOnce(ctx)
			if cause != nil {
				lost <- cause
				return
			}
			sleep(ctx, again)
		}
	}()
	return lost
}

// watchOnce watches until the term is lost, or the watch has ended; it is to be
// opened again after that time.
func (k *keeper) watchOnce(ctx context.Context) (again time.Duration, cause error) {
	watching, stop := context.WithCancel(ctx)
	defer stop()
	again = lookEvery
	if updates, err := k.open(watching, stop); err == nil {
		k.watched(stop)
		defer k.watched(nil)
		for entry := range updates {
			if cause := k.judge(entry); cause != nil {
				return 0, cause
			}
		}
		again = watchAfter
	}
	asking, cancel := context.WithTimeout(ctx, discardTimeout)
	defer cancel()
	_, err := k.store.ttl(asking)
	return again, k.closed(ctx, err)
}

func (k *keeper) watched(stop context.CancelFunc) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.rewatch = stop
}

// renewWatch ends a watch that has not shown the last update: a server that was
// restarted has forgotten it, and the client takes a while to see that.
func (k *keeper) renewWatch() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.rewatch != nil && k.echoed < k.revision {
		k.rewatch()
	}
}

// open opens a watch that ends with ctx, and calls stop when it is not answered
// in time: ctx is all that bounds the request.
func (b *bucketKey) open(ctx context.Context, stop context.CancelFunc) (<-chan jetstream.KeyValueEntry, error) {
	late := time.AfterFunc(discardTimeout, stop)
	updates, err := b.store.watch(ctx, b.key)
	if err == nil && !late.Stop() {
		err = context.DeadlineExceeded
	}
	return updates, err
}

// closed is the cause of a term whose connection was closed.
func (k *keeper) closed(ctx context.Context, err error) error {
	if ctx.Err() == nil && isConnectionClosed(err) {
		return errClosed
	}
	return nil
}

// judge says what an entry of the watch means for the key. What is not newer
// than the last update is the past.
func (k *keeper) judge(entry jetstream.KeyValueEntry) error {
	if entry == nil { // all that was there
		return nil
	}
	k.mu.Lock()
	known := k.revision
	if bytes.Equal(entry.Value(), k.value) {
		k.echoed = max(k.echoed, entry.Revision())
	}
	k.mu.Unlock()
	switch {
	case entry.Revision() <= known:
		return nil
	case entry.Operation() != jetstream.KeyValuePut:
		return errDeleted
	case !bytes.Equal(entry.Value(), k.value):
		return errTaken
	default:
		return nil
	}
}

func isConnectionClosed(err error) bool {
	return errors.Is(err, nats.ErrConnectionClosed) || errors.Is(err, nats.ErrConnectionDraining)
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
