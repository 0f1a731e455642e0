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
	// DefaultInterval is the time between two looks. River renews its lease
	// every 5 s; a look in between shows each renewal.
	DefaultInterval = 2 * time.Second
	// DefaultLease is the length of River's lease: an election every 5 s and
	// 10 s of padding. River does not tell it, and offers no setting for it.
	DefaultLease = 15 * time.Second
)

// Option configures Observe. Nil options are ignored.
type Option func(*options)

type options struct{ every, lease time.Duration }

// Interval is the time between two looks, and how long one may take.
func Interval(d time.Duration) Option { return func(o *options) { o.every = d } }

// Lease is the length of River's lease, for a version where it is not
// DefaultLease.
func Lease(length time.Duration) Option { return func(o *options) { o.lease = length } }

// Observe looks at the leadership of a client from now on, in the background,
// until ctx is done or the client has stopped. Declare instrument.Hold on the
// election. Call it after client.Start: only then does it see that the client
// stops, and that its last term ended as released. Call it again when the
// client is started again.
//
// A look that fails leaves the last state. While the client leads it counts as
// a failed renewal, otherwise as an attempt that did not win: tables that are
// not in the client's schema and a missing right show by that.
//
// It returns an error for arguments that make no sense, and for a client
// whose database is not PostgreSQL. With a nil election it does nothing.
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
