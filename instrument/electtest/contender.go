package electtest

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"reflect"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// contender is one process: a middleware, an election, and an acquirer if the
// elector is one.
type contender struct {
	t        *checkRun
	m        *instrument.Middleware
	e        *instrument.Election
	acquirer instrument.Acquirer
	born     time.Time
	fresh    want // what the election showed before anything happened
}

func (t *checkRun) newContender() *contender {
	t.Helper()
	m, err := instrument.New(instrument.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	options := t.options
	if t.lease > 0 {
		options = append([]instrument.ElectionOption{instrument.LeaseDuration(t.lease)}, options...)
	}
	c := &contender{t: t, m: m, e: m.Election("lock", options...), born: time.Now()}
	c.fresh = these(c.series())
	return c
}

// series are those of the lock. That they add up is checked here.
func (c *contender) series() Series {
	r := Read(c.m, "lock")
	if why := Broken(r); why != "" {
		c.t.broke(ruleBooks, "%s", why)
	}
	return r
}

// is waits until the whole set of series is as wanted.
func (c *contender) is(r rule, within time.Duration, wanted func() want) {
	c.t.Helper()
	diff := ""
	if !c.t.eventually(within, func() bool {
		diff = wanted().diff(c.series())
		return diff == ""
	}) {
		c.t.stop(r, "series that differ:\n%s", diff)
	}
	c.agrees()
}

func (t *checkRun) eventually(within time.Duration, ok func() bool) bool {
	for deadline := time.Now().Add(within); !ok(); time.Sleep(min(t.step(), 50*time.Millisecond)) {
		if !time.Now().Before(deadline) {
			return false
		}
	}
	return true
}

// agrees compares what the handle says with the series. What changes meanwhile
// is not compared.
func (c *contender) agrees() {
	leading, end, known := c.says()
	before := time.Now()
	r := Read(c.m, "lock")
	after := time.Now()
	if still, later, same := c.says(); still != leading || same != known || later.Sub(end).Abs() > tolerance {
		return
	}
	if active := r[Of(catalog.Active)] > 0; active != leading {
		c.t.broke(ruleAgreement, "Leading is %v and leader_active is %v", leading, r[Of(catalog.Active)])
	}
	headroom, there := r[Of(catalog.LeaseHeadroom)]
	switch {
	case known && !there:
		c.t.broke(ruleAgreement, "Expiry is known and there is no headroom")
	case known && !between(end.Sub(after).Seconds()-tolerance.Seconds(), end.Sub(before).Seconds()+tolerance.Seconds()).holds(headroom):
		c.t.broke(ruleAgreement, "Expiry is %v away and the headroom is %v s", end.Sub(before), headroom)
	case there && leading && !known:
		c.t.broke(ruleAgreement, "Expiry is not known and the headroom is %v s", headroom)
	}
}

// tolerance is for what the wall clock and the monotonic one differ by.
const tolerance = time.Millisecond

func (b bounds) holds(v float64) bool { return v >= b.low && v <= b.high }

func (c *contender) says() (leading bool, end time.Time, known bool) {
	end, known = c.e.Expiry()
	return c.e.Leading(), end, known
}

// holding is what a contender shows that has won once and holds.
func (c *contender) holding() want {
	w := c.fresh.with(want{
		Of(catalog.Attempts): exactly(1), Of(catalog.Acquired): exactly(1), Of(catalog.Active): exactly(1),
		catalog.AcquireDuration.Count(): exactly(1), catalog.AcquireDuration.Sum(): c.elapsed(), Of(catalog.LastAcquired): c.recently(),
	})
	if c.t.lease > 0 {
		length := c.t.lease.Seconds()
		w[Of(catalog.LeaseHeadroom)] = between(math.SmallestNonzeroFloat64, length+tolerance.Seconds())
		w[Of(catalog.LeaseExpiry)] = between(unix(c.born)-1, unix(time.Now())+length+1)
	}
	if c.t.hidesRenewals {
		w = w.without(renewals(catalog.RenewalOK), renewals(catalog.RenewalError), renewals(catalog.RenewalTimeout),
			renewals(catalog.RenewalCanceled), renewals(catalog.RenewalLost))
	}
	if c.t.fenced {
		w[Of(catalog.FencingToken)], w[Of(catalog.FencingTokenRegressions)] = atLeast(0), exactly(0)
	}
	if c.t.renewsItself {
		w[renewals(catalog.RenewalOK)] = free()
		w[catalog.RenewalDuration.Count()], w[catalog.RenewalDuration.Sum()] = free(), free()
		w[catalog.LeaseUsageRatio.Count()], w[catalog.LeaseUsageRatio.Sum()] = free(), free()
	}
	return w
}

// ended is what it shows when its term has ended for that cause.
func (c *contender) ended(cause catalog.EndCause) want {
	w := c.holding().without(Of(catalog.LeaseHeadroom), Of(catalog.LeaseExpiry)).with(want{
		Of(catalog.Active): exactly(0), termsEnded(cause): exactly(1), Of(catalog.LastEnded): c.recently(),
		catalog.ExecutionDuration.Count(): exactly(1), catalog.ExecutionDuration.Sum(): c.elapsed(),
	})
	if _, shown := w[renewals(catalog.RenewalCanceled)]; shown && c.t.renewsItself {
		w[renewals(catalog.RenewalCanceled)] = between(0, 1) // one may be under way at the end
	}
	return w
}

// gaveBack is what it shows when a release with that result has ended its term
// for that cause, after so many renewals on demand.
func (c *contender) gaveBack(cause catalog.EndCause, result catalog.ReleaseResult, renewed int) want {
	w := c.ended(cause).with(c.renewed(renewed))
	w[releases(result)] = exactly(1)
	if c.t.lease > 0 && !c.t.renewsItself {
		w[catalog.LeaseUsageRatio.Count()], w[catalog.LeaseUsageRatio.Sum()] = exactly(float64(renewed+1)), free()
	}
	return w
}

// renewed is what so many renewals on demand change.
func (c *contender) renewed(n int) want {
	switch {
	case n == 0:
		return want{}
	case c.t.renewsItself:
		return want{renewals(catalog.RenewalOK): atLeast(float64(n)), catalog.RenewalDuration.Count(): atLeast(float64(n))}
	}
	return want{
		renewals(catalog.RenewalOK):     exactly(float64(n)),
		catalog.RenewalDuration.Count(): exactly(float64(n)), catalog.RenewalDuration.Sum(): c.elapsed(),
		catalog.LeaseUsageRatio.Count(): exactly(float64(n)), catalog.LeaseUsageRatio.Sum(): free(),
	}
}

// released is what a contender shows that has won once and released.
func (c *contender) released() want { return c.gaveBack(catalog.Released, catalog.ReleaseOK, 0) }

// refusal is what it shows when its one attempt did not win for that reason.
func (c *contender) refusal(reason catalog.Reason) want {
	return c.fresh.with(want{
		Of(catalog.Attempts): exactly(1), notAcquired(reason): exactly(1),
		catalog.AcquireDuration.Count(): exactly(1), catalog.AcquireDuration.Sum(): c.elapsed(),
	})
}

// elapsed bounds what took place since the contender began.
func (c *contender) elapsed() bounds {
	return between(0, (time.Since(c.born) + tolerance).Seconds())
}

// recently bounds a Unix time since then; the wall clock may have been set.
func (c *contender) recently() bounds { return between(unix(c.born)-1, unix(time.Now())+1) }

// endsInTime compares the end of the lease with the backend's.
func (c *contender) endsInTime(term *instrument.Term) {
	if c.t.remaining == nil || c.t.lease == 0 {
		return
	}
	end, known := term.Expiry()
	timeLeft, held := c.t.remaining(c.t.TB, c.t.lock)
	now := time.Now()
	switch {
	case !known:
		c.t.broke(ruleHeadroom, "the end is not known")
	case !held && now.Before(end):
		c.t.stop(ruleHeld, "the lease runs for %v here, and the lock has no holder there", end.Sub(now))
	case held && end.Sub(now) > timeLeft+tolerance:
		c.t.stop(ruleEarlyEnd, "the lease runs for %v here, and for %v there", end.Sub(now), timeLeft)
	}
}

// attempt is a call of Acquire in a goroutine of its own.
type attempt struct {
	t      *checkRun
	cancel context.CancelFunc
	done   chan struct{}
	term   *instrument.Term
	err    error
}

func (c *contender) start(ctx context.Context) *attempt {
	ctx, cancel := context.WithCancel(ctx)
	a := &attempt{t: c.t, cancel: cancel, done: make(chan struct{})}
	c.t.attempts = append(c.t.attempts, a)
	go func() {
		defer close(a.done)
		a.term, a.err = c.e.Acquire(ctx, c.acquirer)
	}()
	return a
}

// answer waits for the answer, which comes a moment after the end of the
// context at the latest. The term is released when the check is over.
func (a *attempt) answer() error {
	a.t.Helper()
	if !a.answered(2 * (a.t.lease + a.t.patience())) {
		a.t.stop(ruleGivingUp, "Acquire has not returned")
	}
	if a.term != nil {
		a.t.terms = append(a.t.terms, a.term)
	}
	return a.err
}

func (a *attempt) answered(within time.Duration) bool { return closes(a.done, within) }

// acquire wins a lock that is free.
func (c *contender) acquire(r rule) *instrument.Term {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), c.t.lease+c.t.patience())
	defer cancel()
	a := c.start(ctx)
	if err := a.answer(); err != nil {
		c.t.stop(r, "Acquire returned %v", err)
	}
	return a.term
}

