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
	overruns, attempts := s.Metric(catalog.LeaseOverruns), s.Metric(catalog.Attempts)

	grown := part("grown", query.Over("increase", overruns, window))
	// The series begins when the lease is first known, so a short lease can
	// be overrun before the first sample (C27). That Prometheus saw the same
	// process earlier tells this birth from a history that was lost (B6).
	late := query.Op(query.Over("count_over_time", attempts, window), ">", query.Over("count_over_time", overruns, window))
	born := part("born", query.Op(query.Over("min_over_time", overruns, window), "and", late))
	expr := query.Op(s.By("sum", s.ByHolder("max", query.Op(grown, "or", born))), ">", atLeast(k.MinTimes))

	return []draft{{
		name: "LeaseExceeded", firing: k.Firing, expr: expr, panel: panel.Overruns,
		summary: "Lock " + b.lock() + " was held past the end of its lease",
		description: fmt.Sprintf("Terms of lock %s%s that ran past their lease in the last %s: about {{ $value | printf \"%%.0f\" }}. "+
			"From that moment another replica could have taken the lock while the work went on.%s", b.lock(), b.where(), window,
			b.replicas("Replicas", fmt.Sprintf("max by (%s) (max_over_time(%%s[%s])) > 0", b.HolderLabel, window), overruns)),
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
