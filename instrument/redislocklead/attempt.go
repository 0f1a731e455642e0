package redislocklead

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/bsm/redislock"

	"github.com/leaderscope/leaderscope/instrument/internal/interruptible"
	"github.com/leaderscope/leaderscope/instrument/internal/withdrawal"
)

// attempt is one request for the lock.
type attempt struct {
	*elector
	ctx   context.Context // of the caller, for its values
	token string
	asked time.Time
}

// obtain sends one request. redislock would send the next by itself, but then
// it would be unknown when the one was sent that won.
func (e *elector) obtain(ctx context.Context) (*holding, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	a := &attempt{e, ctx, rand.Text(), time.Now()}
	ctx, cancel := context.WithTimeout(ctx, e.ttl)
	defer cancel()
	lock, err := interruptible.Call(ctx, func() (*redislock.Lock, error) { return a.ask(ctx) }, a.late)
	if err != nil { // the lock is a nil pointer then
		return nil, err
	}
	return newHolding(e, lock, a.asked), nil
}

func (a *attempt) ask(ctx context.Context) (*redislock.Lock, error) {
	lock, err := a.client.Obtain(ctx, a.key, a.ttl, &redislock.Options{Token: a.token, Metadata: a.metadata})
	if err != nil && !errors.Is(err, redislock.ErrNotObtained) && !isAnswer(err) && !isClosed(err) {
		go a.withdraw() // the answer is lost, and perhaps it was a yes
	}
	return lock, err
}

// late is given an answer that no caller waits for.
func (a *attempt) late(_ *redislock.Lock, err error) {
	if err == nil {
		a.withdraw()
	}
}

// withdraw sees to it that the key is not there with the token of the attempt,
// for as long as it could be.
func (a *attempt) withdraw() { withdrawal.Run(a.ctx, 2*a.ttl, a.expire, isClosed) }

// expire has the lock end at once, if it is that of the attempt: with the same
// token redislock obtains a lock that is there again, now for a millisecond. One
// that is free it takes for as long, and another's it leaves alone.
func (a *attempt) expire(ctx context.Context) error {
	_, err := a.client.Obtain(ctx, a.key, time.Millisecond, &redislock.Options{Token: a.token, Metadata: a.metadata})
	if errors.Is(err, redislock.ErrNotObtained) {
		return nil
	}
	return err
}
