package electtest

import (
	"context"
	"testing"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
)

// Suite describes an elector to Conformance. The booleans describe the library
// and its adapter; with the functions after them the suite changes and reads the
// backend. If a function is nil, the checks that need it are left out.
type Suite struct {
	// New returns a contender for the lock of that name, with a session of its
	// own. It is required, and called from the goroutine of the test.
	New func(t testing.TB, lock string) instrument.Acquirer
	// Options are those that a user of the elector sets. The suite adds
	// LeaseDuration(Lease).
	Options []instrument.ElectionOption
	// Lease is the length of the lease. 0 means that there is none, or that its
	// end is unknown. On the wall clock it is at least one second, so that a
	// loaded machine does not end a lease.
	Lease time.Duration
	// VirtualTime says that everything behind New runs in this process, and
	// waits by channels and timers only. Each check then runs in a bubble of
	// testing/synctest: no wait takes time, and bounds are tight.
	VirtualTime bool

	// Waits says that Acquire waits for the lock until its context ends.
	// Otherwise it answers at once.
	Waits bool
	// RenewsItself says that the library renews the lease while it is held, or
	// checks the connection behind it, and that the adapter reports that.
	RenewsItself bool
	// HidesSendTimes says that it is unknown when the library sends its
	// renewals, so that their durations are not recorded.
	HidesSendTimes bool
	// HidesRenewals says that the library renews the lease without reporting it,
	// and that the lease declares this with instrument.RenewalsHidden. Lease is 0
	// then.
	HidesRenewals bool
	// RenewsOnDemand says that the holder renews the lease by Term.Renew.
	// Otherwise Term.Renew returns errors.ErrUnsupported. A lease may be
	// renewed in both ways, or in none.
	RenewsOnDemand bool
	// GivenUpRenewalLoses says that the lock may be lost when the caller of
	// Term.Renew gives up: the library refuses later renewals. The suite then
	// checks that the next renewal ends the term as lost.
	GivenUpRenewalLoses bool
	// Fenced says that leases carry a fencing token. Otherwise they carry none.
	Fenced bool
	// KeepsQuiet says that no signal reports a loss: only the end of the lease
	// or a refused renewal shows it.
	KeepsQuiet bool
	// ReleaseIgnoresLoss says that the release of a lost lock succeeds because the
	// library does not check the holder. Otherwise it returns an error.
	ReleaseIgnoresLoss bool

	// Lose makes the backend drop the lock while it is held.
	Lose func(t testing.TB, lock string)
	// LossWithin is how long after Lose the term may still look active; the
	// lease if not set.
	LossWithin time.Duration
	// Remaining reads from the backend the remaining lease, and whether the lock
	// is held. The result is rounded up to the backend's resolution, such as
	// seconds. Set it whenever the backend can be read: without it, a lease end
	// that is too late is detected only if it is more than a lease from now.
	Remaining func(t testing.TB, lock string) (timeLeft time.Duration, held bool)
	// Break makes requests about the lock fail until repair is called.
	Break func(t testing.TB, lock string) (repair func())
}

// Conformance checks that the series of an elector are what the middleware
// documents, each check with its own lock. A failure begins with the rule that the
// elector violates, and shows the series that differ.
//
// On the wall clock, a check that fails while the process was suspended for a
// quarter of the lease is repeated, and skipped after three such failures.
func Conformance(t *testing.T, s Suite) {
	if why := s.invalid(); why != "" {
		t.Fatal(why)
	}
	for _, c := range conformanceChecks {
		t.Run(c.name, func(t *testing.T) { c.runFor(t, s) })
	}
}

func (s Suite) invalid() string {
	switch {
	case s.New == nil:
		return "electtest: Suite.New is nil"
	case s.HidesRenewals && (s.Lease != 0 || s.RenewsItself || s.RenewsOnDemand):
		return "electtest: Suite.HidesRenewals excludes Suite.Lease, Suite.RenewsItself and Suite.RenewsOnDemand: of hidden renewals neither the end nor the results are known"
	case s.RenewsOnDemand && s.Lease == 0:
		return "electtest: Suite.RenewsOnDemand needs the length of the lease in Suite.Lease"
	default:
		return invalidLease(s.Lease, s.VirtualTime)
	}
}

func invalidLease(lease time.Duration, virtual bool) string {
	if lease < 0 || lease > 0 && lease < time.Second && !virtual {
		return "electtest: a lease of " + lease.String() + " is too short for the wall clock: give it a second or more, or set VirtualTime"
	}
	return ""
}

// conformanceCheck is one subtest of Conformance.
type conformanceCheck struct {
	name string
	// needs says why a suite has nothing to check here; nil: it always has.
	needs func(Suite) (missing string)
	run   func(*acquiring)
}

