// Package nats watches locks that are keys of a JetStream key-value bucket.
package nats

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/leaderscope/leaderscope/cmd/leader-observer/internal/observe"
	"github.com/leaderscope/leaderscope/instrument"
)

const (
	// tick is how often keys are checked for ends that have passed.
	tick = 250 * time.Millisecond
	// affirm is how often the server is checked.
	affirm = 5 * time.Second
	// patience is how long an answer may take.
	patience = 5 * time.Second
)

// Source watches keys of a bucket.
type Source struct {
	URL     string
	Options []nats.Option
	Bucket  string
	Keys    string // a pattern, such as >

	backend *observe.Backend
	keys    map[string]*key
	ttl     time.Duration
}

// key is a key with the history of its events.
type key struct {
	name  string
	lock  *observe.Lock
	value string
	began uint64    // revision of the first value of the term, if it was seen
	end   time.Time // when the bucket drops it; zero: never, or gone
	there bool
}

// Watch makes a Source ready to Run.
func (s Source) Watch(b *observe.Backend) *Source {
	s.backend, s.keys = b, map[string]*key{}
	return &s
}

// Run watches until the server is lost.
func (s *Source) Run(ctx context.Context) error {
	lost := make(chan struct{}, 1)
	conn, err := nats.Connect(s.URL, append([]nats.Option{
		nats.Name("leader-observer"), nats.NoReconnect(), nats.Timeout(patience), nats.PingInterval(affirm), nats.MaxPingsOutstanding(1),
		nats.ClosedHandler(func(*nats.Conn) { lost <- struct{}{} }),
	}, s.Options...)...)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	kv, err := s.bucket(ctx, js)
	if err != nil {
		return err
	}
	watcher, err := kv.Watch(ctx, s.Keys)
	if err != nil {
		return fmt.Errorf("watch: %w", err)
	}
	defer func() { _ = watcher.Stop() }()
	return s.watch(ctx, kv, watcher.Updates(), lost)
}

func (s *Source) bucket(ctx context.Context, js jetstream.JetStream) (jetstream.KeyValue, error) {
	asking, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	kv, err := js.KeyValue(asking, s.Bucket)
	if err != nil {
		return nil, fmt.Errorf("open the bucket: %w", err)
	}
	status, err := kv.Status(asking)
	if err != nil {
		return nil, fmt.Errorf("ask for the bucket: %w", err)
	}
	s.ttl = status.TTL()
	return kv, nil
}

func (s *Source) watch(ctx context.Context, kv jetstream.KeyValue, updates <-chan jetstream.KeyValueEntry, lost <-chan struct{}) error {
	shown := map[string]bool{} // before the watch was current
	current := false
	ticks, affirms := time.NewTicker(tick), time.NewTicker(affirm)
	defer ticks.Stop()
	defer affirms.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-lost:
			return errors.New("watch: the connection was lost")
		case e, open := <-updates:
			switch {
			case !open:
				return errors.New("watch: the server ended it")
			case e == nil:
				current = true
				s.backend.Up()
				s.absent(shown)
			default:
				shown[e.Key()] = true
				s.sees(e, current)
			}
		case <-ticks.C:
			if err := s.confirm(ctx, kv, time.Now()); err != nil {
				return err
			}
		case <-affirms.C:
			if err := s.affirm(ctx, kv); err != nil {
				return err
			}
		}
	}
}

// absent removes keys that are no longer in the bucket.
func (s *Source) absent(shown map[string]bool) {
	for name, k := range s.keys {
		if !shown[name] {
			k.goes()
		}
	}
}

// sees applies an entry; live means that it happened just now.
func (s *Source) sees(e jetstream.KeyValueEntry, live bool) {
	k := s.keys[e.Key()]
	if k == nil {
		k = &key{name: e.Key(), lock: s.backend.Lock(e.Key())}
		s.keys[k.name] = k
		if live { // it had no holder before
			k.lock.Sees(instrument.BackendView{State: instrument.BackendVacant})
		}
	}
	if e.Operation() != jetstream.KeyValuePut {
		k.goes()
		return
	}
	if value := string(e.Value()); !k.there || value != k.value {
		if k.there && k.began == 0 && live { // a new term, also of the same holder
			k.lock.Sees(instrument.BackendView{State: instrument.BackendVacant})
		}
		k.value, k.began = value, 0
		if live {
			k.began = e.Revision()
		}
	}
	k.there, k.end = true, time.Time{}
	if s.ttl > 0 {
		k.end = time.Now().Add(s.ttl)
	}
	k.report(s.ttl)
}

func (k *key) goes() {
	k.there, k.end, k.value = false, time.Time{}, ""
	k.lock.Gone(instrument.BackendView{ValidFor: 2*affirm + patience})
}

// report reports a holder. It reports no end of the lease: the bucket drops the key,
// and confirm checks whether it has.
func (k *key) report(ttl time.Duration) {
	k.lock.Sees(instrument.BackendView{
		State: instrument.BackendHeld, Holder: holderOf(k.value), Token: k.began, Counted: k.began != 0, Granted: ttl,
		ValidFor: 2*affirm + patience,
	})
}

// holderOf removes the id of the term, which package natskv appends to the holder.
func holderOf(value string) string {
	i := strings.LastIndexByte(value, ' ')
	if i < 0 || len(value)-i-1 != 26 || strings.Trim(value[i+1:], "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") != "" {
		return value
	}
	return value[:i]
}

// confirm queries keys that the bucket should have dropped: a bucket without markers
// sends no event for them.
func (s *Source) confirm(ctx context.Context, kv jetstream.KeyValue, now time.Time) error {
	for _, k := range s.keys {
		if !k.there || k.end.IsZero() || now.Before(k.end) {
			continue
		}
		asking, cancel := context.WithTimeout(ctx, patience)
		_, err := kv.Get(asking, k.name)
		cancel()
		switch {
		case errors.Is(err, jetstream.ErrKeyNotFound):
			k.goes()
		case err != nil:
			return errors.New("get a key: no answer")
		default:
			k.end = now.Add(tick)
		}
	}
	return nil
}

// affirm checks that the server answers, and repeats reports for which there is no
// event.
func (s *Source) affirm(ctx context.Context, kv jetstream.KeyValue) error {
	asking, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if _, err := kv.Status(asking); err != nil {
		return fmt.Errorf("ask for the bucket: %w", err)
	}
	for _, k := range s.keys {
		if k.there {
			k.report(s.ttl)
		} else {
			k.lock.Gone(instrument.BackendView{ValidFor: 2*affirm + patience})
		}
	}
	for _, name := range s.backend.Sweep() {
		delete(s.keys, name)
	}
	return nil
}
