package riverlead

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/riverqueue/river"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/poll"
)

const (
	// DefaultInterval is the poll interval. River renews its lease every 5 s; with
	// this interval each renewal is detected.
	DefaultInterval = 2 * time.Second
	// DefaultLease is the length of River's lease: an election every 5 s and
	// 10 s of padding. River does not expose it, and has no setting for it.
	DefaultLease = 15 * time.Second
)

// Option configures Observe. Nil options are ignored.
type Option func(*options)

type options struct{ every, lease time.Duration }

// Interval is the poll interval, and the timeout of a poll.
func Interval(d time.Duration) Option { return func(o *options) { o.every = d } }

// Lease is the length of River's lease, for a version in which it is not
// DefaultLease.
func Lease(length time.Duration) Option { return func(o *options) { o.lease = length } }

// Observe polls the leadership of a client in the background until ctx is done
// or the client has stopped. Declare instrument.Hold on the election. Call it
// after client.Start: only then does it detect that the client stops, so that its
// last term ends as released. Call it again after each start of the client.
//
// A failed poll leaves the last state. While the client leads it counts as a
// failed renewal, otherwise as an attempt that did not win: this shows tables that
// are not in the client's schema, and missing permissions.
//
// The client is also a witness: each poll reports which client the row names,
// with the end of its lease, whether or not it is this one.
//
// It returns an error for invalid arguments, and for a client whose database is
// not PostgreSQL. With a nil election it does nothing.
func Observe[TTx any](ctx context.Context, e *instrument.Election, client *river.Client[TTx], opts ...Option) error {
	if client == nil {
		return errors.New("leaderscope: river: the client is nil: pass one of river.NewClient")
	}
	return observe(ctx, e, client, client.Stopped(), opts) // read here: Start writes it
}

func observe[TTx any](ctx context.Context, e *instrument.Election, client *river.Client[TTx], stopped <-chan struct{}, opts []Option) error {
	o := options{DefaultInterval, DefaultLease}
	for _, option := range opts {
		if option != nil {
			option(&o)
		}
	}
	switch {
	case o.every <= 0:
		return fmt.Errorf("leaderscope: river: the interval is %v: pass more than 0 to riverlead.Interval", o.every)
	case o.lease <= 0:
		return fmt.Errorf("leaderscope: river: the lease is %v: pass more than 0 to riverlead.Lease", o.lease)
	}
	driver := client.Driver()
	if name := driver.DatabaseName(); name != "postgres" {
		return fmt.Errorf("leaderscope: river: the client's database is %q: use a client for PostgreSQL, the only database from which the lease can be read", name)
	}
	if e == nil {
		return nil
	}
	f := &follower{
		e: e, database: driver.GetExecutor(), id: client.ID(), schema: client.Schema(), options: o,
	}
	go f.follow(ctx, stopped)
	return nil
}

// follow looks until ctx is done, or once more when the client has stopped.
func (f *follower) follow(ctx context.Context, stopped <-chan struct{}) {
	defer f.e.Identify(f.id)()
	defer f.e.ObserveBackend(instrument.BackendView{State: instrument.BackendUnwatched})
	running, stop := context.WithCancel(ctx)
	go func() {
		defer stop()
		select {
		case <-stopped:
		case <-ctx.Done():
		}
	}()
	_ = poll.Poll(running, f.e, f.every, f.pollRow) // its arguments make sense
	if ctx.Err() == nil {
		f.lastLook(ctx)
	}
}
