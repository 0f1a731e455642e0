package alerts

import (
	"fmt"

	"github.com/prometheus/common/model"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/condition"
	"github.com/leaderscope/leaderscope/internal/query"
)

// MetricsAbsent: no replica exports leader election metrics.
type MetricsAbsent struct {
	// Critical fires if the job held a lock when it was last scraped.
	Critical Absence `yaml:"critical" help:"Fires for a job that held a lock when it was last scraped."`
	// Warning fires for every job.
	Warning Absence `yaml:"warning" help:"Fires for every job, and if no job exports leader election metrics."`
}

// Absence is one severity of MetricsAbsent.
type Absence struct {
	Firing `yaml:",inline"`
	// Lookback is how long the alert fires for a job that had metrics.
	Lookback model.Duration `yaml:"lookback" help:"how long the alert fires for a job that is gone"`
}

func (*MetricsAbsent) about() about {
	return about{
		Condition: condition.MetricsAbsent, id: "M",
		fires: "no replica of a job exports metrics any longer, or no job ever did; critical if the job held a lock",
		note:  "No replica exports leader election metrics.",
	}
}

func (k *MetricsAbsent) preset() {
	*k = MetricsAbsent{
		// Longer than a deployment that stops all replicas first (M3).
		Critical: Absence{Firing: fires(critical, 6, 0), Lookback: minutes(180)},
		Warning:  Absence{Firing: fires(warning, 10, 0), Lookback: minutes(60)},
	}
}

func (k *MetricsAbsent) validate(c check) {
	c.below("critical").missed(k.Critical.Lookback, k.Critical.Firing)
	c.below("warning").missed(k.Warning.Lookback, k.Warning.Firing)
	c.distinct("warning", k.Critical.Firing, k.Warning.Firing)
}

// longLived is how many samples a replica must have before the alert covers its job.
// Short-lived processes have fewer (M7); JobOverdue covers their jobs.
const longLived = 10

func (k *MetricsAbsent) rules(b builder) []draft {
	s, targets := b.scope, b.scope.TargetLabels()
	active, there := s.Metric(catalog.Active), b.exporting()

	seen := query.Op(query.By("max", targets, query.Over("count_over_time", active, k.Warning.Lookback.String())), ">", query.Number(longLived))
	missed := query.Op(seen, "unless", there)
	// A job that never had metrics looks the same as no job: its absence is known only
	// if no job has metrics (M2).
	missed = query.Op(missed, "or on ()", query.Call("absent", active))

	// The last samples of each replica say whether it held a lock.
	within := k.Critical.Lookback.String()
	led := query.By("group", targets, s.Of(query.Op(query.Over("last_over_time", active, within), ">", "0"), query.Over("last_over_time", s.HoldInfo(), within)))

	summary := "No leader election metrics" + b.where()
	return []draft{{
		firing: k.Critical.Firing, expr: query.Op(led, "unless", there), summary: summary + ", which held a lock",
		description: fmt.Sprintf("No replica%s has exported %s for more than %s, and one of them held a lock when it was last scraped. "+
			"Check that the replicas run and are scraped: if they are down, the leader's work is not being done.", b.where(), active, k.Critical.For),
	}, {
		firing: k.Warning.Firing, expr: missed, summary: summary,
		description: fmt.Sprintf("No replica%s has exported %s for more than %s. "+
			"Check that the replicas run and are scraped: without their metrics, most other alerts about their locks cannot fire.",
			b.where(), active, k.Warning.For),
	}}
}

func (k *MetricsAbsent) detect(d *detector) {
	d.level(k.Critical.Firing, "the loss of the last target", 0, 0, "jobs without any sample")
	d.level(k.Warning.Firing, "the loss of the last target", 0, 0, "jobs without any sample; processes that live for seconds")
}
