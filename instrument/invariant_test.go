package instrument_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
)

// actor is one goroutine's random life with the lock.
func actor(e *instrument.Election, script []byte) {
	ctx := context.Background()
	for _, op := range script {
		lost := make(chan struct{})
		renew := func(context.Context) error {
			if op&1 == 0 {
				return instrument.ErrContended
			}
			return nil
		}
		lease := instrument.NewLease(nil, instrument.LostOn(lost), instrument.RenewWith(renew), instrument.Token(uint64(op)))
		switch op % 8 {
		case 0:
			_, _ = e.Acquire(ctx, electtest.Fails(errBackend))
		case 1:
			_, _ = e.Acquire(ctx, electtest.Fails(instrument.ErrContended))
		case 2:
			func() {
				defer func() { _ = recover() }()
				_, _ = e.Acquire(ctx, electtest.NewElector(electtest.Step{Panic: op}))
			}()
		case 3:
			term := e.Begin(ctx).Won(lease)
			close(lost)
			_ = term.Renew(ctx)
			_ = term.Release(ctx)
		case 4:
			_ = e.Run(ctx, electtest.Wins(lease), func(ctx context.Context, t *instrument.Term) error { return t.Renew(ctx) })
		case 5:
			a := e.Begin(ctx)
			a.NotAcquired(nil)
			a.NotAcquired(errBackend)
			_ = a.Won(lease).Release(ctx)
		case 6:
			if op&16 == 0 {
				e.ObserveNotLeading(nil)
			} else {
				e.ObserveLeading(instrument.Leadership{Fenced: true, Token: uint64(op)})
			}
		case 7:
			term, _ := e.Acquire(ctx, electtest.Wins(lease))
			_ = term.Release(ctx)
			_ = term.Release(ctx)
		}
	}
}

func TestInvariantsHoldAtEveryInstantOfAnyInterleaving(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m, err := instrument.New()
		if err != nil {
			rt.Fatal(err)
		}
		lease := rapid.SampledFrom([]time.Duration{0, 1, time.Microsecond, time.Hour}).Draw(rt, "lease")
		scripts := rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 1, 40), 2, 4).Draw(rt, "scripts")
		var actors sync.WaitGroup
		for i, script := range scripts {
			e := m.Named(fmt.Sprint("lock-", i%2), instrument.LeaseDuration(lease))
			actors.Go(func() {
				actor(e, script)
				if i == 1 {
					e.Forget()
				}
			})
		}
		done := make(chan struct{})
		go func() { actors.Wait(); close(done) }()
		for {
			r := electtest.Read(m, "redacted")
			if why := electtest.Broken(r); why != "" {
				rt.Fatalf("%s in %v", why, r)
			}
			select {
			case <-done:
				if r := electtest.Read(m, "redacted"); electtest.Broken(r) != "" || r["leader_pending"] != 0 || r["leader_running"] != 0 {
					rt.Fatalf("at the end: %s %v", electtest.Broken(r), r)
				}
				return
			default:
			}
		}
	})
}

func FuzzStateMachine(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 4, 5, 6, 22, 7, 255})
	f.Fuzz(func(t *testing.T, script []byte) {
		m, err := instrument.New()
		if err != nil {
			t.Fatal(err)
		}
		e := m.Named("x", instrument.LeaseDuration(time.Duration(len(script))))
		for _, op := range script {
			actor(e, []byte{op})
			if r := electtest.Read(m, "redacted"); electtest.Broken(r) != "" {
				t.Fatalf("%s after %d in %v", electtest.Broken(r), op, r)
			}
		}
	})
}
