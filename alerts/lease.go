package alerts

import (
	"fmt"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/panel"
	"github.com/leaderscope/leaderscope/internal/query"
)

func nearLease(b builder) []draft {
	k := b.Alerts.NearLease
	window := k.Window.String()

	// A count, not a quantile: an average hides one slow run, and a quantile
	// cannot exceed the last bucket (G1).
	expr := query.Op(b.scope.NearLease(window, b.ScrapeInterval.String()), ">", atLeast(k.MinTimes))

	return []draft{{
		name: "NearLease", firing: k.Firing, expr: expr, panel: panel.LeaseUsage,
		summary: "Lock " + b.lock() + " comes close to the end of its lease",
		description: fmt.Sprintf("Runs or renewals of lock %s%s that used more than %v %% of the lease in the last %s: about {{ $value | printf \"%%.0f\" }}. "+
			"A little slower, and the lock is free while the work goes on.", b.lock(), b.where(), 100*catalog.NearLeaseBound, window),
	}}
}

func leaseExceeded(b builder) []draft {
	k, s := b.Alerts.LeaseExceeded, b.scope
	window := k.Window.String()
	overruns := s.Metric(catalog.LeaseOverruns)

	// The series begins when the lease is first known, so a short lease can
	// be overrun before the first sample (C27).
	expr := query.Op(s.By("sum", s.ByHolder("max", b.counted(overruns, window))), ">", atLeast(k.MinTimes))

	return []draft{{
		name: "LeaseExceeded", firing: k.Firing, expr: expr, panel: panel.Overruns,
		summary: "Lock " + b.lock() + " was held past the end of its lease",
		description: fmt.Sprintf("Terms of lock %s%s that ran past their lease in the last %s: about {{ $value | printf \"%%.0f\" }}. "+
			"From that moment another replica could have taken the lock while the work went on.%s", b.lock(), b.where(), window,
			b.replicas("Replicas", fmt.Sprintf("max by (%s) (max_over_time(%%s[%s])) > 0", b.HolderLabel, window), overruns)),
	}}
}

// counted are the events of a counter that begins in the life of a process, and
// perhaps with an event. That Prometheus saw the same process earlier, by a
// counter that is there from construction, tells such a birth from a history
// that was lost (B6).
func (b builder) counted(counter query.Expr, window string, matchers ...query.Matcher) query.Expr {
	attempts := b.scope.Metric(catalog.Attempts, matchers...)
	grown := part("grown", query.Over("increase", counter, window))
	late := query.Op(query.Over("count_over_time", attempts, window), ">", query.Over("count_over_time", counter, window))
	return query.Op(grown, "or", part("born", query.Op(query.Over("min_over_time", counter, window), "and", late)))
}

func lowHeadroom(b builder) []draft {
	k, s := b.Alerts.LowHeadroom, b.scope
	headroom := s.Metric(catalog.LeaseHeadroom, single)

	// Each replica against its own lease, which a rollout may change.
	left := query.Op(headroom, "/", s.Metric(catalog.LeaseDuration, single))
	// Where nothing marks a series as gone, the last words of a run that ended
	// close to its lease stay for five minutes (H6).
	fresh := query.Over("present_over_time", headroom, (b.ScrapeInterval * 3 / 2).String())
	expr := query.Op(s.By("min", query.Op(left, "and", fresh)), "<", query.Number(k.Share))

	return []draft{{
		name: "LowHeadroom", firing: k.Firing, expr: expr, panel: panel.Headroom,
		summary: "The lease of lock " + b.lock() + " runs out",
		description: fmt.Sprintf("{{ $value | humanizePercentage }} of the lease of lock %s%s are left while a term is open, and have been less than %v %% for more than %s; "+
			"below zero it has ended. Another replica may take the lock while the work goes on.%s", b.lock(), b.where(), 100*k.Share, k.For,
			b.replicas("Replicas", "min by ("+b.HolderLabel+") (%s)", headroom)),
	}}
}

func workAfterLoss(b builder) []draft {
	k, s := b.Alerts.WorkAfterLoss, b.scope
	window := k.Window.String()

	work := s.Metric(catalog.WorkAfterLoss)

	// The worst replica, not the sum: noticing a loss takes each a moment.
	// The window is long so that a process that was suspended, and could not
	// be scraped meanwhile, is caught by its sample before and after (C16).
	expr := query.Op(s.By("max", query.Over("increase", work, window)), ">", seconds(k.Tolerance))

	return []draft{{
		name: "WorkAfterLoss", firing: k.Firing, expr: expr, panel: panel.WorkAfterLoss,
		summary: "Work went on after lock " + b.lock() + " was lost",
		description: fmt.Sprintf("A replica%s worked for {{ $value | humanizeDuration }} in the last %s after it had lost lock %s. "+
			"Another replica may have done the same work at the same time.%s", b.where(), window, b.lock(),
			b.replicas("Replicas", fmt.Sprintf("max by (%s) (increase(%%s[%s])) > %s", b.HolderLabel, window, seconds(k.Tolerance)), work)),
	}}
}
