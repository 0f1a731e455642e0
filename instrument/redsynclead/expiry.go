package redsynclead

import (
	"context"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis"
)

// expiryOf is the expiry of a mutex with these options; known is false if it
// cannot be told. redsync tells it to its servers only: so a mutex is
// locked on one that only listens.
func expiryOf(name string, opts []redsync.Option) (expiry time.Duration, known bool) {
	var p probe
	_ = redsync.New(&p).NewMutex(name, opts...).TryLock() // it is taken
	return p.expiry, p.asked
}

// probe is a server on which every lock is taken.
type probe struct {
	expiry time.Duration
	asked  bool
}

func (p *probe) Get(context.Context) (redis.Conn, error) { return probed{p: p}, nil }

type probed struct {
	redis.Conn
	p *probe
}

func (c probed) SetNX(_, _ string, expiry time.Duration) (bool, error) {
	c.p.expiry, c.p.asked = expiry, true
	return false, nil
}

// Eval is called to release a lock that was not won; its answer has no effect.
func (probed) Eval(*redis.Script, ...any) (any, error) { return nil, nil }
func (probed) Close() error                            { return nil }
