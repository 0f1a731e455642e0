package fence_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leaderscope/leaderscope/instrument/fence"
)

// beside follows writes that run, and what must never be: one that begins after
// a newer term's, or beside any of another term.
type beside struct {
	t *testing.T

	mu      sync.Mutex
	running map[uint64]int
	newest  uint64
}

func (b *beside) begin(token uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for other, n := range b.running {
		if other != token && n > 0 {
			b.t.Errorf("token %d writes beside token %d", token, other)
		}
	}
	if token < b.newest {
		b.t.Errorf("token %d writes after token %d", token, b.newest)
	}
	b.newest = max(b.newest, token)
	b.running[token]++
}

func (b *beside) end(token uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.running[token]--
	if token < b.newest {
		b.t.Errorf("token %d ends after token %d began", token, b.newest)
	}
}

// Writes give up while they wait, panic, ignore that their context ended; checks
// raise the token beside them; the service restarts with the highest token.
func TestNoWriteRunsBesideOrAfterOneOfANewerTermWhateverBecomesOfIt(t *testing.T) {
	const writers, turns, generations = 64, 10, 3
	for seed := range uint64(10) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStore(t)
				model := &beside{t: t, running: map[uint64]int{}}
				checks, stale, highest := 0, 0, uint64(0)
				var term atomic.Uint64
				term.Store(beyondFloats)
				for range generations {
					g := fence.From(s.Election, highest)
					if highest > 0 { // what was late before the restart is late after it
						checks++
						if err := oneWrite(t, g, highest-1, 5, func() {}, model); errors.Is(err, fence.ErrStale) {
							stale++
						}
					}
					done := make(chan error)
					for w := range uint64(writers) {
						go func() {
							r := rand.New(rand.NewPCG(seed, w))
							pause := func() { time.Sleep(time.Duration(r.Int64N(int64(time.Second)))) }
							for range turns {
								if r.IntN(3) == 0 {
									term.Add(1)
								}
								token := term.Load()
								pause()
								done <- oneWrite(t, g, token, r.IntN(6), pause, model)
							}
						}()
					}
					for range writers * turns {
						checks++
						if errors.Is(<-done, fence.ErrStale) {
							stale++
						}
					}
					highest = g.Highest()
					if model.newest > highest {
						t.Errorf("token %d was written, the guard knows %d", model.newest, highest)
					}
				}
				if stale == 0 || stale == checks {
					t.Errorf("%d of %d refused", stale, checks)
				}
				s.shows(t, checks-stale, stale, 0, highest)
			})
		})
	}
}

// oneWrite is one write of a kind; it returns what the guard says.
func oneWrite(t *testing.T, g *fence.Guard, token uint64, kind int, pause func(), model *beside) (err error) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	defer func() { _ = recover() }()
	if kind == 0 {
		return g.Check(token)
	}
	if kind == 1 {
		time.AfterFunc(300*time.Millisecond, cancel)
	}
	return g.Do(ctx, token, func(ctx context.Context) error {
		model.begin(token)
		defer model.end(token)
		switch kind {
		case 2:
			pause()
			panic("of the handler")
		case 3:
			select {
			case <-ctx.Done():
			case <-time.After(time.Second):
			}
		default:
			pause() // it does not look
		}
		return nil
	})
}
