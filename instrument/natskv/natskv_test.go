package natskv

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/instrument/electtest/tcpproxy"
)

const ttl = 2 * time.Second

func TestTermOfAKey(t *testing.T) {
	kv := bucket(t, client(t, embedded(t).ClientURL()), ttl)
	asked := time.Now()
	a := NewElection(kv, "leader", "replica-1")
	lease := acquire(t, a)
	entry, err := kv.Get(t.Context(), "leader")
	if err != nil {
		t.Fatal(err)
	}
	if token, ok := lease.(instrument.Fencer).FencingToken(); !ok || token != entry.Revision() {
		t.Errorf("token %d, %v; want the revision %d", token, ok, entry.Revision())
	}
	if holder, _, _ := strings.Cut(string(entry.Value()), " "); holder != "replica-1" {
		t.Errorf("the key names %q", entry.Value())
	}
	first := lease.(instrument.Expirer).Expiry()
	if remaining := first.Sub(asked); remaining < ttl || remaining > ttl+time.Second {
		t.Errorf("lease ends %v after asking, want about %v", remaining, ttl)
	}
	s := watch(t, lease)
	if renewed := receive(t, s.renewed); !renewed.Expiry.After(first) || renewed.Sent.IsZero() || renewed.Granted != ttl {
		t.Errorf("renewed with %+v, the lease of %v ended at %v before", renewed, ttl, first)
	}
	if err := lease.Release(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := kv.Get(t.Context(), "leader"); !errors.Is(err, jetstream.ErrKeyNotFound) {
		t.Errorf("after the release: %v", err)
	}
	if err := lease.Release(t.Context()); !errors.Is(err, instrument.ErrSessionLost) {
		t.Errorf("second release: %v", err)
	}
}

func TestKeyOfAnotherIsContended(t *testing.T) {
	kv := bucket(t, client(t, embedded(t).ClientURL()), ttl)
	holder := acquire(t, NewElection(kv, "leader", "replica-1"))
	defer holder.Release(context.WithoutCancel(t.Context()))
	a := NewTryElection(kv, "leader", "replica-2")
	_, err := a.Acquire(t.Context())
	if reason, ok := classify(a, err); !errors.Is(err, jetstream.ErrKeyExists) || !ok || reason != instrument.Contended {
		t.Errorf("%v is classified as %v, %v", err, reason, ok)
	}
}

func TestTTLOfASingleKeyWouldBeDroppedByTheFirstUpdate(t *testing.T) {
	js := client(t, embedded(t).ClientURL())
	kv, err := js.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "leases", LimitMarkerTTL: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	rev, err := kv.Create(t.Context(), "leader", nil, jetstream.KeyTTL(time.Second))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := kv.Update(t.Context(), "leader", nil, rev); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2500 * time.Millisecond)
	if _, err := kv.Get(t.Context(), "leader"); err != nil {
		t.Errorf("%v: the trap is gone, and KeyTTL could be used", err)
	}
}

