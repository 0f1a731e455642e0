package natskv

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const (
	// retryAfter is the time between two readings.
	retryAfter = time.Second
	// settleTime is how long a request without an answer may still create its
	// key, once the server answers.
	settleTime = 5 * time.Second
	// cleanUpWait is how long a call waits for a clean-up, so that where the
	// server answers nothing is left when the call returns.
	cleanUpWait = 250 * time.Millisecond
)

// withdrawals delete a key that no replica holds: its creation, or its deletion,
// was not answered. The key may be there, or come when the connection is back.
// Attempts add up while the server is out of reach, and one reading serves all.
type withdrawals struct {
	store store
	key   string

	mu      sync.Mutex
	open    map[string]*withdrawal // by the value of the key
	running bool
}

type withdrawal struct {
	missing time.Time // since the server answers without it; zero: it has not
	done    chan struct{}
	deleted func() // nil: not asked
}

// unanswered reports whether a write may have been made all the same.
func unanswered(err error) bool {
	_, answered := errors.AsType[jetstream.JetStreamError](err)
	return !answered && !errors.Is(err, nats.ErrNoResponders) && !isConnectionClosed(err)
}

// add looks for the key with that value in the background until it is known
// not to be there. done is closed then.
func (w *withdrawals) add(value []byte, deleted func()) (done <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.open == nil {
		w.open = map[string]*withdrawal{}
	}
	one := &withdrawal{done: make(chan struct{}), deleted: deleted}
	w.open[string(value)] = one
	if !w.running {
		w.running = true
		go w.run()
	}
	return one.done
}

func (w *withdrawals) run() {
	for w.withdraw() {
		time.Sleep(retryAfter)
	}
}

// withdraw reads the key once, deletes it if it is ours, and reports whether something is left to delete.
func (w *withdrawals) withdraw() (more bool) {
	ctx, cancel := context.WithTimeout(context.Background(), discardTimeout)
	defer cancel()
	entry, err := w.store.get(ctx, w.key)
	there := err == nil
	switch {
	case there && w.wants(entry):
		err = w.store.delete(ctx, w.key, entry.Revision())
		if err == nil {
			w.close(string(entry.Value()), true)
			there = false
		}
	case errors.Is(err, jetstream.ErrKeyNotFound):
		err = nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for value, one := range w.open {
		switch {
		case err != nil && !unanswered(err) && !isWrongRevision(err):
			w.closeLocked(value, false) // the server will not, or the connection is closed
		case err != nil, there && value == string(entry.Value()):
		case one.missing.IsZero():
			one.missing = time.Now()
		case time.Since(one.missing) >= settleTime:
			w.closeLocked(value, false)
		}
	}
	w.running = len(w.open) > 0
	return w.running
}

func (w *withdrawals) wants(entry jetstream.KeyValueEntry) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.open[string(entry.Value())] != nil
}

func (w *withdrawals) close(value string, deleted bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closeLocked(value, deleted)
}

func (w *withdrawals) closeLocked(value string, deleted bool) {
	one := w.open[value]
	delete(w.open, value)
	if deleted && one.deleted != nil {
		one.deleted()
	}
	close(one.done)
}
