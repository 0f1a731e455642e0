// Package zookeeper watches queues of ephemeral sequential nodes, of which the
// lowest holds the lock.
package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strconv"
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
			l.first = lowest(nodes)
			if l.first != "" {
				var there bool
				var stat *zk.Stat
				if there, stat, err = conn.Exists(p + "/" + l.first); err == nil && !there {
					continue // gone meanwhile: another is the first
				} else if err == nil {
					l.created = stat.Czxid
				}
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

// lowest is the node with the lowest number, ten digits at its end.
func lowest(nodes []string) (first string) {
	least := -1
	for _, n := range nodes {
		base := path.Base(n)
		number, err := strconv.Atoi(base[max(0, len(base)-10):])
		if err == nil && (least < 0 || number < least) {
			first, least = n, number
		}
	}
	return first
}
