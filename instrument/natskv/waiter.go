package natskv

import (
	"context"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// pollEvery is how often a standby looks at a key that has no TTL.
const pollEvery = 5 * time.Second

// waiter waits for a key to go. It watches for the deletion, and looks again
// after a while all the same: a key that runs out is announced only by buckets
// with markers, and not everybody may watch.
type waiter struct {
	kv    jetstream.KeyValue
	key   string
	every time.Duration

	watcher jetstream.KeyWatcher
	updates <-chan jetstream.KeyValueEntry
	current bool // the watch has shown a value
}

// freed returns when the key may be free.
func (w *waiter) freed(ctx context.Context) error {
	w.start(ctx)
	if w.every <= 0 {
		w.every = pollEvery
	}
	timer := time.NewTimer(w.every)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-timer.C:
			return nil
		case entry, ok := <-w.updates:
			switch {
			case !ok:
				w.updates = nil
			case entry == nil && !w.current: // all there was, and it was nothing
				return nil
			case entry == nil:
			case entry.Operation() != jetstream.KeyValuePut:
				return nil
			default:
				w.current = true
			}
		}
	}
}

// start opens the one watch of the campaign.
func (w *waiter) start(ctx context.Context) {
	if w.watcher != nil {
		return
	}
	watcher, err := w.kv.Watch(ctx, w.key, jetstream.MetaOnly())
	if err != nil {
		return // looking now and then has to do
	}
	w.watcher, w.updates = watcher, watcher.Updates()
}

func (w *waiter) stop() {
	if w.watcher != nil {
		_ = w.watcher.Stop() // of a connection that is gone nothing is left to stop
	}
}
