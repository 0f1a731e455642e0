package electtest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/redact"
)

// Suite describes an elector to Conformance. Every factory call makes another
// contender, with a session of its own.
type Suite struct {
	// New returns a contender for the lock of that name.
	New func(t testing.TB, lock string) instrument.Acquirer
	// Options are those that a user of the elector sets.
	Options []instrument.ElectionOption
	// Waits says that Acquire waits for its turn; otherwise it answers at once.
	Waits bool
	// Lease is the length of the lease; 0 when there is none. It bounds
	// headroom, and how long the suite waits for what takes a lease.
	Lease time.Duration
	// Renews says that the lease is renewed while it is held.
	Renews bool
	// Fenced says that leases carry a fencing token.
	Fenced bool
	// Lose makes the backend drop the lock while it is held; nil when that
	// cannot be done.
	Lose func(t testing.TB, lock string)
	// LossWithin is how long after Lose the term may still look active; the
	// lease if not set.
	LossWithin time.Duration
	// KeepsQuiet says that no signal tells of a loss, so that only the lease
	// end shows it.
	KeepsQuiet bool
}

var locks atomic.Int64

// patience is added to every bound: a loaded machine is no fault of an elector.
const patience = 20 * time.Second

// Conformance runs an elector through what the middleware promises to show:
// wins, contention, timeouts, cancellation, takeover, loss, double release,
// concurrent use, tokens and headroom.
func Conformance(t *testing.T, s Suite) {
	if s.LossWithin == 0 {
		s.LossWithin = s.Lease
	}
	t.Run("a win is a term until it is released", s.win)
	t.Run("somebody else holds the lock", s.contention)
	t.Run("the caller gives up", s.canceled)
	t.Run("a released lock is won by the next, with a higher token", s.takeover)
	t.Run("a held lease keeps its headroom", s.headroom)
	t.Run("the backend drops the lock", s.loss)
	t.Run("concurrent runs exclude each other and the books balance", s.concurrent)
}

// contender is one process: a middleware and an elector, if it is an acquirer.
type contender struct {
	t        *testing.T
	m        *instrument.Middleware
	e        *instrument.Election
	acquirer instrument.Acquirer
}

func (s Suite) contender(t *testing.T, lock string) *contender {
	t.Helper()
	c := newContender(t, s.Lease, s.Options)
	c.acquirer = s.New(t, lock)
	return c
}

func newContender(t *testing.T, lease time.Duration, options []instrument.ElectionOption) *contender {
	t.Helper()
	m, err := instrument.New(instrument.WithRedactor(redact.Constant(redact.Exact("lock"))))
	if err != nil {
		t.Fatal(err)
	}
	if lease > 0 {
		options = append([]instrument.ElectionOption{instrument.LeaseDuration(lease)}, options...)
	}
	return &contender{t: t, m: m, e: m.Election("lock", options...)}
}

func newLock() string {
	return fmt.Sprintf("leaderscope-conformance-%d-%d", time.Now().UnixNano(), locks.Add(1))
}

func (c *contender) series() Series {
	c.t.Helper()
	r := Read(c.m, "lock")
	if why := Broken(r); why != "" {
		c.t.Errorf("invariant broken: %s in %v", why, r)
	}
	return r
}

func (c *contender) acquire(within time.Duration) *instrument.Term {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	term, err := c.e.Acquire(ctx, c.acquirer)
	if err != nil {
		c.t.Fatalf("acquire: %v", err)
	}
	return term
}

// want waits until the named series have these values.
func (c *contender) want(within time.Duration, want Series) {
	c.t.Helper()
	var r Series
	ok := eventually(within, func() bool {
		r = c.series()
		for k, v := range want {
			if r[k] != v {
				return false
			}
		}
		return true
	})
	if !ok {
		c.t.Errorf("want %v\nin %v", want, r)
	}
}

func eventually(within time.Duration, ok func() bool) bool {
	deadline := time.Now().Add(within)
	for !ok() {
		if time.Now().After(deadline) {
			return false
		}
		time.Sleep(10 * time.Millisecond)
	}
	return true
}

