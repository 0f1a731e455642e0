package electtest

import (
	"context"
	"errors"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// ownRenewals looks at a held lease for longer than two leases.
func (a *acquiring) ownRenewals() {
	c, term := a.holder()
	stop := a.contender().tries(ruleExclusion)
	a.staysActive(c, term)
	stop()
	a.release(ruleRelease, term)
	c.is(ruleRelease, 0, c.released)
}

// staysActive looks at a term whose lease the library renews.
func (t *checkRun) staysActive(c *contender, term *instrument.Term) {
	if t.lease == 0 {
		if !t.eventually(t.patience(), func() bool { return c.series()[renewals(catalog.RenewalOK)] > 0 }) {
			t.stop(ruleOwnRenewals, "no renewal was reported within %v", t.patience())
		}
	}
	for begin := time.Now(); time.Since(begin) < 9*t.lease/4; time.Sleep(t.step()) {
		t.looksRenewed(c, term)
	}
	r := c.series()
	ok := r[renewals(catalog.RenewalOK)]
	if t.lease > 0 && (ok < 2 || r[catalog.LeaseUsageRatio.Count()] != ok) {
		t.stop(ruleOwnRenewals, "in %v, with a lease of %v, %v renewals were reported, %v of them with the share of the lease that was used",
			9*t.lease/4, t.lease, ok, r[catalog.LeaseUsageRatio.Count()])
	}
	t.durationsRecorded(c)
}

func (t *checkRun) looksRenewed(c *contender, term *instrument.Term) {
	r := c.series()
	if timeLeft, there := r[Of(catalog.LeaseHeadroom)]; t.lease > 0 && (!there || timeLeft > (t.lease+tolerance).Seconds()) {
		t.stop(ruleHeadroom, "headroom of %v s, known: %v, under a lease of %v", timeLeft, there, t.lease)
	}
	if r[Of(catalog.Active)] != 1 {
		t.stop(ruleOwnRenewals, "leader_active is %v with %v renewals, %v s before the end of the lease",
			r[Of(catalog.Active)], r[renewals(catalog.RenewalOK)], r[Of(catalog.LeaseHeadroom)])
	}
	t.lengthStays(r)
	c.agrees()
	if term != nil {
		c.endsInTime(term)
	}
}

// durationsRecorded compares renewals with their durations, of one instant.
func (t *checkRun) durationsRecorded(c *contender) {
	r, all := c.series(), 0.
	for _, result := range []catalog.RenewalResult{catalog.RenewalOK, catalog.RenewalError, catalog.RenewalTimeout, catalog.RenewalCanceled, catalog.RenewalLost} {
		all += r[renewals(result)]
	}
	if durations := r[catalog.RenewalDuration.Count()]; !t.hidesSendTimes && durations != all {
		t.stop(ruleDuration, "%v renewals, and %v durations", all, durations)
	}
}

func (t *checkRun) lengthStays(r Series) {
	if got := r[Of(catalog.LeaseDuration)]; t.lease > 0 && got != t.lease.Seconds() {
		t.stop(ruleConstant, "it is %v, and the lease %v", got, t.lease)
	}
}

// renewals renews for two leases, while another contender tries.
func (a *acquiring) renewals() {
	const n = 6
	c, term := a.holder()
	stop := a.contender().tries(ruleRenewed)
	for i := range n {
		time.Sleep(a.lease / 3)
		a.renew(c, term, i+1)
	}
	stop()
	c.is(ruleRenewal, 0, func() want { return c.holding().with(c.renewed(n)) })
	a.durationsRecorded(c)
	a.release(ruleRelease, term)
	c.is(ruleRelease, 0, func() want { return c.gaveBack(catalog.Released, catalog.ReleaseOK, n) })
}

// renew renews once and compares the ends of the lease, here and there.
func (a *acquiring) renew(c *contender, term *instrument.Term, i int) {
	ctx, cancel := context.WithTimeout(context.Background(), a.lease)
	defer cancel()
	end, _ := term.Expiry()
	sent := time.Now()
	err := term.Renew(ctx)
	answered := time.Now()
	if err != nil {
		a.stop(ruleRenewal, "renewal %d returned %v", i, err)
	}
	switch moved, known := term.Expiry(); {
	case !known:
		a.stop(ruleRenewal, "after renewal %d the end is not known", i)
	case !moved.After(end):
		a.stop(ruleRenewal, "renewal %d moved the end by %v", i, moved.Sub(end))
	case moved.Sub(answered) > a.lease+tolerance:
		a.stop(ruleRenewal, "after renewal %d the end is %v away; the lease is %v", i, moved.Sub(answered), a.lease)
	}
	a.lengthStays(c.series())
	if a.remaining == nil {
		return
	}
	timeLeft, held := a.remaining(a.TB, a.lock)
	if there := time.Now().Add(timeLeft); !held || there.Before(sent.Add(a.lease*9/10)) {
		a.stop(ruleRenewed, "after renewal %d the backend says held: %v, with %v left of a lease of %v", i, held, timeLeft, a.lease)
	}
	c.endsInTime(term)
}

// lateRenewal renews under contexts that end before the answer, or before the
// request.
func (a *acquiring) lateRenewal() {
	c, term := a.holder()
	before := time.Now()
	a.renew(c, term, 1)
	took := time.Since(before)
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	_ = term.Renew(canceled)
	for _, share := range []float64{0.25, 0.75} {
		short, cancel := context.WithTimeout(context.Background(), time.Duration(share*float64(took)))
		_ = term.Renew(short)
		cancel()
	}
	if a.suite.GivenUpRenewalLoses {
		if err := term.Renew(context.Background()); err != nil {
			a.lostByGivingUp(c, term)
			return
		}
	} else {
		if !term.Leading() {
			a.stop(ruleLateRenewal, "the term does not lead any more")
		}
		c.endsInTime(term)
		a.renew(c, term, 5)
	}
	c.is(ruleLateRenewal, 0, func() want {
		w := c.holding().with(want{
			renewals(catalog.RenewalOK): between(2, 5), renewals(catalog.RenewalCanceled): between(0, 1), renewals(catalog.RenewalTimeout): between(0, 2),
			catalog.RenewalDuration.Count(): exactly(5), catalog.RenewalDuration.Sum(): c.elapsed(),
			catalog.LeaseUsageRatio.Count(): between(2, 5), catalog.LeaseUsageRatio.Sum(): free(),
		})
		if a.renewsItself {
			w = w.with(want{renewals(catalog.RenewalOK): atLeast(2), catalog.RenewalDuration.Count(): free(), catalog.LeaseUsageRatio.Count(): atLeast(2)})
		}
		return w
	})
}

// lostByGivingUp checks that the term has ended as lost, once, and says so.
func (a *acquiring) lostByGivingUp(c *contender, term *instrument.Term) {
	if cause := context.Cause(term.Context()); !errors.Is(cause, instrument.ErrLost) {
		a.broke(ruleRefused, "the term's context ended with %v", cause)
	}
	c.is(ruleRefused, 0, func() want {
		return c.ended(catalog.Lost).with(want{
			renewals(catalog.RenewalOK): between(1, 3), renewals(catalog.RenewalLost): exactly(1),
			renewals(catalog.RenewalCanceled): between(0, 1), renewals(catalog.RenewalTimeout): between(0, 2),
			catalog.RenewalDuration.Count(): between(2, 5), catalog.RenewalDuration.Sum(): c.elapsed(),
			catalog.LeaseUsageRatio.Count(): between(1, 3), catalog.LeaseUsageRatio.Sum(): free(),
		})
	})
}

func (a *acquiring) unsupportedRenewal() {
	c, term := a.holder()
	if err := term.Renew(context.Background()); !errors.Is(err, errors.ErrUnsupported) {
		a.stop(ruleUnsupported, "Renew returned %v", err)
	}
	c.is(ruleUnsupported, 0, c.holding)
}

// leaseEnd lets a lease run out.
func (a *acquiring) leaseEnd() {
	c, term := a.holder()
	end, known := term.Expiry()
	if !known {
		a.stop(ruleHeadroom, "the end is not known")
	}
	for time.Now().Before(end) {
		c.agrees()
		c.endsInTime(term)
		time.Sleep(min(a.step(), time.Until(end)+tolerance))
	}
	if term.Leading() || c.series()[Of(catalog.Active)] != 0 {
		a.stop(ruleLeaseEnd, "%v after the end of the lease it is active", time.Since(end))
	}
	_ = a.tryRelease(term)
	r := c.series()
	if r[termsEnded(catalog.Expired)] != 1 || r[termsEnded(catalog.Released)] != 0 {
		a.stop(ruleLeaseEnd, "%v terms expired, %v released", r[termsEnded(catalog.Expired)], r[termsEnded(catalog.Released)])
	}
}