func TestALockOfABucketWithoutTTLHasNoEndWhateverIsDeclared(t *testing.T) {
	kv := bucket(t, client(t, embedded(t).ClientURL()), 0)
	m, err := instrument.New()
	if err != nil {
		t.Fatal(err)
	}
	e := m.Election("lock", instrument.LeaseDuration(time.Millisecond))
	term, err := e.Acquire(t.Context(), NewElection(kv, "leader", "replica-1"))
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(10 * time.Millisecond)
	r := electtest.Read(m, "lock")
	if _, there := r[electtest.Of(catalog.LeaseHeadroom)]; there || !e.Leading() || r[electtest.Of(catalog.LeaseOverruns)] != 0 {
		t.Errorf("a lock without an end: leading %v, %v", e.Leading(), r)
	}
	if err := term.Release(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestTheGrantedLengthWinsOverTheDeclaredOne(t *testing.T) {
	kv := bucket(t, client(t, embedded(t).ClientURL()), ttl)
	m, err := instrument.New()
	if err != nil {
		t.Fatal(err)
	}
	e := m.Election("lock", instrument.Hold(), instrument.LeaseDuration(30*time.Second))
	term, err := e.Acquire(t.Context(), NewElection(kv, "leader", "replica-1"))
	if err != nil {
		t.Fatal(err)
	}
	defer term.Release(context.WithoutCancel(t.Context()))
	for range 10 {
		if length := electtest.Read(m, "lock")[electtest.Of(catalog.LeaseDuration)]; length != ttl.Seconds() {
			t.Fatalf("lease of %v s, want %v", length, ttl)
		}
		time.Sleep(ttl / 10)
	}
}

func TestStandbyTakesOverWhenTheKeyIsDeletedAndWhenItRunsOut(t *testing.T) {
	url := embedded(t).ClientURL()
	kv := bucket(t, client(t, url), ttl)
	a := NewElection(bucket(t, client(t, url), ttl), "leader", "replica-2")

	first := acquire(t, NewElection(kv, "leader", "replica-1"))
	won := make(chan instrument.Lease, 1)
	go func() {
		if l, err := a.Acquire(context.Background()); err == nil {
			won <- l
		}
	}()
	time.Sleep(100 * time.Millisecond)
	if err := first.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := receive(t, won).Release(t.Context()); err != nil {
		t.Error(err)
	}

	if _, err := kv.Create(t.Context(), "leader", []byte("a process that died")); err != nil {
		t.Fatal(err)
	}
	if err := acquire(t, a).Release(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestKeyThatAnotherTookIsLostAndLeftToIt(t *testing.T) {
	kv := bucket(t, client(t, embedded(t).ClientURL()), ttl)
	lease := acquire(t, NewElection(kv, "leader", "replica-1"))
	s := watch(t, lease)
	if _, err := kv.Put(t.Context(), "leader", []byte("replica-2 other")); err != nil {
		t.Fatal(err)
	}
	if cause := receive(t, s.lost); !errors.Is(cause, instrument.ErrContended) {
		t.Errorf("lost by %v", cause)
	}
	if err := lease.Release(t.Context()); !errors.Is(err, instrument.ErrSessionLost) {
		t.Errorf("release: %v", err)
	}
	if entry, err := kv.Get(t.Context(), "leader"); err != nil || string(entry.Value()) != "replica-2 other" {
		t.Errorf("the other's key is gone: %v", err)
	}
}

func TestTermEndsWithItsKeyWhenTheServerIsGone(t *testing.T) {
	s := embedded(t)
	lease := acquire(t, NewElection(bucket(t, client(t, s.ClientURL()), ttl), "leader", "replica-1"))
	w := watch(t, lease)
	receive(t, w.renewed)
	s.Shutdown()
	if cause := receive(t, w.lost); !errors.Is(cause, instrument.ErrGaveUp) {
		t.Errorf("cause %v, want ErrGaveUp", cause)
	}
	if remaining := time.Until(lease.(instrument.Expirer).Expiry()); remaining > ttl/10 || remaining < -ttl/2 {
		t.Errorf("lost with %v of the lease left, want a tenth", remaining)
	}
	if len(w.failed) == 0 {
		t.Error("no failed renewal was reported")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := lease.Release(ctx); err == nil || errors.Is(err, instrument.ErrSessionLost) {
		t.Errorf("release returned %v, want an error that does not know whose the lock is", err)
	}
}

func TestConnectionCutForLessThanTheLeaseIsNoLoss(t *testing.T) {
	const ttl = 4 * time.Second
	s := embedded(t)
	p := tcpproxy.New(t, s.Addr().String())
	lease := acquire(t, NewElection(bucket(t, client(t, "nats://"+p.Address()), ttl), "leader", "replica-1"))
	w := watch(t, lease)
	time.Sleep(ttl / 4)
	p.Cut()
	receive(t, w.failed) // an update that waits in the client's buffer now
	p.Resume()
	receive(t, w.renewed)
	receive(t, w.renewed)
	if len(w.lost) != 0 {
		t.Error("lost")
	}
	if err := lease.Release(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestConnectionCutForMoreThanTheLeaseIsALossBeforeItsEnd(t *testing.T) {
	s := embedded(t)
	kv := bucket(t, client(t, s.ClientURL()), ttl)
	p := tcpproxy.New(t, s.Addr().String())
	lease := acquire(t, NewElection(bucket(t, client(t, "nats://"+p.Address()), ttl), "leader", "replica-1"))
	w := watch(t, lease)
	p.Cut()
	receive(t, w.lost)
	if remaining := time.Until(lease.(instrument.Expirer).Expiry()); remaining < -ttl/2 {
		t.Errorf("lost %v after the lease end", -remaining)
	}
	next := acquire(t, NewElection(kv, "leader", "replica-2"))
	p.Resume()
	_ = lease.Release(t.Context()) // and what waits in the buffer
	time.Sleep(ttl)
	if err := next.Release(t.Context()); err != nil {
		t.Errorf("the next holder's release: %v", err)
	}
}

func TestCallersContextEndsTheCampaign(t *testing.T) {
	kv := bucket(t, client(t, embedded(t).ClientURL()), ttl)
	holder := acquire(t, NewElection(kv, "leader", "replica-1"))
	defer holder.Release(context.WithoutCancel(t.Context()))
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := NewElection(kv, "leader", "replica-2").Acquire(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the deadline", err)
	}
}

// faulty is a bucket with one key whose answers a test delays or loses.
type faulty struct {
	store
	value    []byte
	revision uint64
	answer   func() error // after an update was applied
	deleted  bool
	length   time.Duration // the TTL of the bucket
	opened   func() (<-chan jetstream.KeyValueEntry, error)
}

func (f *faulty) ttl(context.Context) (time.Duration, error) { return f.length, nil }

// watch has channels that end with the watch, as the client's do.
func (f *faulty) watch(ctx context.Context, _ string) (<-chan jetstream.KeyValueEntry, error) {
	if f.opened == nil {
		return nil, errors.New("not to be watched")
	}
	shown, err := f.opened()
	updates := make(chan jetstream.KeyValueEntry)
	go func() {
		defer close(updates)
		for {
			select {
			case e := <-shown:
				updates <- e
			case <-ctx.Done():
				return
			}
		}
	}()
	return updates, err
}

func (f *faulty) update(_ context.Context, _ string, value []byte, revision uint64) (uint64, error) {
	if revision != f.revision {
		return 0, &jetstream.APIError{ErrorCode: wrongLastSequenceReplicated}
	}
	f.value, f.revision = value, revision+1
	return f.revision, f.answer()
}

func (f *faulty) get(context.Context, string) (jetstream.KeyValueEntry, error) {
	return entry{value: f.value, revision: f.revision}, nil
}

func (f *faulty) delete(context.Context, string, uint64) error {
	f.deleted = true
	return nil
}

type entry struct {
	jetstream.KeyValueEntry
	value    []byte
	revision uint64
	deleted  bool
}

func (e entry) Value() []byte    { return e.value }
func (e entry) Revision() uint64 { return e.revision }

func (e entry) Operation() jetstream.KeyValueOp {
	if e.deleted {
		return jetstream.KeyValueDelete
	}
	return jetstream.KeyValuePut
}

// keeping runs a keeper with a lease of 15 s in a bubble.
func keeping(t *testing.T, f *faulty) (*keeper, *reports) {
	t.Helper()
	f.length = 15 * time.Second
	return keepingAsItIs(t, f)
}

func keepingAsItIs(t *testing.T, f *faulty) (*keeper, *reports) {
	t.Helper()
	f.value, f.revision = []byte("mine"), 7
	k := newKeeper(newElector(f, "leader", "replica-1", true).bucketKey, f.value, 7, time.Now(), f.length)
	s := newSink()
	go k.Watch(t.Context(), s.Sink)
	synctest.Wait()
	t.Cleanup(func() { _ = k.release(context.Background()) })
	return k, s
}

func TestUpdatesCountFromTheRequest_C04(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		k, s := keeping(t, &faulty{answer: func() error { time.Sleep(3 * time.Second); return nil }})
		for _, sent := range []time.Duration{5, 10, 15} {
			want := start.Add(sent*time.Second + 15*time.Second)
			got := <-s.renewed
			if !got.Expiry.Equal(want) || !k.Expiry().Equal(want) || !got.Sent.Equal(start.Add(sent*time.Second)) || got.Granted != 15*time.Second {
				t.Errorf("renewal %+v, want one until %v", got, want)
			}
		}
	})
}

func TestUpdateWhoseAnswerWasLostIsNoLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		calls := 0
		_, s := keeping(t, &faulty{answer: func() error {
			if calls++; calls == 1 {
				return context.DeadlineExceeded
			}
			return nil
		}})
		if err := <-s.failed; !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("failed with %v", err)
		}
		if got, want := (<-s.renewed).Expiry.Sub(start), 22500*time.Millisecond; got != want {
			t.Errorf("renewed until %v, want %v", got, want)
		}
	})
}

func TestAWatchThatShowsNoUpdateIsOpenedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		watches, shown := 0, make(chan jetstream.KeyValueEntry)
		f := &faulty{answer: func() error { return nil }, opened: func() (<-chan jetstream.KeyValueEntry, error) {
			if watches++; watches == 1 {
				return nil, nil // of a server that has forgotten it
			}
			return shown, nil
		}}
		_, s := keeping(t, f)
		<-s.renewed
		time.Sleep(watchAfter)
		synctest.Wait()
		if watches != 2 {
			t.Errorf("%d watches after the first has shown nothing, want 2", watches)
		}
		for range 3 {
			shown <- entry{value: f.value, revision: f.revision}
			<-s.renewed
		}
		synctest.Wait()
		if watches != 2 {
			t.Errorf("%d watches, although the second shows updates", watches)
		}
		shown <- entry{revision: f.revision + 1, deleted: true}
		if cause := <-s.lost; !errors.Is(cause, instrument.ErrSessionLost) {
			t.Errorf("lost by %v", cause)
		}
	})
}

