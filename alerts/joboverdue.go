package alerts

import (
	"fmt"
	"math"
	"time"

	"github.com/prometheus/common/model"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/condition"
	"github.com/leaderscope/leaderscope/internal/query"
)

// JobOverdue: a lock with a declared interval was not acquired in time.
type JobOverdue struct {
	Firing `yaml:",inline"`
	// Intervals is how many declared intervals may pass after the last acquisition.
	Intervals float64 `yaml:"intervals" help:"declared intervals that may pass since the last acquisition"`
	// Grace is added to that, for the time until a scrape and for clock skew.
	Grace model.Duration `yaml:"grace" help:"added to that, for the time until a scrape and for clock skew"`
	// Lookback bounds the search for acquisitions by replicas that are gone.
	// Only intervals well below it are covered across a rollout.
	Lookback model.Duration `yaml:"lookback" help:"how far back acquisitions are searched; must exceed intervals times the longest declared interval"`
	// Interval is the time between evaluations, each of which reads all samples of the
	// lookback; 0 uses that of the group.
	Interval model.Duration `yaml:"interval" help:"time between evaluations, in a group of its own; 0s uses that of the group"`
}

func (*JobOverdue) about() about {
	return about{
		Condition: condition.JobOverdue, id: "J",
		fires: "a job with a declared interval has not run in time",
		note:  "A lock with a declared interval was not acquired in time.",
	}
}

// The lookback is longer than a day and a half, which is when a daily job is
// overdue.
func (k *JobOverdue) preset() {
	*k = JobOverdue{Firing: fires(warning, 0, 0), Intervals: 1.5, Grace: minutes(2), Lookback: minutes(48 * 60), Interval: minutes(5)}
}

func (k *JobOverdue) validate(c check) {
	c.firing("", k.Firing)
	if !k.Enabled {
		return
	}
	c.require(k.Intervals >= 1 && k.Intervals <= 100, "intervals", "%v is out of range: below 1 each job would be overdue between two runs; use 1 to 100", k.Intervals)
	c.require(k.Grace >= 2*c.slowest(), "grace", "%s is shorter than two samples %s apart, and a run is not seen sooner; use at least %s", k.Grace, c.slowest(), 2*c.slowest())
	c.require(k.Lookback > k.Grace, "lookback", "%s is not longer than grace, which is %s, so no job could be overdue; make it longer", k.Lookback, k.Grace)
	c.interval(k.Interval, k.Lookback, true)
}

func (k *JobOverdue) rules(b builder) []draft {
	s := b.scope
	acquired := s.Metric(catalog.LastAcquired, single)

	// The newest acquisition, including those of replicas that are gone (J6).
	waited := query.Op(query.Call("time"), "-", s.By("max", query.Over("max_over_time", acquired, k.Lookback.String())))
	due := k.due(b)
	// A running replica that has won exports when that was, independent of what
	// Prometheus has stored (C31). A job without any running process is overdue as
	// well: its processes live shorter than its interval, or are dead (J15).
	gone := query.Op(due, "unless "+query.On(s.TargetLabels()), b.exporting())
	attested := query.Op(s.By("max", acquired), "or", gone)
	expr := query.Op(query.Op(waited, ">", due), "and", attested)
	// Otherwise the lock must have been declared for the whole time: a service that
	// was stopped is not overdue for that time (J4), and a job that never ran is
	// overdue from its start (J3).
	expr = query.Op(expr, "or", query.Op(k.declaredSince(b), "unless", query.Op(waited, "<=", due)))
	// A held lock is acquired only once (J8).
	expr = s.Without(expr, s.HoldInfo(single))

	return []draft{draft{
		firing: k.Firing, expr: expr,
		summary: "The job behind lock " + b.lock() + " is overdue",
		description: fmt.Sprintf("Lock %s%s has not been acquired for {{ $value | humanizeDuration }} or longer, more than %v times its declared interval: its job has not run in time. "+
			"Check that the scheduler of the job runs, and why attempts fail.%s",
			b.lock(), b.where(), k.Intervals,
			b.replicas("A run that hangs blocks all others. The lock is held by", "max by ("+b.HolderLabel+") (%s) > 0", s.Metric(catalog.Active, single))),
	}.every("", k.Interval)}
}

func (k *JobOverdue) detect(d *detector) {
	d.every(k.Interval, k.Firing, fmt.Sprintf("%v declared intervals after the last acquisition", k.Intervals), time.Duration(k.Grace), time.Duration(k.Grace),
		"jobs that declare no interval, or one longer than the lookback allows")
}

// due is the time after which a job is overdue, including jobs whose processes are
// gone.
func (k *JobOverdue) due(b builder) query.Expr {
	interval := b.scope.Metric(catalog.ExpectedInterval, single)
	longest := b.scope.By("max", query.Over("last_over_time", interval, k.Lookback.String()))
	return query.Op(query.Op(query.Number(k.Intervals), "*", longest), "+", seconds(k.Grace))
}

// declaredSince is the least time for which locks have been declared, if that is
// long enough to be overdue. Each lock is checked at one time only: the first of a
// ladder of times that exceeds its due time. A short gap during a rollout does not
// restart the wait (J13).
func (k *JobOverdue) declaredSince(b builder) query.Expr {
	s, interval := b.scope, b.scope.Metric(catalog.ExpectedInterval, single)
	window := query.Expr(b.gap().String())
	var rungs []query.Expr
	shortest := 0.0
	for _, step := range k.ladder() {
		longest := math.Floor(time.Duration(step-k.Grace).Seconds() / k.Intervals)
		judged := query.Op(query.Op(interval, ">", query.Number(shortest)), "<=", query.Number(longest))
		there := query.Call("last_over_time", query.Offset(s.Metric(catalog.ExpectedInterval)+"["+window+"]", step.String()))
		rungs = append(rungs, query.Op(seconds(step), "+", query.Op("0", "*", s.By("max", s.Of(judged, there)))))
		shortest = longest
	}
	return query.Any(rungs...)
}

// ladder doubles from the shortest time to the lookback.
func (k *JobOverdue) ladder() (steps []model.Duration) {
	step := 5 * k.Grace / 2
	for ; step < k.Lookback; step *= 2 {
		steps = append(steps, step)
	}
	return append(steps, k.Lookback)
}
