package alerts

import (
	"fmt"

	"github.com/prometheus/common/model"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/condition"
	"github.com/leaderscope/leaderscope/internal/query"
)

// TaskFailing: guarded bodies return errors or panic.
type TaskFailing struct {
	Firing `yaml:",inline"`
	Window model.Duration `yaml:"window" help:"lookback window"`
	// MinFailures is the least number of failures in the window.
	MinFailures int `yaml:"minFailures" help:"minimum number of failures in the window"`
	// Share of runs, from 0 to 1, above which the alert fires.
	Share float64 `yaml:"share" help:"share of runs, 0 to 1, above which it fires; 0 fires on every failure"`
	// Interval is the time between evaluations; 0 uses that of the group.
	Interval model.Duration `yaml:"interval" help:"time between evaluations, in a group of its own; 0s uses that of the group"`
}

func (*TaskFailing) about() about {
	return about{
		Condition: condition.TaskFailing, id: "T",
		fires: "guarded bodies return errors or panic",
		note:  "Guarded bodies return errors or panic.",
	}
}

func (k *TaskFailing) preset() {
	*k = TaskFailing{Firing: fires(warning, 0, 15), Window: minutes(60), MinFailures: 1, Share: 0.1, Interval: slowInterval}
}

func (k *TaskFailing) validate(c check) {
	c.windowed(k.Window, k.Firing)
	c.interval(k.Interval, k.Window, k.Enabled)
	c.atLeastOne("minFailures", k.MinFailures, k.Enabled)
	c.share("share", "runs", k.Share, k.Enabled)
}

func (k *TaskFailing) rules(b builder) []draft {
	s, window := b.scope, k.Window.String()
	failures, acquired := s.Metric(catalog.ExecutionFailures), s.Metric(catalog.Acquired)

	some := func(function string) query.Expr {
		return s.ByHolder("sum", query.Op(query.Over(function, failures, window), ">", "0"))
	}
	grown := part("grown", some("increase"))
	// A short-lived process that fails before its first sample has no increase
	// (C27). If all its runs failed, and it acquired the lock in the window, at least
	// one failure is in the window.
	all := query.Op(some("last_over_time"), ">=", s.ByHolder("sum", query.Op(query.Over("last_over_time", acquired, window), ">", "0")))
	lately := s.ByHolder("max", query.Op(query.Over("max_over_time", s.Metric(catalog.LastAcquired), window), ">", b.ago(k.Window)))
	born := part("born", query.Call("clamp_max", query.Op(all, "and", lately), "1"))
	failed := s.By("sum", s.ByHolder("max", query.Op(grown, "or", born)))
	// A job that runs frequently may fail up to a share of its runs; for a rare job,
	// each failure counts. Runs are acquisitions, or bodies if several run in a term;
	// the histogram of a process starts with its first run, the counter before it
	// (T13).
	runs := s.By("sum", s.ByHolder("max", query.Op(part("terms", query.Op(query.Over("increase", acquired, window), ">", "0")), "or",
		part("bodies", query.Op(s.Observed(catalog.ExecutionDuration, window), ">", "0")))))
	// A process that is sampled once has no increase (T14).
	runs = query.Op(runs, "or", query.Op("0", "*", s.By("max", query.Over("last_over_time", s.Metric(catalog.LastAcquired), window))))
	tolerated := query.Call("clamp_min", query.Op(query.Number(k.Share), "*", runs), atLeast(k.MinFailures))
	expr := query.Op(failed, ">", tolerated)

	return []draft{draft{
		firing: k.Firing, expr: expr,
		summary: "The work under lock " + b.lock() + " fails",
		description: fmt.Sprintf("About {{ $value | printf \"%%.0f\" }} of the runs under lock %s%s in the last %s returned an error or panicked: locking worked, but the job failed or was only partly done. "+
			"See the logs of the replicas for the error.%s",
			b.lock(), b.where(), window,
			b.replicas("Most affected replicas", fmt.Sprintf("sum by (%s) (max_over_time(%%s[%s])) > 0", b.HolderLabel, window), failures)),
	}.every("", k.Interval)}
}

func (k *TaskFailing) detect(d *detector) {
	d.every(k.Interval, k.Firing, "the failed run that exceeds the threshold", 0, d.scrape, dies)
}
