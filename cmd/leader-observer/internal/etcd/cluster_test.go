package etcd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	. "github.com/leaderscope/leaderscope/cmd/leader-observer/internal/observe/observetest"
)

var errAway = errors.New("away")

// cluster is an etcd that tells what a test has happen, through the interfaces of
// a client. It is for one bubble.
type cluster struct {
	*Fixture
	mu       sync.Mutex
	revision int64
	keys     map[string]*mvccpb.KeyValue
	lengths  map[clientv3.LeaseID]int64 // of leases, in seconds

	away   error // of every question
	mute   bool  // questions about the progress of the watch have no answer
	events chan clientv3.WatchResponse
	reads  int // of all keys
	asked  int // questions about a lease
}

type (
	kv struct {
		clientv3.KV
		*cluster
	}
	watcher struct{ *cluster }
	leases  struct {
		clientv3.Lease
		*cluster
	}
)

func (c kv) Get(_ context.Context, prefix string, _ ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reads++
	if c.away != nil {
		return nil, c.away
	}
	r := &clientv3.GetResponse{Header: &pb.ResponseHeader{Revision: c.revision}}
	for key, value := range c.keys {
		if strings.HasPrefix(key, prefix) {
			r.Kvs = append(r.Kvs, value)
		}
	}
	return r, nil
}

func (c watcher) Watch(_ context.Context, _ string, _ ...clientv3.OpOption) clientv3.WatchChan {
	c.mu.Lock()
	defer c.mu.Unlock()
	events := make(chan clientv3.WatchResponse, 100)
	c.events = events
	return events
}

func (c watcher) RequestProgress(context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.away == nil && !c.mute {
		c.events <- clientv3.WatchResponse{Header: &pb.ResponseHeader{Revision: c.revision}}
	}
	return c.away
}

func (c watcher) Close() error { return nil }

func (c leases) TimeToLive(_ context.Context, id clientv3.LeaseID, _ ...clientv3.LeaseOption) (*clientv3.LeaseTimeToLiveResponse, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked++
	return &clientv3.LeaseTimeToLiveResponse{ID: id, GrantedTTL: c.lengths[id]}, c.away
}

func (c leases) Close() error { return nil }

// run runs a watch of the prefix /e/ in a bubble until play returns. What found
// are keys that were there before.
func run(t *testing.T, forgetAfter time.Duration, found []*clientv3.Event, play func(*cluster)) {
	synctest.Test(t, func(t *testing.T) {
		c := &cluster{Fixture: New(t, forgetAfter), keys: map[string]*mvccpb.KeyValue{}, lengths: map[clientv3.LeaseID]int64{7: 60}}
		c.happens(found...)
		s := Source{Prefix: "/e/", Connect: func() (*clientv3.Client, error) {
			client := clientv3.NewCtxClient(t.Context())
			client.KV, client.Watcher, client.Lease = kv{cluster: c}, watcher{c}, leases{cluster: c}
			return client, nil
		}}.Watch(c.Backend)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); c.Run(ctx, s.Run) }()
		synctest.Wait()
		play(c)
		cancel()
		<-done
		s.Close()
	})
}

// put and del are changes of a key; happens gives each a revision of its own.
func put(key, value string) *clientv3.Event {
	return &clientv3.Event{Type: mvccpb.PUT, Kv: &mvccpb.KeyValue{Key: []byte(key), Value: []byte(value), Lease: 7}}
}

func del(key string) *clientv3.Event {
	return &clientv3.Event{Type: mvccpb.DELETE, Kv: &mvccpb.KeyValue{Key: []byte(key)}}
}

// stays is a key that belongs to no lease, as etcdctl puts it.
func stays(e *clientv3.Event) *clientv3.Event {
	e.Kv.Lease = 0
	return e
}

// happens has changes happen one after another.
func (c *cluster) happens(changes ...*clientv3.Event) {
	for _, e := range changes {
		c.atOnce(e)
	}
}

// atOnce has changes happen in one transaction.
func (c *cluster) atOnce(changes ...*clientv3.Event) {
	c.set(func() { c.revision++ })
	c.tells(changes...)
}

// set changes what the cluster answers from now on.
func (c *cluster) set(change func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change()
}

// timesRead is how often all keys were read.
func (c *cluster) timesRead() (n int) {
	c.set(func() { n = c.reads })
	return n
}

// tells sends changes that have happened, of the last revision unless they say.
func (c *cluster) tells(changes ...*clientv3.Event) {
	c.set(func() {
		for _, e := range changes {
			c.apply(e)
		}
		if c.events != nil {
			c.events <- clientv3.WatchResponse{Header: &pb.ResponseHeader{Revision: c.revision}, Events: slices.Clone(changes)}
		}
	})
	synctest.Wait()
}

func (c *cluster) apply(e *clientv3.Event) {
	key := string(e.Kv.Key)
	if e.Kv.ModRevision == 0 {
		e.Kv.ModRevision = c.revision
	}
	if e.Type == mvccpb.DELETE {
		delete(c.keys, key)
		return
	}
	e.Kv.CreateRevision = e.Kv.ModRevision
	if before := c.keys[key]; before != nil {
		e.Kv.CreateRevision = before.CreateRevision
	}
	c.keys[key] = e.Kv
}

// ends has the server end the watch.
func (c *cluster) ends(with *clientv3.WatchResponse) {
	c.set(func() {
		if with != nil {
			c.events <- *with
		}
		close(c.events)
		c.events = nil
	})
	synctest.Wait()
}

// silent has the watch tell nothing for that time, after which it is lost.
func (c *cluster) silent(d time.Duration) {
	time.Sleep(d)
	c.set(func() { c.events = nil })
	synctest.Wait()
}

func key(candidate int) string { return fmt.Sprintf("/e/x/%d", candidate) }
