package natskv

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/leaderscope/leaderscope/instrument"
)

// errLapsed is the cause of a term whose key was not updated in time.
var errLapsed = errors.New("natskv: key was not updated in time")

// errMoving says that a write of ours overtook another of ours.
var errMoving = errors.New("natskv: key changed while it was written")

// discardTimeout bounds the deletion of a key after the term was lost. A key
// that could not be deleted by then goes with its TTL.
const discardTimeout = time.Second

// keeper updates the key for as long as the term lasts.
type keeper struct {
	kv      jetstream.KeyValue
	key     string
	value   []byte
	ttl     time.Duration // 0: the key stays
	fencing uint64        // the revision that won
	lost    chan struct{}
	stop    context.CancelFunc
	stopped chan struct{}

	mu       sync.Mutex
	revision uint64
	end      time.Time
	cause    error // why the term was lost
	sink     instrument.Sink
}

func newKeeper(kv jetstream.KeyValue, key string, value []byte, revision uint64, asked time.Time, ttl time.Duration) *keeper {
	ctx, stop := context.WithCancel(context.Background())
	k := &keeper{
		kv: kv, key: key, value: value, ttl: ttl, fencing: revision, revision: revision,
		lost: make(chan struct{}), stop: stop, stopped: make(chan struct{}),
	}
	if ttl <= 0 {
		close(k.stopped)
		return k
	}
	k.end = asked.Add(ttl)
	go k.keep(ctx)
	return k
}

func (k *keeper) lease() instrument.Lease {
	options := []instrument.LeaseOption{instrument.Token(k.fencing)}
	if k.ttl > 0 {
		options = append(options, instrument.LostOn(k.lost), instrument.ExpiryFrom(k.Expiry), instrument.WatchWith(k.Watch))
	}
	return instrument.NewLease(k.release, options...)
}

// Expiry is the instant just before the last good request, plus the TTL.
func (k *keeper) Expiry() time.Time {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.end
}

// Watch passes renewals to s until the term ends.
func (k *keeper) Watch(ctx context.Context, s instrument.Sink) {
	k.attach(s)
	defer k.attach(nil)
	<-ctx.Done()
}

// keep updates every third of the TTL, and twice as often once an update has
// failed. It gives up a tenth of the TTL early: others may lead from the lease
// end on, and the work needs a moment to stop.
func (k *keeper) keep(ctx context.Context) {
	defer close(k.stopped)
	next := k.Expiry().Add(-2 * k.ttl / 3)
	for {
		last := k.Expiry().Add(-k.ttl / 10)
		if !sleepUntil(ctx, earlier(next, last)) {
			return
		}
		sent := time.Now()
		if !sent.Before(last) {
			k.lose(errLapsed)
			return
		}
		err := k.renew(ctx, last)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			next = sent.Add(k.ttl / 3)
		case errors.Is(err, errLapsed):
			k.lose(err)
			return
		default:
			k.tell(func(s instrument.Sink) { s.RenewalFailed(err) })
			if errors.Is(err, instrument.ErrSessionLost) || errors.Is(err, instrument.ErrContended) {
				k.lose(err)
				return
			}
			next = sent.Add(k.ttl / 6)
		}
	}
}

// renew updates the key once and waits a third of the TTL for the answer, but
// not beyond last.
func (k *keeper) renew(ctx context.Context, last time.Time) error {
	sent := time.Now()
	ctx, cancel := context.WithDeadline(ctx, earlier(sent.Add(k.ttl/3), last))
	defer cancel()
	var revision uint64
	err := k.byRevision(ctx, func(old uint64) (err error) {
		revision, err = k.kv.Update(ctx, k.key, k.value, old)
		return err
	})
	if err != nil {
		return err
	}
	end := sent.Add(k.ttl)
	late := !time.Now().Before(last)
	k.mu.Lock()
	k.revision = revision
	if !late {
		k.end = end
	}
	k.mu.Unlock()
	if late {
		return errLapsed
	}
	k.tell(func(s instrument.Sink) { s.Renewed(end) })
	return nil
}

// byRevision writes at the last revision that is known. Another revision need
// not be another holder: a write whose answer was lost, or that waited in the
// client's buffer for a connection, has moved it too. The value tells.
func (k *keeper) byRevision(ctx context.Context, write func(revision uint64) error) error {
	k.mu.Lock()
	revision := k.revision
	k.mu.Unlock()
	err := write(revision)
	if !errors.Is(err, jetstream.ErrKeyRevisionMismatch) {
		return err
	}
	entry, err := k.kv.Get(ctx, k.key)
	switch {
	case errors.Is(err, jetstream.ErrKeyNotFound):
		return fmt.Errorf("key is gone: %w", instrument.ErrSessionLost)
	case err != nil:
		return err // unknown is not lost
	case !bytes.Equal(entry.Value(), k.value):
		return instrument.ErrContended
	}
	if err := write(entry.Revision()); !errors.Is(err, jetstream.ErrKeyRevisionMismatch) {
		return err
	}
	return errMoving
}

// release deletes the key. A key that is not ours any more stays.
func (k *keeper) release(ctx context.Context) error {
	k.stop()
	<-k.stopped
	if cause := k.lossCause(); cause != nil {
		k.discard(ctx, cause)
		return fmt.Errorf("natskv: release: %w", errors.Join(instrument.ErrSessionLost, cause))
	}
	err := k.byRevision(ctx, func(revision uint64) error {
		return k.kv.Delete(ctx, k.key, jetstream.LastRevision(revision))
	})
	if err != nil {
		return fmt.Errorf("natskv: release: %w", err)
	}
	return nil
}

// discard deletes the key of a term that ran out on this process's clock, so
// that the next need not wait for it.
func (k *keeper) discard(ctx context.Context, cause error) {
	if !errors.Is(cause, errLapsed) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, discardTimeout)
	defer cancel()
	_ = k.byRevision(ctx, func(revision uint64) error { // the TTL does it otherwise
		return k.kv.Delete(ctx, k.key, jetstream.LastRevision(revision))
	})
}

func (k *keeper) lose(cause error) {
	k.mu.Lock()
	k.cause = cause
	k.mu.Unlock()
	k.tell(func(s instrument.Sink) { s.Lost(cause) })
	close(k.lost)
}

func (k *keeper) lossCause() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.cause
}

func (k *keeper) attach(s instrument.Sink) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.sink = s
}

func (k *keeper) tell(f func(instrument.Sink)) {
	k.mu.Lock()
	s := k.sink
	k.mu.Unlock()
	if s != nil {
		f(s)
	}
}

func sleepUntil(ctx context.Context, t time.Time) bool {
	timer := time.NewTimer(time.Until(t))
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
