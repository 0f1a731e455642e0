package electtest

import (
	"context"
	"sync"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// concurrentUse calls everything that a term has at once, and releases it
// meanwhile. The race detector judges it.
func (a *acquiring) concurrentUse() {
	const users, rounds = 4, 20
	c, term := a.holder()
	a.forget(term)
	var all sync.WaitGroup
	half := make(chan struct{}, 1) // users may be there before the release is
	for range users {
		all.Go(func() {
			for i := range rounds {
				if i == rounds/2 {
					select {
					case half <- struct{}{}:
					default:
					}
				}
				a.use(term)
			}
		})
	}
	<-half
	if err := a.tryRelease(term); err != nil {
		a.broke(ruleConcurrent, "Release returned %v", err)
	}
	all.Wait()
	_ = term.Release(context.Background())
	r := c.series()
	ended := 0.
	for cause := range catalog.EndCause(catalog.EndCauses) {
		ended += r[termsEnded(cause)]
	}
	if ended != 1 || r[termsEnded(catalog.Released)] != 1 || r[Of(catalog.Running)] != 0 || r[Of(catalog.Active)] != 0 {
		a.stop(ruleConcurrent, "%v terms ended, %v of them as released; %v bodies run, %v terms are active",
			ended, r[termsEnded(catalog.Released)], r[Of(catalog.Running)], r[Of(catalog.Active)])
	}
	a.next(ruleFreed)
}

func (a *acquiring) use(term *instrument.Term) {
	ctx, cancel := context.WithTimeout(context.Background(), a.lease+a.patience())
	defer cancel()
	_ = term.Renew(ctx)
	_ = term.Work(ctx, func(ctx context.Context, t *instrument.Term) error { return ctx.Err() })
	term.Leading()
	term.Expiry()
	term.FencingToken()
	_ = term.Context().Err()
}

// concurrentProcesses runs bodies in several processes.
func (a *acquiring) concurrentProcesses() {
	a.concurrent(a.contender(), a.contender(), a.contender())
}

// concurrentContenders runs bodies by several acquirers on one handle.
func (a *acquiring) concurrentContenders() {
	c := a.contender()
	all := []*contender{c}
	for range 2 {
		other := *c
		other.acquirer = inspected(a.checkRun, a.suite.New(a.TB, a.lock))
		all = append(all, &other)
	}
	a.concurrent(all...)
}

const runs = 4

func (a *acquiring) concurrent(all ...*contender) {
	in := &inside{t: a.checkRun, terms: map[*instrument.Term]bool{}}
	done := make(chan struct{})
	go func() {
		defer close(done)
		var running sync.WaitGroup
		for _, c := range all {
			running.Go(func() {
				for range runs {
					in.run(c)
				}
			})
		}
		running.Wait()
	}()
	for running := true; running; {
		select {
		case <-done:
			running = false
		case <-time.After(a.step()):
		}
		for _, c := range all {
			c.series()
		}
	}
	in.addsUp(all)
}

// inside are the terms under which bodies run.
type inside struct {
	t     *checkRun
	mu    sync.Mutex
	terms map[*instrument.Term]bool
	ran   int
}

func (in *inside) run(c *contender) {
	ctx, cancel := context.WithTimeout(context.Background(), in.t.lease+in.t.patience())
	defer cancel()
	_ = c.e.Run(ctx, c.acquirer, func(_ context.Context, term *instrument.Term) error {
		in.enter(term)
		time.Sleep(min(in.t.step(), 5*time.Millisecond))
		in.leave(term)
		return nil
	})
}

// enter counts a body in. Two terms that lead at once, each before the end of
// its lease, exclude each other in no case.
func (in *inside) enter(term *instrument.Term) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for other := range in.terms {
		if term.Leading() && other.Leading() {
			in.t.broke(ruleExclusion, "two terms lead at once")
		}
	}
	in.terms[term] = true
	in.ran++
}

func (in *inside) leave(term *instrument.Term) {
	in.mu.Lock()
	defer in.mu.Unlock()
	delete(in.terms, term)
}

func (in *inside) addsUp(all []*contender) {
	attempts, acquired, open := 0., 0., 0.
	seen := map[*instrument.Middleware]bool{}
	for _, c := range all {
		if seen[c.m] {
			continue
		}
		seen[c.m] = true
		r := c.series()
		attempts += r[Of(catalog.Attempts)]
		acquired += r[Of(catalog.Acquired)]
		open += r[Of(catalog.Running)] + r[Of(catalog.Pending)] + r[Of(catalog.Active)]
	}
	if attempts != float64(runs*len(all)) || acquired != float64(in.ran) || in.ran == 0 || open != 0 {
		in.t.broke(ruleBooks, "of %d attempts %v are counted; of %d bodies that ran %v acquisitions are counted; %v are open",
			runs*len(all), attempts, in.ran, acquired, open)
	}
}
