package consullock

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/hashicorp/consul/api"

	"github.com/leaderscope/leaderscope/instrument"
)

// fresh makes a lock, and a session unless the program has one, for each
// attempt.
type fresh struct {
	reasons
	client    *api.Client
	sessions  *Sessions
	session   string // the program's; empty: sessions are made here
	entry     *api.SessionEntry
	namespace string
	make      func(session string) (locker, error)
	holder    func(ctx context.Context) (*api.KVPair, error) // nil: several hold it
}

// Format writes what it is for every verb, and keeps the name of the lock from
// code that prints it.
func (*fresh) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "Consul lock") }

func (f *fresh) Acquire(ctx context.Context) (instrument.Lease, error) {
	ctx = orBackground(ctx)
	s, err := f.open(ctx)
	if err != nil {
		return nil, fmt.Errorf("consullock: create a session: %w", err)
	}
	won := false
	defer func() {
		if !won {
			s.end()
		}
	}()
	l, err := f.make(s.id)
	if err != nil {
		return nil, err
	}
	lost, err := win(ctx, l, nil)
	if err != nil {
		return nil, err
	}
	won = true
	h := &holding{sessions: f.sessions, session: s.id, lost: lost, stopped: s.stopped, holder: f.holder, lock: l, stop: s.stop, end: s.end}
	options := h.options()
	if f.holder != nil {
		if pair, err := f.holder(ctx); err == nil && pair != nil && pair.Session == s.id {
			options = append(options, instrument.Token(pair.LockIndex))
		}
	}
	return instrument.NewLease(h.release, options...), nil
}

func orBackground(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return ctx
}

// open makes a session and keeps it as the client's lock would. The request is
// not given up with ctx: a session whose answer is late has to be ended.
func (f *fresh) open(ctx context.Context) (*kept, error) {
	if f.session != "" {
		return &kept{id: f.session, stop: func() {}, end: func() {}}, nil
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	write := &api.WriteOptions{Namespace: f.namespace}
	s, err, returned := detached(ctx, call[*kept]{
		do: func() (*kept, error) {
			id, _, err := f.client.Session().Create(f.entry, write)
			if err != nil {
				return nil, err
			}
			return keep(f.client, id, or(f.entry.TTL, api.DefaultLockSessionTTL), write), nil
		},
		late: func(s *kept, err error) {
			if err == nil {
				s.end()
			}
		},
	})
	if err != nil && returned {
		err = requestError{err}
	}
	return s, err
}

// kept is a session of one attempt.
type kept struct {
	id string
	// stop ends its renewals.
	stop func()
	// end ends it, in the background: until Consul has answered, or has dropped
	// it by itself.
	end func()
	// stopped says why the client no longer renews it, without having been told to.
	stopped <-chan error
}

// keep renews a session until stop or end is called. What becomes of each
// renewal, Sessions sees.
func keep(c *api.Client, id, ttl string, write *api.WriteOptions) *kept {
	renewing, stop := context.WithCancel(context.Background())
	stopped := make(chan error, 1)
	go func() {
		err := c.Session().RenewPeriodic(ttl, id, write.WithContext(renewing), nil)
		switch {
		case renewing.Err() != nil:
		case errors.Is(err, api.ErrSessionExpired):
			stopped <- fmt.Errorf("consullock: session is gone: %w", instrument.ErrSessionLost)
		default:
			stopped <- errGaveUp
		}
	}()
	end := sync.OnceFunc(func() {
		stop()
		go func() {
			// Without renewals Consul drops it after twice the TTL at most.
			ctx, cancel := context.WithTimeout(context.Background(), 2*duration(ttl))
			defer cancel()
			_ = repeat(ctx, func(ctx context.Context) error {
				_, err := c.Session().Destroy(id, write.WithContext(ctx))
				return err
			})
		}()
	})
	return &kept{id: id, stop: stop, end: end, stopped: stopped}
}
