package zookeeper

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"go.uber.org/goleak"

	. "github.com/leaderscope/leaderscope/cmd/leader-observer/internal/observe/observetest"
	"github.com/leaderscope/leaderscope/instrument/electtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var errAway = errors.New("away")

// queue is the node /q of an ensemble that tells what a test has happen. It is
// for one bubble.
type queue struct {
	*Fixture
	mu    sync.Mutex
	there bool
	zxid  int64
	nodes map[string]int64 // with the transaction that made them
	watch chan zk.Event
	away  error
	stays map[string]bool // nodes that belong to no session
	hides string          // a node that is listed, and gone when it is asked for

	events chan zk.Event
	ended  chan error
}

func (q *queue) ChildrenW(string) ([]string, *zk.Stat, <-chan zk.Event, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.away != nil {
		return nil, nil, nil, q.away
	}
	if !q.there {
		return nil, nil, nil, zk.ErrNoNode
	}
	q.watch = make(chan zk.Event, 1)
	var names []string
	for name := range q.nodes {
		names = append(names, name)
	}
	slices.Sort(names)
	return names, nil, q.watch, nil
}

func (q *queue) ExistsW(string) (bool, *zk.Stat, <-chan zk.Event, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.watch = make(chan zk.Event, 1)
	return q.there, nil, q.watch, q.away
}

func (q *queue) Exists(path string) (bool, *zk.Stat, error) {
	if path == "/q/"+q.hides {
		q.hides = ""
		q.gone(path[len("/q/"):])
		return false, nil, nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	made, there := q.nodes[path[len("/q/"):]]
	stat := &zk.Stat{Czxid: made, EphemeralOwner: 7}
	if q.stays[path[len("/q/"):]] {
		stat.EphemeralOwner = 0
	}
	return there, stat, q.away
}

// change changes the queue and tells who watches it.
func (q *queue) change(do func()) {
	q.mu.Lock()
	q.zxid++
	do()
	if q.watch != nil {
		q.watch <- zk.Event{}
		q.watch = nil
	}
	q.mu.Unlock()
}

func (q *queue) joins(name string) {
	q.change(func() { q.there = true; q.nodes[name] = q.zxid })
	synctest.Wait()
}

func (q *queue) gone(name string) { q.change(func() { delete(q.nodes, name) }) }

func (q *queue) leaves(name string) {
	q.gone(name)
	synctest.Wait()
}

const timeout = 10 * time.Second

// run runs a watch in a bubble until play returns.
func run(t *testing.T, found []string, play func(*queue)) {
	synctest.Test(t, func(t *testing.T) {
		q := &queue{Fixture: New(t, 0), nodes: map[string]int64{}, events: make(chan zk.Event, 10), ended: make(chan error, 1)}
		for _, name := range found {
			q.joins(name)
		}
		ctx, cancel := context.WithCancel(t.Context())
		reads := make(chan reading)
		s := Source{Timeout: timeout, Paths: []string{"/q"}}.Watch(q.Backend)
		go func() { follow(ctx, q, "/q", reads) }()
		go func() { q.ended <- s.watch(ctx, q.events, reads) }()
		synctest.Wait()
		play(q)
		cancel()
		synctest.Wait()
	})
}

const (
	first  = "_c_0-lock-0000000001"
	second = "_c_1-lock-0000000002"
	third  = "_c_2-lock-0000000003"
)

// counted is a term of a node that was made in that transaction.
func counted(s electtest.Series, zxid float64) electtest.Series {
	return s.With(electtest.Series{"token": zxid})
}

func TestWhatALookShowsOfAQueue(t *testing.T) {
	for name, c := range map[string]struct {
		found []string
		play  func(*queue)
		want  electtest.Series
	}{
		"not there":           {nil, func(*queue) {}, Free(0, 0)},
		"found":               {[]string{first}, func(*queue) {}, counted(Held(first, 0, 0), 1)},
		"found with others":   {[]string{third, first, second}, func(*queue) {}, counted(Held(first, 0, 0), 2)},
		"made":                {nil, func(q *queue) { q.joins(first) }, counted(Held(first, 1, 0), 1)},
		"others queue up":     {[]string{first}, func(q *queue) { q.joins(second); q.joins(third) }, counted(Held(first, 0, 0), 1)},
		"one behind leaves":   {[]string{first, second}, func(q *queue) { q.leaves(second) }, counted(Held(first, 0, 0), 1)},
		"the next takes over": {[]string{first, second}, func(q *queue) { q.leaves(first) }, counted(Held(second, 1, 0), 2).With(Gaps(1, 0))},
		"the next has left, too": {[]string{first, second, third}, func(q *queue) {
			q.hides = second // between the list and the question
			q.leaves(first)
		}, counted(Held(third, 1, 0), 3).With(Gaps(1, 0))},
		"given back": {[]string{first}, func(q *queue) { q.leaves(first); time.Sleep(12 * time.Second) }, Free(0, 12)},
		"given back and taken": {[]string{first}, func(q *queue) {
			q.leaves(first)
			time.Sleep(1500 * time.Millisecond)
			q.joins(second)
		}, counted(Held(second, 1, 1.5), 3).With(Gaps(1, 1.5))},
		"nodes that are no candidates": {[]string{"config"}, func(*queue) {}, Free(0, 0)},
		"a node of another recipe that stays": {nil, func(q *queue) {
			q.stays = map[string]bool{"job-0000000001": true}
			q.joins("job-0000000001")
		}, Free(0, 0)},
		"a node that stays before a candidate": {nil, func(q *queue) {
			q.stays = map[string]bool{"job-0000000001": true}
			q.joins("job-0000000001")
			q.joins(second)
		}, counted(Held(second, 1, 0), 2)},
		"short numbers":       {[]string{"1", "shard-3", "2024", second}, func(*queue) {}, counted(Held(second, 0, 0), 4)},
		"watched for an hour": {[]string{first}, func(*queue) { time.Sleep(time.Hour) }, counted(Held(first, 0, 0), 1)},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, c.found, func(q *queue) {
				c.play(q)
				q.Shows("at the end", "/q", c.want)
			})
		})
	}
}