// winWithin wins a lock that becomes free.
func (c *contender) winWithin(r rule, within time.Duration, waits bool) *instrument.Term {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	for {
		a := c.start(ctx)
		err := a.answer()
		switch {
		case err == nil:
			return a.term
		case waits || ctx.Err() != nil:
			c.t.stop(r, "after %v Acquire returned %v", within, err)
		}
		time.Sleep(c.t.step())
	}
}

// tries lets the contender try for as long as another one holds the lock.
func (c *contender) tries(r rule) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			term, err := c.e.Acquire(ctx, c.acquirer)
			if err == nil {
				c.t.broke(r, "another contender won")
				_ = term.Release(context.Background())
				return
			}
			select {
			case <-ctx.Done():
			case <-time.After(2 * c.t.step()):
			}
		}
	}()
	c.t.later(cancel)
	c.t.rivals = append(c.t.rivals, done)
	return func() {
		cancel()
		if !closes(done, c.t.lease+c.t.patience()) {
			c.t.broke(ruleGivingUp, "Acquire has not returned")
		}
	}
}

// closes reports whether the channel is closed within that time.
func closes(done <-chan struct{}, within time.Duration) bool {
	select {
	case <-done:
		return true
	case <-time.After(within):
		return false
	}
}

// release releases the lock, without an error.
func (t *checkRun) release(r rule, term *instrument.Term) {
	t.Helper()
	if err := t.tryRelease(term); err != nil {
		t.stop(r, "Release returned %v", err)
	}
}

