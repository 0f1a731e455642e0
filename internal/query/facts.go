package query

import (
	"slices"
	"strings"

	"github.com/prometheus/prometheus/model/labels"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/condition"
	"github.com/leaderscope/leaderscope/internal/panel"
)

// Facts has the expressions of panels and recording rules about locks. They read the
// series of the replicas or, if Recorded is set, the series that the rules of
// [Facts.Recordings] record.
type Facts struct {
	Scope
	Limits
	// Recorded reads recorded series: one per lock, for any number of replicas.
	Recorded bool
	// AlertMatchers are added to selectors of alerts.
	AlertMatchers []Matcher
	// JobMatcher is the one of Matchers that chooses a job; it does not apply where
	// another job may lead the same lock.
	JobMatcher Matcher
}

// Limits are the thresholds and windows of the alerts that facts share with
// them. Windows are durations of PromQL.
type Limits struct {
	// ErrorShare and MinErrors are the thresholds for backend errors of a lock.
	ErrorShare  float64
	MinErrors   int
	ErrorWindow string
	// LeaseWindow is the lookback window for runs that came near their lease.
	LeaseWindow string
	// RateWindow is the shortest one over which a rate can be taken.
	RateWindow string
}

// Active is 1 for locks that any replica holds.
func (f Facts) Active() Expr {
	if f.Recorded {
		return f.recorded(RecordedActive)
	}
	return f.By("max", f.Metric(catalog.Active))
}

// Seen is the locks that are reported: those that replicas export, and those whose
// alert fires.
func (f Facts) Seen() Expr {
	exported := f.Metric(catalog.Active)
	if f.Recorded {
		exported = f.Recording(RecordedActive)
	}
	return f.By("group", Op(f.Reporting(), "or", exported))
}

// Mode selects the locks of one mode.
func (f Facts) Mode(m catalog.Mode) Expr {
	only := Equal(modeLabel(), m.String())
	if f.Recorded {
		return f.recorded(RecordedActive, only)
	}
	return f.By("max", f.Metric(catalog.ElectorInfo, only))
}

// ActiveIn is 1 for locks of that mode that any replica holds.
func (f Facts) ActiveIn(m catalog.Mode) Expr {
	switch {
	case f.Recorded:
		return f.recorded(RecordedActive, Equal(modeLabel(), m.String()))
	case m == catalog.ModeHold:
		return f.Held(f.Active())
	}
	return f.Run(f.Active())
}

// Held keeps the locks that some replica campaigns for.
func (f Facts) Held(e Expr) Expr { return Op(e, "and", f.Mode(catalog.ModeHold)) }

// Run leaves out locks that some replica campaigns for.
func (f Facts) Run(e Expr) Expr { return Op(e, "unless", f.Mode(catalog.ModeHold)) }

// Claims counts the leases held for a lock; a replica scraped by two
// Prometheus servers counts once.
func (f Facts) Claims(matchers ...Matcher) Expr {
	if f.Recorded {
		return f.recorded(RecordedClaims, matchers...)
	}
	return f.By("sum", f.ByHolder("max", f.Metric(catalog.Active, matchers...)))
}

// Allowed is the number of leaders that the elector allows at once.
func (f Facts) Allowed() Expr {
	if f.Recorded {
		return f.recorded(RecordedAllowed)
	}
	return f.By("max", f.Metric(catalog.MaxLeaders))
}

// Crowded keeps the locks with more leaders than allowed. Labels that several locks
// share are left out: they may have two leaders without a problem.
func (f Facts) Crowded() Expr {
	if f.Recorded {
		return f.recorded(RecordedCrowded)
	}
	return Op(f.Claims(SingleLock()), ">", f.Allowed())
}

// Leading keeps the replicas that lead.
func (f Facts) Leading() Expr {
	if f.Recorded {
		return f.ByHolder("max", f.Recording(RecordedLeading))
	}
	return Op(f.ByHolder("max", f.Metric(catalog.Active)), ">", Number(0))
}

// AnyLeader keeps one replica that leads, for each lock.
func (f Facts) AnyLeader() Expr { return f.By("topk", "1, "+f.Leading()) }

