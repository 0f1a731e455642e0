package electtest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
)

func (a *acquiring) win() {
	c, term := a.holder()
	c.is(ruleWin, 0, c.holding)
	c.endsInTime(term)
	a.release(ruleRelease, term)
	c.is(ruleRelease, 0, c.released)
	if cause := context.Cause(term.Context()); !errors.Is(cause, instrument.ErrReleased) {
		a.broke(ruleRelease, "the term's context ended with %v", cause)
	}
	_ = term.Release(context.Background()) // its result is not part of this check
	c.is(ruleRelease, 0, c.released)
}

func (a *acquiring) printing() {
	acquirer := a.suite.New(a.TB, a.lock)
	c := a.newContender()
	c.acquirer = inspected(a.checkRun, acquirer)
	term := c.acquire(ruleFree)
	for _, verb := range []string{"%v", "%+v", "%#v"} {
		for _, printed := range []any{acquirer, term.Unwrap()} {
			if text := fmt.Sprintf(verb, printed); strings.Contains(text, a.lock) {
				a.broke(rulePrints, "%s of a %T prints %.200s", verb, printed, text)
			}
		}
	}
}

func (a *acquiring) contention() {
	holder, _ := a.holder()
	other := a.refused(ruleExclusion)
	reason := catalog.Contended
	if a.suite.Waits {
		reason = catalog.TimedOut
	}
	other.is(ruleContended, 0, func() want { return other.refusal(reason) })
	holder.is(ruleExclusion, 0, holder.holding)
}

func (a *acquiring) givingUp() {
	holder, term := a.holder()
	other := a.contender()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	waiting := other.start(ctx)
	other.is(ruleGivingUp, a.patience(), func() want {
		return other.fresh.with(want{Of(catalog.Attempts): exactly(1), Of(catalog.Pending): exactly(1), Of(catalog.PendingAge): other.elapsed()})
	})
	cancel()
	if !waiting.answered(a.patience()) {
		a.stop(ruleGivingUp, "Acquire has not returned within %v", a.patience())
	}
	if waiting.answer() == nil {
		a.stop(ruleExclusion, "another contender won")
	}
	other.is(ruleGivingUp, 0, func() want { return other.refusal(catalog.CanceledAttempt) })
	holder.is(ruleExclusion, 0, holder.holding)
	a.release(ruleRelease, term)
	other.acquire(ruleFree)
}

// lateAnswer has callers give up at several points of an attempt that would
// win. What they leave must not keep others out.
func (a *acquiring) lateAnswer() {
	took := a.measured()
	name := a.lock
	for i := range 4 {
		a.lock = fmt.Sprintf("%s-%d", name, i)
		c := a.contender()
		ctx, cancel := context.WithTimeout(context.Background(), took*time.Duration(4*i+3)/16)
		attempt := c.start(ctx)
		err := attempt.answer()
		cancel()
		if err == nil {
			a.release(ruleRelease, attempt.term)
			continue
		}
		c.gaveUp()
		_, term := a.next(ruleLeftBehind)
		a.release(ruleRelease, term)
	}
}

// gaveUp looks at an attempt whose caller's deadline passed. On the wall clock
// a server may see that before the caller, and answer with an error of its own.
func (c *contender) gaveUp() {
	c.t.Helper()
	if c.t.virtual {
		c.is(ruleGivingUp, 0, func() want { return c.refusal(catalog.TimedOut) })
		return
	}
	if r := c.series(); r[Of(catalog.Acquired)] != 0 || r[Of(catalog.Pending)] != 0 {
		c.t.stop(ruleGivingUp, "Acquire returned an error; %v acquired, %v pending", r[Of(catalog.Acquired)], r[Of(catalog.Pending)])
	}
}

// measured is how long a contender takes to win.
func (a *acquiring) measured() time.Duration {
	c := a.contender()
	before := time.Now()
	term := c.acquire(ruleFree)
	took := time.Since(before)
	a.release(ruleRelease, term)
	return max(took, time.Microsecond)
}

func (a *acquiring) endedContext() {
	c := a.contender()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	attempt := c.start(ctx)
	if attempt.answer() == nil {
		c.is(ruleEnded, 0, c.holding)
		a.release(ruleRelease, attempt.term)
	} else {
		c.is(ruleEnded, 0, func() want { return c.refusal(catalog.CanceledAttempt) })
	}
	a.next(ruleLeftBehind)
}

// nilContext allows a panic: a nil context is a mistake of the caller. One
// that is answered leaves no lock behind.
func (a *acquiring) nilContext() {
	c := a.contender()
	var none context.Context
	term, err, panicked := c.acquireUnder(none)
	switch {
	case panicked:
		c.is(ruleNil, 0, func() want { return c.refusal(catalog.Panicked) })
		return
	case err == nil:
		c.is(ruleNil, 0, c.holding)
		a.release(ruleRelease, term)
	default:
		if r := c.series(); r[Of(catalog.Acquired)] != 0 || r[Of(catalog.Pending)] != 0 {
			a.broke(ruleNil, "after the error %v: %v acquired, %v pending", err, r[Of(catalog.Acquired)], r[Of(catalog.Pending)])
		}
	}
	a.next(ruleLeftBehind)
}

func (c *contender) acquireUnder(ctx context.Context) (term *instrument.Term, err error, panicked bool) {
	defer func() { panicked = recover() != nil }()
	term, err = c.e.Acquire(ctx, c.acquirer)
	return term, err, false
}

func (a *acquiring) takeover() {
	first, second := a.contender(), a.contender()
	last := token{}
	for i, c := range []*contender{first, second, first, second} {
		r := ruleFree
		if i > 0 {
			r = ruleFreed
		}
		term := c.acquire(r)
		if end := last.end; !end.IsZero() && !time.Now().Before(end) {
			a.stop(ruleFreed, "the next contender won %v after that", time.Since(end))
		}
		last.follow(a.checkRun, c, term)
		a.release(ruleRelease, term)
	}
	a.turn(last)
}

// turn has a contender wait while another one releases.
func (a *acquiring) turn(last token) {
	if !a.suite.Waits {
		return
	}
	_, term := a.holder()
	c := a.contender()
	waiting := c.start(context.Background())
	time.Sleep(a.moment())
	a.release(ruleRelease, term)
	if !waiting.answered(a.lease+a.patience()) || waiting.answer() != nil {
		a.stop(ruleTurn, "Acquire has not won within %v", a.lease+a.patience())
	}
	last.follow(a.checkRun, c, waiting.term)
	c.is(ruleWin, 0, c.holding)
}

// token is the last one that was seen, and the lease end that came with it.
type token struct {
	value uint64
	end   time.Time
}

// follow compares the token of the next term with the last.
func (k *token) follow(t *checkRun, c *contender, term *instrument.Term) {
	t.Helper()
	value, ok := term.FencingToken()
	switch {
	case ok != t.fenced:
		t.stop(ruleToken, "token %d, known: %v; Fenced is %v", value, ok, t.fenced)
	case ok && value <= k.value:
		t.stop(ruleToken, "token %d after %d", value, k.value)
	}
	if shown, there := c.series()[Of(catalog.FencingToken)]; there != ok || ok && shown != float64(value) {
		t.broke(ruleToken, "token %d, and leader_fencing_token is %v", value, shown)
	}
	k.value = value
	k.end, _ = term.Expiry()
}