func (s Suite) win(t *testing.T) {
	c := s.contender(t, newLock())
	term := c.acquire(s.Lease + patience)
	c.want(0, Series{Of(catalog.Attempts): 1, Of(catalog.Acquired): 1, Of(catalog.Active): 1, Of(catalog.Pending): 0})
	s.checkHeadroom(c)
	if err := term.Release(context.Background()); err != nil {
		t.Errorf("release: %v", err)
	}
	released := Series{Of(catalog.Active): 0, Of(catalog.TermsEnded, catalog.Released.String()): 1, Of(catalog.Releases, catalog.ReleaseOK.String()): 1}
	c.want(0, released)
	if _, there := c.series()[Of(catalog.LeaseHeadroom)]; there {
		t.Error("headroom is there although nothing is held")
	}
	_ = term.Release(context.Background()) // whatever the library says of it
	c.want(0, released)
	if cause := context.Cause(term.Context()); !errors.Is(cause, instrument.ErrReleased) {
		t.Errorf("the term's context ended with %v", cause)
	}
}

// checkHeadroom holds headroom to what the lease can be, where it is known.
func (s Suite) checkHeadroom(c *contender) {
	c.t.Helper()
	r := c.series()
	headroom, there := r[Of(catalog.LeaseHeadroom)]
	if s.Lease == 0 && there {
		c.t.Errorf("headroom %v without a lease", headroom)
	}
	if there && (headroom <= 0 || headroom > r[Of(catalog.LeaseDuration)]+0.001) {
		c.t.Errorf("headroom %v under a lease of %v", headroom, r[Of(catalog.LeaseDuration)])
	}
}

func (s Suite) contention(t *testing.T) {
	lock := newLock()
	holder, other := s.contender(t, lock), s.contender(t, lock)
	term := holder.acquire(s.Lease + patience)
	defer func() { _ = term.Release(context.Background()) }()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_, err := other.e.Acquire(ctx, other.acquirer)
	if err == nil {
		t.Fatal("two hold the lock")
	}
	reason := catalog.Contended
	if s.Waits {
		reason = catalog.TimedOut
	}
	other.want(0, Series{Of(catalog.Attempts): 1, Of(catalog.NotAcquired, reason.String()): 1, Of(catalog.Active): 0})
}

func (s Suite) canceled(t *testing.T) {
	if !s.Waits {
		t.Skip("an elector that answers at once gives its caller no time to give up")
	}
	lock := newLock()
	holder, other := s.contender(t, lock), s.contender(t, lock)
	term := holder.acquire(s.Lease + patience)
	defer func() { _ = term.Release(context.Background()) }()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		_, err := other.e.Acquire(ctx, other.acquirer)
		done <- err
	}()
	other.want(patience, Series{Of(catalog.Pending): 1})
	cancel()
	if err := <-done; err == nil {
		t.Fatal("a cancelled attempt won")
	}
	other.want(0, Series{Of(catalog.Pending): 0, Of(catalog.NotAcquired, catalog.CanceledAttempt.String()): 1})
}

func (s Suite) takeover(t *testing.T) {
	lock := newLock()
	var last uint64
	for range 3 {
		c := s.contender(t, lock)
		term := c.acquire(s.Lease + patience)
		token, ok := term.FencingToken()
		if ok != s.Fenced {
			t.Errorf("token %d, known %v", token, ok)
		}
		if s.Fenced && token <= last {
			t.Errorf("token %d after %d", token, last)
		}
		last = token
		if err := term.Release(context.Background()); err != nil {
			t.Errorf("release: %v", err)
		}
	}
}

func (s Suite) headroom(t *testing.T) {
	if !s.Renews {
		t.Skip("nobody renews this lease by itself")
	}
	c := s.contender(t, newLock())
	term := c.acquire(s.Lease + patience)
	defer func() { _ = term.Release(context.Background()) }()
	deadline := time.Now().Add(2 * s.Lease)
	for time.Now().Before(deadline) {
		if r := c.series(); r[Of(catalog.Active)] != 1 {
			t.Fatalf("a renewed lease is not active: %v", r)
		}
		s.checkHeadroom(c)
		time.Sleep(s.Lease / 20)
	}
	if r := c.series(); r[Of(catalog.Renewals, catalog.RenewalOK.String())] == 0 || r[catalog.LeaseUsageRatio.Count()] == 0 {
		t.Errorf("no renewal was seen: %v", r)
	}
}

