package nats

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/goleak"

	. "github.com/leaderscope/leaderscope/cmd/leader-observer/internal/observe/observetest"
	"github.com/leaderscope/leaderscope/instrument/electtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var errAway = errors.New("away")

// bucket is a key-value bucket that tells what a test has happen. It is for one
// bubble.
type bucket struct {
	jetstream.KeyValue
	*Fixture
	ttl      time.Duration
	revision uint64

	mu    sync.Mutex // of what the watch asks for
	keys  map[string]entry
	away  error
	asked int // questions about a key

	ctx      context.Context
	watching bool
	updates  chan jetstream.KeyValueEntry
	lost     chan struct{}
	source   *Source
	ended    chan error
}

type entry struct {
	jetstream.KeyValueEntry
	key, value string
	revision   uint64
	operation  jetstream.KeyValueOp
	end        time.Time
}

func (e entry) Key() string                     { return e.key }
func (e entry) Value() []byte                   { return []byte(e.value) }
func (e entry) Revision() uint64                { return e.revision }
func (e entry) Operation() jetstream.KeyValueOp { return e.operation }

// Get finds no key that the bucket has dropped.
func (b *bucket) Get(_ context.Context, key string) (jetstream.KeyValueEntry, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked++
	e, there := b.keys[key]
	switch {
	case b.away != nil:
		return nil, b.away
	case !there, !e.end.IsZero() && !time.Now().Before(e.end):
		return nil, jetstream.ErrKeyNotFound
	}
	return e, nil
}

func (b *bucket) Status(context.Context) (jetstream.KeyValueStatus, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return nil, b.away
}

// goesAway has the bucket answer nothing for that time.
func (b *bucket) goesAway(d time.Duration) {
	b.mu.Lock()
	b.away = errAway
	b.mu.Unlock()
	time.Sleep(d)
}

// put takes or renews a lock, drops tells that its key is gone.
func (b *bucket) put(key, value string) {
	b.revision++
	e := entry{key: key, value: value, revision: b.revision, operation: jetstream.KeyValuePut}
	if b.ttl > 0 {
		e.end = time.Now().Add(b.ttl)
	}
	b.mu.Lock()
	b.keys[key] = e
	b.mu.Unlock()
	b.publish(e)
}

func (b *bucket) drop(key string, operation jetstream.KeyValueOp) {
	b.revision++
	b.mu.Lock()
	delete(b.keys, key)
	b.mu.Unlock()
	b.publish(entry{key: key, revision: b.revision, operation: operation})
}

func (b *bucket) publish(e entry) {
	if b.watching {
		b.updates <- e
		synctest.Wait()
	}
}

// watches begins a watch, which is told of all keys first.
func (b *bucket) watches() {
	b.updates, b.lost, b.ended = make(chan jetstream.KeyValueEntry, 100), make(chan struct{}, 1), make(chan error, 1)
	for _, name := range slices.Sorted(maps.Keys(b.keys)) {
		if e := b.keys[name]; e.end.IsZero() || time.Now().Before(e.end) {
			b.updates <- e
		}
	}
	b.updates <- nil // that were all
	b.watching = true
	go func() { b.ended <- b.source.watch(b.ctx, b, b.updates, b.lost) }()
	synctest.Wait()
}

// run runs a watch in a bubble until play returns.
func run(t *testing.T, ttl time.Duration, found map[string]string, play func(*bucket)) {
	synctest.Test(t, func(t *testing.T) {
		b := &bucket{Fixture: New(t, time.Hour), ttl: ttl, keys: map[string]entry{}}
		b.source = Source{Bucket: "leases", Keys: ">"}.Watch(b.Backend)
		b.source.ttl = ttl
		for _, name := range slices.Sorted(maps.Keys(found)) {
			b.put(name, found[name])
		}
		ctx, cancel := context.WithCancel(t.Context())
		b.ctx = ctx
		b.watches()
		play(b)
		cancel()
		synctest.Wait()
	})
}

