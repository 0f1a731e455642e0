package alerts

import (
	"fmt"
	"time"

	"github.com/prometheus/common/model"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/condition"
	"github.com/leaderscope/leaderscope/internal/query"
)

// AttemptStuck: an attempt waits for longer than the history of its lock
// explains.
type AttemptStuck struct {
	Firing `yaml:",inline"`
	// Patience is how long an attempt may wait regardless of the history.
	Patience model.Duration `yaml:"patience" help:"how long an attempt may always wait, regardless of the history"`
	// Factor is how many average runs an attempt may wait; average waits if no run is
	// known.
	Factor float64 `yaml:"factor" help:"how many average runs an attempt may wait; average waits if no run is known"`
	// Lookback is the history of runs and waits.
	Lookback model.Duration `yaml:"lookback" help:"lookback window for the averages"`
	// Interval is the time between evaluations; 0 uses that of the group.
	Interval model.Duration `yaml:"interval" help:"time between evaluations, in a group of its own; 0s uses that of the group"`
}

func (*AttemptStuck) about() about {
	return about{
		Condition: condition.AttemptStuck, id: "P",
		fires: "an attempt waits for longer than the runs and waits of its lock explain",
		note:  "An attempt waits for longer than the history of its lock explains.",
	}
}

func (k *AttemptStuck) preset() {
	*k = AttemptStuck{Firing: fires(warning, 0, 0), Patience: minutes(10), Factor: 3, Lookback: minutes(6 * 60), Interval: minutes(5)}
}

func (k *AttemptStuck) validate(c check) {
	c.firing("", k.Firing)
	if k.Enabled {
		c.require(k.Factor >= 1 && k.Factor <= 1000, "factor", "%v is out of range; use 1 to 1000", k.Factor)
		c.require(k.Patience > 0, "patience", "%s is not a positive duration; use one such as 10m", k.Patience)
		c.holdsSamples("lookback", k.Lookback, true)
		c.interval(k.Interval, k.Lookback, true)
	}
}

func (k *AttemptStuck) rules(b builder) []draft {
	s, lookback := b.scope, k.Lookback.String()
	// Histograms under a shared label do not describe any single lock.
	oldest := s.By("max", s.Metric(catalog.PendingAge, single))
	usual := query.Op(s.Average(catalog.ExecutionDuration, lookback), "or", s.Average(catalog.AcquireDuration, lookback))

	tolerated := query.Call("clamp_min", query.Op(query.Number(k.Factor), "*", usual), seconds(k.Patience))
	// Without a history a long run may explain the wait (P3).
	idle := query.Op(s.By("max", query.Over("max_over_time", s.Metric(catalog.Active, single), k.Patience.String())), "==", "0")
	tolerated = query.Op(tolerated, "or", query.Op(seconds(k.Patience), "+", idle))
	// Standbys of a held lock wait for as long as it is led (P4).
	expr := s.Without(query.Op(oldest, ">", tolerated), s.HoldInfo(single))

	return []draft{draft{
		firing: k.Firing, expr: expr,
		summary: "An attempt to acquire lock " + b.lock() + " is stuck",
		description: fmt.Sprintf("An attempt%s to acquire lock %s has been waiting for {{ $value | humanizeDuration }}, longer than the runs and waits of the last %s explain. "+
			"Check whether the run that holds the lock hangs, or whether the backend still has the key of a dead process.%s",
			b.where(), b.lock(), lookback,
			b.replicas("The lock is held by", "max by ("+b.HolderLabel+") (%s) > 0", s.Metric(catalog.Active, single))),
	}.every("", k.Interval)}
}

func (k *AttemptStuck) detect(d *detector) {
	d.every(k.Interval, k.Firing, "the start of the attempt, if runs are usually shorter", time.Duration(k.Patience), time.Duration(k.Patience)+d.scrape, "standbys of a held lock")
}