var conformanceChecks = []conformanceCheck{
	{"a win is a term until it is released", nil, (*acquiring).win},
	{"it is printed", nil, (*acquiring).printing},
	{"another contender holds the lock", nil, (*acquiring).contention},
	{"the caller gives up waiting", needsWaiting, (*acquiring).givingUp},
	{"the caller gives up while the answer is on its way", nil, (*acquiring).lateAnswer},
	{"the context is over before the attempt", nil, (*acquiring).endedContext},
	{"the context is nil", nil, (*acquiring).nilContext},
	{"a released lock is won by the next", nil, (*acquiring).takeover},
	{"the library renews the lease", needsOwnRenewals, (*acquiring).ownRenewals},
	{"the holder renews the lease", needsRenewals, (*acquiring).renewals},
	{"the context of a renewal ends early", needsRenewals, (*acquiring).lateRenewal},
	{"the backend refuses a renewal", needsRefusals, (*acquiring).refusedRenewal},
	{"the lease cannot be renewed on demand", needsNoRenewals, (*acquiring).unsupportedRenewal},
	{"nothing renews the lease", needsEnd, (*acquiring).leaseEnd},
	{"the backend drops the lock", needsLoss, (*acquiring).loss},
	{"the backend fails at the release", needsBreak, (*acquiring).failedRelease},
	{"the context of a release is over", nil, (*acquiring).canceledRelease},
	{"a term is used concurrently", nil, (*acquiring).concurrentUse},
	{"processes run concurrently", nil, (*acquiring).concurrentProcesses},
	{"contenders run concurrently on one handle", nil, (*acquiring).concurrentContenders},
}

func needsWaiting(s Suite) string {
	return unless(s.Waits, "an elector that answers at once gives its caller no time to give up")
}

func needsOwnRenewals(s Suite) string {
	return unless(s.RenewsItself, "Suite.RenewsItself is not set")
}

func needsRenewals(s Suite) string {
	return unless(s.RenewsOnDemand, "Suite.RenewsOnDemand is not set")
}

func needsRefusals(s Suite) string {
	return unless(s.RenewsOnDemand && s.Lose != nil, "Suite.RenewsOnDemand or Suite.Lose is not set")
}

func needsNoRenewals(s Suite) string {
	return unless(!s.RenewsOnDemand, "Suite.RenewsOnDemand is set")
}

func needsEnd(s Suite) string {
	return unless(s.Lease > 0 && !s.RenewsItself, "the lease has no end, or the library renews it")
}

func needsLoss(s Suite) string { return unless(s.Lose != nil, "Suite.Lose is not set") }

func needsBreak(s Suite) string { return unless(s.Break != nil, "Suite.Break is not set") }

func unless(ok bool, why string) string {
	if ok {
		return ""
	}
	return why
}

func (c conformanceCheck) runFor(t *testing.T, s Suite) {
	if c.needs != nil {
		if why := c.needs(s); why != "" {
			t.Skip(why)
		}
	}
	s.promises().try(t, func(tr *checkRun) { c.run(&acquiring{tr, s}) })
}

func (s Suite) promises() promises {
	return promises{
		options: s.Options, lease: s.Lease, virtual: s.VirtualTime, fenced: s.Fenced,
		renewsItself: s.RenewsItself, hidesSendTimes: s.HidesSendTimes, hidesRenewals: s.HidesRenewals, remaining: s.Remaining,
	}
}

// acquiring is a check run of an elector that is an Acquirer.
type acquiring struct {
	*checkRun
	suite Suite
}

// contender is another process that competes for the lock.
func (a *acquiring) contender() *contender {
	a.Helper()
	c := a.newContender()
	c.acquirer = inspected(a.checkRun, a.suite.New(a.TB, a.lock))
	return c
}

// holder is a contender that has won, and its term.
func (a *acquiring) holder() (*contender, *instrument.Term) {
	a.Helper()
	c := a.contender()
	return c, c.acquire(ruleFree)
}

// refused lets another contender try for a moment and reports its failure.
func (a *acquiring) refused(r rule) *contender {
	a.Helper()
	other := a.contender()
	within := a.moment()
	if !a.suite.Waits {
		within = max(a.lease*3/4, a.moment())
	}
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	if other.start(ctx).answer() == nil {
		a.stop(r, "another contender won")
	}
	return other
}

// next is a contender that wins at the latest a lease from now.
func (a *acquiring) next(r rule) (*contender, *instrument.Term) {
	a.Helper()
	c := a.contender()
	return c, c.winWithin(r, a.lease+a.patience(), a.suite.Waits)
}