func TestNoAnswerAfterTheLeaseEndIsBelieved_C16(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, s := keeping(t, &faulty{answer: func() error { time.Sleep(time.Minute); return nil }})
		if cause := <-s.lost; !errors.Is(cause, instrument.ErrGaveUp) || len(s.renewed) != 0 {
			t.Errorf("cause %v, %d renewals", cause, len(s.renewed))
		}
	})
}

func TestABucketWithoutATTLIsAskedAndNothingIsRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &faulty{answer: func() error { return nil }}
		_, s := keepingAsItIs(t, f)
		time.Sleep(10*lookEvery + time.Second)
		if len(s.renewed)+len(s.failed)+len(s.lost) != 0 || f.revision != 7 {
			t.Errorf("%d renewals, %d failures, %d losses, revision %d", len(s.renewed), len(s.failed), len(s.lost), f.revision)
		}
	})
}

func TestAReleaseAfterGivingUpGivesTheLockBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &faulty{answer: func() error { return context.DeadlineExceeded }}
		k, s := keeping(t, f)
		if cause := <-s.lost; !errors.Is(cause, instrument.ErrGaveUp) {
			t.Errorf("cause %v, want ErrGaveUp", cause)
		}
		if err := k.release(t.Context()); err != nil || !f.deleted {
			t.Errorf("release: %v, deleted %v", err, f.deleted)
		}
	})
}

