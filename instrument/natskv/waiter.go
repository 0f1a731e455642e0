package natskv

import (
	"context"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// waiter waits for a key to go. It watches for the deletion, and looks again
// after a while all the same: a key that runs out is announced only by buckets
// with markers, and not everybody may watch.
type waiter struct {
	*bucketKey
	every   time.Duration
	updates <-chan jetstream.KeyValueEntry // nil without a watch
	current bool                           // the watch has shown a value
	witness witness
}

// start opens the watch unless there is one. It ends with ctx.
func (w *waiter) start(ctx context.Context) {
	if w.updates != nil {
		return
	}
	watching, stop := context.WithCancel(ctx)
	updates, err := w.open(watching, stop)
	if err != nil {
		stop()
		return // looking now and then has to do
	}
	w.updates = updates
}

// freed returns when the key may be free.
func (w *waiter) freed(ctx context.Context) error {
	w.start(ctx)
	if w.every <= 0 {
		w.every = lookEvery
	}
	due := time.After(w.every)
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-due:
			return nil
		case entry, ok := <-w.updates:
			w.witness.sees(entry, ok, w.current)
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