func (t *checkRun) tryRelease(term *instrument.Term) error {
	ctx, cancel := context.WithTimeout(context.Background(), t.lease+t.patience())
	defer cancel()
	t.forget(term)
	return term.Release(ctx)
}

// forget leaves a term to the check.
func (t *checkRun) forget(term *instrument.Term) {
	for i, other := range t.terms {
		if other == term {
			t.terms = append(t.terms[:i], t.terms[i+1:]...)
			return
		}
	}
}

// clean gives back what the check left, so that nothing of it waits.
func (t *checkRun) clean() {
	for i := len(t.undo) - 1; i >= 0; i-- {
		t.undo[i]()
	}
	for len(t.terms) > 0 {
		_ = t.tryRelease(t.terms[0])
	}
	for _, a := range t.attempts {
		a.cancel()
	}
	for _, a := range t.attempts {
		if a.answered(t.lease+t.patience()) && a.term != nil && a.term.Leading() {
			_ = t.tryRelease(a.term)
		}
	}
	for _, rival := range t.rivals {
		closes(rival, t.lease+t.patience())
	}
}

// inspected is the acquirer, whose raw answers are checked.
func inspected(t *checkRun, a instrument.Acquirer) instrument.Acquirer {
	i := inspector{t, a}
	if c, ok := a.(instrument.Classifier); ok {
		return struct {
			instrument.Acquirer
			instrument.Classifier
		}{i, c}
	}
	return i
}

type inspector struct {
	t *checkRun
	a instrument.Acquirer
}

var errNoAnswer = errors.New("the acquirer's answer is no lease and no error")

func (i inspector) Acquire(ctx context.Context) (instrument.Lease, error) {
	lease, err := i.a.Acquire(ctx)
	switch typedNil := isTypedNil(lease); {
	case err != nil && lease != nil:
		i.t.broke(ruleAnswer, "beside the error %q it returned a lease of type %T, nil: %v", err, lease, typedNil)
		return nil, err
	case typedNil:
		i.t.broke(ruleAnswer, "it returned a nil lease of type %T and no error", lease)
		return nil, errNoAnswer
	case err == nil && lease == nil:
		i.t.broke(ruleAnswer, "it returned neither")
		return nil, errNoAnswer
	}
	return lease, err
}

func isTypedNil(l instrument.Lease) bool {
	switch v := reflect.ValueOf(l); v.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Func, reflect.Chan, reflect.Slice:
		return v.IsNil()
	default:
		return false
	}
}
