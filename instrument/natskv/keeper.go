package natskv

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/leaderscope/leaderscope/instrument"
)

// Why a term was lost, or stopped.
var (
	errGaveUp  = fmt.Errorf("natskv: key was not updated in time: %w", instrument.ErrGaveUp)
	errDeleted = fmt.Errorf("natskv: key was deleted: %w", instrument.ErrSessionLost)
	errTaken   = fmt.Errorf("natskv: another replica wrote the key: %w", instrument.ErrContended)
	errClosed  = fmt.Errorf("natskv: connection was closed: %w", context.Canceled)
)

// errMoving says that a write of ours overtook another of ours.
var errMoving = errors.New("natskv: key changed while it was written")

const (
	// discardTimeout bounds the deletion of a key after the keeper gave up, and
	// each request of a clean-up.
	discardTimeout = time.Second
	// endless is the length of a lease that its holder alone can give back.
	endless = time.Duration(math.MaxInt64)
	// lookEvery is how often a bucket without a TTL is asked whether it has one.
	lookEvery = 5 * time.Second
)

// keeper updates the key for as long as the term lasts, and watches it.
type keeper struct {
	*bucketKey
	value   []byte
	fencing uint64 // the revision that won
	stop    context.CancelFunc
	stopped chan struct{}
	deleted atomic.Bool // by a release, or its clean-up
	asked   atomic.Bool // a release may have deleted it

	mu       sync.Mutex
	ttl      time.Duration // 0: the key stays
	revision uint64
	end      time.Time // zero: the key stays
	cause    error     // why the term was lost
	sink     instrument.Sink
	echoed   uint64             // the last of our revisions that the watch has shown
	rewatch  context.CancelFunc // ends the watch that is open; nil without one
}

func newKeeper(b *bucketKey, value []byte, revision uint64, asked time.Time, ttl time.Duration) *keeper {
	ctx, stop := context.WithCancel(context.Background())
	k := &keeper{bucketKey: b, value: value, fencing: revision, revision: revision, stop: stop, stopped: make(chan struct{})}
	k.counts(asked, ttl)
	go k.keep(ctx)
	return k
}

// lease is the term, at whose end ended is called.
func (k *keeper) lease(ended func()) instrument.Lease {
	watch := func(ctx context.Context, s instrument.Sink) {
		defer ended()
		k.Watch(ctx, s)
	}
	return instrument.NewLease(k.release,
		instrument.Token(k.fencing), instrument.ExpiryFrom(k.Expiry), instrument.GrantedFrom(k.length), instrument.WatchWith(watch))
}

// counts has the lease count from a request that was answered.
func (k *keeper) counts(sent time.Time, ttl time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.ttl, k.end = max(ttl, 0), time.Time{}
	if ttl > 0 {
		k.end = sent.Add(ttl)
	}
}

// length is that of the bucket, even if the program declares another.
func (k *keeper) length() time.Duration {
	if ttl := k.bucketTTL(); ttl > 0 {
		return ttl
	}
	return endless
}

func (k *keeper) bucketTTL() time.Duration {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.ttl
}

// Expiry is the instant just before the last good request, plus the TTL; zero
// where the key stays.
func (k *keeper) Expiry() time.Time {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.end
}

// Watch passes renewals to s, and the reason why they stopped, until the term
// ends.
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
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	causes, next := k.observe(ctx), k.due(time.Now())
	for {
		cause := k.await(ctx, causes, next)
		switch {
		case ctx.Err() != nil:
			return
		case cause != nil:
			k.lose(cause)
			return
		}
		k.renewWatch()
		sent := time.Now()
		err := k.renew(ctx, sent)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			next = k.due(sent)
		case errors.Is(err, errGaveUp):
			k.lose(err)
			return
		case isConnectionClosed(err):
			k.lose(errClosed)
			return
		default:
			k.report().RenewalFailedSince(sent, err)
			if errors.Is(err, instrument.ErrSessionLost) || errors.Is(err, instrument.ErrContended) {
				k.lose(err)
				return
			}
			next = sent.Add(k.due(sent).Sub(sent) / 2)
		}
	}
}

// due is when the next update is, after one that was sent at that time. Where
// the key stays there is nothing but the TTL of the bucket to look at.
func (k *keeper) due(sent time.Time) time.Time {
	if ttl := k.bucketTTL(); ttl > 0 {
		return sent.Add(ttl / 3)
	}
	return sent.Add(lookEvery)
}

// last is when the keeper gives up.
func (k *keeper) last() time.Time {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.ttl <= 0 {
		return time.Now().Add(lookEvery)
	}
	return k.end.Add(-k.ttl / 10)
}

// await waits until the next update is due. It returns why the term is lost, if
// that is known before.
func (k *keeper) await(ctx context.Context, causes <-chan error, next time.Time) (cause error) {
	select {
	case <-ctx.Done():
		return nil
	case <-time.After(time.Until(earlier(next, k.last()))):
		return nil
	case cause := <-causes:
		return cause
	}
}

// renew updates the key once and waits a third of the TTL for the answer, but
// not beyond the instant at which the keeper gives up. It asks for the TTL of
// the bucket at the same time, which may have been changed.
func (k *keeper) renew(ctx context.Context, sent time.Time) error {
	last, ttl := k.last(), k.bucketTTL()
	if !sent.Before(last) {
		return errGaveUp
	}
	ctx, cancel := context.WithDeadline(ctx, earlier(k.due(sent), last))
	defer cancel()
	asked := k.asking(ctx, ttl)
	if ttl > 0 {
		if err := k.update(ctx); err != nil {
			return err
		}
	}
	granted := <-asked
	if granted > 0 && ttl <= 0 { // from now on the key goes unless it is updated
		if err := k.update(ctx); err != nil {
			return err
		}
	}
	if !time.Now().Before(last) {
		return errGaveUp
	}
	if granted <= 0 && ttl <= 0 {
		return nil
	}
	k.counts(sent, granted)
	k.report().Renewed(instrument.Renewal{Sent: sent, Expiry: k.Expiry(), Granted: k.length()})
	return nil
}

// asking hands over the TTL of the bucket; the last one that is known if there
// is no answer.
func (k *keeper) asking(ctx context.Context, known time.Duration) <-chan time.Duration {
	asked := make(chan time.Duration, 1)
	go func() {
		ttl, err := k.store.ttl(ctx)
		if err != nil {
			ttl = known
		}
		asked <- ttl
	}()
	return asked
}

func (k *keeper) update(ctx context.Context) error {
	return k.byRevision(ctx, func(old uint64) error {
		revision, err := k.store.update(ctx, k.key, k.value, old)
		if err != nil {
			return err
		}
		k.mu.Lock()
		defer k.mu.Unlock()
		k.revision = revision
		return nil
	})
}

// byRevision writes at the last revision that is known. Another revision need
// not be another holder: a write whose answer was lost, or that waited in the
// client's buffer for a connection, has moved it too. The value tells.
func (k *keeper) byRevision(ctx context.Context, write func(revision uint64) error) error {
	k.mu.Lock()
	revision := k.revision
	k.mu.Unlock()
	err := write(revision)
	if !isWrongRevision(err) {
		return err
	}
	entry, err := k.store.get(ctx, k.key)
	switch {
	case errors.Is(err, jetstream.ErrKeyNotFound):
		return errDeleted
	case err != nil:
		return err // unknown is not lost
	case !bytes.Equal(entry.Value(), k.value):
		return errTaken
	}
	if err := write(entry.Revision()); !isWrongRevision(err) {
		return err
	}
	return errMoving
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

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