func (s Suite) loss(t *testing.T) {
	if s.Lose == nil {
		t.Skip("the backend cannot be made to drop a lock")
	}
	lock := newLock()
	c := s.contender(t, lock)
	term := c.acquire(s.Lease + patience)
	ctx := term.Context()
	s.Lose(t, lock)
	c.want(s.LossWithin+patience, Series{Of(catalog.Active): 0})
	if !s.KeepsQuiet {
		select {
		case <-ctx.Done():
		case <-time.After(s.LossWithin + patience):
			t.Error("nobody told the term's context")
		}
		c.want(0, Series{Of(catalog.TermsEnded, catalog.Lost.String()): 1})
	}
	_ = term.Release(context.Background())
	r := c.series()
	if r[Of(catalog.TermsEnded, catalog.Released.String())] != 0 {
		t.Errorf("a lost lock was released: %v", r)
	}
	next := s.contender(t, lock)
	if err := next.acquire(s.Lease + patience).Release(context.Background()); err != nil {
		t.Errorf("the next holder's release: %v", err)
	}
}

func (s Suite) concurrent(t *testing.T) {
	lock := newLock()
	const contenders, runs = 3, 5
	var inside, violations, ran atomic.Int32
	var wg sync.WaitGroup
	all := make([]*contender, contenders)
	for i := range all {
		all[i] = s.contender(t, lock)
	}
	for _, c := range all {
		wg.Go(func() {
			for range runs {
				ctx, cancel := context.WithTimeout(context.Background(), s.Lease+patience)
				_ = c.e.Run(ctx, c.acquirer, func(context.Context, *instrument.Term) error {
					if inside.Add(1) > 1 {
						violations.Add(1)
					}
					time.Sleep(5 * time.Millisecond)
					inside.Add(-1)
					ran.Add(1)
					return nil
				})
				cancel()
			}
		})
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	for running := true; running; {
		select {
		case <-done:
			running = false
		case <-time.After(20 * time.Millisecond):
		}
		for _, c := range all {
			c.series()
		}
	}
	acquired := 0.
	for _, c := range all {
		r := c.series()
		acquired += r[Of(catalog.Acquired)]
		if r[Of(catalog.Attempts)] != runs || r[Of(catalog.Running)] != 0 || r[Of(catalog.Pending)] != 0 {
			t.Errorf("after all runs: %v", r)
		}
	}
	if violations.Load() > 0 || acquired != float64(ran.Load()) || ran.Load() == 0 {
		t.Errorf("%d violations, %v acquired, %d ran", violations.Load(), acquired, ran.Load())
	}
}

// Broken says which invariant of the core a set of series breaks; empty when
// all hold: attempts are won, lost or pending; terms that ended or are active
// were acquired; nothing but headroom is negative.
func Broken(r Series) string {
	attempts, outcomes, ended := r[Of(catalog.Attempts)], r[Of(catalog.Acquired)]+r[Of(catalog.Pending)], 0.
	for k, v := range r {
		switch {
		case strings.HasPrefix(k, catalog.NotAcquired.Name):
			outcomes += v
		case strings.HasPrefix(k, catalog.TermsEnded.Name):
			ended += v
		}
		if v < 0 && k != Of(catalog.LeaseHeadroom) {
			return fmt.Sprintf("%s is %v", k, v)
		}
	}
	switch {
	case attempts != outcomes:
		return fmt.Sprintf("attempts %v, outcomes and pending %v", attempts, outcomes)
	case r[Of(catalog.Acquired)] < ended+r[Of(catalog.Active)]:
		return fmt.Sprintf("acquired %v, ended %v, active %v", r[Of(catalog.Acquired)], ended, r[Of(catalog.Active)])
	case r[catalog.AcquireDuration.Count()] != attempts-r[Of(catalog.Pending)]:
		return fmt.Sprintf("waits %v of %v attempts", r[catalog.AcquireDuration.Count()], attempts)
	}
	return ""
}