func TestALostSessionEndsTheWatch(t *testing.T) {
	session := func(state zk.State) func(*queue) {
		return func(q *queue) { q.events <- zk.Event{Type: zk.EventSession, State: state} }
	}
	for name, c := range map[string]struct {
		loses func(*queue)
		want  string
	}{
		"disconnected":      {session(zk.StateDisconnected), "watch: the connection was lost"},
		"expired":           {session(zk.StateExpired), "watch: the connection was lost"},
		"the client closed": {func(q *queue) { close(q.events) }, "watch: the connection was lost"},
		"a read fails":      {func(q *queue) { q.away = errAway; q.leaves(first) }, "watch: away"},
		"still connected":   {session(zk.StateConnected), ""},
		"another event":     {func(q *queue) { q.events <- zk.Event{Type: zk.EventNodeChildrenChanged, State: zk.StateDisconnected} }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, []string{first}, func(q *queue) {
				c.loses(q)
				synctest.Wait()
				got := ""
				select {
				case err := <-q.ended:
					got = err.Error()
				default:
				}
				if got != c.want {
					t.Errorf("%q, want %q", got, c.want)
				}
			})
		})
	}
}

func TestASessionIsAwaitedForItsTimeout(t *testing.T) {
	for name, c := range map[string]struct {
		events []zk.State
		want   string
	}{
		"a session":    {[]zk.State{zk.StateConnecting, zk.StateConnected, zk.StateHasSession}, ""},
		"no session":   {[]zk.State{zk.StateConnecting, zk.StateConnected}, "connect: no session within 10s"},
		"no server":    {nil, "connect: no session within 10s"},
		"not admitted": {[]zk.State{zk.StateConnected, zk.StateAuthFailed}, "connect: no session within 10s"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				events := make(chan zk.Event, len(c.events))
				for _, state := range c.events {
					events <- zk.Event{Type: zk.EventSession, State: state}
				}
				got := ""
				if err := connected(t.Context(), events, timeout); err != nil {
					got = err.Error()
				}
				if got != c.want {
					t.Errorf("%q, want %q", got, c.want)
				}
			})
		})
	}
}

// The backend is up once each of its queues has been read.
func TestABackendIsUpWhenAllQueuesWereSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := New(t, 0)
		s := Source{Timeout: timeout, Paths: []string{"/a", "/b"}}.Watch(f.Backend)
		ctx, cancel := context.WithCancel(t.Context())
		reads, events := make(chan reading), make(chan zk.Event)
		go func() { _ = s.watch(ctx, events, reads) }()
		reads <- reading{path: "/a"}
		reads <- reading{path: "/a"}
		synctest.Wait()
		if f.Reached() {
			t.Error("reached after one of two queues")
		}
		reads <- reading{path: "/b"}
		synctest.Wait()
		if !f.Reached() {
			t.Error("not reached after both queues")
		}
		cancel()
	})
}

func TestTheLowestNumberIsFirst(t *testing.T) {
	for want, nodes := range map[string][]string{
		"":                                      nil,
		"a-0000000002 b-0000000003":             {"b-0000000003", "a-0000000002"},
		"z-0000000001 a-0000000002":             {"a-0000000002", "z-0000000001", "note"},
		"_c_9f-l-2147483646 _c_00-l-2147483647": {"_c_00-l-2147483647", "_c_9f-l-2147483646"},
		"0000000005 b-0000000006":               {"b-0000000006", "5", "-123456789", "+123456789", "v-2.0", "0000000005"},
	} {
		if got := strings.Join(candidates(nodes), " "); got != want {
			t.Errorf("%v: %q, want %q", nodes, got, want)
		}
	}
}