// ErrorShare is the share of attempts that met a backend error; a lock that
// no replica tried for has none.
func (f Facts) ErrorShare() Expr {
	if f.Recorded {
		return f.recorded(f.recordedErrorShare())
	}
	return Op(f.BackendErrorShare(f.ErrorWindow), ">=", Number(0))
}

// Errors counts the recent attempts that met a backend error.
func (f Facts) Errors() Expr {
	if f.Recorded {
		return f.recorded(f.recordedErrors())
	}
	return f.BackendErrors(f.ErrorWindow)
}

// Erring keeps the locks whose attempts meet backend errors too often.
func (f Facts) Erring() Expr {
	return Op(Op(f.ErrorShare(), ">", Number(f.Limits.ErrorShare)), "and", Op(f.Errors(), ">", Number(float64(f.MinErrors)-0.5)))
}

// NearLeaseWithin counts the uses of a lease in a window that took most of it.
func (f Facts) NearLeaseWithin(window string) Expr {
	if f.Recorded {
		return f.mostOf(f.recordedNearLease(f.RateWindow), window)
	}
	return f.NearLease(window)
}

// mostOf is the maximum of a recorded series in a window; each recorded value covers
// the shortest window of a rate.
func (f Facts) mostOf(recorded, window string, matchers ...Matcher) Expr {
	return f.By("max", Over("max_over_time", f.Recording(recorded, matchers...), window))
}

// NearLeaseLately is that for the window of the alert.
func (f Facts) NearLeaseLately() Expr {
	if f.Recorded {
		return f.recorded(f.recordedNearLease(f.LeaseWindow))
	}
	return f.NearLeaseWithin(f.LeaseWindow)
}

// Overruns counts the terms in a window that ran past the end of their lease.
func (f Facts) Overruns(window string) Expr {
	if f.Recorded {
		return f.mostOf(f.recordedOverruns(f.RateWindow), window)
	}
	return f.Increased(catalog.LeaseOverruns, window)
}

// OverrunsLately is that for the window of the alert.
func (f Facts) OverrunsLately() Expr {
	if f.Recorded {
		return f.recorded(f.recordedOverruns(f.LeaseWindow))
	}
	return f.Overruns(f.LeaseWindow)
}

// Failures counts the guarded bodies in a window that failed in one way.
func (f Facts) Failures(cause, window string) Expr {
	only := Equal(causeLabel(), cause)
	if f.Recorded {
		return f.mostOf(f.recordedFailures(), window, only)
	}
	return f.Increased(catalog.ExecutionFailures, window, only)
}

// Regressed keeps the locks whose fencing token went back in a window.
func (f Facts) Regressed(window string) Expr {
	went := f.Increased(catalog.FencingTokenRegressions, window)
	if f.Recorded {
		went = f.mostOf(f.recordedRegressions(), window)
	}
	return Op(went, ">", Number(0))
}

// WorkAfterLoss is the time in a window that each replica worked without its
// lock. What is recorded leaves out replicas that did not, but for leaders.
func (f Facts) WorkAfterLoss(window string) Expr {
	if f.Recorded {
		return f.ByHolder("max", Over("max_over_time", f.Recording(f.RecordedWorkAfterLoss()), window))
	}
	return f.ByHolder("sum", Over("increase", f.Metric(catalog.WorkAfterLoss), window))
}

// Headroom is the time left until the lease ends; negative once it has.
func (f Facts) Headroom() Expr {
	if f.Recorded {
		return By("min", f.Labels, f.Recording(RecordedHeadroom))
	}
	return f.By("min", f.Metric(catalog.LeaseHeadroom))
}

// LeaseLength is the length of the lease.
func (f Facts) LeaseLength() Expr {
	if f.Recorded {
		return f.recorded(RecordedLease)
	}
	return f.By("max", f.Metric(catalog.LeaseDuration))
}

// LeaseLeft is the headroom as a share of the lease.
func (f Facts) LeaseLeft() Expr {
	if f.Recorded {
		return By("min", f.Labels, f.Recording(RecordedLeaseLeft))
	}
	return Op(f.Headroom(), "/", f.LeaseLength())
}

// RunLease is the length of the lease of locks taken for single runs.
func (f Facts) RunLease() Expr {
	if f.Recorded {
		return f.recorded(RecordedRunLease)
	}
	return f.Run(f.LeaseLength())
}

