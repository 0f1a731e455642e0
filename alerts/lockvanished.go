package alerts

import (
	"fmt"

	"github.com/prometheus/common/model"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/condition"
	"github.com/leaderscope/leaderscope/internal/query"
)

// LockVanished: a lock that was held, or has a declared interval, no longer has
// series, while its job still has.
type LockVanished struct {
	Firing `yaml:",inline"`
	// Lookback is how long the alert fires for a lock that is gone.
	Lookback model.Duration `yaml:"lookback" help:"how long the alert fires for a lock that is gone"`
	// Interval is the time between evaluations; 0 uses that of the group.
	Interval model.Duration `yaml:"interval" help:"time between evaluations, in a group of its own; 0s uses that of the group"`
}

func (*LockVanished) about() about {
	return about{
		Condition: condition.LockVanished, id: "V",
		fires: "a lock that was held, or has a declared interval, stopped exporting metrics",
		note:  "A lock that was held, or has a declared interval, stopped exporting metrics while its job continues to export.\nWhere locks come and go, use severity: info or enabled: false.",
	}
}

func (k *LockVanished) preset() {
	*k = LockVanished{Firing: fires(warning, 10, 0), Lookback: minutes(60), Interval: slowInterval}
}

func (k *LockVanished) validate(c check) {
	c.missed(k.Lookback, k.Firing)
	c.interval(k.Interval, k.Lookback, k.Enabled)
}

func (k *LockVanished) rules(b builder) []draft {
	s, lookback := b.scope, k.Lookback.String()
	active := s.Metric(catalog.Active, single)

	// The alert covers locks that were held when they were last scraped, and not
	// released before (V3), and locks with a declared interval. Any other lock may
	// have been retired. The last sample of each replica says whether it held the
	// lock. A coarse subquery finds out whether a replica that died long before the
	// lock vanished was its last holder (V6).
	led := s.By("group", query.Op(query.Over("last_over_time", active, lookback), ">", "0"))
	led = query.Op(led, "unless", query.Op(query.OverSteps("last_over_time", s.By("max", active), lookback, b.coarse(k.Lookback)), "==", "0"))
	declared := s.By("group", query.Over("last_over_time", s.Metric(catalog.ExpectedInterval, single), lookback))
	expr := s.Without(query.Op(led, "or", declared), active)
	// If the whole job is gone, MetricsAbsent fires (B4).
	expr = query.Op(expr, "and "+query.On(s.TargetLabels()), b.exporting())

	return []draft{draft{
		firing: k.Firing, expr: expr,
		summary: "Lock " + b.lock() + " stopped exporting metrics",
		description: fmt.Sprintf("Lock %s%s has exported no metrics for more than %s, although its job still exports metrics: the lock was held when it was last scraped, or has a declared interval. "+
			"Check whether a release or a failed start removed the lock; if it was retired on purpose, the alert clears within %s.", b.lock(), b.where(), k.For, k.Lookback),
	}.every("", k.Interval)}
}

func (k *LockVanished) detect(d *detector) {
	d.every(k.Interval, k.Firing, "the end of the last series", 0, d.scrape, "locks that were released before and declare no interval")
}