// lease is the lease of a bucket that drops keys after 15 s.
const lease = 15 * time.Second

func granted(s electtest.Series) electtest.Series {
	return s.With(electtest.Series{"lease_duration_seconds": lease.Seconds()})
}

// counted is a term whose beginning was seen, at that revision.
func counted(s electtest.Series, revision float64) electtest.Series {
	return granted(s).With(electtest.Series{"token": revision})
}

func TestWhatTheUpdatesShowOfAKey(t *testing.T) {
	for name, c := range map[string]struct {
		found map[string]string
		play  func(*bucket)
		want  electtest.Series
	}{
		"found":                    {map[string]string{"x": "a"}, func(*bucket) {}, granted(Held("a", 0, 0))},
		"made while it is watched": {nil, func(b *bucket) { b.put("x", "a") }, counted(Held("a", 1, 0), 1)},
		"the word of natskv is left out": {map[string]string{"x": "replica 1 ABCDEFGHIJKLMNOPQRSTUVWXYZ"}, func(*bucket) {},
			granted(Held("replica 1", 0, 0))},
		"renewed": {map[string]string{"x": "a"}, func(b *bucket) {
			for range 10 {
				time.Sleep(5 * time.Second)
				b.put("x", "a")
			}
		}, granted(Held("a", 0, 0))},
		"deleted": {map[string]string{"x": "a"}, func(b *bucket) {
			b.drop("x", jetstream.KeyValueDelete)
			time.Sleep(12 * time.Second)
		}, Free(0, 12)},
		"purged by a marker": {map[string]string{"x": "a"}, func(b *bucket) {
			b.drop("x", jetstream.KeyValuePurge)
			time.Sleep(12 * time.Second)
		}, Free(0, 12)},
		"deleted and made again": {map[string]string{"x": "a"}, func(b *bucket) {
			b.drop("x", jetstream.KeyValueDelete)
			time.Sleep(1500 * time.Millisecond)
			b.put("x", "b")
		}, counted(Held("b", 1, 1.5), 3).With(Gaps(1, 1.5))},
		"taken by the same again, which nobody told": {nil, func(b *bucket) {
			b.put("x", "r ABCDEFGHIJKLMNOPQRSTUVWXYZ")
			b.put("x", "r ZBCDEFGHIJKLMNOPQRSTUVWXYA")
		}, counted(Held("r", 2, 0), 2).With(Gaps(1, 0))},
		"found, and taken by the same again": {map[string]string{"x": "r ABCDEFGHIJKLMNOPQRSTUVWXYZ"}, func(b *bucket) {
			b.put("x", "r ZBCDEFGHIJKLMNOPQRSTUVWXYA")
		}, counted(Held("r", 1, 0), 2).With(Gaps(1, 0))},
		"dropped by the bucket, which tells nobody": {map[string]string{"x": "a"}, func(*bucket) {
			time.Sleep(lease + 10*time.Second)
		}, Free(0, 10)},
		"renewed at the last moment": {map[string]string{"x": "a"}, func(b *bucket) {
			b.watching = false // the update is late
			time.Sleep(lease - time.Millisecond)
			b.put("x", "a")
			time.Sleep(5 * time.Second)
		}, granted(Held("a", 0, 0))},
		"another key": {map[string]string{"x": "a", "y": "b"}, func(b *bucket) { b.drop("y", jetstream.KeyValueDelete) }, granted(Held("a", 0, 0))},
		"forgotten and made again": {map[string]string{"x": "a"}, func(b *bucket) {
			b.drop("x", jetstream.KeyValueDelete)
			time.Sleep(time.Hour + affirm)
			b.put("x", "b")
		}, counted(Held("b", 1, 0), 3)},
		"an empty value, deleted and made again": {nil, func(b *bucket) {
			b.put("x", "")
			b.drop("x", jetstream.KeyValueDelete)
			b.put("x", "")
		}, counted(Free(2, 0), 3).With(electtest.Series{"held": 1}).With(Gaps(1, 0))},
		"gone for longer than it is remembered": {map[string]string{"x": "a"}, func(b *bucket) {
			b.drop("x", jetstream.KeyValueDelete)
			time.Sleep(time.Hour + affirm)
			synctest.Wait()
		}, electtest.Series{"up": 1}},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, lease, c.found, func(b *bucket) {
				c.play(b)
				b.Shows("at the end", "x", c.want)
			})
		})
	}
}