// Waiting is the age of the oldest attempt in flight. Standbys of a held lock
// that has a leader wait for as long as it leads and are left out.
func (f Facts) Waiting() Expr {
	if f.Recorded {
		return f.recorded(RecordedWaiting)
	}
	led := f.Held(Op(f.Active(), ">", Number(0)))
	return Op(f.By("max", f.Metric(catalog.PendingAge)), "unless", led)
}

// Won keeps the held locks that were recently won. Locks for single runs are won all
// the time, and are left out.
func (f Facts) Won() Expr {
	if f.Recorded {
		return Op(f.recorded(f.RecordedWon(), Equal(modeLabel(), catalog.ModeHold.String())), ">", Number(0.5))
	}
	return f.Held(Op(f.Increased(catalog.Acquired, f.RateWindow), ">", Number(0.5)))
}

// Quantile of a native histogram per lock; missing where nothing was observed.
// Classic buckets are too wide: what is estimated within one may be several
// times too great.
func (f Facts) Quantile(phi float64, m *catalog.Metric, window string) Expr {
	native := f.By("sum", Over("rate", f.Metric(m), window))
	return Op(Call("histogram_quantile", Number(phi), native), ">=", Number(0)) // drops NaN
}

// RunQuantile is a quantile of the duration of runs, and RunAverage the average;
// held leaderships are left out. Recorded ones are taken over the shortest
// window, and the greatest of them in this one is meant.
func (f Facts) RunQuantile(phi float64, window string) Expr {
	if f.Recorded {
		return f.mostOf(f.recordedQuantile(phi), window)
	}
	return f.Run(f.Quantile(phi, catalog.ExecutionDuration, window))
}

// RunAverage is explained at [Facts.RunQuantile].
func (f Facts) RunAverage(window string) Expr {
	if f.Recorded {
		return f.mostOf(f.recordedAverage(), window)
	}
	return f.Run(f.Average(catalog.ExecutionDuration, window))
}

// State is the number of the worst state of a lock; see [condition.States]. A state
// with an alert comes from the alert itself, so that both always agree; the other
// states may be temporary.
func (f Facts) State() Expr {
	now := f.now()
	if f.Recorded {
		now = f.recorded(RecordedState)
	}
	return f.By("max", Op(f.Reported(), "or", now))
}

// FamilyLabel names the kind of a lock whose own label may be a hash.
const FamilyLabel = "family"

// Families is 1 for each family that replicas name for a lock.
func (f Facts) Families() Expr {
	return By("max", append(slices.Clone(f.Labels), FamilyLabel), f.named())
}

// Family is one series with the family of each lock.
func (f Facts) Family() Expr { return f.By("topk", "1, "+f.named()) }

// named selects the series that name the family of a lock.
func (f Facts) named() Expr {
	if f.Recorded {
		return f.Recording(RecordedFamily)
	}
	return f.Metric(catalog.ElectorInfo, Unequal(FamilyLabel, ""))
}

// Reported is the state of each lock whose alert fires, for each alert. The alerts are
// selected once and joined with a table of short names and numbers: one selector per
// alert would make the query too long for a URL. The warning of an alert that pages
// too has a row of its own.
func (f Facts) Reported() Expr {
	var table Expr
	var warn []string
	for _, c := range condition.States() {
		if c.Alert == "" {
			continue
		}
		name := c.Alert
		if c.Warns {
			warn = append(warn, c.Alert)
			name = warning[:1] + c.Alert
		}
		row := Call("label_replace", Call("vector", Number(float64(c.State()))), Text(shortName), Text(name), Text(""), Text(""))
		if table != "" {
			row = Op(table, "or", row)
		}
		table = row
	}
	joined := Call("label_join", f.Reporting(), Text(shortName), Text(""), Text(SeverityLabel), Text(labels.AlertName))
	// The first alternative that matches wins.
	short := "(" + warning[:1] + ")" + warning[1:] + ".*(" + strings.Join(warn, "|") + ")|.*" + panel.AlertPrefix + "(.+)"
	named := Call("label_replace", joined, Text(shortName), Text("$1$2$3"), Text(shortName), Text(short))
	return Op(named, "* on ("+shortName+") group_left ()", table)
}

