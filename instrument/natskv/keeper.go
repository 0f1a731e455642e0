package natskv

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/leaderscope/leaderscope/instrument"
)

// errGaveUp is the cause of a term whose key was not updated in time.
var errGaveUp = fmt.Errorf("natskv: key was not updated in time: %w", instrument.ErrGaveUp)

// errMoving says that a write of ours overtook another of ours.
var errMoving = errors.New("natskv: key changed while it was written")

// discardTimeout bounds the deletion of a key after the keeper gave up. A key
// that could not be deleted by then goes with its TTL.
const discardTimeout = time.Second

// endless is the length of a lease that its holder alone can give back.
const endless = time.Duration(math.MaxInt64)

// keeper updates the key for as long as the term lasts.
type keeper struct {
	kv      jetstream.KeyValue
	key     string
	value   []byte
	ttl     time.Duration // 0: the key stays
	fencing uint64        // the revision that won
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
		stop: stop, stopped: make(chan struct{}),
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
	options := []instrument.LeaseOption{instrument.Token(k.fencing), instrument.GrantedFrom(k.length)}
	if k.ttl > 0 {
		options = append(options, instrument.ExpiryFrom(k.Expiry), instrument.WatchWith(k.Watch))
	}
	return instrument.NewLease(k.release, options...)
}

// length is that of the bucket, whatever the program declares.
func (k *keeper) length() time.Duration {
	if k.ttl <= 0 {
		return endless
	}
	return k.ttl
}

// Expiry is the instant just before the last good request, plus the TTL.
func (k *keeper) Expiry() time.Time {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.end
}

// Watch passes renewals to s, and why there are no more, until the term ends.
func (k *keeper) Watch(ctx context.Context, s instrument.Sink) {
	k.mu.Lock()
	k.sink = s
	cause := k.cause
	k.mu.Unlock()
	if cause != nil {
		s.Lost(cause)
	}
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
			k.lose(errGaveUp)
			return
		}
		end, err := k.renew(ctx, sent, last)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			k.report().Renewed(instrument.Renewal{Sent: sent, Expiry: end, Granted: k.ttl})
			next = sent.Add(k.ttl / 3)
		case errors.Is(err, errGaveUp):
			k.lose(err)
			return
		default:
			k.report().RenewalFailedSince(sent, err)
			if errors.Is(err, instrument.ErrSessionLost) || errors.Is(err, instrument.ErrContended) {
				k.lose(err)
				return
			}
			next = sent.Add(k.ttl / 6)
		}
	}
}

// renew updates the key once and waits a third of the TTL for the answer, but
// not beyond last. It returns the new end of the lease.
func (k *keeper) renew(ctx context.Context, sent, last time.Time) (end time.Time, err error) {
	ctx, cancel := context.WithDeadline(ctx, earlier(sent.Add(k.ttl/3), last))
	defer cancel()
	var revision uint64
	err = k.byRevision(ctx, func(old uint64) (err error) {
		revision, err = k.kv.Update(ctx, k.key, k.value, old)
		return err
	})
	if err != nil {
		return time.Time{}, err
	}
	late := !time.Now().Before(last)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.revision = revision
	if late {
		return time.Time{}, errGaveUp
	}
	k.end = sent.Add(k.ttl)
	return k.end, nil
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

// release deletes the key. A key that is not ours any more stays. After giving
// up it does not wait long for a server that is out of reach.
func (k *keeper) release(ctx context.Context) error {
	k.stop()
	<-k.stopped
	switch cause := k.lossCause(); {
	case errors.Is(cause, errGaveUp):
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, discardTimeout)
		defer cancel()
	case cause != nil:
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

// lose tells the term, now or once it watches.
func (k *keeper) lose(cause error) {
	k.mu.Lock()
	k.cause = cause
	s := k.sink
	k.mu.Unlock()
	s.Lost(cause)
}

func (k *keeper) lossCause() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.cause
}

// report is where the term is told; nowhere before Watch.
func (k *keeper) report() instrument.Sink {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.sink
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
