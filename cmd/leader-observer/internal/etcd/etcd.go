// Package etcd watches elections and mutexes of etcd's concurrency package: the
// keys below a prefix, of which the one that was created first holds the lock.
package etcd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/leaderscope/leaderscope/cmd/leader-observer/internal/observe"
	"github.com/leaderscope/leaderscope/instrument"
)

const (
	// affirm is how often the server is queried whether the watch is current.
	affirm = 5 * time.Second
	// patience is how long an answer may take.
	patience = 5 * time.Second
)

// Source watches the keys below a prefix. Each key consists of the name of a lock, a
// slash and the id of a candidate.
type Source struct {
	Prefix string
	// Connect makes a client, which Close closes.
	Connect func() (*clientv3.Client, error)

	client  *clientv3.Client
	backend *observe.Backend
	locks   map[string]*queue // by the key without its last word
}

// queue are the keys of one lock.
type queue struct {
	lock  *observe.Lock
	keys  map[string]*mvccpb.KeyValue
	lease clientv3.LeaseID // whose length is known
	ttl   time.Duration
	made  bool // just now: it had no holder before
}

// Watch makes a Source ready to Run.
func (s Source) Watch(b *observe.Backend) *Source {
	s.backend, s.locks = b, map[string]*queue{}
	return &s
}

// Close closes the client, after Run has returned.
func (s *Source) Close() {
	if s.client != nil {
		_ = s.client.Close()
	}
}

// Run reads the keys and watches them from there, until the server is lost.
func (s *Source) Run(ctx context.Context) (err error) {
	if s.client == nil {
		if s.client, err = s.Connect(); err != nil {
			return fmt.Errorf("connect: %w", err)
		}
	}
	revision, err := s.read(ctx)
	if err != nil {
		return err
	}
	watching, stop := context.WithCancel(clientv3.WithRequireLeader(ctx))
	defer stop()
	changes := s.client.Watch(watching, s.Prefix, clientv3.WithPrefix(), clientv3.WithRev(revision+1), clientv3.WithProgressNotify())
	ticks := time.NewTicker(affirm)
	defer ticks.Stop()
	heard := time.Now()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case c, open := <-changes:
			if !open {
				return errors.New("watch: the server ended it")
			}
			if err := c.Err(); err != nil {
				return fmt.Errorf("watch: %w", err)
			}
			heard = time.Now()
			s.changes(ctx, c.Events)
		case <-ticks.C:
			if err := s.affirm(watching, heard); err != nil {
				return err
			}
		}
	}
}

// affirm requests the progress of the watch: the answer arrives through the watch
// and proves that the watch is alive.
func (s *Source) affirm(ctx context.Context, heard time.Time) error {
	if silent := time.Since(heard); silent > affirm+patience {
		return fmt.Errorf("watch: no answer for %v", silent.Round(time.Second))
	}
	asking, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := s.client.RequestProgress(asking); err != nil {
		return fmt.Errorf("watch: %w", err)
	}
	for _, q := range s.locks {
		s.report(ctx, q)
	}
	for _, name := range s.backend.Sweep() {
		delete(s.locks, name)
	}
	return nil
}

// read reads the current keys. A lock without keys is vacant.
func (s *Source) read(ctx context.Context) (revision int64, err error) {
	asking, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	resp, err := s.client.Get(asking, s.Prefix, clientv3.WithPrefix())
	if err != nil {
		return 0, fmt.Errorf("read: %w", err)
	}
	for _, q := range s.locks {
		q.keys = map[string]*mvccpb.KeyValue{}
	}
	for _, kv := range resp.Kvs {
		if q := s.queueOf(string(kv.Key), false); q != nil {
			q.keys[string(kv.Key)] = kv
		}
	}
	s.backend.Up()
	for _, q := range s.locks {
		s.report(ctx, q)
	}
	return resp.Header.Revision, nil
}

// queueOf returns the lock of a key, and creates it if necessary; nil for a key that
// is not a candidate's. live means that the first key of an unknown lock was created
// just now.
func (s *Source) queueOf(key string, live bool) *queue {
	i := strings.LastIndexByte(key, '/')
	if i <= 0 {
		return nil
	}
	name := key[:i]
	q := s.locks[name]
	if q == nil {
		q = &queue{lock: s.backend.Lock(name), keys: map[string]*mvccpb.KeyValue{}}
		s.locks[name] = q
		q.made = live
	}
	return q
}

// changes applies events. Events of one revision happened at the same time, so the
// states between them never existed.
func (s *Source) changes(ctx context.Context, events []*clientv3.Event) {
	touched := map[*queue]bool{}
	for i, e := range events {
		if q := s.queueOf(string(e.Kv.Key), true); q != nil {
			touched[q] = true
			if e.Type == mvccpb.DELETE {
				delete(q.keys, string(e.Kv.Key))
			} else {
				q.keys[string(e.Kv.Key)] = e.Kv
			}
		}
		if i+1 == len(events) || events[i+1].Kv.ModRevision != e.Kv.ModRevision {
			for q := range touched {
				s.report(ctx, q)
			}
			clear(touched)
		}
	}
}

// report reports a lock. It reports no end of the lease, because etcd removes the key
// when the lease ends.
func (s *Source) report(ctx context.Context, q *queue) {
	first := q.first()
	if first == nil {
		q.lock.Gone(instrument.BackendView{ValidFor: 2*affirm + patience})
		return
	}
	holder := string(first.Value)
	if holder == "" {
		holder = string(first.Key[strings.LastIndexByte(string(first.Key), '/')+1:])
	}
	view := instrument.BackendView{
		State: instrument.BackendHeld, Holder: holder, Token: uint64(first.CreateRevision), Counted: true,
		Granted: s.lengthOf(ctx, q, clientv3.LeaseID(first.Lease)), ValidFor: 2*affirm + patience,
	}
	if q.made {
		q.made = false
		q.lock.Sees(instrument.BackendView{State: instrument.BackendVacant})
	}
	q.lock.Sees(view)
}

func (q *queue) first() *mvccpb.KeyValue {
	var first *mvccpb.KeyValue
	for _, kv := range q.keys {
		if first == nil || kv.CreateRevision < first.CreateRevision {
			first = kv
		}
	}
	return first
}

// lengthOf queries the duration of a lease, once per lease; 0 if it is unknown.
func (s *Source) lengthOf(ctx context.Context, q *queue, id clientv3.LeaseID) time.Duration {
	switch id {
	case 0: // a key that stays until it is deleted: the lease of the key before it has no effect
		q.ttl, q.lease = 0, 0
		return 0
	case q.lease:
		return q.ttl
	}
	asking, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	q.ttl, q.lease = 0, id
	if resp, err := s.client.TimeToLive(asking, id); err == nil && resp.GrantedTTL > 0 {
		q.ttl = time.Duration(resp.GrantedTTL) * time.Second
	} else {
		q.lease = 0 // ask again
	}
	return q.ttl
}
