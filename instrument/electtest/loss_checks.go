package electtest

import (
	"context"
	"errors"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// lost is what a contender shows whose term was lost.
func (c *contender) lost() want {
	w := c.ended(catalog.Lost)
	if c.t.hidesRenewals {
		return w
	}
	for _, result := range []catalog.RenewalResult{catalog.RenewalOK, catalog.RenewalError, catalog.RenewalTimeout, catalog.RenewalCanceled, catalog.RenewalLost} {
		w[renewals(result)] = free()
	}
	for _, m := range []*catalog.Metric{catalog.RenewalDuration, catalog.LeaseUsageRatio} {
		w[m.Count()], w[m.Sum()] = free(), free()
	}
	return w
}

func (a *acquiring) lossWithin() time.Duration {
	within := a.suite.LossWithin
	if within == 0 {
		within = a.lease
	}
	return within + a.patience()
}

func (a *acquiring) loss() {
	c, term := a.holder()
	last := token{}
	last.follow(a.checkRun, c, term)
	ctx := term.Context()
	a.suite.Lose(a.TB, a.lock)
	if a.suite.KeepsQuiet {
		a.quietLoss(c)
	} else {
		a.endsWithLoss(c, ctx)
	}
	next, nextTerm := a.next(ruleVacant)
	last.follow(a.checkRun, next, nextTerm)
	a.releaseAfterLoss(c, term)
	a.refused(ruleNextHolder)
	next.endsInTime(nextTerm)
	a.release(ruleNextHolder, nextTerm)
}

func (a *acquiring) endsWithLoss(c *contender, ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(a.lossWithin()):
		a.stop(ruleLoss, "the term's context has not ended within %v", a.lossWithin())
	}
	if cause := context.Cause(ctx); !errors.Is(cause, instrument.ErrLost) {
		a.broke(ruleLoss, "the term's context ended with %v", cause)
	}
	c.is(ruleLoss, 0, c.lost)
}

// quietLoss shows with the end of the lease, if there is one.
func (a *acquiring) quietLoss(c *contender) {
	if a.lease == 0 {
		return
	}
	if !a.eventually(a.lossWithin(), func() bool { return c.series()[Of(catalog.Active)] == 0 && !c.e.Leading() }) {
		a.stop(ruleQuietLoss, "it is active %v after the loss", a.lossWithin())
	}
}

// releaseAfterLoss releases a lock that was lost.
func (a *acquiring) releaseAfterLoss(c *contender, term *instrument.Term) {
	err := a.tryRelease(term)
	if err == nil && !a.suite.ReleaseIgnoresLoss {
		a.stop(ruleAfterLoss, "Release returned no error")
	}
	r, ended := c.series(), 0.
	for cause := range catalog.EndCause(catalog.EndCauses) {
		ended += r[termsEnded(cause)]
	}
	if ok := r[releases(catalog.ReleaseOK)]; r[termsEnded(catalog.Released)] != 0 || ended != 1 || (ok != 0) != (err == nil) {
		a.stop(ruleAfterLoss, "Release returned %v; %v terms ended, %v of them as released; %v releases are ok",
			err, ended, r[termsEnded(catalog.Released)], ok)
	}
}

func (a *acquiring) refusedRenewal() {
	c, term := a.holder()
	ctx := term.Context()
	a.suite.Lose(a.TB, a.lock)
	if err := term.Renew(context.Background()); err == nil {
		a.stop(ruleRefused, "Renew returned no error")
	}
	lost := func() want {
		w := c.ended(catalog.Lost).with(want{
			renewals(catalog.RenewalLost):   exactly(1),
			catalog.RenewalDuration.Count(): exactly(1), catalog.RenewalDuration.Sum(): c.elapsed(),
		})
		if a.renewsItself || !a.suite.KeepsQuiet { // the loss may have been told before
			w = c.lost()
		}
		return w
	}
	c.is(ruleRefused, 0, lost)
	if cause := context.Cause(ctx); !errors.Is(cause, instrument.ErrLost) {
		a.broke(ruleRefused, "the term's context ended with %v", cause)
	}
	if err := term.Renew(context.Background()); err == nil {
		a.stop(ruleRefused, "another Renew returned no error")
	}
	c.is(ruleRefused, 0, lost)
	a.releaseAfterLoss(c, term)
	a.next(ruleVacant)
}

// failedRelease has the backend fail while the lock is released.
func (a *acquiring) failedRelease() {
	c, term := a.holder()
	repair := a.suite.Break(a.TB, a.lock)
	repaired := false
	a.later(func() {
		if !repaired {
			repair()
		}
	})
	ctx, cancel := context.WithTimeout(context.Background(), max(a.lease/2, a.moment()))
	defer cancel()
	a.forget(term)
	if err := term.Release(ctx); err == nil {
		a.stop(ruleFailing, "Release returned no error")
	}
	c.is(ruleFailing, 0, func() want {
		w := c.gaveBack(catalog.ReleaseFailed, catalog.ReleaseError, 0)
		if a.renewsItself { // the library notices too
			for _, result := range []catalog.RenewalResult{catalog.RenewalError, catalog.RenewalTimeout, catalog.RenewalCanceled} {
				w[renewals(result)] = free()
			}
		}
		return w
	})
	repair()
	repaired = true
	a.next(ruleUnreleased)
}

func (a *acquiring) canceledRelease() {
	c, term := a.holder()
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	err := term.Release(canceled)
	if err == nil {
		a.forget(term)
		c.is(ruleOverRelease, 0, c.released)
	} else {
		c.is(ruleOverRelease, 0, func() want { return c.gaveBack(catalog.ReleaseFailed, catalog.ReleaseError, 0) })
		_ = a.tryRelease(term)
	}
	a.next(ruleOverRelease)
}
