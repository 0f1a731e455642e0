package instrument

import (
	"sync"
	"time"
)

// Tentative holds a failed renewal back until the next call decides, for
// libraries that first try an optimistic update and then a slow path: the two
// are one renewal. Make one for each term; it is safe for concurrent use.
type Tentative struct {
	sink Sink

	mu   sync.Mutex
	held error
}

// NewTentative reports to s.
func NewTentative(s Sink) *Tentative { return &Tentative{sink: s} }

// Tried says that the optimistic update failed; the slow path follows.
func (t *Tentative) Tried(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.held = err
}

// Renewed reports one renewal, whether or not an optimistic update failed
// before it.
func (t *Tentative) Renewed(expiry time.Time) {
	t.take()
	t.sink.Renewed(expiry)
}

// RenewalFailed reports one failure: the slow path's, which explains more
// than the optimistic update's.
func (t *Tentative) RenewalFailed(err error) {
	t.take()
	t.sink.RenewalFailed(err)
}

// Lost reports a failure that is still held back, then the loss.
func (t *Tentative) Lost(cause error) {
	if err := t.take(); err != nil {
		t.sink.RenewalFailed(err)
	}
	t.sink.Lost(cause)
}

func (t *Tentative) take() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	err := t.held
	t.held = nil
	return err
}
