package alerts

import (
	"fmt"
	"time"

	"github.com/prometheus/common/model"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/panel"
	"github.com/leaderscope/leaderscope/internal/query"
)

func jobOverdue(b builder) []draft {
	k, s := b.Alerts.JobOverdue, b.scope
	interval, acquired := s.Metric(catalog.ExpectedInterval, single), s.Metric(catalog.LastAcquired, single)

	// The newest acquisition, of replicas that are gone too (J6).
	newest := part("acquired", query.Over("max_over_time", acquired, k.Lookback.String()))
	// A replica that has won and lives says by itself how long ago that was,
	// whatever Prometheus has seen (C31). Where there is none, the wait begins
	// when the lock came up: a service that was switched off owes nothing for
	// that time (J4), and a job that never ran owes from its start (J3).
	begun := part("declared", query.Op(b.declared(interval), "unless", s.By("max", acquired)))
	waited := query.Op(query.Call("time"), "-", s.By("max", query.Op(newest, "or", begun)))
	expr := query.Op(waited, ">",
		query.Op(query.Op(query.Number(k.Intervals), "*", s.By("max", interval)), "+", seconds(k.Grace)))
	// A lock that is held is acquired once and for all (J8).
	expr = query.Op(expr, "unless", query.Op(s.Hold(single), "==", "1"))

	return []draft{{
		name: "JobOverdue", firing: k.Firing, expr: expr, panel: panel.Locks, interval: k.Interval,
		summary: "The job behind lock " + b.lock() + " is overdue",
		description: fmt.Sprintf("Lock %s%s was not acquired for {{ $value | humanizeDuration }}, which is more than %v times the interval that it was declared with.%s",
			b.lock(), b.where(), k.Intervals,
			b.replicas("A run that does not end keeps others out; the lock is held by", "max by ("+b.HolderLabel+") (%s) > 0", s.Metric(catalog.Active, single))),
	}}
}

// declared is when the interval of a lock was first declared after nobody had
// declared it for a while, or else the beginning of the lookback. A rollout
// that leaves a short gap does not begin the wait anew (J13).
func (b builder) declared(interval query.Expr) query.Expr {
	k, s := b.Alerts.JobOverdue, b.scope
	// About 300 steps, whatever the lookback: 10 minutes of two days.
	step := model.Duration(max(time.Duration(b.ScrapeInterval), (time.Duration(k.Lookback) / 288).Round(time.Second)))
	window := (3 * step).String()
	now := s.By("max", query.Over("last_over_time", interval, window))
	before := s.By("max", query.Call("last_over_time", query.Offset(interval+"["+query.Expr(window)+"]", step.String())))
	began := query.Op(query.Call("time"), "+", query.Op("0", "*", query.Op(now, "unless", before)))
	latest := query.Over("max_over_time", "("+began+")", k.Lookback.String()+":"+step.String())
	return query.Op(latest, "or", query.Op(query.Op(query.Call("time"), "-", seconds(k.Lookback)), "+", query.Op("0", "*", s.By("max", interval))))
}

func taskFailing(b builder) []draft {
	k, s := b.Alerts.TaskFailing, b.scope
	window := k.Window.String()
	failures := s.Metric(catalog.ExecutionFailures)

	grown := part("grown", s.ByHolder("sum", query.Over("increase", failures, window)))
	// A short-lived process that fails before its first sample has no increase
	// (C27). If all that it ever did failed, and it acquired the lock in the
	// window, at least one failure is of the window.
	all := query.Op(s.ByHolder("sum", query.Over("last_over_time", failures, window)), ">=",
		s.ByHolder("sum", query.Over("last_over_time", s.Metric(catalog.Acquired), window)))
	lately := query.Op(s.ByHolder("max", query.Over("max_over_time", s.Metric(catalog.LastAcquired), window)), ">",
		query.Op(query.Call("time"), "-", seconds(k.Window)))
	born := part("born", query.Call("clamp_max", query.Op(all, "and", lately), "1"))
	failed := s.By("sum", s.ByHolder("max", query.Op(grown, "or", born)))
	// Failures of a job that runs all the time are tolerated up to a share of
	// its runs; of a rare one each is worth a look.
	runs := query.Op(s.Observed(catalog.ExecutionDuration, catalog.Acquired, window, b.ScrapeInterval.String()), "or", query.Op("0", "*", s.By("max", query.Over("max_over_time", s.Metric(catalog.Acquired), window))))
	tolerated := query.Call("clamp_min", query.Op(query.Number(k.Share), "*", runs), atLeast(k.MinFailures))
	expr := query.Op(failed, ">", tolerated)

	return []draft{{
		name: "TaskFailing", firing: k.Firing, expr: expr, panel: panel.Failures,
		summary: "The work under lock " + b.lock() + " fails",
		description: fmt.Sprintf("Runs under lock %s%s that returned an error or panicked in the last %s: about {{ $value | printf \"%%.0f\" }}. The lock did its part.%s",
			b.lock(), b.where(), window,
			b.replicas("Most of them on", fmt.Sprintf("sum by (%s) (max_over_time(%%s[%s])) > 0", b.HolderLabel, window), failures)),
	}}
}