func TestErrorsHaveReasons(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want instrument.Reason
		ok   bool
	}{
		"the key exists":                   {jetstream.ErrKeyExists, instrument.Contended, true},
		"another has written":              {&jetstream.APIError{ErrorCode: wrongLastSequence}, instrument.Contended, true},
		"another has, with replicas":       {&jetstream.APIError{ErrorCode: wrongLastSequenceReplicated}, instrument.Contended, true},
		"the key is gone":                  {errDeleted, instrument.SessionLost, true},
		"the key is another's":             {errTaken, instrument.Contended, true},
		"the server has no room":           {&jetstream.APIError{ErrorCode: 10077}, instrument.BackendError, true},
		"there is no such bucket":          {jetstream.ErrBucketNotFound, instrument.BackendError, true},
		"no responder answers the request": {nats.ErrNoResponders, instrument.BackendError, true},
		"no answer in time":                {nats.ErrTimeout, instrument.BackendError, true},
		"no answer in the time of a call":  {context.DeadlineExceeded, instrument.BackendError, true},
		"the caller gives up":              {context.Canceled, 0, false},
		"the key is no name of a key":      {jetstream.ErrInvalidKey, 0, false},
		"an error that is not known here":  {errors.New("other"), 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			reason, ok := (&elector{}).Classify(fmt.Errorf("natskv: %w", c.err))
			if reason != c.want || ok != c.ok {
				t.Errorf("classified as %v, %v; want %v, %v", reason, ok, c.want, c.ok)
			}
		})
	}
}

func acquire(t *testing.T, a instrument.Acquirer) instrument.Lease {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	lease, err := a.Acquire(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return lease
}

func classify(a instrument.Acquirer, err error) (instrument.Reason, bool) {
	return a.(instrument.Classifier).Classify(err)
}

// reports are what a Watcher has reported.
type reports struct {
	instrument.Sink
	renewed chan instrument.Renewal
	failed  chan error
	lost    chan error
}

func newSink() *reports {
	r := &reports{renewed: make(chan instrument.Renewal, 100), failed: make(chan error, 100), lost: make(chan error, 100)}
	r.Sink = electtest.NewSink(electtest.Reports{
		Renewed:       func(n instrument.Renewal) { r.renewed <- n },
		RenewalFailed: func(err error) { r.failed <- err },
		Lost:          func(cause error) { r.lost <- cause },
	})
	return r
}

// watch runs the lease's Watcher until the test ends.
func watch(t *testing.T, lease instrument.Lease) *reports {
	t.Helper()
	s := newSink()
	ctx, cancel := context.WithCancel(context.Background())
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		lease.(instrument.Watcher).Watch(ctx, s.Sink)
	}()
	t.Cleanup(func() { cancel(); <-stopped })
	return s
}

func receive[T any](t *testing.T, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(30 * time.Second):
		t.Fatal("nothing came within 30 s")
		panic("unreachable")
	}
}
