// Package zookeeper watches queues of ephemeral sequential nodes, of which the
// lowest holds the lock.
package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/leaderscope/leaderscope/cmd/leader-observer/internal/observe"
	"github.com/leaderscope/leaderscope/instrument"
)

// affirm is how often an unchanged queue is reported again. A client that has had no
// server for that long has noticed the loss.
const affirm = 5 * time.Second

// Source watches queues of an ensemble by their paths; each queue is a lock.
type Source struct {
	Servers []string
	Timeout time.Duration
	Paths   []string

	backend *observe.Backend
}

// Watch makes a Source ready to Run.
func (s Source) Watch(b *observe.Backend) *Source {
	s.backend = b
	return &s
}

// errDisconnected: the client tries to find another server. Watches of the session
// would be restored, but changes in between are unknown.
var errDisconnected = errors.New("watch: the connection was lost")

// Run watches until the servers are lost.
func (s *Source) Run(ctx context.Context) error {
	conn, events, err := zk.Connect(s.Servers, s.Timeout, zk.WithLogger(silent{}))
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer conn.Close()
	if err := connected(ctx, events, s.Timeout); err != nil {
		return err
	}
	watching, stop := context.WithCancel(ctx)
	var all sync.WaitGroup
	defer func() { conn.Close(); stop(); all.Wait() }()
	reads := make(chan reading)
	for _, p := range s.Paths {
		all.Go(func() { follow(watching, conn, p, reads) })
	}
	return s.watch(ctx, events, reads)
}

type silent struct{}

func (silent) Printf(string, ...any) {}

func connected(ctx context.Context, events <-chan zk.Event, timeout time.Duration) error {
	late := time.NewTimer(timeout)
	defer late.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-late.C:
			return fmt.Errorf("connect: no session within %v", timeout)
		case e := <-events:
			if e.State == zk.StateHasSession {
				return nil
			}
		}
	}
}

// reading is what a queue shows: its first node, or an error.
type reading struct {
	path, first string
	created     int64
	err         error
}

func (s *Source) watch(ctx context.Context, events <-chan zk.Event, reads <-chan reading) error {
	latest := map[string]reading{}
	ticks := time.NewTicker(affirm)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case e, open := <-events:
			if !open || e.Type == zk.EventSession && (e.State == zk.StateDisconnected || e.State == zk.StateExpired) {
				return errDisconnected
			}
		case l := <-reads:
			if l.err != nil {
				return fmt.Errorf("watch: %w", l.err)
			}
			latest[l.path] = l
			if len(latest) == len(s.Paths) {
				s.backend.Up()
			}
			s.report(l)
		case <-ticks.C:
			for _, l := range latest {
				s.report(l)
			}
		}
	}
}

func (s *Source) report(l reading) {
	view := instrument.BackendView{State: instrument.BackendVacant, ValidFor: 2*affirm + s.Timeout}
	if l.first != "" {
		view.State, view.Holder, view.Token, view.Counted = instrument.BackendHeld, l.first, uint64(l.created), true
	}
	s.backend.Lock(l.path).Sees(view)
}

// tree is the part of a connection that Source uses.
type tree interface {
	ChildrenW(path string) ([]string, *zk.Stat, <-chan zk.Event, error)
	ExistsW(path string) (bool, *zk.Stat, <-chan zk.Event, error)
	Exists(path string) (bool, *zk.Stat, error)
}

// follow reads a queue again whenever its nodes change. A queue that does not exist
// yet has no holder.
func follow(ctx context.Context, conn tree, p string, reads chan<- reading) {
	for ctx.Err() == nil {
		l := reading{path: p}
		nodes, _, changed, err := conn.ChildrenW(p)
		if errors.Is(err, zk.ErrNoNode) {
			_, _, changed, err = conn.ExistsW(p)
		}
		if err == nil {
			var again bool
			if l.first, l.created, again, err = holder(conn, p, nodes); again {
				continue
			}
		}
		l.err = err
		select {
		case reads <- l:
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// holder is the first node that belongs to a session: a node that stays without one
// is of another recipe. again means that a node is gone meanwhile.
func holder(conn tree, p string, nodes []string) (first string, created int64, again bool, err error) {
	for _, n := range candidates(nodes) {
		there, stat, err := conn.Exists(p + "/" + n)
		if err != nil || !there {
			return "", 0, err == nil, err
		}
		if stat.EphemeralOwner != 0 {
			return n, stat.Czxid, false, nil
		}
	}
	return "", 0, false, nil
}

// digits is how many ZooKeeper appends to the name of a sequential node.
const digits = 10

// candidates are the sequential nodes, the lowest number first.
func candidates(nodes []string) (queue []string) {
	number := func(n string) string { return n[len(n)-digits:] }
	for _, n := range nodes {
		if len(n) >= digits && strings.Trim(number(n), "0123456789") == "" {
			queue = append(queue, n)
		}
	}
	slices.SortStableFunc(queue, func(a, b string) int { return strings.Compare(number(a), number(b)) })
	return queue
}