// shortName is the name of an alert without the common prefix. Before the name of
// an alert that pages too stands a letter, if the severity is a warning.
const (
	shortName = "n"
	warning   = "warning"
)

// SeverityLabel is the label with the severity of an alert. Alerts with another
// label, or with other words for a warning, read as the page does.
const SeverityLabel = "severity"

// Reporting selects all alerts that fire.
func (f Facts) Reporting() Expr {
	return f.firing(Matches(labels.AlertName, panel.AlertPrefix+".+"))
}

// Paging selects the alerts of a condition that fire, other than as a warning.
func (f Facts) Paging(c *condition.Condition) Expr {
	return f.firing(Equal(labels.AlertName, panel.AlertPrefix+c.Alert), Unequal(SeverityLabel, warning))
}

func (f Facts) firing(matchers ...Matcher) Expr {
	return Selector("ALERTS", slices.Concat(matchers, []Matcher{Equal("alertstate", "firing")}, f.AlertMatchers)...)
}

// now is the states that the series of the replicas show, where that is cheap; the
// greatest of a lock counts. Or prefers its left side, so that what is active and not
// led runs, and what no replica holds and no other job leads has no leader. The replicas
// that work without the lock keep their labels, and stand beside all else. States
// that need a window come from the alerts.
func (f Facts) now() Expr {
	e := mark(condition.UnprotectedNow, f.unprotected())
	if f.severalJobs() {
		e = Op(e, "or", mark(condition.LedElsewhere, f.LedElsewhere()))
	}
	for _, s := range []Expr{
		mark(condition.NotSeen, f.unseen(f.unheld())),
		mark(condition.ManyNow, f.Crowded()),
		markEither(condition.NoLeaderNow, condition.Led, f.ActiveIn(catalog.ModeHold)),
		markEither(condition.Idle, condition.Running, f.Active()),
	} {
		e = Op(e, "or", s)
	}
	return e
}

// Unprotected keeps the replicas that work although they do not hold the lock.
func (f Facts) Unprotected() Expr { return f.ByHolder("max", f.unprotected()) }

func (f Facts) unprotected() Expr {
	if f.Recorded {
		return f.Recording(RecordedUnprotected)
	}
	return Op(Op(f.Metric(catalog.Running), ">", Number(0)), "unless "+On(f.HolderLabels()), f.Led())
}

// Unseen keeps the leaderless locks whose last leader cannot be scraped and may still
// lead.
func (f Facts) Unseen() Expr { return f.unseen(f.Leaderless()) }

func (f Facts) unseen(leaderless Expr) Expr {
	return f.Of(leaderless, f.downLeaders())
}

// UnseenLeaders keeps those last leaders.
func (f Facts) UnseenLeaders() Expr {
	return Op(f.ByHolder("max", f.downLeaders()), "and "+On(f.Labels), f.Leaderless())
}

// downLeaders led within the window and cannot be scraped.
func (f Facts) downLeaders() Expr {
	replica := append(f.TargetLabels(), f.Holder)
	led := Op(Over("last_over_time", f.Metric(catalog.Active), unseenWindow), ">", Number(0))
	down := Op(By("max", replica, f.Up()), "==", Number(0))
	return Op(led, "and "+On(replica), down)
}

// unseenWindow is how long a replica that led, and is not scraped, counts as the
// leader.
const unseenWindow = "15m"

// mark gives all series of e the number of a state.
func mark(c *condition.Condition, e Expr) Expr {
	n := Number(float64(c.State()))
	return Call("clamp", e, n, n)
}

// markEither gives the series of e that are 0 the number of one state, and the others
// that of another.
func markEither(free, held *condition.Condition, e Expr) Expr {
	low, high := float64(free.State()), float64(held.State())
	switch share := Call("clamp_max", e, "1"); {
	case low == 0:
		return Op(Number(high), "*", share)
	case low > high:
		return Op(Number(low), "-", Op(Number(low-high), "*", share))
	default:
		return Op(Number(low), "+", Op(Number(high-low), "*", share))
	}
}

func causeLabel() string {
	cause, _ := catalog.ExecutionFailures.Label("cause")
	return cause.Name()
}

func modeLabel() string {
	mode, _ := catalog.ElectorInfo.Label("mode")
	return mode.Name()
}
