package redsynclead

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"slices"
	"time"

	"github.com/go-redsync/redsync/v4"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/internal/interruptible"
	"github.com/leaderscope/leaderscope/instrument/internal/withdrawal"
)

// attempt is one try to lock a mutex.
type attempt struct {
	*mutex
	expiry   time.Duration               // 0: unknown
	giveBack func(context.Context) error // what it may have won; nil: that cannot be known
}

// newAttempt makes a mutex whose value is known beforehand, so that the lock
// can be released although no caller learned that it was won.
func newAttempt(rs *redsync.Redsync, name string, expiry time.Duration, opts []redsync.Option) *attempt {
	value := rand.Text()
	generated := redsync.WithGenValueFunc(func() (string, error) { return value, nil })
	unlock := func(ctx context.Context) error {
		_, err := rs.NewMutex(name, append(slices.Clone(opts), redsync.WithValue(value))...).UnlockContext(ctx)
		return unlessGone(err)
	}
	m := rs.NewMutex(name, slices.Insert(slices.Clone(opts), 0, redsync.Option(generated))...)
	return &attempt{newMutex(m), expiry, unlock}
}

// lock locks the mutex. The turn ends with the call of redsync, not with the
// wait for it.
func (a *attempt) lock(ctx context.Context, lock func(*redsync.Mutex, context.Context) error) (*holding, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := a.take(ctx); err != nil {
		return nil, err
	}
	h, err := interruptible.Call(ctx, func() (h *holding, err error) {
		defer func() {
			if h == nil {
				a.leave()
			}
		}()
		if a.holder.open() {
			return nil, errInUse
		}
		if err := lock(a.Mutex, ctx); err != nil {
			a.failed(ctx, err)
			return nil, err
		}
		return a.hold(a.expiry), nil
	}, a.late)
	if err != nil {
		return nil, err
	}
	a.leave()
	return h, nil
}

// failed has what the attempt may have won released. redsync does so by
// itself, but under a context that has ended it sends nothing.
func (a *attempt) failed(ctx context.Context, err error) {
	if a.giveBack != nil && (ctx.Err() != nil || is[*redsync.RedisError](err)) {
		go a.withdraw(ctx)
	}
}

// late is given an answer that no caller waits for, and has the turn if
// it is a lock.
func (a *attempt) late(h *holding, err error) {
	if err != nil {
		return
	}
	h.returned = true
	a.leave()
	if a.giveBack != nil {
		a.withdraw(context.Background())
		return
	}
	giveBack := func(ctx context.Context) error { return unlessGone(h.release(ctx)) }
	withdrawal.Run(context.Background(), h.length, giveBack, isHopeless)
}

// unlessGone is nil if the lock no longer exists or belongs to another holder.
func unlessGone(err error) error {
	if reason, ok := (*elector)(nil).Classify(err); ok && (reason == instrument.Contended || reason == instrument.SessionLost) || errors.Is(err, errOver) {
		return nil
	}
	return err
}

// withdrawFor is for how long a server that is out of reach is asked again
// where the expiry is not known.
const withdrawFor = 10 * time.Minute

func (a *attempt) withdraw(ctx context.Context) {
	lives := 2 * a.expiry
	if lives == 0 {
		lives = withdrawFor
	}
	withdrawal.Run(ctx, lives, a.giveBack, isHopeless)
}

// isHopeless reports errors that the next request would have as well, such as
// that of a client which the program has closed: what is no error of a network.
func isHopeless(err error) bool {
	return !is[net.Error](err) && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, net.ErrClosed)
}
