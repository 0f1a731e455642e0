package fence

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/leaderscope/leaderscope/instrument"
)

// Guard admits writes whose token is not lower than the highest that it has
// seen, and keeps the highest in memory. It is safe for concurrent use. The zero
// Guard checks tokens and records nothing; a nil Guard admits every token and
// records nothing.
type Guard struct {
	e *instrument.Election

	highest atomic.Uint64 // only grows, under mu

	mu    sync.Mutex
	turn  *turn         // the writes under the highest token; nil before the first
	older int           // writes that run under tokens below the highest
	clear chan struct{} // closed when there are none any longer; nil without them
}

// turn is the writes of Do under one token.
type turn struct {
	token   uint64
	running int
	ended   context.Context // ends, with a StaleError, when there is a higher token
	end     context.CancelCauseFunc
}

// New makes a Guard for the lock of e, and counts its checks in the series
// leader_fencing_checks_total and leader_fencing_highest_token. A process that
// does not campaign makes e with instrument.WatchOnly. A nil e records nothing.
func New(e *instrument.Election) *Guard { return From(e, 0) }

// From is New for a guard that continues where another stopped: tokens below
// highest are refused from the start. A service stores the highest token with
// its data and restarts with it; otherwise, after its restart, it would admit a
// leader that it refused before.
func From(e *instrument.Election, highest uint64) *Guard {
	e.Guards()
	g := &Guard{e: e}
	g.highest.Store(highest)
	return g
}

// Highest is the highest token that was seen, to be stored with the data; 0 at
// the beginning and for nil.
func (g *Guard) Highest() uint64 {
	if g == nil {
		return 0
	}
	return g.highest.Load()
}

// Check decides on one write and counts it once. It returns nil or a
// [StaleError]. The decision is valid only until the next Check: the caller
// applies the write before that, under its own mutex, or uses Do. Check does not
// wait for older writes that Do runs: a resource that is written in both ways
// uses Do for both. An admitted check allocates nothing.
func (g *Guard) Check(token uint64) error {
	if g == nil {
		return nil
	}
	highest := g.highest.Load()
	if token > highest {
		g.mu.Lock()
		highest = g.raise(token)
		g.mu.Unlock()
	}
	return Compare(g.e, token, highest)
}

// CheckContext is Check with the token of the context; see [WithToken]. Without
// one it returns ErrMissing.
func (g *Guard) CheckContext(ctx context.Context) error {
	if g == nil {
		return nil
	}
	token, ok := TokenFrom(ctx)
	if !ok {
		return Missing(g.e)
	}
	return g.Check(token)
}

// Do runs one write if its token is admitted, and counts it once. Writes of one
// token run concurrently. When a higher token arrives, the contexts of older
// writes end with a [StaleError] as their cause, and the first write of the
// higher token waits until they have returned or its own ctx is done: no older
// write can take effect after a newer one. Therefore write must return when its
// context ends, and must not use the guard.
//
// Do returns the unchanged error of write, a StaleError, or the cause of ctx if ctx
// ended before the write began.
func (g *Guard) Do(ctx context.Context, token uint64, write func(context.Context) error) error {
	if g == nil {
		return write(ctx)
	}
	if ctx == nil {
		ctx = context.Background()
	}
	t, err := g.begin(ctx, token)
	if err != nil {
		return err
	}
	defer g.ends(t)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(t.ended, func() { cancel(context.Cause(t.ended)) })()
	return write(ctx)
}

// DoContext is Do with the token of the context; see [WithToken]. Without one
// it returns ErrMissing.
func (g *Guard) DoContext(ctx context.Context, write func(context.Context) error) error {
	if g == nil {
		return write(ctx)
	}
	token, ok := TokenFrom(ctx)
	if !ok {
		return Missing(g.e)
	}
	return g.Do(ctx, token, write)
}

// raise takes a token; when it is higher than those before, older writes shall
// end. It returns the highest. The caller holds mu.
func (g *Guard) raise(token uint64) (highest uint64) {
	if highest = g.highest.Load(); token <= highest {
		return highest
	}
	g.highest.Store(token)
	if t := g.turn; t != nil {
		g.turn = nil
		if t.running > 0 {
			g.older += t.running
			if g.clear == nil {
				g.clear = make(chan struct{})
			}
		}
		t.end(&StaleError{t.token, token})
	}
	return token
}

// begin enters the turn of a token once no older write runs.
func (g *Guard) begin(ctx context.Context, token uint64) (*turn, error) {
	for {
		g.mu.Lock()
		highest, clear := g.raise(token), g.clear
		var t *turn
		if token == highest && clear == nil {
			t = g.enter(token)
		}
		g.mu.Unlock()
		if t != nil || token < highest {
			return t, Compare(g.e, token, highest)
		}
		select {
		case <-clear:
		case <-ctx.Done():
			_ = Compare(g.e, token, highest) // it was admitted, and not written
			return nil, context.Cause(ctx)
		}
	}
}

// enter counts a write of the highest token. The caller holds mu.
func (g *Guard) enter(token uint64) *turn {
	if g.turn == nil {
		g.turn = &turn{token: token}
		g.turn.ended, g.turn.end = context.WithCancelCause(context.Background())
	}
	g.turn.running++
	return g.turn
}

// ends takes a write away.
func (g *Guard) ends(t *turn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.turn == t {
		t.running--
		return
	}
	if g.older--; g.older == 0 {
		close(g.clear)
		g.clear = nil
	}
}