func TestAKeyOfABucketWithoutATimeIsHeldForEver(t *testing.T) {
	run(t, 0, map[string]string{"x": "a"}, func(b *bucket) {
		time.Sleep(time.Hour)
		b.Shows("after an hour", "x", Held("a", 0, 0))
		if b.asked != 0 {
			t.Errorf("asked %d times", b.asked)
		}
	})
}

func TestALostServerEndsTheWatch(t *testing.T) {
	for name, c := range map[string]struct {
		loses func(*bucket)
		want  string
	}{
		"the connection is closed":     {func(b *bucket) { b.lost <- struct{}{} }, "watch: the connection was lost"},
		"the server ends it":           {func(b *bucket) { close(b.updates) }, "watch: the server ended it"},
		"the bucket does not answer":   {func(b *bucket) { b.goesAway(affirm) }, "ask for the bucket: away"},
		"a key has no answer, unnamed": {func(b *bucket) { b.goesAway(time.Second) }, "get a key: no answer"},
	} {
		t.Run(name, func(t *testing.T) {
			length := lease
			if c.want == "get a key: no answer" {
				length = time.Second
			}
			run(t, length, map[string]string{"x": "a"}, func(b *bucket) {
				c.loses(b)
				synctest.Wait()
				select {
				case err := <-b.ended:
					if err == nil || err.Error() != c.want {
						t.Errorf("%v, want %s", err, c.want)
					}
				default:
					t.Error("it goes on")
				}
			})
		})
	}
}

// What went while the watch was lost is taken back when all keys were shown.
func TestAWatchThatIsTakenUpAgainShowsWhatThereIs(t *testing.T) {
	for name, c := range map[string]struct {
		meanwhile func(*bucket)
		want      electtest.Series
	}{
		"held by the same": {func(*bucket) {}, granted(Held("a", 0, 0))},
		"held by another":  {func(b *bucket) { b.put("x", "b") }, granted(Held("b", 1, 0)).With(Gaps(1, 0))},
		"gone":             {func(b *bucket) { b.drop("x", jetstream.KeyValueDelete) }, Free(0, 0)},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, lease, map[string]string{"x": "a"}, func(b *bucket) {
				close(b.updates)
				synctest.Wait()
				b.watching = false
				c.meanwhile(b)
				b.watches()
				b.Shows("again", "x", c.want)
				close(b.updates)
				synctest.Wait()
			})
		})
	}
}

func TestAServerThatIsAwayIsNeverReached(t *testing.T) {
	f := New(t, 0)
	if err := (Source{URL: "nats://127.0.0.1:1", Bucket: "leases", Keys: ">"}).Watch(f.Backend).Run(t.Context()); err == nil || f.Reached() {
		t.Errorf("%v, reached: %v", err, f.Reached())
	}
}

func TestOnlyTheWordOfNatskvIsLeftOut(t *testing.T) {
	for value, want := range map[string]string{
		"a": "a", "": "", "a b": "a b", "a ABCDEFGHIJKLMNOPQRSTUVWXYZ": "a", "a b ABCDEFGHIJKLMNOPQRSTUVWXY2": "a b",
		"a ABCDEFGHIJKLMNOPQRSTUVWXY": "a ABCDEFGHIJKLMNOPQRSTUVWXY", "a abcdefghijklmnopqrstuvwxyz": "a abcdefghijklmnopqrstuvwxyz", " ABCDEFGHIJKLMNOPQRSTUVWXYZ": "",
	} {
		if got := holderOf(value); got != want {
			t.Errorf("%q: %q, want %q", value, got, want)
		}
	}
}
